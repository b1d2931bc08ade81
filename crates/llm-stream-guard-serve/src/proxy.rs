//! The proxy: what a request is taken for, and what becomes of it.

mod asked;

use std::sync::Arc;

use axum::{
    Router,
    body::Body,
    extract::{Request, State},
    http::{
        HeaderMap, HeaderValue, Method, StatusCode,
        header::{CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, RETRY_AFTER},
    },
    response::{IntoResponse, Response},
    routing::{get, post},
};
use llm_stream_guard::chat::{ChatGuard, Completion, CompletionChoice};
use serde_json::Value;

use self::asked::Asked;

use crate::{
    body::Body as RequestBody,
    catalog::Catalog,
    client::Client,
    config::{Checked as _, Completions, Config, UnsupportedTools},
    dialect::{Dialect, encoded::broken_call, unsupported::Unsupported},
    error::{Fault, Kind},
    exchange::{Ending, Exchange},
    families::Families,
    idle::Idle,
    ledger::Ledger,
    meter::Meter,
    metrics::Metrics,
    path::canonical,
    record::Records,
    stream::{Guarded, Patience},
};

/// The header of a request for a text completion that says whether its answer is guarded.
const GUARD: &str = "x-llm-stream-guard";

/// The header of an answer that says what is wrong with it.
const NOTE: &str = "x-llm-stream-guard-note";

/// A proxy for one upstream. Cheap to clone; clones share connections and counters.
#[derive(Debug, Clone)]
pub struct Proxy {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    config: Config,
    client: Client,
    catalog: Catalog,
    families: Families,
    metrics: Arc<Metrics>,
    records: Option<Arc<Records>>,
    ledger: Arc<Ledger>,
}

impl Proxy {
    /// A proxy that does what `config` says; where it says to listen is [`crate::serve`]'s.
    ///
    /// # Errors
    /// A value cannot be in force, the roots of trust for `https` cannot be loaded, or the directory
    /// for records cannot be made.
    pub fn new(config: Config) -> Result<Self, Fault> {
        config
            .check()
            .map_err(|bad| Fault::new(Kind::Request, &bad.expected).at(bad.path.join(".")))?;
        let records = config.record.as_ref().map(Records::new).transpose();
        let records = records.map_err(|error| Fault::new(Kind::Request, error).at("record.dir"))?;
        let shared = Shared {
            client: Client::new(&config)?,
            catalog: Catalog::default(),
            families: Families::new(&config),
            metrics: Arc::default(),
            records: records.map(Arc::new),
            ledger: Ledger::new(config.limits.bodies),
            config,
        };
        Ok(Self { shared: Arc::new(shared) })
    }

    /// The proxy as a service: guarded paths, `/healthz`, `/metrics`, and upstream for all else.
    pub fn router(&self) -> Router {
        let mut router = Router::new();
        for dialect in Dialect::ALL {
            let answer = move |State(proxy): State<Self>, request| proxy.guarded(dialect, request);
            router = router.route(dialect.path(), post(answer));
        }
        router
            .route("/healthz", get(|| async { "ok\n" }))
            .route("/metrics", get(Self::metrics))
            .fallback(Self::other)
            .method_not_allowed_fallback(Self::untouched)
            .with_state(self.clone())
    }

