//! A jail with a closure and a parser for its blocks, and with limits of chunks and of time.

use std::{fmt, sync::Arc, time::Duration};

use jail_match::{
    Diagnostic, DiagnosticKind, Dropped, End, Event, Held, Jail, JailEvent, JailSignal, Jailed,
    LimitError, OnFail, Sink, Span,
};
use stream_lifecycle::Clock;
use toolcall_parsers::Ids;

use crate::{observe::Counted, stages::OutputStage};

/// The replacement for a block which was handed over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Replacement {
    /// The text of the block, unchanged.
    Verbatim,
    /// A text in place of the block.
    Text(String),
    /// No text, so that the block disappears.
    Nothing,
}

type Handler = Arc<dyn Fn(&Jailed<'_>) -> Replacement + Send + Sync>;

/// A parser that reads blocks of a jail as messages of a family.
pub(crate) trait ParseBlocks: fmt::Debug + Send + Sync {
    /// Whether the parser reads the block.
    fn takes(&self, block: &Jailed<'_>) -> bool;

    /// Emits the events of the block if it contains a call, and the unchanged text of the block
    /// otherwise. Returns whether the block contains a call.
    fn read(&mut self, block: &Jailed<'_>, next: &mut dyn Sink) -> Result<bool, LimitError>;

    /// Records how the stream ended, for a block that is still open.
    fn ended(&mut self, end: End);

    fn reset(&mut self);

    /// Sets the source of ids for later calls.
    fn set_ids(&mut self, ids: Ids);

    fn needs_special_tokens(&self) -> bool;

    fn boxed(&self) -> Box<dyn ParseBlocks>;
}

impl Clone for Box<dyn ParseBlocks> {
    fn clone(&self) -> Self {
        (**self).boxed()
    }
}

/// A [`Jail`] for a guard or a stream.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use llm_stream_guard::{End, Guard, Replacement, Jailer, Profile};
/// use llm_stream_guard::jail_match::Jail;
/// let jail = Jail::builder().pair("<secret>", "</secret>").build()?;
/// let jailer = Jailer::new(jail).on_jailed(|_| Replacement::Text("[redacted]".to_owned()));
/// let guard = Guard::builder(&Profile::named("plain")).stage(jailer).build()?;
/// assert_eq!(guard.parse("a <secret>b</secret>", End::Stop)?.content, "a [redacted]");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Jailer {
    jail: Jail,
    limits: HostLimits,
    parser: Option<Box<dyn ParseBlocks>>,
    open: Option<Open>,
    /// Numbers of reported partial marks and of reported refuted marks.
    reported: (u64, u64),
    taken_out: u64,
}

/// Options for blocks in addition to the rules of the jail.
#[derive(Clone, Default)]
pub(crate) struct HostLimits {
    pub(crate) handler: Option<Handler>,
    pub(crate) chunks: Option<(u64, OnFail)>,
    pub(crate) time: Option<(Duration, OnFail, Arc<dyn Clock>)>,
}

impl HostLimits {
    /// Returns the name of the first option that is set.
    pub(crate) fn set(&self) -> Option<&'static str> {
        let handler = self.handler.as_ref().map(|_| "on_jailed");
        let chunks = || self.chunks.as_ref().map(|_| "chunk_limit");
        handler.or_else(chunks).or_else(|| self.time.as_ref().map(|_| "time_limit"))
    }
}

impl fmt::Debug for HostLimits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let time = self.time.as_ref().map(|(time, over, _)| (time, over));
        let limits = &mut f.debug_struct("HostLimits");
        limits.field("chunks", &self.chunks).field("time", &time).finish_non_exhaustive()
    }
}

/// The outermost open block.
#[derive(Debug, Clone, Copy)]
struct Open {
    at: u64,
    chunks: u64,
    since: Duration,
}

impl Jailer {
    /// Creates a jailer that emits blocks handed over unchanged, as one piece.
    #[must_use]
    pub fn new(jail: Jail) -> Self {
        Self::with(jail, HostLimits::default())
    }

    pub(crate) fn with(jail: Jail, limits: HostLimits) -> Self {
        Self { jail, limits, parser: None, open: None, reported: (0, 0), taken_out: 0 }
    }

