//! A jail with what only the façade knows: a closure for blocks, limits of chunks and of time.

use std::{fmt, sync::Arc, time::Duration};

use jail_match::{
    Channel, Dropped, Held, Jail, JailEvent, JailSignal, Jailed, LimitError, Notice, NoticeKind,
    OnFail, Sink, Span,
};
use stream_lifecycle::Clock;
use toolcall_parsers::{CallSink, Diagnostic, Outcome};

use crate::observe::Tallied;

/// What comes in place of a block that was handed over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Handed {
    /// The block, as it was written.
    Verbatim,
    /// This text.
    Text(String),
    /// Nothing.
    Nothing,
}

type Handler = Arc<dyn Fn(&Jailed<'_>) -> Handed + Send + Sync>;
pub(crate) type SharedClock = Arc<dyn Clock>;

/// A [`Jail`] for a guard or a stream.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use llm_stream_guard::{End, Guard, Handed, Jailer, Profile};
/// use llm_stream_guard::jail_match::Jail;
/// let jail = Jail::builder().pair("<secret>", "</secret>").build()?;
/// let jailer = Jailer::new(jail).on_jailed(|_| Handed::Text("[redacted]".to_owned()));
/// let guard = Guard::builder(&Profile::named("plain")).jail(jailer).build()?;
/// assert_eq!(guard.parse("a <secret>b</secret>", End::Stop)?.content, "a [redacted]");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Jailer {
    jail: Jail,
    terms: Terms,
    open: Option<Open>,
    /// Partial marks and refuted ones that were reported.
    told: (u64, u64),
}

/// What a host says about blocks beyond the rules of the jail.
#[derive(Clone, Default)]
pub(crate) struct Terms {
    pub(crate) handler: Option<Handler>,
    pub(crate) chunks: Option<(u64, OnFail)>,
    pub(crate) time: Option<(Duration, OnFail, SharedClock)>,
}

impl fmt::Debug for Terms {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let time = self.time.as_ref().map(|(time, over, _)| (time, over));
        let terms = &mut f.debug_struct("Terms");
        terms.field("chunks", &self.chunks).field("time", &time).finish_non_exhaustive()
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
    /// The jail as it is: blocks handed over come out verbatim, as one piece.
    #[must_use]
    pub fn new(jail: Jail) -> Self {
        Self::with(jail, Terms::default())
    }

    pub(crate) fn with(jail: Jail, terms: Terms) -> Self {
        Self { jail, terms, open: None, told: (0, 0) }
    }

