//! The state of a stream that has not ended, with the user code that its end consumes.
//!
//! The phases of a stream whose guardrail holds one item:
//!
//! ```text
//! upstream yields        phase       consumer gets
//! Ok(a)                  open        nothing: the guardrail holds `a`
//! None                   draining    `a`, which the guardrail releases at the end
//!                        over        None, after the END event
//! ```

use std::{
    num::NonZeroU64,
    task::{Context, Poll},
};

use crate::{
    clock::Stamp,
    collector::{Collectors, FinishInfo, Refused},
    ending::{Component, Ending, ErrorInfo, LateClose, Progress, UpstreamEnd, WithheldInfo},
    event::{ItemInfo, ResponseInfo},
    hooks::Hooks,
    reporter::{Outcome, Reporter},
    unwind::{Payload, catch},
};

/// The reason why the stream ends, with the error or panic for the consumer.
pub(crate) struct Terminal<E> {
    pub(crate) ending: Ending,
    pub(crate) error: Option<E>,
    pub(crate) panic: Option<Payload>,
}

impl<E> From<Ending> for Terminal<E> {
    fn from(ending: Ending) -> Self {
        Self { ending, error: None, panic: None }
    }
}

impl<E> Terminal<E> {
    pub(crate) fn panicked(who: Component, payload: Payload) -> Self {
        Self { ending: Ending::panicked(who, &payload), error: None, panic: Some(payload) }
    }

    fn refused(reason: std::borrow::Cow<'static, str>) -> Self {
        Ending::Failed { who: Component::Guardrail, error: ErrorInfo::class(reason) }.into()
    }
}

/// Phase of a recorded stream.
enum StreamPhase<E> {
    /// Upstream may have more items.
    Open,
    /// Upstream ended. The guardrails may still release items.
    Draining(Terminal<E>),
    /// The stream ended, and no item follows.
    Over(Terminal<E>),
}

/// Limits of a whole stream.
#[derive(Default)]
pub(crate) struct StreamLimits {
    pub(crate) items: Option<NonZeroU64>,
    pub(crate) bytes: Option<NonZeroU64>,
}

/// User code and state of a stream that has not ended.
pub(crate) struct Live<T, E> {
    pub(crate) reporter: Reporter,
    pub(crate) collectors: Collectors<T, E>,
    pub(crate) hooks: Hooks<T, E>,
    pub(crate) limits: StreamLimits,
    pub(crate) refused: Refused,
    pub(crate) late_close: LateClose,
    pub(crate) close_error: Option<ErrorInfo>,
    /// Whether the consumer began to close the stream.
    closing: bool,
    /// Time of the end, once the stream has ended. Cleanup may continue after it.
    ended: Option<Option<Stamp>>,
    phase: StreamPhase<E>,
    bytes: u64,
}

impl<T, E> Live<T, E> {
    pub(crate) fn new(reporter: Reporter) -> Self {
        Self {
            reporter,
            collectors: Collectors(Vec::new()),
            hooks: Hooks::default(),
            limits: StreamLimits::default(),
            refused: Refused::default(),
            late_close: LateClose::default(),
            close_error: None,
            closing: false,
            ended: None,
            phase: StreamPhase::Open,
            bytes: 0,
        }
    }

    /// Returns whether the stream is over and only its end must be reported.
    pub(crate) fn is_over(&self) -> bool {
        match self.phase {
            StreamPhase::Open => false,
            StreamPhase::Draining(_) => {
                self.hooks.rails.is_done() && self.hooks.rails.waiting() == 0
            }
            StreamPhase::Over(_) => true,
        }
    }

    /// Returns the maximum number of further items, including an error, once upstream ended.
    pub(crate) fn at_most(&self) -> Option<usize> {
        match self.phase {
            StreamPhase::Draining(_) if self.hooks.rails.is_done() => {
                Some(self.hooks.rails.waiting().saturating_add(1))
            }
            StreamPhase::Open | StreamPhase::Draining(_) => None,
            StreamPhase::Over(_) => Some(1),
        }
    }

    /// Records a panic that did not end the stream.
    pub(crate) fn fault(&mut self, who: Component, payload: &Payload) {
        self.reporter.faults.add(who, payload.message());
    }

    pub(crate) fn stop(&mut self, terminal: impl Into<Terminal<E>>) {
        self.phase = StreamPhase::Over(terminal.into());
    }

    /// Records that the consumer wants no more items.
    pub(crate) fn begin_close(&mut self) {
        self.closing = true;
        self.note_end();
    }

    /// Records the time of the end, unless the stream ended before.
    pub(crate) fn note_end(&mut self) {
        if self.ended.is_none() {
            self.ended = Some(self.reporter.now());
        }
    }

