//! One guarded request and its answer, logged in one line and counted when the answer ends.
//!
//! Only numbers and names are kept, never text of users or models.

use std::{
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;

use crate::{
    dialect::ApiDialect,
    error::{Fault, Kind},
    limits::MAX_REQUEST_ID_BYTES,
    metrics::{Metrics, OTHER, Subject, TOKENS, Told},
    trace::Trace,
};

/// The header with the id of a request.
pub(crate) const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The header of an answer that reports a problem with it.
pub(crate) const NOTE: HeaderName = HeaderName::from_static("x-llm-stream-guard-note");

/// How an answer ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// The whole answer was sent.
    Complete,
    /// Upstream failed, or a limit was hit.
    Failed,
    /// The request was not sent to upstream.
    Refused,
    /// The answer passed without being read.
    Passed,
    /// The client left before the end.
    ClientGone,
}

impl Ending {
    fn name(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::Failed => "failed",
            Self::Refused => "refused",
            Self::Passed => "passed",
            Self::ClientGone => "client_gone",
        }
    }
}

/// A guarded request and its answer. Dropping the last clone logs and counts the answer. If no
/// other end was noted, the client left.
#[derive(Debug, Clone)]
pub(crate) struct Exchange(Arc<Account>);

#[derive(Debug)]
struct Account {
    metrics: Arc<Metrics>,
    trace: Trace,
    id: HeaderValue,
    dialect: ApiDialect,
    began: Instant,
    facts: Mutex<Facts>,
}

/// The part of an account that becomes known while the request is answered.
#[derive(Debug)]
struct Facts {
    model: String,
    /// The address of the server that the request goes to.
    upstream: String,
    server: &'static str,
    subject: Subject,
    told: Option<Arc<Told>>,
    status: Option<u16>,
    end: Ending,
    fault: Option<Kind>,
    streams: bool,
    /// Kinds of tools and items that were omitted from the request.
    dropped: Vec<&'static str>,
    /// Tokens in the order of [`TOKENS`].
    tokens: [Option<u64>; 4],
}

/// Returns the labels of an answer.
pub(crate) fn subject(model: &str, family: &str) -> Subject {
    [("model", model.into()), ("family", family.into())]
}

/// Returns the id of a request: the client's, if it is printable ASCII of limited length, else a
/// new one.
fn request_id(headers: &HeaderMap) -> HeaderValue {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let fit = |id: &&HeaderValue| {
        let bytes = id.as_bytes();
        (1..=MAX_REQUEST_ID_BYTES).contains(&bytes.len()) && bytes.iter().all(u8::is_ascii_graphic)
    };
    headers.get(REQUEST_ID).filter(fit).cloned().unwrap_or_else(|| {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_micros();
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let id = format!("{since:x}-{:x}-{count:x}", std::process::id());
        HeaderValue::from_str(&id).unwrap_or_else(|_| HeaderValue::from_static("0"))
    })
}

impl Exchange {
    /// Begins the exchange of a request with these headers.
    pub(crate) fn begin(metrics: Arc<Metrics>, dialect: ApiDialect, headers: &HeaderMap) -> Self {
        Self(Arc::new(Account {
            metrics,
            trace: Trace::begin(dialect.path(), headers),
            id: request_id(headers),
            dialect,
            began: Instant::now(),
            facts: Mutex::new(Facts {
                model: String::new(),
                upstream: String::new(),
                server: "",
                subject: subject(OTHER, "none"),
                told: None,
                status: None,
                end: Ending::ClientGone,
                fault: None,
                streams: false,
                dropped: Vec::new(),
                tokens: [None; 4],
            }),
        }))
    }

    /// Returns when the request arrived.
    pub(crate) fn began(&self) -> Instant {
        self.0.began
    }

    /// Writes the request's id and its trace into the headers for upstream.
    pub(crate) fn pass_on(&self, headers: &mut HeaderMap) {
        headers.insert(REQUEST_ID, self.0.id.clone());
        self.0.trace.pass_on(headers);
    }

    /// Notes the model's id in a form that is safe to log.
    pub(crate) fn model(&self, model: String) {
        self.0.trace.text("gen_ai.request.model", &model);
        self.facts().model = model;
    }

    /// Notes the address of the server that the request goes to.
    pub(crate) fn goes_to(&self, upstream: String) {
        self.facts().upstream = upstream;
    }

    /// Notes how the answer is read, and returns the observer for its guards.
    pub(crate) fn read_as(&self, subject: Subject, server: &'static str) -> Arc<Told> {
        let [_, (_, family)] = &subject;
        self.0.trace.text("llm_stream_guard.family", family);
        let told = self.0.metrics.observer(subject.clone(), self.0.began);
        let mut facts = self.facts();
        (facts.subject, facts.server) = (subject, server);
        facts.told = Some(told.clone());
        told
    }

    /// Notes that the answer is a stream.
    pub(crate) fn streams(&self) {
        self.facts().streams = true;
    }

    /// Counts and logs that an item of this kind was omitted from the request.
    pub(crate) fn dropped(&self, kind: &'static str) {
        self.0.metrics.dropped(kind);
        tracing::info!(path = self.0.dialect.path(), kind, "left out of the request");
        let mut facts = self.facts();
        if !facts.dropped.contains(&kind) {
            facts.dropped.push(kind);
        }
    }

