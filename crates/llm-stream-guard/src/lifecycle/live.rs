//! A stream that has not ended yet: everything that is used up when it does.

use std::{
    future::Future,
    num::NonZeroU64,
    pin::Pin,
    task::{Context, Poll},
};

use jail_match::End;

use super::{
    clock::Stamp,
    collector::{Closures, Collector, Finish, Refused},
    ending::{AfterWhole, Ending, ErrorInfo, Party, Standing, Withheld},
    event::ItemInfo,
    guardrail::{Flow, Guardrail, Outlet},
    reporter::{Outcome, Reporter},
    unwind::{Payload, catch, message},
};

pub(super) type Timer = Pin<Box<dyn Future<Output = ()> + Send>>;
pub(super) type DescribeError<E> = Box<dyn Fn(&E) -> ErrorInfo + Send>;
pub(super) type CutError<E> = Box<dyn Fn(&Ending) -> Option<E> + Send>;

/// Why the stream ends, and what the consumer gets instead of an item.
pub(super) struct Terminal<E> {
    pub(super) ending: Ending,
    pub(super) error: Option<E>,
    pub(super) panic: Option<Payload>,
}

impl<E> From<Ending> for Terminal<E> {
    fn from(ending: Ending) -> Self {
        Self { ending, error: None, panic: None }
    }
}

impl<E> Terminal<E> {
    pub(super) fn panicked(who: Party, payload: Payload) -> Self {
        Self { ending: Ending::panicked(who, &payload), error: None, panic: Some(payload) }
    }

    fn refused(reason: std::borrow::Cow<'static, str>) -> Self {
        Ending::Failed { who: Party::Guardrail, error: ErrorInfo::class(reason) }.into()
    }
}

/// How far a stream is.
enum Phase<E> {
    /// Upstream may have more.
    Open,
    /// Upstream is over; what the guardrail let out comes first.
    Draining(Terminal<E>),
    /// Nothing comes any more.
    Over(Terminal<E>),
}

/// Bounds on a whole stream.
#[derive(Default)]
pub(super) struct StreamLimits {
    pub(super) items: Option<NonZeroU64>,
    pub(super) bytes: Option<NonZeroU64>,
}

/// Caller's code and state of a stream that goes on.
pub(super) struct Live<T, E> {
    pub(super) reporter: Reporter,
    pub(super) collector: Box<dyn Collector<T, E>>,
    pub(super) guardrail: Option<Box<dyn Guardrail<T>>>,
    pub(super) timer: Option<Timer>,
    pub(super) limits: StreamLimits,
    pub(super) refused: Refused,
    pub(super) after_whole: AfterWhole,
    pub(super) describe_error: Option<DescribeError<E>>,
    pub(super) cut_error: Option<CutError<E>>,
    pub(super) close_error: Option<ErrorInfo>,
    /// When closing began; the stream ended then, though cleaning up takes longer.
    closing: Option<Option<Stamp>>,
    phase: Phase<E>,
    out: Outlet<T>,
    bytes: u64,
}

impl<T, E> Live<T, E> {
    pub(super) fn new(reporter: Reporter) -> Self
    where
        T: 'static,
        E: 'static,
    {
        Self {
            reporter,
            collector: Box::new(Closures::default()),
            guardrail: None,
            timer: None,
            limits: StreamLimits::default(),
            refused: Refused::default(),
            after_whole: AfterWhole::default(),
            describe_error: None,
            cut_error: None,
            close_error: None,
            closing: None,
            phase: Phase::Open,
            out: Outlet::default(),
            bytes: 0,
        }
    }

    /// Whether the stream is over, but for saying so.
    pub(super) fn is_over(&self) -> bool {
        match self.phase {
            Phase::Open => false,
            Phase::Draining(_) => self.out.0.is_empty(),
            Phase::Over(_) => true,
        }
    }

    /// How many items can still come, an error included, once upstream is over.
    pub(super) fn at_most(&self) -> Option<usize> {
        match self.phase {
            Phase::Open => None,
            Phase::Draining(_) => Some(self.out.0.len().saturating_add(1)),
            Phase::Over(_) => Some(1),
        }
    }

