//! The proxy: what a request is taken for, and what becomes of it.

use std::{sync::Arc, time::Instant};

use axum::{
    Router,
    body::Body,
    extract::{Request, State},
    http::{
        HeaderMap, HeaderValue, StatusCode,
        header::{CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, RETRY_AFTER},
    },
    response::{IntoResponse, Response},
    routing::{get, post},
};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use llm_stream_guard::{
    Answer, BuildError, Profile, Server,
    chat::{self, ChatGuard, ChatLimits, ChatOptions, ReasoningField},
    forward_request,
};
use serde_json::Value;

use crate::{
    catalog::Catalog,
    client::Client,
    config::{BrokenCalls, Config, ReasoningName, UnknownModel},
    dialect::Dialect,
    error::{Fault, Kind},
    families::{Families, Family},
    metrics::{Meter, Metrics, Told},
    record::Records,
    stream::{Guarded, Patience},
};

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

/// A request that is to be answered in raw text.
struct Asked {
    guard: ChatGuard,
    told: Arc<Told>,
    family: String,
    body: Value,
    choices: usize,
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
        let response = match proxy.shared.client.send(&parts, body).await {
            Ok(response) => response,
            Err(fault) => proxy.refusal(Dialect::Chat, &fault),
        };
        proxy.shared.metrics.request("other", response.status().as_u16());
        response
    }

    async fn guarded(self, dialect: Dialect, request: Request) -> Response {
        let began = Instant::now();
        let response = match self.answer(dialect, request).await {
            Ok(response) => response,
            Err(fault) => self.refusal(dialect, &fault),
        };
        let status = response.status().as_u16();
        self.shared.metrics.request(dialect.path(), status);
        let millis = began.elapsed().as_millis();
        tracing::info!(path = dialect.path(), status, millis, "request");
        response
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

    async fn answer(&self, dialect: Dialect, request: Request) -> Result<Response, Fault> {
        let Shared { config, client, metrics, .. } = &*self.shared;
        let began = Instant::now();
        let (parts, body) = request.into_parts();
        let bytes =
            self.read(body, config.limits.body).await.map_err(|fault| match fault.kind {
                Kind::Limit => Fault::new(Kind::Request, "the body is too large")
                    .status(StatusCode::PAYLOAD_TOO_LARGE),
                Kind::Timeout => Fault::new(Kind::Request, "the body did not come in time")
                    .status(StatusCode::REQUEST_TIMEOUT),
                _ => Fault::new(Kind::Request, "the body broke off"),
            })?;
        let request: Value = serde_json::from_slice(&bytes)
            .map_err(|error| Fault::new(Kind::Request, format!("the body is no JSON: {error}")))?;
        // Only answers of another shape are written with a look at what was asked.
        let asked = if dialect == Dialect::Chat { Value::Null } else { request.clone() };
        let Some(Asked { guard, told, family, body, choices }) =
            self.asked(dialect, dialect.request(request)?, &parts.headers).await?
        else {
            return client.send(&parts, bytes.into()).await;
        };
        let streamed = body.get("stream") == Some(&Value::Bool(true));
        let counted = body.pointer("/stream_options/include_usage") == Some(&Value::Bool(true));
        let sent = serde_json::to_vec(&body).unwrap_or_default();
        let path = parts.uri.query();
        let path = path.map_or_else(String::new, |query| format!("?{query}"));
        let path = format!("{}{path}", Dialect::Chat.path());
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
            let bytes = self.read(body, config.limits.answer).await?;
            let whole = serde_json::from_slice(&bytes);
            let whole = whole
                .map_err(|_| Fault::new(Kind::Broken, "upstream's answer is no completion"))?;
            let whole = guard.complete(whole).map_err(|error| Fault::new(Kind::Limit, error))?;
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
        if dialect != Dialect::Chat {
            // Upstream's fields speak of its own events.
            head.headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
        }
        let leave_after = (streamed && !counted).then_some(choices);
        let meter = Meter::new(metrics.clone());
        let machine = dialect.stream(guard, &asked);
        let mut stream = Guarded::new(body, machine, patience, leave_after, meter);
        if let Some(records) = &self.shared.records {
            stream = stream.recorded(records.begin(&format!("family {family}")), told);
        }
        Ok(Response::from_parts(head, Body::from_stream(stream)))
    }

    /// The guard for the answer to a chat completion, and the body to ask upstream with; `None` if
    /// request and answer are to pass as they are.
    async fn asked(
        &self,
        dialect: Dialect,
        mut body: Value,
        headers: &HeaderMap,
    ) -> Result<Option<Asked>, Fault> {
        let Shared { config, client, catalog, families, metrics, .. } = &*self.shared;
        let choices = body.get("n").and_then(Value::as_u64).unwrap_or(1).max(1);
        let choices = usize::try_from(choices).unwrap_or(usize::MAX);
        if choices > config.limits.choices {
            let most = config.limits.choices;
            return Err(Fault::new(Kind::Request, format!("at most {most} choices")).at("n"));
        }
        let model = body.get("model").and_then(Value::as_str).unwrap_or_default().to_owned();
        let mut family = families.find(&model);
        let mut server = config.server.told();
        if family.is_none() || server.is_none() && config.server == crate::ServerName::Auto {
            let listed = catalog.get(client, headers).await;
            family = family.or_else(|| listed.names(&model).find_map(|name| families.find(name)));
            server = server.or(listed.server);
        }
        let family = match family {
            Some(family) => family,
            None => {
                metrics.unknown_model();
                let what = format!("no family is known for the model `{}`", excerpt(&model));
                tracing::warn!("{what}");
                match config.unknown_model {
                    UnknownModel::Refuse => return Err(Fault::new(Kind::Model, what).at("model")),
                    UnknownModel::Pass if dialect == Dialect::Chat => return Ok(None),
                    // Another shape is to be written, whatever the text holds.
                    UnknownModel::Pass => Family::from(Profile::named("none")),
                }
            }
        };
        let told = metrics.observer();
        let guard = self.guard(&family, &mut body, server, told.clone())?;
        Ok(Some(Asked { guard, told, family: family.name().to_owned(), body, choices }))
    }

    /// The guard for a family's answer; `body` is changed to what upstream is to get.
    fn guard(
        &self,
        family: &Family,
        body: &mut Value,
        server: Option<Server>,
        told: Arc<Told>,
    ) -> Result<ChatGuard, Fault> {
        let Shared { config, families, .. } = &*self.shared;
        let request = body.clone();
        let answer = server.map_or(Answer::Raw, |server| forward_request(body, server));
        let guard = families.guard(family, &request, answer, told);
        let guard = guard.map_err(|error| {
            let fault = Fault::new(Kind::Request, &error);
            match error {
                BuildError::Request(inner) => fault.at(inner.field()),
                _ => fault,
            }
        })?;
        family.remap(body).map_err(|error| Fault::new(Kind::Request, error))?;
        tracing::debug!(family = family.name(), ?server, ?answer, "guarded");
        let mut options = ChatOptions::default();
        options.reasoning = match config.output.reasoning {
            ReasoningName::ReasoningContent => ReasoningField::ReasoningContent,
            ReasoningName::Reasoning => ReasoningField::Reasoning,
        };
        options.broken_calls = match config.output.broken_calls {
            BrokenCalls::Keep => chat::BrokenCalls::Keep,
            BrokenCalls::Drop => chat::BrokenCalls::Drop,
        };
        options.limits = ChatLimits { choices: config.limits.choices, ..ChatLimits::default() };
        Ok(ChatGuard::new(guard, options))
    }

    /// Upstream answered with a status that says no.
    async fn declined(&self, dialect: Dialect, answer: Response) -> Result<Response, Fault> {
        if dialect == Dialect::Chat {
            return Ok(answer);
        }
        let (head, body) = answer.into_parts();
        let bytes = self.read(body, self.shared.config.limits.answer).await?;
        let said: Value = serde_json::from_slice(&bytes).unwrap_or_default();
        let texts = ["/error/message", "/message", "/detail", "/error"];
        let said = texts.iter().find_map(|path| said.pointer(path)?.as_str());
        let mut fault = Fault::new(Kind::Upstream, said.unwrap_or("upstream gave no reason"));
        fault.retry_after = head.headers.get(RETRY_AFTER).cloned();
        Err(fault.status(head.status))
    }

    /// Reads a body of at most `most` bytes, which may not take longer than the idle time.
    async fn read(&self, body: Body, most: usize) -> Result<axum::body::Bytes, Fault> {
        let whole = Limited::new(body, most).collect();
        match tokio::time::timeout(self.shared.config.timeouts.idle.0, whole).await {
            Ok(Ok(whole)) => Ok(whole.to_bytes()),
            Ok(Err(error)) if error.is::<LengthLimitError>() => {
                Err(Fault::new(Kind::Limit, "the answer is too large"))
            }
            Ok(Err(error)) => Err(Fault::new(Kind::Broken, format!("upstream broke off: {error}"))),
            Err(_) => Err(Fault::new(Kind::Timeout, "the body did not come in time")),
        }
    }
}

/// A model's id as a log may have it: at most 80 characters, none that would act on a terminal.
fn excerpt(id: &str) -> String {
    const MOST: usize = 80;
    let mut excerpt: String = id.chars().take(MOST).flat_map(char::escape_debug).collect();
    if id.chars().nth(MOST).is_some() {
        excerpt.push('…');
    }
    excerpt
}

fn is_event_stream(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    kind.trim_start().to_ascii_lowercase().starts_with("text/event-stream")
}

fn json(status: StatusCode, value: &Value) -> Response {
    (status, [(CONTENT_TYPE, "application/json")], value.to_string()).into_response()
}