    /// Notes the head of the answer, and adds the request's id and the omitted kinds to its
    /// headers.
    pub(crate) fn head(&self, status: u16, headers: &mut HeaderMap) {
        headers.insert(REQUEST_ID, self.0.id.clone());
        self.0.trace.number("http.response.status_code", status.into());
        let mut facts = self.facts();
        facts.status = Some(status);
        if !facts.dropped.is_empty() {
            let note = format!("left out of the request: {}", facts.dropped.join(", "));
            headers.extend(HeaderValue::from_str(&note).ok().map(|note| (NOTE, note)));
        }
    }

    /// Notes the end, unless a failure was noted before.
    pub(crate) fn end(&self, end: Ending) {
        let mut facts = self.facts();
        if facts.end != Ending::Failed {
            facts.end = end;
        }
    }

    /// Counts and logs a fault: the answer is missing, or the stream failed.
    pub(crate) fn fault(&self, fault: &Fault) {
        let kind = fault.kind;
        self.0.metrics.fault(kind);
        self.0.trace.failed(kind);
        {
            let mut facts = self.facts();
            facts.fault = Some(kind);
            // Upstream's words may repeat the request.
            let reason = (kind != Kind::Upstream).then_some(fault);
            tracing::warn!(
                request_id = self.id(),
                model = facts.model,
                upstream = facts.upstream,
                kind = kind.name(),
                status = fault.status.as_u16(),
                reason = reason.map(tracing::field::display),
                "{}",
                if facts.streams { "stream failed" } else { "no answer" }
            );
        }
        self.end(match kind {
            Kind::Request | Kind::Model | Kind::Busy => Ending::Refused,
            _ => Ending::Failed,
        });
    }

    /// Notes that the answer lacks a required call.
    pub(crate) fn unmet(&self) {
        let model = self.facts().model.clone();
        tracing::warn!(request_id = self.id(), model, "a call was required and not given");
        self.0.trace.text("llm_stream_guard.tool_choice", "not_given");
        self.0.metrics.unmet();
    }

    /// Counts the tokens that upstream reports.
    pub(crate) fn counted(&self, usage: Option<&Value>) {
        let mut facts = self.facts();
        for (at, (kind, attribute, paths)) in TOKENS.into_iter().enumerate() {
            let count = paths.iter().find_map(|path| usage?.pointer(path)?.as_u64());
            let Some(count) = count.filter(|count| *count > 0) else { continue };
            self.0.trace.number(attribute, count);
            self.0.metrics.tokens(kind, &facts.subject, count);
            if let Some(known) = facts.tokens.get_mut(at) {
                *known = Some(count);
            }
        }
    }

    /// Counts and logs that no family is known for the request's model; `what` names it.
    pub(crate) fn unknown_model(&self, what: &str) {
        self.0.metrics.unknown_model();
        tracing::warn!(request_id = self.id(), "{what}");
    }

    fn id(&self) -> &str {
        self.0.id.to_str().unwrap_or_default()
    }

    fn facts(&self) -> MutexGuard<'_, Facts> {
        self.0.facts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Account {
    fn drop(&mut self) {
        let took = self.began.elapsed();
        let facts = self.facts.get_mut().unwrap_or_else(PoisonError::into_inner);
        let end = facts.end.name();
        let told = facts.told.as_deref();
        let first = told.and_then(Told::first).filter(|_| facts.streams);
        self.trace.text("llm_stream_guard.end", end);
        self.metrics.answer(self.dialect.name(), end, &facts.subject);
        if facts.streams {
            self.metrics.stream(end, &facts.subject, took);
        }
        if let Some(first) = first {
            self.metrics.first_token(&facts.subject, first);
        }
        let millis = |span: Duration| u64::try_from(span.as_millis()).unwrap_or(u64::MAX);
        let [complete, repaired, malformed, incomplete] = told.map(Told::calls).unwrap_or_default();
        let [_, (_, family)] = &facts.subject;
        let [input, output, ..] = facts.tokens;
        let findings = told.map(Told::findings).unwrap_or_default();
        let found = (!findings.is_empty()).then(|| findings.join(","));
        tracing::info!(
            request_id = self.id.to_str().unwrap_or_default(),
            dialect = self.dialect.name(),
            model = facts.model,
            family = &**family,
            server = facts.server,
            status = facts.status,
            end,
            fault = facts.fault.map(Kind::name),
            ms = millis(took),
            first_token_ms = first.map(millis),
            input_tokens = input,
            output_tokens = output,
            calls_complete = complete,
            calls_repaired = repaired,
            calls_malformed = malformed,
            calls_incomplete = incomplete,
            diagnostics = told.map_or(0, Told::diagnostics),
            findings = found,
            "answer"
        );
        let Some(told) = told else { return };
        for kind in findings {
            let Some(setting) = told.setting(kind, family) else { continue };
            // The same cause would be reported with each answer.
            if self.metrics.is_first(&facts.model, kind) {
                let model = &facts.model;
                let setting = setting.replace("\"ID\"", &format!("{model:?}"));
                tracing::warn!(
                    request_id = self.id.to_str().unwrap_or_default(),
                    model,
                    family = &**family,
                    finding = kind,
                    "this model's answers look wrong; to mend it: {setting}"
                );
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use axum::http::{HeaderMap, HeaderValue};

    use super::{REQUEST_ID, request_id};

    #[test]
    fn request_id_of_the_client_is_kept_if_it_fits_a_log_line() {
        let named = |id: &str| {
            let id = HeaderValue::from_str(id).unwrap();
            request_id(&HeaderMap::from_iter([(REQUEST_ID, id)]))
        };
        assert_eq!(named("req-7"), "req-7");
        for unfit in ["", "a b", &"x".repeat(200)] {
            assert_ne!(named(unfit), unfit);
        }
        assert_ne!(request_id(&HeaderMap::new()), request_id(&HeaderMap::new()));
    }
}