    /// The configuration.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.shared.config
    }

    async fn metrics(State(proxy): State<Self>) -> Response {
        let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
        ([(CONTENT_TYPE, kind)], proxy.shared.metrics.text()).into_response()
    }

    /// A path that is none of the guarded ones as it is spelled.
    async fn other(State(proxy): State<Self>, request: Request) -> Response {
        let path = canonical(request.uri().path());
        let guarded = Dialect::ALL.into_iter().find(|dialect| dialect.path() == path);
        match guarded.filter(|_| request.method() == Method::POST) {
            Some(dialect) => proxy.guarded(dialect, request).await,
            None => Self::untouched(State(proxy), request).await,
        }
    }

    /// Passes a request and its answer on as they are.
    async fn untouched(State(proxy): State<Self>, request: Request) -> Response {
        let (parts, body) = request.into_parts();
        // What is not read may stand still no longer than what is.
        let watched = |body| Body::new(Idle::new(body, proxy.shared.config.timeouts.idle.0));
        let response = match proxy.shared.client.send(&parts, watched(body)).await {
            Ok(response) => response.map(watched),
            Err(fault) => {
                proxy.shared.metrics.fault(fault.kind);
                refusal(Dialect::Chat, &fault)
            }
        };
        proxy.shared.metrics.request("other", response.status().as_u16());
        response
    }

    async fn guarded(self, dialect: Dialect, mut request: Request) -> Response {
        if dialect == Dialect::Completions {
            match self.guards_completion(request.headers_mut()) {
                Ok(true) => {}
                Ok(false) => return Self::untouched(State(self), request).await,
                Err(fault) => {
                    self.shared.metrics.fault(fault.kind);
                    return refusal(dialect, &fault);
                }
            }
        }
        let exchange = Exchange::begin(self.shared.metrics.clone(), dialect, request.headers());
        let answer = self.answer(dialect, request, &exchange).await;
        let mut response = answer.unwrap_or_else(|fault| {
            exchange.fault(fault.kind);
            refusal(dialect, &fault)
        });
        let status = response.status().as_u16();
        exchange.head(status, response.headers_mut());
        self.shared.metrics.request(dialect.path(), status);
        response
    }

    /// Whether the answer to a text completion is to be guarded.
    fn guards_completion(&self, headers: &mut HeaderMap) -> Result<bool, Fault> {
        match headers.remove(GUARD).as_ref().map(HeaderValue::as_bytes) {
            None => Ok(self.shared.config.completions == Completions::Guard),
            Some(b"on") => Ok(true),
            Some(b"off") => Ok(false),
            Some(_) => Err(Fault::new(Kind::Request, "expected `on` or `off`").at(GUARD)),
        }
    }

    async fn answer(
        &self,
        dialect: Dialect,
        request: Request,
        exchange: &Exchange,
    ) -> Result<Response, Fault> {
        let Shared { config, client, metrics, .. } = &*self.shared;
        let (mut parts, body) = request.into_parts();
        exchange.pass_on(&mut parts.headers);
        if parts.headers.get(CONTENT_ENCODING).is_some_and(|coding| coding != "identity") {
            let fault = Fault::new(Kind::Request, "expected a body that is not compressed");
            return Err(fault.status(StatusCode::UNSUPPORTED_MEDIA_TYPE));
        }
        let (bytes, charge) = self.shared.ledger.read(body, config).await?;
        let (read, policy) = (bytes.clone(), config.unsupported_tools);
        let read = move || read_request(dialect, &read, policy);
        let Read { body, asked, dropped } = heavy(bytes.len(), read).await??;
        for kind in dropped {
            metrics.dropped(kind);
            tracing::info!(path = dialect.path(), kind, "left out of the request");
        }
        let Some(Asked { guard, told, family, mut body, choices, forced }) =
            self.asked(dialect, body, &parts.headers, exchange).await?
        else {
            exchange.end(Ending::Passed);
            return client.send(&parts, bytes.into()).await;
        };
        drop(bytes);
        let streamed = body.is("stream", "true");
        let options = body.get("stream_options")?.unwrap_or_default();
        let counted = options.get("include_usage") == Some(&Value::Bool(true));
        let sent = body.to_vec();
        drop(body);
        let path = parts.uri.query();
        let path = path.map_or_else(String::new, |query| format!("?{query}"));
        let path = format!("{}{path}", dialect.upstream_path());
        let answer = client.ask(parts, &path, sent).await?;
        drop(charge);
        if !answer.status().is_success() {
            exchange.end(Ending::Failed);
            return self.declined(dialect, answer).await;
        }
        let (mut head, body) = answer.into_parts();
        if let Some(coding) = head.headers.get(CONTENT_ENCODING).filter(|it| *it != "identity") {
            let coding = coding.to_str().unwrap_or_default();
            let what = format!("upstream compressed its answer ({coding}), asked not to");
            return Err(Fault::new(Kind::Broken, what));
        }
        head.headers.remove(CONTENT_ENCODING);
        if !is_event_stream(&head.headers) {
            let bytes = Idle::new(body, config.timeouts.idle.0).whole(config.limits.answer).await?;
            let length = bytes.len();
            let answered = bytes.clone();
            let work = move || -> Result<_, Fault> {
                let (whole, broken) = self::whole(dialect, &guard, &bytes)?;
                let answer = dialect.whole(&whole, &asked, &broken);
                let uncalled = whole.choices.iter().any(|it| it.message.tool_calls.is_empty());
                Ok((answer.to_string(), whole.usage, uncalled))
            };
            let read = heavy(length, work).await?;
            if let Some(records) = self.shared.records.as_ref().filter(|_| told.noted()) {
                let mut recording = records.begin(&format!("family {family}"));
                recording.take_whole(&answered);
                recording.keep();
            }
            let (answer, usage, uncalled) = read?;
            exchange.counted(usage.value());
            exchange.end(Ending::Complete);
            let mut response = json(head.status, answer);
            if forced && uncalled {
                exchange.unmet();
                let note = HeaderValue::from_static("a call was required and not given");
                response.headers_mut().insert(NOTE, note);
            }
            head.headers.remove(CONTENT_TYPE);
            response.headers_mut().extend(head.headers);
            return Ok(response);
        }
        head.headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        // A reverse proxy in front must not collect what comes in pieces.
        head.headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
        let patience = Patience {
            first: config.timeouts.first_byte.0.saturating_sub(exchange.began().elapsed()),
            idle: config.timeouts.idle.0,
            keep_alive: config.timeouts.keep_alive.0,
        };
        if !dialect.is_upstreams() {
            // Upstream's fields speak of its own events.
            head.headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
        }
        let leave_after = (streamed && !counted).then_some(choices);
        let meter = Meter::new(metrics.clone(), exchange.clone());
        let machine = dialect.stream(guard, &asked);
        let mut stream = Guarded::new(body, machine, patience, leave_after, meter).forced(forced);
        if let Some(records) = &self.shared.records {
            stream = stream.recorded(records.begin(&format!("family {family}")), told);
        }
        Ok(Response::from_parts(head, Body::from_stream(stream)))
    }

    /// Upstream answered with a status that says no.
    async fn declined(&self, dialect: Dialect, answer: Response) -> Result<Response, Fault> {
        if dialect.is_upstreams() {
            return Ok(answer);
        }
        let config = &self.shared.config;
        let (head, body) = answer.into_parts();
        let bytes = Idle::new(body, config.timeouts.idle.0).whole(config.limits.answer).await?;
        let mut fault = Fault::reported(&serde_json::from_slice(&bytes).unwrap_or_default());
        fault.retry_after = head.headers.get(RETRY_AFTER).cloned();
        Err(fault.status(head.status))
    }
}

