//! The paths of the proxy, and requests that pass without being read.

use axum::{
    Router,
    body::{Body, Bytes},
    extract::{Request, State},
    http::{
        HeaderMap, HeaderValue, Method, StatusCode,
        header::{
            ACCESS_CONTROL_ALLOW_ORIGIN, CONNECTION, CONTENT_ENCODING, CONTENT_TYPE, RETRY_AFTER,
        },
        request::Parts,
    },
    response::{IntoResponse as _, Response},
    routing::{any, get, post},
};

use super::Proxy;
use crate::{
    body::Body as RequestBody,
    client::Payload,
    dialect::{ApiDialect, ollama::OllamaQuestion},
    error::{Fault, Kind},
    idle::Idle,
    ledger::Charge,
    path::canonical,
    routes::{Backend, Route},
};

/// The path of the metrics.
const METRICS: &str = "/metrics";

/// The path of the list of models.
const MODELS: &str = "/v1/models";

impl Proxy {
    /// Returns a router with the guarded paths, `/healthz`, `/readyz` and `/metrics`. All other
    /// paths go to upstream. With [`crate::Config::metrics_listen`], `/metrics` is not found.
    pub fn router(&self) -> Router {
        let mut router = self.public_paths();
        for dialect in ApiDialect::ALL {
            let answer = move |State(proxy): State<Self>, request| async move {
                proxy.now().guarded(dialect, request).await
            };
            router = router.route(dialect.path(), post(answer));
        }
        router
            .route("/parse", post(Self::parse))
            .route("/parse/batch", post(Self::parse_batch))
            .fallback(Self::other)
            .method_not_allowed_fallback(Self::untouched)
            .with_state(self.clone())
    }

    /// Returns a router that refuses new requests.
    pub(crate) fn refusing(&self) -> Router {
        let refuse = || async {
            let mut fault = Fault::new(Kind::Busy, "the proxy is shutting down");
            fault.retry_after = Some(HeaderValue::from_static("1"));
            log(&fault);
            let mut response = refusal(ApiDialect::Chat, &fault);
            response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
            response
        };
        self.public_paths().fallback(refuse).with_state(self.clone())
    }

    /// Returns the router of the address for metrics: `/metrics`, `/healthz` and `/readyz`.
    pub(crate) fn operation(&self) -> Router {
        Self::health_paths().route(METRICS, get(Self::metrics)).with_state(self.clone())
    }

    /// Returns a router with the paths that the proxy itself answers.
    fn public_paths(&self) -> Router<Self> {
        match self.shared.config.metrics_listen {
            None => Self::health_paths().route(METRICS, get(Self::metrics)),
            // If it were passed on, the request would return upstream's metrics.
            Some(_) => Self::health_paths().route(METRICS, any(|| async { StatusCode::NOT_FOUND })),
        }
    }

    fn health_paths() -> Router<Self> {
        Router::new().route("/healthz", get(|| async { "ok\n" })).route("/readyz", get(Self::ready))
    }

    /// Answers whether requests should be sent here, with one line for each upstream. One working
    /// upstream is enough, since the models of the others are missing at every instance.
    async fn ready(State(proxy): State<Self>) -> (StatusCode, String) {
        if proxy.drains() {
            return (StatusCode::SERVICE_UNAVAILABLE, "shutting down\n".into());
        }
        let proxy = proxy.now();
        let ready = proxy.shared.routes.ready().await;
        let line = |(name, up): &(&str, bool)| match up {
            true => format!("{name}: ok\n"),
            false => format!("{name}: no answer\n"),
        };
        let status = match ready.iter().any(|(_, up)| *up) {
            true => StatusCode::OK,
            false => StatusCode::SERVICE_UNAVAILABLE,
        };
        (status, ready.iter().map(line).collect())
    }

    async fn metrics(State(proxy): State<Self>) -> Response {
        let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
        ([(CONTENT_TYPE, kind)], proxy.now().shared.metrics.text()).into_response()
    }