    /// Notes a panic that did not end the stream.
    pub(super) fn fault(&mut self, who: Party, payload: &Payload) {
        self.reporter.faults.add(who, message(payload));
    }

    pub(super) fn stop(&mut self, terminal: impl Into<Terminal<E>>) {
        self.phase = Phase::Over(terminal.into());
    }

    /// The consumer wants no more; time stops here.
    pub(super) fn begin_close(&mut self) {
        if self.closing.is_none() {
            self.closing = Some(self.reporter.now());
        }
    }

    /// Why the stream ends if the consumer drops it now, or is done closing it.
    pub(super) fn given_up(&mut self) -> Terminal<E> {
        match self.closing {
            _ if self.is_over() => self.terminal(),
            Some(_) => Ending::Closed.into(),
            None => Ending::Dropped.into(),
        }
    }

    /// Why the stream ends, once it is over.
    pub(super) fn terminal(&mut self) -> Terminal<E> {
        match std::mem::replace(&mut self.phase, Phase::Open) {
            Phase::Draining(terminal) | Phase::Over(terminal) => terminal,
            Phase::Open => Ending::Complete.into(),
        }
    }

    pub(super) fn poll_timer(&mut self, cx: &mut Context<'_>) {
        let Some(timer) = &mut self.timer else { return };
        let fired = catch(|| timer.as_mut().poll(cx));
        if !matches!(fired, Ok(Poll::Pending)) {
            self.timer = None;
            match fired {
                Ok(_) => self.stop(Ending::TimedOut),
                Err(payload) => self.stop(Terminal::panicked(Party::Timer, payload)),
            }
        }
    }

    /// An item from upstream; returns it if it goes straight to the consumer.
    pub(super) fn arrived(&mut self, item: T) -> Option<T> {
        let Self { guardrail: Some(guardrail), out, .. } = self else { return self.deliver(item) };
        match catch(|| guardrail.push(item, out)) {
            Ok(Flow::Continue) => {}
            Ok(Flow::End(reason)) => self.phase = Phase::Draining(Terminal::refused(reason)),
            Err(payload) => self.stop(Terminal::panicked(Party::Guardrail, payload)),
        }
        None
    }

    /// The next item the guardrail let out.
    pub(super) fn next_out(&mut self) -> Option<T> {
        self.out.0.pop_front()
    }

    /// Upstream has no more.
    pub(super) fn upstream_ended(&mut self, error: Option<E>, limit: Option<Ending>) {
        let end = if error.is_none() && limit.is_none() { End::Stop } else { End::Aborted };
        let mut terminal = match error {
            None => limit.unwrap_or(Ending::Complete).into(),
            Some(error) => self.failed(Party::Upstream, error),
        };
        if let Self { guardrail: Some(guardrail), out, .. } = self {
            match catch(|| guardrail.finish(end, out)) {
                Ok(Flow::End(reason)) if terminal.ending == Ending::Complete => {
                    terminal = Terminal::refused(reason);
                }
                Ok(_) => {}
                Err(payload) => {
                    return self.stop(Terminal::panicked(Party::Guardrail, payload));
                }
            }
        }
        self.phase = Phase::Draining(terminal);
    }