/// The answer to a request that has none but a fault.
fn refusal(dialect: Dialect, fault: &Fault) -> Response {
    let (kind, status) = (fault.kind.name(), fault.status.as_u16());
    match fault.kind {
        // Upstream's words may repeat the request.
        Kind::Upstream => tracing::warn!(kind, status, "no answer"),
        _ => tracing::warn!(kind, status, "no answer: {fault}"),
    }
    let mut response = json(fault.status, dialect.fault(fault).to_string());
    if let Some(after) = &fault.retry_after {
        response.headers_mut().insert(RETRY_AFTER, after.clone());
    }
    response
}

/// From here on, reading JSON takes longer than others should wait for.
const HEAVY: usize = 256 << 10;

/// Does the work on `length` bytes, where it holds up no streams if it is heavy.
async fn heavy<T: Send + 'static>(
    length: usize,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Fault> {
    if length < HEAVY {
        return Ok(work());
    }
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|error| Fault::new(Kind::Limit, format!("the work was given up: {error}")))
}

/// A request that was read.
struct Read {
    /// What upstream is to be asked.
    body: RequestBody,
    /// The fields at which the writer of the answer looks.
    asked: Value,
    dropped: Vec<&'static str>,
}

fn read_request(dialect: Dialect, bytes: &[u8], policy: UnsupportedTools) -> Result<Read, Fault> {
    let mut unsupported = Unsupported::new(policy);
    let mut body = RequestBody::read(bytes)?;
    let asked = dialect.asked(&mut body)?;
    let body = dialect.request(body, &mut unsupported)?;
    Ok(Read { body, asked, dropped: unsupported.into_dropped() })
}

/// Guards a whole answer; with it the places of calls that were malformed or cut.
fn whole(
    dialect: Dialect,
    guard: &ChatGuard,
    said: &[u8],
) -> Result<(Completion, Vec<u32>), Fault> {
    let none = |_| Fault::new(Kind::Broken, "upstream's answer is no completion");
    let read = dialect.read(said);
    if read.as_ref().map_or(true, |read| read.choices.is_empty()) {
        let said: Value = serde_json::from_slice(said).map_err(none)?;
        if said.get("error").is_some_and(|error| !error.is_null()) {
            return Err(Fault::reported(&said));
        }
    }
    let mut broken = Vec::new();
    let whole = guard.complete_noting(read.map_err(none)?, |note| broken.extend(broken_call(note)));
    let whole = whole.map_err(|error| Fault::new(Kind::Limit, error))?;
    let open = |choice: &CompletionChoice| choice.finish_reason.value().is_none();
    if whole.choices.is_empty() || whole.choices.iter().any(open) {
        return Err(Fault::new(Kind::Broken, "upstream's answer has no finish reason: it was cut"));
    }
    Ok((whole, broken))
}

fn is_event_stream(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    kind.trim_start().to_ascii_lowercase().starts_with("text/event-stream")
}

fn json(status: StatusCode, text: String) -> Response {
    (status, [(CONTENT_TYPE, "application/json")], text).into_response()
}

#[cfg(test)]
mod tests {
    use super::{Dialect, HEAVY, UnsupportedTools, heavy, read_request};

    #[test]
    fn reading_a_request_takes_at_most_four_times_its_memory() {
        let small = "{\"\":0},".repeat(600_000);
        let turn = r#"{"role": "user", "content": "a"},"#.repeat(100_000);
        let text = format!(r#"{{"role": "user", "content": "{}"}},"#, "x".repeat(4 << 20));
        for dialect in Dialect::ALL {
            for field in ["messages", "input", "tools", "metadata", "user", "prompt"] {
                for many in [&small, &turn, &text] {
                    let body =
                        format!(r#"{{"model": "m", "{field}": [{}]}}"#, many.trim_end_matches(','));
                    let memory = allocation_counter::measure(|| {
                        drop(read_request(dialect, body.as_bytes(), UnsupportedTools::Drop));
                    });
                    let times = memory.bytes_max / body.len() as u64;
                    assert!(times < 4, "{dialect:?} {field}: {times}");
                }
            }
        }
    }

    #[tokio::test]
    async fn heavy_work_is_done_elsewhere() {
        let here = std::thread::current().id();
        let at = |length| heavy(length, || std::thread::current().id());
        assert_eq!(at(HEAVY - 1).await.unwrap(), here);
        assert_ne!(at(HEAVY).await.unwrap(), here);
    }
}