    /// Returns the reason of the end if the consumer drops the stream now, or finished closing it.
    pub(crate) fn given_up(&mut self) -> Terminal<E> {
        match &self.phase {
            _ if self.is_over() => self.terminal(),
            // Guardrails are still busy, but upstream's ending is known and counts.
            StreamPhase::Draining(end) if end.ending != Ending::Complete => self.terminal(),
            _ if self.closing => Ending::Closed.into(),
            _ => Ending::Dropped.into(),
        }
    }

    /// Returns the reason of the end, once the stream is over.
    pub(crate) fn terminal(&mut self) -> Terminal<E> {
        match std::mem::replace(&mut self.phase, StreamPhase::Open) {
            StreamPhase::Draining(terminal) | StreamPhase::Over(terminal) => terminal,
            StreamPhase::Open => Ending::Complete.into(),
        }
    }

    pub(crate) fn poll_timer(&mut self, cx: &mut Context<'_>) {
        let Some(timer) = &mut self.hooks.timer else { return };
        let fired = catch(|| timer.as_mut().poll(cx));
        if !matches!(fired, Ok(Poll::Pending)) {
            self.hooks.timer = None;
            match (fired, std::mem::replace(&mut self.phase, StreamPhase::Open)) {
                // Only guardrails are still busy, and upstream's ending counts.
                (Ok(_), StreamPhase::Draining(end)) if end.ending != Ending::Complete => {
                    self.stop(end);
                }
                (Ok(_), _) => self.stop(Ending::TimedOut),
                (Err(payload), _) => self.stop(Terminal::panicked(Component::Timer, payload)),
            }
        }
    }

    /// Takes an item from upstream. Returns it if the stream has no guardrail.
    pub(crate) fn arrived(&mut self, item: T) -> Option<T> {
        if self.hooks.rails.is_empty() {
            return self.deliver(item);
        }
        self.hooks.rails.push(item);
        None
    }

    /// Returns the next item that the guardrails released.
    pub(crate) fn next_out(&mut self) -> Option<T> {
        self.hooks.rails.out().0.pop_front()
    }

    /// Moves items through the guardrails.
    ///
    /// Ready with `true` if upstream may be polled: all guardrails can take more, and no released
    /// item waits.
    pub(crate) fn poll_rails(&mut self, cx: &mut Context<'_>) -> Poll<bool> {
        if self.hooks.rails.is_empty() {
            return Poll::Ready(true);
        }
        let polled = match catch(|| self.hooks.rails.poll(cx)) {
            Ok(polled) => polled,
            Err(payload) => {
                self.stop(Terminal::panicked(Component::Guardrail, payload));
                return Poll::Ready(false);
            }
        };
        if let Some(reason) = self.hooks.rails.take_refusal() {
            match &self.phase {
                StreamPhase::Draining(end) if end.ending != Ending::Complete => {}
                _ => self.phase = StreamPhase::Draining(Terminal::refused(reason)),
            }
        }
        match polled {
            Poll::Pending if self.hooks.rails.waiting() == 0 => Poll::Pending,
            _ => Poll::Ready(
                matches!(self.phase, StreamPhase::Open) && self.hooks.rails.waiting() == 0,
            ),
        }
    }

    /// Records the end of upstream.
    pub(crate) fn upstream_ended(&mut self, error: Option<E>, limit: Option<Ending>) {
        let whole = error.is_none() && limit.is_none();
        let terminal = match error {
            None => limit.unwrap_or(Ending::Complete).into(),
            Some(error) => self.failed(Component::Upstream, error),
        };
        self.hooks.rails.finish(if whole { UpstreamEnd::Exhausted } else { UpstreamEnd::Cut });
        self.phase = StreamPhase::Draining(terminal);
    }

    /// Shows the item to the collectors. Returns it if the consumer may have it.
    pub(crate) fn deliver(&mut self, item: T) -> Option<T> {
        match self.show(&item) {
            Ok(()) => Some(item),
            Err(terminal) => {
                // A terminal with an error comes from a collector that refused the item.
                let passes = terminal.error.is_some() && self.refused == Refused::Deliver;
                self.stop(terminal);
                if passes {
                    return Some(item);
                }
                self.reporter.faults.drop_caught(Component::Upstream, item);
                None
            }
        }
    }

