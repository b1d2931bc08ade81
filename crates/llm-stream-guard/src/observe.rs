//! Telemetry of guards and jails, without the text of the model.

mod causes;
#[cfg(feature = "tracing")]
mod events;
mod foreign;

#[cfg(feature = "tracing")]
pub use events::TracingObserver;

pub(crate) use causes::{Causes, StrippedCalls};
pub(crate) use foreign::{Foreign, marks};

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
/// Sizes and offsets are bytes. Names of type `&'static str` are short and stable, so that they can
/// be labels.
pub trait Observer {
    /// Returns the observer of one choice of a chat stream, if it differs from this one. By default
    /// this observer receives the events of all choices.
    fn of_choice(&self, choice: u32) -> Option<Arc<dyn Observer + Send + Sync>> {
        let _ = choice;
        None
    }

    /// Reports a piece of the stream before it is processed.
    fn chunk(&self, bytes: usize) {
        let _ = bytes;
    }

    /// Reports the bytes held after a piece was processed.
    fn held(&self, held: Held) {
        let _ = held;
    }

    /// Reports that a jail opened, with its pair and the number of open jails.
    fn jail_opened(&self, pair: usize, depth: usize) {
        let _ = (pair, depth);
    }

    /// Reports that a jail closed, after the jails inside it.
    fn jail_closed(&self, pair: usize, bytes: u64, why: Closed) {
        let _ = (pair, bytes, why);
    }

    /// Reports that a piece ended in the possible beginning of a jail's mark.
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

    /// Reports a diagnostic of the guard.
    fn diagnostic(&self, diagnostic: Diagnostic) {
        let _ = diagnostic;
    }

    /// Reports that a marker of another family passed as content, so that the guard's family may be
    /// wrong. `marker` is a constant of that family, not the model's text.
    fn foreign_markup(&self, marker: &str) {
        let _ = marker;
    }

    /// Reports a likely cause of faults at the end of a choice of a chat stream: the kind of a
    /// finding, as explanations have it ([`crate::explain::Finding`]).
    fn finding(&self, kind: &'static str) {
        let _ = kind;
    }

    /// Reports a breach of the protocol by the server, found by a chat guard: the name of a
    /// [`crate::chat::Violation`].
    fn violation(&self, name: &'static str) {
        let _ = name;
    }

    /// Reports the end of the message.
    fn finished(&self, end: End) {
        let _ = end;
    }
}

/// Counts of one message. Maps list only names that occurred.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Stats {
    /// Number of pieces processed.
    pub chunks: u64,
    /// Number of bytes received.
    pub bytes: u64,
    /// Maximum number of bytes held after a piece.
    pub held_max: usize,
    /// Jails opened, inner ones included.
    pub jails_opened: u64,
    /// Jails closed, by the name of the reason.
    pub jails_closed: BTreeMap<&'static str, u64>,
    /// Number of pieces that ended in the possible beginning of a jail's mark.
    pub jail_partials: u64,
    /// Number of possible beginnings of marks that were text.
    pub jail_refuted: u64,
    /// Number of openers of calls. Text after an opener is withheld until it is certain to be a
    /// call.
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
    /// Markers of other families that passed as content, by marker. Many of them suggest that the
    /// guard's family is wrong.
    pub foreign: BTreeMap<Box<str>, u64>,
    /// Likely causes of faults, by the kind of finding; see [`Observer::finding`].
    pub findings: BTreeMap<&'static str, u64>,
}

/// A stage that counts events and forwards them to an observer, if there is one.
#[derive(Clone, Default)]
pub(crate) struct StatsCollector {
    observer: Option<Arc<dyn Observer + Send + Sync>>,
    stats: Stats,
    foreign: Option<Foreign>,
    causes: Causes,
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

    /// Also searches content for calls without their markers.
    pub(crate) fn watching_stripped(mut self, stripped: StrippedCalls) -> Self {
        self.causes = self.causes.of_stripped(stripped);
        self
    }

    pub(crate) fn stats(&self) -> &Stats {
        &self.stats
    }

    pub(crate) fn reset(&mut self) {
        self.stats = Stats::default();
        self.causes.reset();
        if let Some(foreign) = &mut self.foreign {
            foreign.reset();
        }
    }

    fn tell(&self, what: impl FnOnce(&dyn Observer)) {
        if let Some(observer) = &self.observer {
            what(&**observer);
        }
    }

    /// Replaces the observer by that of this choice.
    pub(crate) fn of_choice(&mut self, choice: u32) {
        if let Some(own) = self.observer.as_ref().and_then(|observer| observer.of_choice(choice)) {
            self.observer = Some(own);
        }
    }

    /// Copies the counters of the cursor.
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

    /// Counts an event before it is emitted.
    fn see(&mut self, event: Event<'_>) {
        match event {
            Event::Content(text) => {
                self.causes.content(text);
                self.content(Some(text));
            }
            Event::Reasoning(_) => self.causes.reasoning(),
            Event::CallStart { index, .. } => {
                self.content(None);
                self.call_started(index);
            }
            Event::CallEnd { index, outcome } => self.call_ended(index, outcome),
            Event::Diagnostic(diagnostic) => self.diagnostic(diagnostic),
            _ => {}
        }
    }

    /// Counts a call that the server made.
    pub(crate) fn server_call(&mut self, index: u32, outcome: Outcome) {
        self.causes.native();
        self.call_started(index);
        self.call_ended(index, outcome);
    }

    /// Counts reasoning that the server separated.
    pub(crate) fn server_reasoning(&mut self) {
        self.causes.native();
        self.causes.reasoning();
    }

    fn call_started(&mut self, index: u32) {
        self.causes.call_started();
        self.stats.calls += 1;
        self.tell(|observer| observer.call_started(index));
    }

    fn call_ended(&mut self, index: u32, outcome: Outcome) {
        self.causes.call_ended(outcome);
        count(&mut self.stats.calls_ended, outcome.name());
        self.tell(|observer| observer.call_ended(index, outcome));
    }

    /// Counts a signal of a jail.
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
        if diagnostic.kind == DiagnosticKind::ForeignCall {
            self.causes.foreign_call();
        }
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

    /// Searches content for foreign markup; `None` ends a run of content.
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

    /// Reports a breach of the protocol by the server.
    pub(crate) fn violation(&mut self, name: &'static str) {
        self.tell(|observer| observer.violation(name));
    }

    /// Reports the likely causes of faults of the message, the server's calls included.
    pub(crate) fn find_causes(&mut self) {
        for kind in self.causes.at_end(&self.stats).collect::<Vec<_>>() {
            count(&mut self.stats.findings, kind);
            self.tell(|observer| observer.finding(kind));
        }
    }
}

/// A sink after the statistics stage.
pub(crate) type Counted<'a, S> = Link<'a, StatsStage, S>;

/// The statistics stage, if statistics are counted.
pub(crate) type StatsStage = Option<Box<StatsCollector>>;

impl<S: Sink + ?Sized> OutputStage<S> for StatsCollector {
    fn event(&mut self, event: Event<'_>, next: &mut S) {
        self.see(event);
        next.event(event);
    }
}
