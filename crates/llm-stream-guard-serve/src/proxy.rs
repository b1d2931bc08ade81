//! The proxy: what a request is taken for, and what becomes of it.

mod asked;

use std::{sync::Arc, time::Instant};

use axum::{
    Router,
    body::{Body, Bytes},
    extract::{Request, State},
    http::{
        HeaderMap, HeaderValue, StatusCode,
        header::{CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, RETRY_AFTER},
    },
    response::{IntoResponse, Response},
    routing::{get, post},
};
use serde_json::Value;

use self::asked::Asked;

use crate::{
    catalog::Catalog,
    client::Client,
    config::{Completions, Config},
    dialect::Dialect,
    error::{Fault, Kind},
    families::Families,
    idle::Idle,
    metrics::{Meter, Metrics},
    record::Records,
    stream::{Guarded, Patience},
    trace::Trace,
};

/// The header of a request for a text completion that says whether its answer is guarded.
const GUARD: &str = "x-llm-stream-guard";

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
}

impl Proxy {
    /// A proxy that does what `config` says; where it says to listen is [`crate::serve`]'s.
    ///
    /// # Errors
    /// The roots of trust for `https` cannot be loaded, or the directory for records not made.
    pub fn new(config: Config) -> Result<Self, Fault> {
        let records = config.record.as_ref().map(Records::new).transpose();
        let records = records.map_err(|error| Fault::new(Kind::Request, error).at("record.dir"))?;
        let shared = Shared {
            client: Client::new(&config)?,
            catalog: Catalog::default(),
            families: Families::new(&config),
            metrics: Arc::default(),
            records: records.map(Arc::new),
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
            .fallback(Self::untouched)
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

    /// Passes a request and its answer on as they are.
    async fn untouched(State(proxy): State<Self>, request: Request) -> Response {
        let (parts, body) = request.into_parts();
        // What is not read may stand still no longer than what is.
        let watched = |body| Body::new(Idle::new(body, proxy.shared.config.timeouts.idle.0));
        let response = match proxy.shared.client.send(&parts, watched(body)).await {
            Ok(response) => response.map(watched),
            Err(fault) => proxy.refusal(Dialect::Chat, &fault),
        };
        proxy.shared.metrics.request("other", response.status().as_u16());
        response
    }

    async fn guarded(self, dialect: Dialect, mut request: Request) -> Response {
        if dialect == Dialect::Completions {
            match self.guards_completion(request.headers_mut()) {
                Ok(true) => {}
                Ok(false) => return Self::untouched(State(self), request).await,
                Err(fault) => return self.refusal(dialect, &fault),
            }
        }
        let began = Instant::now();
        let trace = Trace::begin(dialect.path(), request.headers());
        let response = match self.answer(dialect, request, &trace).await {
            Ok(response) => response,
            Err(fault) => {
                trace.failed(fault.kind);
                self.refusal(dialect, &fault)
            }
        };
        let status = response.status().as_u16();
        trace.number("http.response.status_code", status.into());
        self.shared.metrics.request(dialect.path(), status);
        let millis = began.elapsed().as_millis();
        tracing::info!(path = dialect.path(), status, millis, "request");
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

    /// A fault in place of an answer.
    fn refusal(&self, dialect: Dialect, fault: &Fault) -> Response {
        self.shared.metrics.fault(fault.kind);
        let (kind, status) = (fault.kind.name(), fault.status.as_u16());
        match fault.kind {
            // Upstream's words may repeat the request.
            Kind::Upstream => tracing::warn!(kind, status, "no answer"),
            _ => tracing::warn!(kind, status, "no answer: {fault}"),
        }
        let mut response = json(fault.status, &dialect.fault(fault));
        if let Some(after) = &fault.retry_after {
            response.headers_mut().insert(RETRY_AFTER, after.clone());
        }
        response
    }

    async fn answer(
        &self,
        dialect: Dialect,
        request: Request,
        trace: &Trace,
    ) -> Result<Response, Fault> {
        let Shared { config, client, metrics, .. } = &*self.shared;
        let began = Instant::now();
        let (mut parts, body) = request.into_parts();
        trace.pass_on(&mut parts.headers);
        let bytes = self.body(body).await?;
        let request: Value = serde_json::from_slice(&bytes)
            .map_err(|error| Fault::new(Kind::Request, format!("the body is no JSON: {error}")))?;
        // Only answers of another shape are written with a look at what was asked.
        let asked = if dialect.is_upstreams() { Value::Null } else { request.clone() };
        let Some(Asked { guard, told, family, body, choices }) =
            self.asked(dialect, dialect.request(request)?, &parts.headers, trace).await?
        else {
            return client.send(&parts, bytes.into()).await;
        };
        let streamed = body.get("stream") == Some(&Value::Bool(true));
        let counted = body.pointer("/stream_options/include_usage") == Some(&Value::Bool(true));
        let sent = serde_json::to_vec(&body).unwrap_or_default();
        let path = parts.uri.query();
        let path = path.map_or_else(String::new, |query| format!("?{query}"));
        let path = format!("{}{path}", dialect.upstream_path());
        let answer = client.ask(parts, &path, sent).await?;
        if !answer.status().is_success() {
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
            let whole = dialect.read(&bytes);
            let whole = whole
                .map_err(|_| Fault::new(Kind::Broken, "upstream's answer is no completion"))?;
            let whole = guard.complete(whole).map_err(|error| Fault::new(Kind::Limit, error))?;
            metrics.counted(whole.usage.value(), trace);
            let mut response = json(head.status, &dialect.whole(&whole, &asked));
            head.headers.remove(CONTENT_TYPE);
            response.headers_mut().extend(head.headers);
            return Ok(response);
        }
        head.headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        // A reverse proxy in front must not collect what comes in pieces.
        head.headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
        let patience = Patience {
            first: config.timeouts.first_byte.0.saturating_sub(began.elapsed()),
            idle: config.timeouts.idle.0,
            keep_alive: config.timeouts.keep_alive.0,
        };
        if !dialect.is_upstreams() {
            // Upstream's fields speak of its own events.
            head.headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
        }
        let leave_after = (streamed && !counted).then_some(choices);
        let meter = Meter::new(metrics.clone(), trace.clone());
        let machine = dialect.stream(guard, &asked);
        let mut stream = Guarded::new(body, machine, patience, leave_after, meter);
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
        let said: Value = serde_json::from_slice(&bytes).unwrap_or_default();
        let texts = ["/error/message", "/message", "/detail", "/error"];
        let said = texts.iter().find_map(|path| said.pointer(path)?.as_str());
        let mut fault = Fault::new(Kind::Upstream, said.unwrap_or("upstream gave no reason"));
        fault.retry_after = head.headers.get(RETRY_AFTER).cloned();
        Err(fault.status(head.status))
    }

    /// All of a request's body.
    async fn body(&self, body: Body) -> Result<Bytes, Fault> {
        let Config { limits, timeouts, .. } = &self.shared.config;
        let whole = Idle::new(body, timeouts.idle.0).whole(limits.body);
        let late = || Fault::new(Kind::Timeout, "the body did not come in time");
        let whole = tokio::time::timeout(timeouts.body.0, whole).await;
        whole.unwrap_or_else(|_| Err(late())).map_err(|fault| match fault.kind {
            Kind::Limit => Fault::new(Kind::Request, "the body is too large")
                .status(StatusCode::PAYLOAD_TOO_LARGE),
            Kind::Timeout => {
                Fault::new(Kind::Request, fault.message).status(StatusCode::REQUEST_TIMEOUT)
            }
            _ => Fault::new(Kind::Request, "the body broke off"),
        })
    }
}

fn is_event_stream(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    kind.trim_start().to_ascii_lowercase().starts_with("text/event-stream")
}

fn json(status: StatusCode, value: &Value) -> Response {
    (status, [(CONTENT_TYPE, "application/json")], value.to_string()).into_response()
}