    fn show(&mut self, item: &T) -> Result<(), Terminal<E>> {
        if let Some(most) = self.limits.items
            && self.reporter.items >= most.get()
        {
            return Err(Ending::Limit { what: "items", at: most.get() }.into());
        }
        let info = self.describe(item)?;
        if let Some(most) = self.limits.bytes {
            self.bytes = self.bytes.saturating_add(info.as_ref().map_or(0, |info| info.bytes));
            if self.bytes > most.get() {
                return Err(Ending::Limit { what: "bytes", at: most.get() }.into());
            }
        }
        self.reporter.item(info);
        match catch(|| self.collectors.observe(item)) {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => Err(self.failed(Component::Collector, error)),
            Err(payload) => Err(Terminal::panicked(Component::Collector, payload)),
        }
    }

    fn describe(&self, item: &T) -> Result<Option<ItemInfo>, Terminal<E>> {
        let Self { reporter, collectors, limits, .. } = self;
        if !reporter.marks_next() && !reporter.awaits_visible() && limits.bytes.is_none() {
            return Ok(None);
        }
        let described = catch(|| collectors.describe(item));
        described.map(Some).map_err(|payload| Terminal::panicked(Component::Collector, payload))
    }

    /// Returns the ending for an error.
    pub(crate) fn failed(&mut self, who: Component, error: E) -> Terminal<E> {
        let info = self.info(&error);
        Terminal { ending: Ending::Failed { who, error: info }, error: Some(error), panic: None }
    }

    pub(crate) fn info(&mut self, error: &E) -> ErrorInfo {
        let described =
            self.hooks.describe_error.as_ref().map(|describe| catch(|| describe(error)));
        let info = described.and_then(|info| self.reporter.faults.take(Component::ErrorHook, info));
        info.unwrap_or_else(|| ErrorInfo::class(std::any::type_name::<E>()))
    }

    /// Ends the stream: makes the aggregate, then sends END. Returns the last value for the
    /// consumer.
    pub(crate) fn conclude(mut self, progress: Progress, terminal: Terminal<E>) -> Last<E> {
        self.note_end();
        let Terminal { ending, error, panic } = terminal;
        let ending = self.as_whole(ending);
        let withheld = self.withheld(progress);
        let Self { mut reporter, collectors, hooks, close_error, .. } = self;
        reporter.times.end = self.ended.flatten();
        let error = error.or_else(|| {
            let cut = hooks.cut_error.as_ref().filter(|_| ending.is_cut())?;
            reporter.faults.take(Component::ErrorHook, catch(|| cut(&ending))).flatten()
        });
        hooks.drop_caught(&mut reporter.faults);
        let facts = catch(|| (collectors.truncated(), collectors.response()));
        let facts = reporter.faults.take(Component::Collector, facts);
        let (truncated, response) = facts.unwrap_or_default();
        let finish = FinishInfo { ending: &ending, withheld, items: reporter.items };
        let data = Some(collectors.finish(finish, &mut reporter.faults));
        reporter.end(Outcome { ending, data, truncated, response, withheld, close_error });
        match (error, panic) {
            (Some(error), _) => Last::Error(error),
            (None, Some(payload)) => Last::Panic(payload),
            (None, None) => Last::Nothing,
        }
    }

    /// Sends END without output, for a stream that was never created.
    pub(crate) fn fail_start(self, ending: Ending) {
        let mut reporter = self.unused();
        reporter.times.end = reporter.now();
        reporter.end(Outcome {
            ending,
            data: None,
            truncated: false,
            response: ResponseInfo::default(),
            withheld: WithheldInfo::NOTHING,
            close_error: None,
        });
    }

    /// Reports that the call was refused.
    pub(crate) fn reject(self, reason: String) {
        self.unused().reject(reason);
    }

    /// Drops the parts that only a stream needs.
    fn unused(self) -> Reporter {
        let Self { mut reporter, collectors, hooks, .. } = self;
        for part in collectors.0 {
            reporter.faults.drop_caught(Component::Collector, part);
        }
        hooks.drop_caught(&mut reporter.faults);
        reporter
    }

    /// Turns a drop or close after a complete answer into completion.
    fn as_whole(&mut self, ending: Ending) -> Ending {
        let left = matches!(ending, Ending::Dropped | Ending::Closed);
        if !left || self.late_close == LateClose::AsItEnded {
            return ending;
        }
        let whole = catch(|| self.collectors.is_whole());
        match self.reporter.faults.take(Component::Collector, whole) {
            Some(true) => Ending::Complete,
            _ => ending,
        }
    }

    fn withheld(&mut self, progress: Progress) -> WithheldInfo {
        let held = catch(|| self.hooks.rails.held());
        let held = self.reporter.faults.take(Component::Guardrail, held);
        progress.withheld.and(held.unwrap_or_default())
    }
}

/// The last value for the consumer.
pub(crate) enum Last<E> {
    /// The stream ends without an error.
    Nothing,
    /// An error is the last item.
    Error(E),
    /// The panic that ended the stream continues.
    Panic(Payload),
}