    /// Sets the closure that replaces each block handed over ([`jail_match::Release::Hand`]). The
    /// closure also sees tapped blocks, whose text has passed; its result is then ignored.
    #[must_use]
    pub fn on_jailed(
        mut self,
        handler: impl Fn(&Jailed<'_>) -> Replacement + Send + Sync + 'static,
    ) -> Self {
        self.limits.handler = Some(Arc::new(handler));
        self
    }

    /// Sets the maximum number of chunks of a block, its first one included, and the policy for a
    /// block that exceeds it.
    #[must_use]
    pub fn chunk_limit(mut self, chunks: u64, over: OnFail) -> Self {
        self.limits.chunks = Some((chunks, over));
        self
    }

    /// Sets how long a block may be open, and the policy for a block that exceeds it. The clock is
    /// read when a chunk arrives and when [`crate::Guard::tick`] is called; no timer runs.
    #[must_use]
    pub fn time_limit(mut self, time: Duration, over: OnFail, clock: impl Clock + 'static) -> Self {
        self.limits.time = Some((time, over, Arc::new(clock)));
        self
    }

    /// Sets the parser of the text inside blocks.
    pub(crate) fn parsed(self, parser: Option<Box<dyn ParseBlocks>>) -> Self {
        Self { parser, ..self }
    }

    /// Returns the parser of blocks, if there is one.
    pub(crate) fn parser(&self) -> Option<&dyn ParseBlocks> {
        self.parser.as_deref()
    }

    pub(crate) fn parser_mut(&mut self) -> Option<&mut (dyn ParseBlocks + 'static)> {
        self.parser.as_deref_mut()
    }

    pub(crate) fn reset(&mut self) {
        self.jail.reset();
        self.parser.iter_mut().for_each(|parser| parser.reset());
        (self.open, self.reported) = (None, (0, 0));
    }

    pub(crate) fn held(&self) -> Held {
        self.jail.held()
    }

    pub(crate) fn buffered(&self) -> usize {
        self.jail.buffered()
    }

    /// Returns how often text was dropped or replaced.
    pub(crate) fn taken_out(&self) -> u64 {
        self.taken_out
    }

    /// Returns the jail, which has counters and reports held text.
    #[must_use]
    pub fn jail(&self) -> &Jail {
        &self.jail
    }

    /// Checks the time limit of an open block, before a chunk or during a pause.
    pub(crate) fn tick<S: Sink>(&mut self, next: &mut Counted<'_, S>) -> Result<(), LimitError> {
        let (Some(open), Some((most, over, clock))) = (self.open, &self.limits.time) else {
            return Ok(());
        };
        if clock.now().saturating_sub(open.since) > *most {
            let over = *over;
            self.expire(DiagnosticKind::JailTime, over, next)?;
        }
        Ok(())
    }

    fn expire<S: Sink>(
        &mut self,
        kind: DiagnosticKind,
        over: OnFail,
        next: &mut Counted<'_, S>,
    ) -> Result<(), LimitError> {
        self.open = None;
        self.with_jail(next, |jail, emit| jail.expire(kind, over, emit).map(drop))
    }

    pub(crate) fn push<S: Sink>(
        &mut self,
        text: &str,
        next: &mut Counted<'_, S>,
    ) -> Result<(), LimitError> {
        self.with_jail(next, |jail, emit| jail.push(text, emit))
    }

    pub(crate) fn settle<S: Sink>(&mut self, next: &mut Counted<'_, S>) -> Result<(), LimitError> {
        self.with_jail(next, |jail, emit| jail.settle(emit))
    }

    pub(crate) fn finish<S: Sink>(&mut self, next: &mut Counted<'_, S>) -> Result<(), LimitError> {
        self.with_jail(next, |jail, emit| jail.finish(emit))
    }

    /// Runs `step` and forwards the reports of the jail.
    fn with_jail<S: Sink>(
        &mut self,
        next: &mut Counted<'_, S>,
        step: impl FnOnce(&mut Jail, &mut dyn FnMut(JailEvent<'_>)) -> Result<(), LimitError>,
    ) -> Result<(), LimitError> {
        let Self { jail, limits: HostLimits { handler, .. }, parser, taken_out, .. } = self;
        let mut failed = None;
        step(jail, &mut |event| match (event, parser.as_deref_mut()) {
            (JailEvent::Jailed(block), Some(parser)) if parser.takes(&block) => {
                let read = parser.read(&block, next);
                *taken_out += u64::from(read.is_ok_and(|called| called));
                failed = failed.or(read.err());
            }
            (event, _) => release(event, handler, taken_out, next),
        })?;
        failed.map_or(Ok(()), Err)
    }

    /// Checks the chunk limit of an open block after a chunk.
    pub(crate) fn chunk_ended<S: Sink>(
        &mut self,
        next: &mut Counted<'_, S>,
    ) -> Result<(), LimitError> {
        let counters = self.jail.counters();
        let (partial, refuted) = (counters.partial, counters.refuted);
        if let Some(stats) = next.stage {
            (self.reported.0..partial).for_each(|_| stats.jail_partial());
            (self.reported.1..refuted).for_each(|_| stats.jail_refuted());
        }
        self.reported = (partial, refuted);
        if self.limits.chunks.is_none() && self.limits.time.is_none() {
            return Ok(());
        }
        self.open = match (self.open, self.jail.open_at()) {
            (_, None) => None,
            (Some(open), Some(at)) if open.at == at => {
                Some(Open { chunks: open.chunks.saturating_add(1), ..open })
            }
            (_, Some(at)) => {
                let since =
                    self.limits.time.as_ref().map_or(Duration::ZERO, |(.., clock)| clock.now());
                Some(Open { at, chunks: 1, since })
            }
        };
        match (self.open, self.limits.chunks) {
            (Some(open), Some((most, over))) if open.chunks > most => {
                self.expire(DiagnosticKind::JailChunks, over, next)
            }
            _ => Ok(()),
        }
    }
}

fn release<S: Sink>(
    event: JailEvent<'_>,
    handler: &Option<Handler>,
    taken_out: &mut u64,
    next: &mut Counted<'_, S>,
) {
    match event {
        JailEvent::Text(text) => next.event(Event::Content(text)),
        JailEvent::Jailed(block) => {
            let replacement =
                handler.as_ref().map_or(Replacement::Verbatim, |handler| handler(&block));
            *taken_out += u64::from(replacement != Replacement::Verbatim);
            let text = match replacement {
                Replacement::Verbatim => verbatim(&block),
                Replacement::Text(text) => text,
                Replacement::Nothing => String::new(),
            };
            if !text.is_empty() {
                next.event(Event::Content(&text));
            }
        }
        JailEvent::Tapped(block) => {
            if let Some(handler) = handler {
                handler(&block);
            }
        }
        JailEvent::Signal(signal) => {
            *taken_out += u64::from(matches!(signal, JailSignal::Dropped { .. }));
            report(signal, next);
        }
        _ => {}
    }
}

/// Returns the text of the block, unchanged.
pub(crate) fn verbatim(block: &Jailed<'_>) -> String {
    [block.start, block.body, block.end.unwrap_or("")].concat()
}

fn report<S: Sink>(signal: JailSignal, next: &mut Counted<'_, S>) {
    if let Some(stats) = next.stage {
        stats.jail(signal);
    }
    match signal {
        JailSignal::Dropped { at, bytes, why } if why != Dropped::Markup => {
            next.event(Diagnostic::new(DiagnosticKind::JailDropped, at, bytes).into());
        }
        JailSignal::Limit { kind, at, bytes, .. } => {
            next.event(Diagnostic::new(kind, at, bytes).into());
        }
        _ => {}
    }
}

/// A stage that applies a jail to content.
#[derive(Debug, Clone)]
pub(crate) struct JailStage {
    pub(crate) jailer: Jailer,
    /// The limit that ended the message, after which no event passes.
    pub(crate) failed: Option<LimitError>,
}

impl JailStage {
    pub(crate) fn new(jailer: Jailer) -> Self {
        Self { jailer, failed: None }
    }

    pub(crate) fn reset(&mut self) {
        self.jailer.reset();
        self.failed = None;
    }

    /// Runs `step` unless a limit ended the message.
    pub(crate) fn run(&mut self, step: impl FnOnce(&mut Jailer) -> Result<(), LimitError>) {
        if self.failed.is_none() {
            self.failed = step(&mut self.jailer).err();
        }
    }
}

impl<S: Sink> OutputStage<Counted<'_, S>> for JailStage {
    fn event(&mut self, event: Event<'_>, next: &mut Counted<'_, S>) {
        match event {
            Event::Content(text) => return self.run(|jailer| jailer.push(text, next)),
            // No mark spans these events.
            Event::Reasoning(_) | Event::Other(..) | Event::CallStart { .. } => {
                self.run(|jailer| jailer.settle(next));
            }
            _ => {}
        }
        // The number of bytes after the limit depends on how the stream was cut.
        if self.failed.is_none() {
            next.event(event);
        }
    }

    fn account(&mut self, span: Span, next: &mut Counted<'_, S>) {
        if self.failed.is_none() {
            next.account(span);
        }
    }
}
