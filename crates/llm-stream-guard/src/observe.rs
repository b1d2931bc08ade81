//! Telemetry: what happens in a guard or a jail, without the text it happens to.

#[cfg(feature = "tracing")]
mod events;
mod foreign;

#[cfg(feature = "tracing")]
pub use events::TracingObserver;

pub(crate) use foreign::Foreign;

use std::{collections::BTreeMap, fmt, sync::Arc};

use jail_match::{
    Closed, Counters, Diagnostic, DiagnosticKind, Dropped, End, Event, Held, JailSignal, Outcome,
    Sink,
};

use crate::stages::{Link, OutputStage};

/// A receiver of events about a stream, never of its text. Every method does nothing unless
/// overridden.
///
/// Calls are made inside `push` and `finish`, on the calling thread, and should return quickly.
/// Sizes and offsets are bytes. Names of type `&'static str` are short and stable, fit to be
/// labels.
pub trait Observer {
    /// Returns the observer of one choice of a chat stream, if it differs from this one. By default
    /// this observer receives the events of all choices.
    fn of_choice(&self, choice: u32) -> Option<Arc<dyn Observer + Send + Sync>> {
        let _ = choice;
        None
    }

    /// A piece of the stream is about to be processed.
    fn chunk(&self, bytes: usize) {
        let _ = bytes;
    }

    /// Reports the bytes held after a piece was processed.
    fn held(&self, held: Held) {
        let _ = held;
    }

    /// A jail opened: its pair, and how many are open.
    fn jail_opened(&self, pair: usize, depth: usize) {
        let _ = (pair, depth);
    }

    /// A jail closed, after the inner ones.
    fn jail_closed(&self, pair: usize, bytes: u64, why: Closed) {
        let _ = (pair, bytes, why);
    }

    /// A piece ended in what may become a mark of a jail.
    fn jail_partial(&self) {}

    /// Reports that a possible mark of a jail is text.
    fn jail_refuted(&self) {}

    /// Reports that a candidate for a call is withheld, because its opener was found.
    fn candidate_opened(&self) {}

    /// Reports that a candidate is text.
    fn candidate_refuted(&self) {}

    /// Reports bytes that a jail dropped, which no diagnostic reports again.
    fn dropped(&self, bytes: u64, why: Dropped) {
        let _ = (bytes, why);
    }

    /// Reports that a limit was reached after `bytes` bytes; [`Observer::diagnostic`] follows.
    fn limit(&self, name: &'static str, bytes: u64) {
        let _ = (name, bytes);
    }

    /// Reports the start of a call.
    fn call_started(&self, index: u32) {
        let _ = index;
    }

    /// Reports the end of a call.
    fn call_ended(&self, index: u32, outcome: Outcome) {
        let _ = (index, outcome);
    }

    /// A diagnostic was reported.
    fn diagnostic(&self, diagnostic: Diagnostic) {
        let _ = diagnostic;
    }

    /// A marker of a family that is not the guard's passed as content: the family may be the
    /// wrong one. `marker` is that family's constant, not the model's text.
    fn foreign_markup(&self, marker: &str) {
        let _ = marker;
    }

    /// Reports the end of the message.
    fn finished(&self, end: End) {
        let _ = end;
    }
}

/// Plain counts of one message. Where there are names, only those that occurred are listed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Stats {
    /// Number of pieces processed.
    pub chunks: u64,
    /// Number of bytes received.
    pub bytes: u64,
    /// The most bytes held after a piece.
    pub held_max: usize,
    /// Jails opened, inner ones included.
    pub jails_opened: u64,
    /// Jails closed, by the name of the reason.
    pub jails_closed: BTreeMap<&'static str, u64>,
    /// Pieces that ended in what might become a mark of a jail.
    pub jail_partials: u64,
    /// Those of them that turned out to be text.
    pub jail_refuted: u64,
    /// Openers of calls met: what follows one is withheld until it is certain to be a call.
    pub candidates: u64,
    /// Number of candidates that were not calls; their text was emitted.
    pub candidates_refuted: u64,
    /// Bytes that jails dropped.
    pub dropped: u64,
    /// Number of calls begun.
    pub calls: u64,
    /// Calls ended, by the name of the outcome.
    pub calls_ended: BTreeMap<&'static str, u64>,
    /// Limits hit, by name.
    pub limits: BTreeMap<&'static str, u64>,
    /// Diagnostics, by the name of their kind.
    pub diagnostics: BTreeMap<&'static str, u64>,
    /// Markers of families other than the guard's that passed as content, by marker: more than a
    /// few suggest that the family is the wrong one.
    pub foreign: BTreeMap<Box<str>, u64>,
}

/// A stage that counts events and forwards them to an observer, if there is one.
#[derive(Clone, Default)]
pub(crate) struct StatsCollector {
    observer: Option<Arc<dyn Observer + Send + Sync>>,
    stats: Stats,
    foreign: Option<Foreign>,
}

impl fmt::Debug for StatsCollector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StatsCollector").field("stats", &self.stats).finish_non_exhaustive()
    }
}