    /// What comes in place of each block handed over ([`jail_match::Release::Hand`]). Of tapped
    /// blocks, whose text has passed, it learns too; what it returns does not matter then.
    #[must_use]
    pub fn on_jailed(
        mut self,
        handler: impl Fn(&Jailed<'_>) -> Handed + Send + Sync + 'static,
    ) -> Self {
        self.terms.handler = Some(Arc::new(handler));
        self
    }

    /// The most chunks a block may take, that of its start included, and what becomes of one
    /// that takes more.
    #[must_use]
    pub fn chunk_limit(mut self, chunks: u64, over: OnFail) -> Self {
        self.terms.chunks = Some((chunks, over));
        self
    }

    /// How long a block may be open, and what becomes of one that is open longer. The clock is
    /// read when a chunk comes and [`crate::Guard::tick`] is called: nothing wakes by itself.
    #[must_use]
    pub fn time_limit(mut self, time: Duration, over: OnFail, clock: impl Clock + 'static) -> Self {
        self.terms.time = Some((time, over, Arc::new(clock)));
        self
    }

    pub(crate) fn reset(&mut self) {
        self.jail.reset();
        (self.open, self.told) = (None, (0, 0));
    }

    pub(crate) fn held(&self) -> Held {
        self.jail.held()
    }

    pub(crate) fn buffered(&self) -> usize {
        self.jail.buffered()
    }

    /// The jail, for its counters and what it holds.
    #[must_use]
    pub fn jail(&self) -> &Jail {
        &self.jail
    }

    /// A chunk comes, or nothing does for a while: a block may have been open for too long.
    pub(crate) fn tick<S: CallSink + ?Sized>(
        &mut self,
        sink: &mut Tallied<'_, S>,
    ) -> Result<(), LimitError> {
        let (Some(open), Some((most, over, clock))) = (self.open, &self.terms.time) else {
            return Ok(());
        };
        if clock.now().saturating_sub(open.since) > *most {
            let over = *over;
            self.expire(NoticeKind::JailTime, over, sink)?;
        }
        Ok(())
    }

    fn expire<S: CallSink + ?Sized>(
        &mut self,
        kind: NoticeKind,
        over: OnFail,
        sink: &mut Tallied<'_, S>,
    ) -> Result<(), LimitError> {
        self.open = None;
        let handler = &self.terms.handler;
        self.jail.expire(kind, over, |event| release(event, handler, sink)).map(drop)
    }

    pub(crate) fn push<S: CallSink + ?Sized>(
        &mut self,
        text: &str,
        sink: &mut Tallied<'_, S>,
    ) -> Result<(), LimitError> {
        let handler = &self.terms.handler;
        self.jail.push(text, |event| release(event, handler, sink))
    }

    pub(crate) fn settle<S: CallSink + ?Sized>(
        &mut self,
        sink: &mut Tallied<'_, S>,
    ) -> Result<(), LimitError> {
        let handler = &self.terms.handler;
        self.jail.settle(|event| release(event, handler, sink))
    }

    pub(crate) fn finish<S: CallSink + ?Sized>(
        &mut self,
        sink: &mut Tallied<'_, S>,
    ) -> Result<(), LimitError> {
        let handler = &self.terms.handler;
        self.jail.finish(|event| release(event, handler, sink))
    }

    /// A chunk was processed: a block may have taken too many.
    pub(crate) fn chunk_ended<S: CallSink + ?Sized>(
        &mut self,
        sink: &mut Tallied<'_, S>,
    ) -> Result<(), LimitError> {
        let counters = self.jail.counters();
        let (partial, refuted) = (counters.partial, counters.refuted);
        sink.tally(|tally| {
            (self.told.0..partial).for_each(|_| tally.jail_partial());
            (self.told.1..refuted).for_each(|_| tally.jail_refuted());
        });
        self.told = (partial, refuted);
        if self.terms.chunks.is_none() && self.terms.time.is_none() {
            return Ok(());
        }
        self.open = match (self.open, self.jail.open_at()) {
            (_, None) => None,
            (Some(open), Some(at)) if open.at == at => {
                Some(Open { chunks: open.chunks + 1, ..open })
            }
            (_, Some(at)) => {
                let since =
                    self.terms.time.as_ref().map_or(Duration::ZERO, |(.., clock)| clock.now());
                Some(Open { at, chunks: 1, since })
            }
        };
        match (self.open, self.terms.chunks) {
            (Some(open), Some((most, over))) if open.chunks > most => {
                self.expire(NoticeKind::JailChunks, over, sink)
            }
            _ => Ok(()),
        }
    }
}

fn release<S: CallSink + ?Sized>(
    event: JailEvent<'_>,
    handler: &Option<Handler>,
    sink: &mut Tallied<'_, S>,
) {
    match event {
        JailEvent::Text(text) => sink.text(Channel::CONTENT, text),
        JailEvent::Jailed(block) => {
            let handed = handler.as_ref().map_or(Handed::Verbatim, |handler| handler(&block));
            let text = match handed {
                Handed::Verbatim => [block.start, block.body, block.end.unwrap_or("")].concat(),
                Handed::Text(text) => text,
                Handed::Nothing => String::new(),
            };
            if !text.is_empty() {
                sink.text(Channel::CONTENT, &text);
            }
        }
        JailEvent::Tapped(block) => {
            if let Some(handler) = handler {
                handler(&block);
            }
        }
        JailEvent::Signal(signal) => report(signal, sink),
        _ => {}
    }
}

fn report<S: CallSink + ?Sized>(signal: JailSignal, sink: &mut Tallied<'_, S>) {
    match signal {
        JailSignal::Opened { pair, depth, .. } => sink.tally(|it| it.jail_opened(pair, depth)),
        JailSignal::Closed { pair, bytes, why, .. } => {
            sink.tally(|it| it.jail_closed(pair, bytes, why));
        }
        JailSignal::Dropped { at, bytes, why } => {
            sink.tally(|it| it.dropped(bytes, why));
            if why != Dropped::Markup {
                sink.notice(Notice { kind: NoticeKind::JailDropped, at, bytes });
            }
        }
        JailSignal::Limit { kind, at, bytes, .. } => sink.notice(Notice { kind, at, bytes }),
        _ => {}
    }
}

/// A sink in front of another that jails the content passing through.
pub(crate) struct Jailing<'j, 'w, S: ?Sized> {
    pub(crate) jailer: &'j mut Jailer,
    pub(crate) sink: &'j mut Tallied<'w, S>,
    /// The limit that ended it all: no content passes any more.
    pub(crate) result: Result<(), LimitError>,
}

impl<S: CallSink + ?Sized> Jailing<'_, '_, S> {
    /// No mark spans what comes now.
    fn settle(&mut self) {
        if self.result.is_ok() {
            self.result = self.jailer.settle(self.sink);
        }
    }
}

impl<S: CallSink + ?Sized> Sink for Jailing<'_, '_, S> {
    fn text(&mut self, channel: Channel, text: &str) {
        if channel == Channel::CONTENT {
            if self.result.is_ok() {
                self.result = self.jailer.push(text, self.sink);
            }
        } else {
            self.settle();
            self.sink.text(channel, text);
        }
    }

    fn notice(&mut self, notice: Notice) {
        self.sink.notice(notice);
    }

    fn account(&mut self, span: Span) {
        self.sink.account(span);
    }
}

impl<S: CallSink + ?Sized> CallSink for Jailing<'_, '_, S> {
    fn call_start(&mut self, index: u32, id: &str, name: &str) {
        self.settle();
        self.sink.call_start(index, id, name);
    }

    fn call_arguments(&mut self, index: u32, fragment: &str) {
        self.sink.call_arguments(index, fragment);
    }

    fn call_end(&mut self, index: u32, outcome: Outcome) {
        self.sink.call_end(index, outcome);
    }

    fn diagnostic(&mut self, diagnostic: Diagnostic) {
        self.sink.diagnostic(diagnostic);
    }
}
