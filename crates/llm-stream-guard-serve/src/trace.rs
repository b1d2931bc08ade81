//! Spans for OpenTelemetry: one per request, with numbers and names, never text.
//!
//! Without the feature `otel` nothing is recorded. With it, spans go to the process's tracer
//! provider and belong to the trace of the client's `traceparent`. Upstream's spans belong to the
//! same trace.

use axum::http::HeaderMap;
#[cfg(feature = "otel")]
use opentelemetry::{
    Context, KeyValue, global,
    trace::{SpanKind, Status, TraceContextExt as _, Tracer as _},
};
#[cfg(feature = "otel")]
use opentelemetry_http::{HeaderExtractor, HeaderInjector};

use crate::error::Kind;

/// The span of a guarded request; it ends with the last clone.
#[derive(Debug, Clone)]
pub(crate) struct Trace {
    #[cfg(feature = "otel")]
    context: Context,
}

#[cfg(feature = "otel")]
impl Trace {
    /// Begins the span of a request with these headers.
    pub(crate) fn begin(path: &'static str, headers: &HeaderMap) -> Self {
        let parent = global::get_text_map_propagator(|it| it.extract(&HeaderExtractor(headers)));
        let tracer = global::tracer(env!("CARGO_PKG_NAME"));
        let span = tracer.span_builder(format!("POST {path}")).with_kind(SpanKind::Server);
        let span = span.with_attributes([
            KeyValue::new("http.request.method", "POST"),
            KeyValue::new("http.route", path),
            KeyValue::new("gen_ai.operation.name", "chat"),
        ]);
        Self { context: parent.with_span(span.start_with_context(&tracer, &parent)) }
    }

    /// Adds the header that makes upstream's spans children of this one.
    pub(crate) fn pass_on(&self, headers: &mut HeaderMap) {
        let mut headers = HeaderInjector(headers);
        global::get_text_map_propagator(|it| it.inject_context(&self.context, &mut headers));
    }

    pub(crate) fn text(&self, name: &'static str, value: &str) {
        self.context.span().set_attribute(KeyValue::new(name, value.to_owned()));
    }

    pub(crate) fn number(&self, name: &'static str, value: u64) {
        let value = i64::try_from(value).unwrap_or(i64::MAX);
        self.context.span().set_attribute(KeyValue::new(name, value));
    }

    pub(crate) fn failed(&self, kind: Kind) {
        self.text("error.type", kind.name());
        self.context.span().set_status(Status::error(kind.name()));
    }
}

#[cfg(not(feature = "otel"))]
impl Trace {
    pub(crate) fn begin(_: &'static str, _: &HeaderMap) -> Self {
        Self {}
    }

    pub(crate) fn pass_on(&self, _: &mut HeaderMap) {}

    pub(crate) fn text(&self, _: &'static str, _: &str) {}

    pub(crate) fn number(&self, _: &'static str, _: u64) {}

    pub(crate) fn failed(&self, _: Kind) {}
}
