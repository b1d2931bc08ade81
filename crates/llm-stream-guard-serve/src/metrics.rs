//! What is counted: numbers and constant names, never text.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering},
    },
    time::Duration,
};

use llm_stream_guard::{Diagnostic, Observer, Outcome};
use prometheus_client::{
    encoding::text::encode,
    metrics::{counter::Counter, family::Family, gauge::Gauge, histogram::Histogram},
    registry::Registry,
};

use serde_json::Value;

use crate::{error::Kind, trace::Trace};

/// One label and its value.
type Label<V = &'static str> = [(&'static str, V); 1];

/// Kinds of tokens, each with its name in a span, and where servers write their number.
const TOKENS: [(&str, &str, &[&str]); 4] = [
    ("input", "gen_ai.usage.input_tokens", &["/prompt_tokens", "/input_tokens"]),
    ("output", "gen_ai.usage.output_tokens", &["/completion_tokens", "/output_tokens"]),
    ("cached", "gen_ai.usage.cache_read.input_tokens", &["/prompt_tokens_details/cached_tokens"]),
    (
        "reasoning",
        "gen_ai.usage.reasoning.output_tokens",
        &["/completion_tokens_details/reasoning_tokens"],
    ),
];

/// Counters of a proxy, in a registry.
#[derive(Debug)]
pub(crate) struct Metrics {
    registry: Registry,
    requests: Family<[(&'static str, String); 2], Counter>,
    streams: Family<Label, Counter>,
    open: Gauge<i64, AtomicI64>,
    held: Gauge<i64, AtomicI64>,
    bytes: Family<Label, Counter>,
    faults: Family<Label, Counter>,
    unknown: Counter,
    dropped: Family<Label, Counter>,
    unmet: Counter,
    tokens: Family<Label, Counter>,
    added: Histogram,
    watch: Arc<Watch>,
}

/// What guards tell.
#[derive(Debug, Default)]
struct Watch {
    chunks: Counter<u64, AtomicU64>,
    calls: Family<Label, Counter>,
    diagnostics: Family<Label, Counter>,
    foreign: Family<Label<String>, Counter>,
}

/// What the guards of one answer tell.
#[derive(Debug)]
pub(crate) struct Told {
    watch: Arc<Watch>,
    noted: AtomicBool,
}

impl Told {
    /// Whether anything was wrong.
    pub(crate) fn noted(&self) -> bool {
        self.noted.load(Ordering::Relaxed)
    }
}

impl Observer for Told {
    fn chunk(&self, _: usize) {
        self.watch.chunks.inc();
    }

    fn call_ended(&self, _: u32, outcome: Outcome) {
        self.watch.calls.get_or_create(&[("outcome", outcome.name())]).inc();
    }

    fn diagnostic(&self, diagnostic: Diagnostic) {
        self.noted.store(true, Ordering::Relaxed);
        let kind = diagnostic.kind.name();
        self.watch.diagnostics.get_or_create(&[("kind", kind)]).inc();
    }

    fn foreign_markup(&self, marker: &str) {
        self.noted.store(true, Ordering::Relaxed);
        self.watch.foreign.get_or_create(&[("marker", marker.into())]).inc();
    }
}

impl Default for Metrics {
    fn default() -> Self {
        // Seconds: a guard takes microseconds for a chunk.
        let buckets = [1e-6, 5e-6, 25e-6, 100e-6, 500e-6, 2.5e-3, 10e-3, 50e-3];
        let mut new = Self {
            registry: Registry::with_prefix("llm_stream_guard"),
            requests: Family::default(),
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
            watch: Arc::default(),
        };
        let Self {
            registry,
            requests,
            streams,
            open,
            held,
            bytes,
            faults,
            unknown,
            dropped,
            unmet,
            tokens,
            added,
            watch,
        } = &mut new;
        registry.register("requests", "Requests by path and status", requests.clone());
        registry.register("streams", "Guarded streams that ended, by how", streams.clone());
        registry.register("streams_open", "Guarded streams that are open", open.clone());
        registry.register("held_bytes", "Bytes of open streams that are held", held.clone());
        registry.register("stream_bytes", "Bytes of guarded streams, by direction", bytes.clone());
        registry.register("faults", "Requests and streams that failed, by why", faults.clone());
        registry.register(
            "unknown_models",
            "Requests for models of which no family is known",
            unknown.clone(),
        );
        registry.register(
            "dropped",
            "Tools and items that were left out of requests, by kind",
            dropped.clone(),
        );
        registry.register(
            "tool_choice_not_given",
            "Answers without the call that was required",
            unmet.clone(),
        );
        registry.register("tokens", "Tokens that upstream counted, by kind", tokens.clone());
        registry.register(
            "added_seconds",
            "Time a guard took for a piece of a stream",
            added.clone(),
        );
        registry.register("chunks", "Pieces of models' text that were read", watch.chunks.clone());
        registry.register("calls", "Calls that ended, by how", watch.calls.clone());
        registry.register("diagnostics", "Diagnostics, by kind", watch.diagnostics.clone());
        registry.register(
            "foreign_markup",
            "Markers of other families in content: the family may be the wrong one",
            watch.foreign.clone(),
        );
        new
    }
}

impl Metrics {
    /// What the guards of an answer are to tell.
    pub(crate) fn observer(&self) -> Arc<Told> {
        Arc::new(Told { watch: self.watch.clone(), noted: AtomicBool::new(false) })
    }

    /// In the text format of Prometheus and OpenMetrics.
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        // Writing into a string does not fail.
        let _ = encode(&mut text, &self.registry);
        text
    }

    pub(crate) fn request(&self, path: &'static str, status: u16) {
        let labels = [("path", path.into()), ("status", status.to_string())];
        self.requests.get_or_create(&labels).inc();
    }

    /// What upstream counted for an answer, if it did.
    pub(crate) fn counted(&self, usage: Option<&Value>, trace: &Trace) {
        for (kind, attribute, paths) in TOKENS {
            let count = paths.iter().find_map(|path| usage?.pointer(path)?.as_u64());
            if let Some(count) = count.filter(|count| *count > 0) {
                trace.number(attribute, count);
                self.tokens.get_or_create(&[("kind", kind)]).inc_by(count);
            }
        }
    }

    pub(crate) fn fault(&self, kind: Kind) {
        self.faults.get_or_create(&[("kind", kind.name())]).inc();
    }

    /// A call was demanded and not given.
    pub(crate) fn unmet(&self, trace: &Trace) {
        tracing::warn!("a call was required and not given");
        trace.text("llm_stream_guard.tool_choice", "not_given");
        self.unmet.inc();
    }

    /// Something of a request was left out.
    pub(crate) fn dropped(&self, kind: &'static str) {
        self.dropped.get_or_create(&[("kind", kind)]).inc();
    }

    pub(crate) fn unknown_model(&self) {
        self.unknown.inc();
    }
}

/// How a guarded stream ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    Complete,
    Failed,
    /// The client left.
    Dropped,
}

