//! Metrics: numbers and constant names, never text.

mod told;

use std::{
    collections::BTreeSet,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicI64, AtomicU64},
    },
    time::{Duration, Instant},
};

use prometheus_client::{
    encoding::text::{encode_eof, encode_registry},
    metrics::{counter::Counter, family::Family, gauge::Gauge, histogram::Histogram, info::Info},
    registry::Registry,
};

pub(crate) use self::told::Told;
use crate::{
    error::Kind,
    limits::{MAX_UNLISTED_MODELS, MAX_WARNED},
    process,
};

/// One label and its value.
type Label<V = &'static str> = [(&'static str, V); 1];

/// Two labels and their values.
type Labels = [(&'static str, &'static str); 2];

/// The labels of the model and the family that an answer is counted for.
pub(crate) type Subject = [(&'static str, Arc<str>); 2];

/// The label of models without a label of their own.
pub(crate) const OTHER: &str = "other";
/// Bounds of the buckets for the time to the first token, in seconds.
const FIRST_TOKEN: [f64; 12] = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0];
/// Bounds of the buckets for the length of streams, in seconds.
const STREAM: [f64; 11] = [0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 180.0, 600.0];

/// Kinds of tokens, each with its name in a span and the places where servers write its count.
pub(crate) const TOKENS: [(&str, &str, &[&str]); 4] = [
    ("input", "gen_ai.usage.input_tokens", &["/prompt_tokens", "/input_tokens"]),
    ("output", "gen_ai.usage.output_tokens", &["/completion_tokens", "/output_tokens"]),
    ("cached", "gen_ai.usage.cache_read.input_tokens", &["/prompt_tokens_details/cached_tokens"]),
    (
        "reasoning",
        "gen_ai.usage.reasoning.output_tokens",
        &["/completion_tokens_details/reasoning_tokens"],
    ),
];

/// The counters of a proxy, in a registry.
#[derive(Debug)]
pub(crate) struct Metrics {
    registry: Registry,
    requests: Family<[(&'static str, String); 2], Counter>,
    answers: Family<(Labels, Subject), Counter>,
    streams: Family<Label, Counter>,
    open: Gauge<i64, AtomicI64>,
    held: Gauge<i64, AtomicI64>,
    bytes: Family<Label, Counter>,
    faults: Family<Label, Counter>,
    unknown: Counter,
    dropped: Family<Label, Counter>,
    unmet: Counter,
    tokens: Family<(Label, Subject), Counter>,
    added: Histogram,
    first_token: Family<Subject, Histogram, fn() -> Histogram>,
    stream_seconds: Family<Subject, Histogram, fn() -> Histogram>,
    watch: Arc<Watch>,
    /// Models of known families with one of the [`MAX_UNLISTED_MODELS`] labels.
    unlisted: Mutex<BTreeSet<Box<str>>>,
    /// Models and findings that were warned of, and paths of generation that passed.
    warned: Mutex<BTreeSet<(Box<str>, &'static str)>>,
    passed: Family<Label, Counter>,
}

/// Counters of the guards of all answers.
#[derive(Debug, Default)]
struct Watch {
    chunks: Counter<u64, AtomicU64>,
    calls: Family<(Label, Subject), Counter>,
    diagnostics: Family<(Label, Subject), Counter>,
    foreign: Family<Label<String>, Counter>,
    findings: Family<(Label, Subject), Counter>,
    violations: Family<(Label, Subject), Counter>,
}

impl Default for Metrics {
    fn default() -> Self {
        // In seconds. A guard takes microseconds for a chunk.
        let buckets = [1e-6, 5e-6, 25e-6, 100e-6, 500e-6, 2.5e-3, 10e-3, 50e-3];
        let first_token: fn() -> Histogram = || Histogram::new(FIRST_TOKEN);
        let stream_seconds: fn() -> Histogram = || Histogram::new(STREAM);
        let mut new = Self {
            registry: Registry::with_prefix("llm_stream_guard"),
            requests: Family::default(),
            answers: Family::default(),
            streams: Family::default(),
            open: Gauge::default(),
            held: Gauge::default(),
            bytes: Family::default(),
            faults: Family::default(),
            unknown: Counter::default(),
            dropped: Family::default(),
            unmet: Counter::default(),
            tokens: Family::default(),
            added: Histogram::new(buckets),
            first_token: Family::new_with_constructor(first_token),
            stream_seconds: Family::new_with_constructor(stream_seconds),
            watch: Arc::default(),
            unlisted: Mutex::default(),
            warned: Mutex::default(),
            passed: Family::default(),
        };
        new.register();
        new
    }
}

impl Metrics {
    /// Registers every counter under its name.
    fn register(&mut self) {
        let Self { registry: all, watch, .. } = self;
        let version = Info::new([("version", env!("CARGO_PKG_VERSION"))]);
        all.register("build", "The version of this program", version);
        all.register("requests", "Requests by path and status", self.requests.clone());
        let help = "Answers to guarded requests, by dialect, how they ended, model and family";
        all.register("answers", help, self.answers.clone());
        all.register("streams", "Guarded streams that ended, by how", self.streams.clone());
        all.register("streams_open", "Guarded streams that are open", self.open.clone());
        all.register("held_bytes", "Bytes of open streams that are held", self.held.clone());
        let help = "Bytes of guarded streams, by direction";
        all.register("stream_bytes", help, self.bytes.clone());
        let help = "Requests and streams that failed, by kind";
        all.register("faults", help, self.faults.clone());
        let help = "Requests for models of which no family is known";
        all.register("unknown_models", help, self.unknown.clone());
        let help = "Tools and items that were left out of requests, by kind";
        all.register("dropped", help, self.dropped.clone());
        let help = "Answers without the call that was required";
        all.register("tool_choice_not_given", help, self.unmet.clone());
        let help = "Tokens that upstream counted, by kind, model and family";
        all.register("tokens", help, self.tokens.clone());
        let help = "Time a guard took for a piece of a stream";
        all.register("added_seconds", help, self.added.clone());
        let help = "Time from a request to the model's first text, in streams";
        all.register("first_token_seconds", help, self.first_token.clone());
        let help = "Time from a request to the end of its stream";
        all.register("stream_seconds", help, self.stream_seconds.clone());
        all.register("chunks", "Pieces of models' text that were read", watch.chunks.clone());
        let help = "Calls that ended, by outcome, model and family";
        all.register("calls", help, watch.calls.clone());
        let help = "Diagnostics, by kind, model and family";
        all.register("diagnostics", help, watch.diagnostics.clone());
        let help = "Markers of other families in content: the family may be the wrong one";
        all.register("foreign_markup", help, watch.foreign.clone());
        let help = "Likely causes of faults in answers, by kind, model and family";
        all.register("findings", help, watch.findings.clone());
        let help = "Breaches of the protocol by upstream, by kind, model and family";
        all.register("violations", help, watch.violations.clone());
        let help = "Requests that generate text and passed without a guard, by path";
        all.register("passed_generation", help, self.passed.clone());
    }

    /// Returns the observer for the guards of an answer. Its request arrived at `began`.
    pub(crate) fn observer(&self, subject: Subject, began: Instant) -> Arc<Told> {
        Arc::new(Told::new(self.watch.clone(), subject, began))
    }

    /// Returns the metrics in the text format of Prometheus and OpenMetrics.
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        // Writing into a string does not fail.
        let _ = encode_registry(&mut text, &self.registry);
        let _ = encode_registry(&mut text, &process::registry());
        let _ = encode_eof(&mut text);
        text
    }

    /// Returns whether a model that is not listed gets its own label. The first [`MAX_UNLISTED_MODELS`] models
    /// do.
    pub(crate) fn has_room_for(&self, model: &str) -> bool {
        let mut unlisted = self.unlisted.lock().unwrap_or_else(PoisonError::into_inner);
        unlisted.contains(model)
            || unlisted.len() < MAX_UNLISTED_MODELS && unlisted.insert(model.into())
    }

    /// Returns whether this finding of a model's answers is the first. The first [`MAX_WARNED`]
    /// pairs are known.
    pub(crate) fn is_first(&self, model: &str, kind: &'static str) -> bool {
        let mut warned = self.warned.lock().unwrap_or_else(PoisonError::into_inner);
        warned.len() < MAX_WARNED && warned.insert((model.into(), kind))
    }

    /// Counts a request that generates text and passes without a guard. Returns whether it is the
    /// first at this path.
    pub(crate) fn generated(&self, path: &'static str) -> bool {
        self.passed.get_or_create(&[("path", path)]).inc();
        self.is_first("", path)
    }

    /// Counts a stream as open.
    pub(crate) fn opened(&self) {
        self.open.inc();
    }

    /// Counts a stream as closed.
    pub(crate) fn closed(&self) {
        self.open.dec();
    }

    /// Returns the counters of bytes from upstream and of bytes to clients.
    pub(crate) fn bytes(&self) -> (Counter, Counter) {
        let count = |direction| self.bytes.get_or_create(&[("direction", direction)]).clone();
        (count("in"), count("out"))
    }

    /// Counts the time that a guard took for a piece of a stream.
    pub(crate) fn added(&self, took: Duration) {
        self.added.observe(took.as_secs_f64());
    }

    /// Counts that the bytes held by a stream changed from `before` to `now`.
    pub(crate) fn holds(&self, now: usize, before: usize) {
        let signed = |bytes| i64::try_from(bytes).unwrap_or(i64::MAX);
        self.held.inc_by(signed(now).saturating_sub(signed(before)));
    }

    pub(crate) fn request(&self, path: &'static str, status: u16) {
        let labels = [("path", path.into()), ("status", status.to_string())];
        self.requests.get_or_create(&labels).inc();
    }

    /// Counts an answer that ended.
    pub(crate) fn answer(&self, dialect: &'static str, end: &'static str, subject: &Subject) {
        let labels = ([("dialect", dialect), ("end", end)], subject.clone());
        self.answers.get_or_create(&labels).inc();
    }

    /// Counts a stream that ended.
    pub(crate) fn stream(&self, end: &'static str, subject: &Subject, took: Duration) {
        self.streams.get_or_create(&[("end", end)]).inc();
        self.stream_seconds.get_or_create(subject).observe(took.as_secs_f64());
    }

    /// Counts the time to the first token of a stream.
    pub(crate) fn first_token(&self, subject: &Subject, took: Duration) {
        self.first_token.get_or_create(subject).observe(took.as_secs_f64());
    }

    /// Counts tokens of a kind.
    pub(crate) fn tokens(&self, kind: &'static str, subject: &Subject, count: u64) {
        self.tokens.get_or_create(&([("kind", kind)], subject.clone())).inc_by(count);
    }

    pub(crate) fn fault(&self, kind: Kind) {
        self.faults.get_or_create(&[("kind", kind.name())]).inc();
    }

    /// Counts an answer without the call that was required.
    pub(crate) fn unmet(&self) {
        self.unmet.inc();
    }

    /// Counts an item of this kind that was omitted from a request.
    pub(crate) fn dropped(&self, kind: &'static str) {
        self.dropped.get_or_create(&[("kind", kind)]).inc();
    }

    pub(crate) fn unknown_model(&self) {
        self.unknown.inc();
    }
}
