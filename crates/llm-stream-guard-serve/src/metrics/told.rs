//! The observer of one answer.

use std::{
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use llm_stream_guard::{
    Diagnostic, DiagnosticKind, Observer, Outcome,
    explain::{families_with, setting_of_serve},
};

use super::{Subject, Watch};

/// Counts what the guards of one answer report.
#[derive(Debug)]
pub(crate) struct Told {
    watch: Arc<Watch>,
    subject: Subject,
    noted: AtomicBool,
    began: Instant,
    /// Time from `began` to the model's first text.
    first: OnceLock<Duration>,
    /// Calls by outcome, in the order of [`OUTCOMES`].
    calls: [AtomicU64; 4],
    diagnostics: AtomicU64,
    /// Whether the server was asked to parse answers itself.
    parsed: AtomicBool,
    /// Findings without repetition, in their order.
    findings: Mutex<Vec<&'static str>>,
    /// The first marker of another family.
    marker: OnceLock<Box<str>>,
}

/// The outcomes of calls.
pub(crate) const OUTCOMES: [Outcome; 4] =
    [Outcome::Complete, Outcome::Repaired, Outcome::Malformed, Outcome::Incomplete];

/// Findings that a setting mends.
const MENDED: [&str; 5] =
    ["wrong_family", "stripped_markers", "native_fields", "prompt_opened_reasoning", "no_answer"];

impl Told {
    /// Creates an observer of an answer whose request arrived at `began`.
    pub(super) fn new(watch: Arc<Watch>, subject: Subject, began: Instant) -> Self {
        Self {
            watch,
            subject,
            noted: AtomicBool::new(false),
            began,
            first: OnceLock::new(),
            calls: Default::default(),
            diagnostics: AtomicU64::new(0),
            parsed: AtomicBool::new(false),
            findings: Mutex::default(),
            marker: OnceLock::new(),
        }
    }

    /// Returns whether the guards reported a problem.
    pub(crate) fn noted(&self) -> bool {
        self.noted.load(Ordering::Relaxed)
    }

    /// Notes that the server was asked to parse answers itself.
    pub(crate) fn expect_parsed(&self) {
        self.parsed.store(true, Ordering::Relaxed);
    }

    /// Returns the likely causes of faults.
    pub(crate) fn findings(&self) -> Vec<&'static str> {
        self.findings.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the setting that mends a finding of answers read as `family`, if a setting does.
    pub(crate) fn setting(&self, kind: &'static str, family: &str) -> Option<String> {
        if !MENDED.contains(&kind) {
            return None;
        }
        let like = self.marker.get().and_then(|marker| families_with(marker).into_iter().next());
        let family = like.as_deref().filter(|_| kind == "wrong_family").unwrap_or(family);
        let setting = setting_of_serve(kind, family, "stop");
        Some(setting.replace(", where ID is the model's id in requests", ""))
    }

    fn found(&self, kind: &'static str) {
        self.noted.store(true, Ordering::Relaxed);
        let mut findings = self.findings.lock().unwrap_or_else(PoisonError::into_inner);
        if !findings.contains(&kind) {
            findings.push(kind);
            let labels = ([("kind", kind)], self.subject.clone());
            self.watch.findings.get_or_create(&labels).inc();
        }
    }

    /// Returns the time until the model's first text was read.
    pub(crate) fn first(&self) -> Option<Duration> {
        self.first.get().copied()
    }

    /// Returns the number of calls for each of [`OUTCOMES`].
    pub(crate) fn calls(&self) -> [u64; 4] {
        self.calls.each_ref().map(|count| count.load(Ordering::Relaxed))
    }

    /// Returns the number of diagnostics.
    pub(crate) fn diagnostics(&self) -> u64 {
        self.diagnostics.load(Ordering::Relaxed)
    }
}

impl Observer for Told {
    fn chunk(&self, _: usize) {
        self.watch.chunks.inc();
        if self.first.get().is_none() {
            let _ = self.first.set(self.began.elapsed());
        }
    }

    fn call_ended(&self, _: u32, outcome: Outcome) {
        for (known, count) in OUTCOMES.iter().zip(&self.calls) {
            count.fetch_add(u64::from(*known == outcome), Ordering::Relaxed);
        }
        let labels = ([("outcome", outcome.name())], self.subject.clone());
        self.watch.calls.get_or_create(&labels).inc();
    }

    fn diagnostic(&self, diagnostic: Diagnostic) {
        self.noted.store(true, Ordering::Relaxed);
        self.diagnostics.fetch_add(1, Ordering::Relaxed);
        let labels = ([("kind", diagnostic.kind.name())], self.subject.clone());
        self.watch.diagnostics.get_or_create(&labels).inc();
        if diagnostic.kind == DiagnosticKind::OrphanCloser {
            self.found("prompt_opened_reasoning");
        }
    }

    fn violation(&self, name: &'static str) {
        self.noted.store(true, Ordering::Relaxed);
        let labels = ([("kind", name)], self.subject.clone());
        self.watch.violations.get_or_create(&labels).inc();
    }

    fn finding(&self, kind: &'static str) {
        let expected = kind == "native_fields" && self.parsed.load(Ordering::Relaxed);
        if !expected {
            self.found(kind);
        }
    }

    fn foreign_markup(&self, marker: &str) {
        self.noted.store(true, Ordering::Relaxed);
        let _ = self.marker.set(marker.into());
        self.watch.foreign.get_or_create(&[("marker", marker.into())]).inc();
    }
}