/// The counters of one stream. Dropped without an end, it tells that the client left.
#[derive(Debug)]
pub(crate) struct Meter {
    metrics: Arc<Metrics>,
    trace: Trace,
    ending: Ending,
    held: usize,
}

impl Meter {
    pub(crate) fn new(metrics: Arc<Metrics>, trace: Trace) -> Self {
        metrics.open.inc();
        Self { metrics, trace, ending: Ending::Dropped, held: 0 }
    }

    /// A piece was read.
    pub(crate) fn piece(&mut self, came: usize, left: usize, held: usize, took: Duration) {
        let bytes = |direction, count| {
            self.metrics.bytes.get_or_create(&[("direction", direction)]).inc_by(count as u64);
        };
        bytes("in", came);
        bytes("out", left);
        self.metrics.added.observe(took.as_secs_f64());
        self.hold(held);
    }

    /// A call was demanded and not given.
    pub(crate) fn unmet(&self) {
        self.metrics.unmet(&self.trace);
    }

    /// What upstream counted, once.
    pub(crate) fn counted(&self, usage: Option<&Value>) {
        self.metrics.counted(usage, &self.trace);
    }

    fn hold(&mut self, held: usize) {
        let signed = |bytes| i64::try_from(bytes).unwrap_or(i64::MAX);
        self.metrics.held.inc_by(signed(held).saturating_sub(signed(self.held)));
        self.held = held;
    }

    pub(crate) fn fault(&mut self, kind: Kind) {
        self.metrics.fault(kind);
        self.trace.failed(kind);
        self.ending = Ending::Failed;
    }

    pub(crate) fn complete(&mut self) {
        if self.ending == Ending::Dropped {
            self.ending = Ending::Complete;
        }
    }
}

impl Drop for Meter {
    fn drop(&mut self) {
        self.hold(0);
        self.metrics.open.dec();
        let how = match self.ending {
            Ending::Complete => "complete",
            Ending::Failed => "failed",
            Ending::Dropped => "client_gone",
        };
        self.trace.text("llm_stream_guard.end", how);
        self.metrics.streams.get_or_create(&[("end", how)]).inc();
    }
}