fn count(names: &mut BTreeMap<&'static str, u64>, name: &'static str) {
    *names.entry(name).or_default() += 1;
}

impl StatsCollector {
    pub(crate) fn observed(self, observer: Arc<dyn Observer + Send + Sync>) -> Self {
        Self { observer: Some(observer), ..self }
    }

    pub(crate) fn watching(self, foreign: Foreign) -> Self {
        Self { foreign: Some(foreign), ..self }
    }

    pub(crate) fn stats(&self) -> &Stats {
        &self.stats
    }

    pub(crate) fn reset(&mut self) {
        self.stats = Stats::default();
        if let Some(foreign) = &mut self.foreign {
            foreign.reset();
        }
    }

    fn tell(&self, what: impl FnOnce(&dyn Observer)) {
        if let Some(observer) = &self.observer {
            what(&**observer);
        }
    }

    /// The observer is that of this choice from now on.
    pub(crate) fn of_choice(&mut self, choice: u32) {
        if let Some(own) = self.observer.as_ref().and_then(|observer| observer.of_choice(choice)) {
            self.observer = Some(own);
        }
    }

    /// Learns what the cursor counted since the start.
    pub(crate) fn read(&mut self, counters: &Counters) {
        let Stats { candidates, candidates_refuted, .. } = &mut self.stats;
        let opened = counters.candidates - std::mem::replace(candidates, counters.candidates);
        let refuted = counters.refuted - std::mem::replace(candidates_refuted, counters.refuted);
        (0..opened).for_each(|_| self.tell(|observer| observer.candidate_opened()));
        (0..refuted).for_each(|_| self.tell(|observer| observer.candidate_refuted()));
    }

    pub(crate) fn chunk(&mut self, bytes: usize) {
        self.stats.chunks += 1;
        self.stats.bytes += bytes as u64;
        self.tell(|observer| observer.chunk(bytes));
    }

    pub(crate) fn held(&mut self, held: Held) {
        self.stats.held_max = self.stats.held_max.max(held.bytes);
        self.tell(|observer| observer.held(held));
    }

    /// Learns of an event that is about to be emitted.
    fn see(&mut self, event: Event<'_>) {
        match event {
            Event::Content(text) => self.content(Some(text)),
            Event::CallStart { index, .. } => {
                self.content(None);
                self.stats.calls += 1;
                self.tell(|observer| observer.call_started(index));
            }
            Event::CallEnd { index, outcome } => {
                count(&mut self.stats.calls_ended, outcome.name());
                self.tell(|observer| observer.call_ended(index, outcome));
            }
            Event::Diagnostic(diagnostic) => self.diagnostic(diagnostic),
            _ => {}
        }
    }

    /// Learns what a jail does.
    pub(crate) fn jail(&mut self, signal: JailSignal) {
        match signal {
            JailSignal::Opened { pair, depth, .. } => {
                self.stats.jails_opened += 1;
                self.tell(|observer| observer.jail_opened(pair, depth));
            }
            JailSignal::Closed { pair, bytes, why, .. } => {
                count(&mut self.stats.jails_closed, why.name());
                self.tell(|observer| observer.jail_closed(pair, bytes, why));
            }
            JailSignal::Dropped { bytes, why, .. } => {
                self.stats.dropped += bytes;
                self.tell(|observer| observer.dropped(bytes, why));
            }
            _ => {}
        }
    }

    pub(crate) fn jail_partial(&mut self) {
        self.stats.jail_partials += 1;
        self.tell(|observer| observer.jail_partial());
    }

    pub(crate) fn jail_refuted(&mut self) {
        self.stats.jail_refuted += 1;
        self.tell(|observer| observer.jail_refuted());
    }

    fn diagnostic(&mut self, diagnostic: Diagnostic) {
        let name = diagnostic.kind.name();
        if diagnostic.kind.is_limit() {
            count(&mut self.stats.limits, name);
            self.tell(|observer| observer.limit(name, diagnostic.bytes));
        }
        count(&mut self.stats.diagnostics, name);
        // The jail reported this drop itself.
        if diagnostic.kind != DiagnosticKind::JailDropped {
            self.tell(|observer| observer.diagnostic(diagnostic));
        }
    }

    /// Content passes; `None` where it breaks off.
    fn content(&mut self, text: Option<&str>) {
        let Self { observer, stats, foreign: Some(foreign), .. } = self else { return };
        foreign.see(text, |marker| {
            *stats.foreign.entry(marker.into()).or_default() += 1;
            if let Some(observer) = observer {
                observer.foreign_markup(marker);
            }
        });
    }

    pub(crate) fn finished(&mut self, end: End) {
        self.content(None);
        self.tell(|observer| observer.finished(end));
    }
}

/// A sink of which the statistics, where there are any, learn what passes.
pub(crate) type Counted<'a, S> = Link<'a, StatsStage, S>;

/// The statistics as a stage.
pub(crate) type StatsStage = Option<Box<StatsCollector>>;

impl<S: Sink + ?Sized> OutputStage<S> for StatsCollector {
    fn event(&mut self, event: Event<'_>, next: &mut S) {
        self.see(event);
        next.event(event);
    }
}