    /// Handles all other paths, including unusual spellings of guarded paths.
    async fn other(State(proxy): State<Self>, request: Request) -> Response {
        let path = canonical(request.uri().path());
        let proxy = proxy.now();
        if let Some(asks) = OllamaQuestion::of(request.method().as_str(), &path) {
            return proxy.about_models(asks, request).await;
        }
        let meant = Meant::of(&path);
        match (meant, request.method()) {
            (Meant::Guarded(dialect), &Method::POST) => proxy.guarded(dialect, request).await,
            (Meant::Misplaced(dialect), &Method::POST) => proxy.misplaced(dialect, &path),
            (Meant::Generation(known), &Method::POST) => {
                if proxy.shared.metrics.generated(known) {
                    let hint = "clients of its API get the model's raw text; guarded are";
                    tracing::warn!(path, "a request passed without a guard: {hint} {}", paths());
                }
                Self::untouched(State(proxy), request).await
            }
            _ if path == METRICS && proxy.shared.config.metrics_listen.is_some() => {
                StatusCode::NOT_FOUND.into_response()
            }
            (_, &Method::GET) if proxy.shared.routes.depend_on_models() => {
                match path.strip_prefix(MODELS) {
                    Some("") => proxy.models(request.headers(), None).await,
                    Some(id) if id.starts_with('/') => {
                        proxy.models(request.headers(), id.get(1..)).await
                    }
                    _ => Self::untouched(State(proxy), request).await,
                }
            }
            _ => Self::untouched(State(proxy), request).await,
        }
    }

    /// Refuses a request at a path that ends like a guarded one.
    fn misplaced(&self, dialect: ApiDialect, path: &str) -> Response {
        let what = format!(
            "there is no `{path}` here: guarded is `{}`, so the base URL of clients of OpenAI's API \
             ends with `/v1` directly after host and port; if the server has its API below another \
             path, that path belongs to `upstream`",
            dialect.path()
        );
        let fault = Fault::new(Kind::Request, what).status(StatusCode::NOT_FOUND);
        self.shared.metrics.fault(fault.kind);
        log(&fault);
        let response = refusal(dialect, &fault);
        self.shared.metrics.request("other", response.status().as_u16());
        response
    }

    /// Answers with the models of all upstreams, or with the model `id`.
    async fn models(&self, headers: &HeaderMap, id: Option<&str>) -> Response {
        let found = self.shared.routes.list(headers).await.and_then(|mut list| match id {
            None => Ok(list),
            Some(id) => {
                let entries = list.get_mut("data").and_then(|data| data.as_array_mut());
                let entry = entries.and_then(|it| it.iter_mut().find(|entry| entry["id"] == id));
                let none = || Fault::new(Kind::Model, "there is no model of this name").at("model");
                entry.map(serde_json::Value::take).ok_or_else(none)
            }
        });
        let response = match found {
            Ok(found) => json(StatusCode::OK, found.to_string()),
            Err(fault) => {
                self.shared.metrics.fault(fault.kind);
                log(&fault);
                refusal(ApiDialect::Chat, &fault)
            }
        };
        self.shared.metrics.request("other", response.status().as_u16());
        response
    }

    /// Passes a request and its answer on unchanged.
    pub(super) async fn untouched(State(proxy): State<Self>, request: Request) -> Response {
        let proxy = proxy.now();
        // The idle limit also applies to bodies that are not parsed.
        let watched = |body| Body::new(Idle::new(body, proxy.shared.config.timeouts.idle.0));
        let (parts, body) = request.into_parts();
        let answer = async {
            let Passed { backend, body, charge } = proxy.passed(&parts, watched(body)).await?;
            let answer = backend.client.send(&parts, body).await;
            drop(charge);
            answer
        };
        let response = match answer.await {
            Ok(response) => response.map(watched),
            Err(fault) => {
                proxy.shared.metrics.fault(fault.kind);
                log(&fault);
                refusal(ApiDialect::Chat, &fault)
            }
        };
        proxy.shared.metrics.request("other", response.status().as_u16());
        response
    }

    /// Finds the upstream of a request that passes. The body is read only if its model can decide
    /// the upstream.
    async fn passed(&self, parts: &Parts, body: Body) -> Result<Passed<'_>, Fault> {
        let routes = &self.shared.routes;
        let is_json = parts.headers.get(CONTENT_TYPE).is_none_or(|kind| {
            kind.to_str().is_ok_and(|kind| kind.trim_start().starts_with("application/json"))
        });
        let is_read = routes.depend_on_models()
            && parts.method == Method::POST
            && is_json
            && !parts.headers.contains_key(CONTENT_ENCODING);
        if !is_read {
            return Ok(Passed { backend: routes.default(), body: body.into(), charge: None });
        }
        let (bytes, charge) = self.shared.ledger.read(body, &self.shared.config).await?;
        let charge = Some(charge);
        // The default upstream refuses malformed bodies.
        let Ok(mut fields) = RequestBody::read(&bytes) else {
            return Ok(Passed { backend: routes.default(), body: bytes.into(), charge });
        };
        let Route { backend, sent, .. } = routes.find(&fields.string("model"));
        let body = match sent {
            None => bytes.into(),
            Some(sent) => {
                fields.set("model", &sent.into());
                Bytes::from(fields.to_vec()).into()
            }
        };
        Ok(Passed { backend, body, charge })
    }
}