    /// Shows the item to whom it concerns; returns it if the consumer may have it.
    pub(super) fn deliver(&mut self, item: T) -> Option<T> {
        match self.show(&item) {
            Ok(()) => Some(item),
            Err(terminal) => {
                // Only the collector's refusal has an error here.
                let passes = terminal.error.is_some() && self.refused == Refused::Deliver;
                self.stop(terminal);
                passes.then_some(item)
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
        match catch(|| self.collector.observe(item)) {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => Err(self.failed(Party::Collector, error)),
            Err(payload) => Err(Terminal::panicked(Party::Collector, payload)),
        }
    }

    fn describe(&self, item: &T) -> Result<Option<ItemInfo>, Terminal<E>> {
        let Self { reporter, collector, limits, .. } = self;
        if !reporter.marks_next() && !reporter.awaits_visible() && limits.bytes.is_none() {
            return Ok(None);
        }
        let described = catch(|| collector.describe(item));
        described.map(Some).map_err(|payload| Terminal::panicked(Party::Collector, payload))
    }

    /// The ending an error makes.
    pub(super) fn failed(&mut self, who: Party, error: E) -> Terminal<E> {
        let info = self.info(&error);
        Terminal { ending: Ending::Failed { who, error: info }, error: Some(error), panic: None }
    }

    pub(super) fn info(&mut self, error: &E) -> ErrorInfo {
        let described = self.describe_error.as_ref().map(|describe| catch(|| describe(error)));
        let told = described.and_then(|told| self.reporter.faults.take(Party::ErrorHook, told));
        told.unwrap_or_else(|| ErrorInfo::class(std::any::type_name::<E>()))
    }

    /// Ends the stream: aggregate, then END. Returns what the consumer gets.
    pub(super) fn conclude(
        mut self,
        standing: Standing,
        Terminal { ending, error, panic }: Terminal<E>,
    ) -> Last<E> {
        let ending = self.as_whole(ending);
        let withheld = self.withheld(standing);
        let Self { mut reporter, collector, guardrail, timer, cut_error, close_error, .. } = self;
        reporter.times.end = match self.closing {
            Some(at) => at,
            None => reporter.now(),
        };
        let error = error.or_else(|| {
            let cut = catch(|| cut_error.as_ref().and_then(|cut| cut(&ending)));
            reporter.faults.take(Party::ErrorHook, cut).flatten()
        });
        let _ = reporter.faults.take(Party::Timer, catch(|| drop(timer)));
        let _ = reporter.faults.take(Party::Guardrail, catch(|| drop(guardrail)));
        let truncated = catch(|| collector.truncated());
        let truncated = reporter.faults.take(Party::Collector, truncated).unwrap_or_default();
        let finish = Finish { ending: &ending, withheld, items: reporter.items };
        let data = catch(|| collector.finish(finish));
        let data = reporter.faults.take(Party::Finalizer, data).unwrap_or_default();
        reporter.end(Outcome { ending, data: Some(data), truncated, withheld, close_error });
        match (error, panic) {
            (Some(error), _) => Last::Error(error),
            (None, Some(payload)) => Last::Panic(payload),
            (None, None) => Last::Nothing,
        }
    }

    /// Ends a stream that never was: END without output.
    pub(super) fn fail_start(mut self, ending: Ending) {
        self.reporter.times.end = self.reporter.now();
        self.reporter.end(Outcome {
            ending,
            data: None,
            truncated: false,
            withheld: Withheld::NOTHING,
            close_error: None,
        });
    }

    /// A consumer who leaves when nothing can follow took the whole answer.
    fn as_whole(&mut self, ending: Ending) -> Ending {
        let left = matches!(ending, Ending::Dropped | Ending::Closed);
        if !left || self.after_whole == AfterWhole::AsItEnded {
            return ending;
        }
        let whole = catch(|| self.collector.is_whole());
        match self.reporter.faults.take(Party::Collector, whole) {
            Some(true) => Ending::Complete,
            _ => ending,
        }
    }

    fn withheld(&mut self, standing: Standing) -> Withheld {
        let guardrail = self.guardrail.as_ref().map(|guardrail| catch(|| guardrail.held()));
        let held = guardrail.and_then(|held| self.reporter.faults.take(Party::Guardrail, held));
        let queued = Withheld { items: self.out.0.len(), ..Withheld::NOTHING };
        standing.withheld.and(held.unwrap_or_default()).and(queued)
    }
}

/// What the consumer gets when the stream has ended.
pub(super) enum Last<E> {
    /// Nothing.
    Nothing,
    /// An error.
    Error(E),
    /// The panic that ended it.
    Panic(Payload),
}