/// A request that passes, with its upstream.
struct Passed<'p> {
    backend: &'p Backend,
    body: Payload,
    /// The charge for the memory of a body that was read.
    charge: Option<Charge>,
}

/// The purpose of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Meant {
    /// A guarded path, perhaps with `/v1` missing or repeated, or with the path itself repeated, as
    /// clients do with an unusual base URL.
    Guarded(ApiDialect),
    /// A path that ends like a guarded one, with something else before it.
    Misplaced(ApiDialect),
    /// A path at which a server generates text in a form that the proxy does not read.
    Generation(&'static str),
    Other,
}

/// Paths at which servers generate text in a form of their own.
const GENERATION: [&str; 7] = [
    "/completion",
    "/completions",
    "/generate",
    "/generate_stream",
    "/infill",
    "/inference/v1/generate",
    "/invocations",
];

impl Meant {
    /// Reads a canonical path.
    fn of(path: &str) -> Self {
        let exact = ApiDialect::ALL.into_iter().find(|dialect| dialect.path() == path);
        if let Some(dialect) = exact {
            return Self::Guarded(dialect);
        }
        if let Some(known) = GENERATION.into_iter().find(|known| *known == path) {
            return Self::Generation(known);
        }
        for dialect in ApiDialect::ALL {
            let own = dialect.path().trim_start_matches("/v1");
            let Some(mut rest) = path.strip_suffix(own) else { continue };
            while let Some(before) = rest.strip_suffix("/v1").or_else(|| rest.strip_suffix(own)) {
                rest = before;
            }
            return match (rest, dialect) {
                ("", _) => Self::Guarded(dialect),
                // Completions pass unless the configuration says otherwise. Clients of Ollama's API
                // have no base path.
                (_, ApiDialect::Completions) => Self::Other,
                (_, ApiDialect::Ollama(_)) => Self::Other,
                _ => Self::Misplaced(dialect),
            };
        }
        Self::Other
    }
}

/// Returns the guarded paths in words.
fn paths() -> String {
    ApiDialect::ALL.map(|dialect| format!("`{}`", dialect.path())).join(", ")
}

/// Logs the fault of a request that was not read.
pub(super) fn log(fault: &Fault) {
    let (kind, status) = (fault.kind.name(), fault.status.as_u16());
    match fault.kind {
        // Upstream's words may repeat the request.
        Kind::Upstream => tracing::warn!(kind, status, "no answer"),
        _ => tracing::warn!(kind, status, "no answer: {fault}"),
    }
}

/// Returns the answer to a request that failed.
pub(super) fn refusal(dialect: ApiDialect, fault: &Fault) -> Response {
    let mut response = json(fault.status, dialect.fault(fault).to_string());
    if let Some(after) = &fault.retry_after {
        response.headers_mut().insert(RETRY_AFTER, after.clone());
    }
    // Without it, a program in a browser cannot read why it got no answer.
    response.headers_mut().insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    response
}

pub(super) fn json(status: StatusCode, text: String) -> Response {
    (status, [(CONTENT_TYPE, "application/json")], text).into_response()
}

#[cfg(test)]
mod tests {
    use super::{ApiDialect, Meant};
    use crate::dialect::OllamaForm;

    #[test]
    fn near_misses_of_guarded_paths_are_recognised() {
        for (path, expected) in [
            ("/v1/chat/completions", Meant::Guarded(ApiDialect::Chat)),
            ("/chat/completions", Meant::Guarded(ApiDialect::Chat)),
            ("/v1/v1/messages", Meant::Guarded(ApiDialect::Messages)),
            ("/v1/chat/completions/chat/completions", Meant::Guarded(ApiDialect::Chat)),
            ("/v1/responses/v1/responses", Meant::Guarded(ApiDialect::Responses)),
            ("/messages", Meant::Guarded(ApiDialect::Messages)),
            ("/v1/v1/completions", Meant::Guarded(ApiDialect::Completions)),
            ("/api/v1/chat/completions", Meant::Misplaced(ApiDialect::Chat)),
            ("/engines/a/completions", Meant::Other),
            ("/openai/responses", Meant::Misplaced(ApiDialect::Responses)),
            // A form of llama.cpp's own.
            ("/completions", Meant::Generation("/completions")),
            ("/api/chat", Meant::Guarded(ApiDialect::Ollama(OllamaForm::Chat))),
            ("/x/api/generate", Meant::Other),
            ("/generate", Meant::Generation("/generate")),
            ("/v1/embeddings", Meant::Other),
            ("/v1/messages/count_tokens", Meant::Other),
            ("/", Meant::Other),
        ] {
            assert_eq!(Meant::of(path), expected, "{path}");
        }
    }
}
