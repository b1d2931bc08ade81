//! The proxy: guards a request, from its body to the body of its answer.

mod answer;
mod asked;
mod ollama;
mod parsed;
mod rendered;
mod service;
mod work;

use std::sync::{
    Arc, PoisonError, RwLock,
    atomic::{AtomicBool, Ordering},
};

use axum::{
    body::Bytes,
    extract::{Request, State},
    http::{HeaderMap, HeaderValue, StatusCode, header::RETRY_AFTER},
    response::Response,
};
use llm_stream_guard::{Worker, chat::condense};
use serde_json::Value;

use self::{
    answer::Answering,
    asked::{Asked, Incoming},
    service::{json, log, refusal},
    work::heavy,
};
use crate::{
    body::Body as RequestBody,
    config::{Checked as _, Completions, Config},
    dialect::{
        ApiDialect, OllamaForm, UpstreamRequest,
        ollama::{is_load, loaded},
    },
    error::{Fault, Kind},
    exchange::{Ending, Exchange},
    families::Families,
    generate,
    guards::RecentGuards,
    headers::check_uncompressed,
    idle::Idle,
    ledger::Ledger,
    metrics::Metrics,
    record::Records,
    routes::{Backend, Routes},
};

/// The request header that decides whether the answer to a text completion is guarded.
const GUARD: &str = "x-llm-stream-guard";

/// A proxy in front of inference servers. Clones are cheap, and share connections, counters and the
/// configuration.
#[derive(Debug, Clone)]
pub struct Proxy {
    slot: Arc<Slot>,
    /// The configuration in force when this clone was made, with its connections.
    shared: Arc<Shared>,
}

/// Returns the configuration in force.
#[derive(Debug)]
struct Slot {
    current: RwLock<Arc<Shared>>,
    drains: AtomicBool,
    /// A program that renders chat templates.
    worker: Option<Worker>,
}

#[derive(Debug)]
struct Shared {
    config: Arc<Config>,
    routes: Routes,
    families: Families,
    guards: RecentGuards,
    metrics: Arc<Metrics>,
    records: Option<Arc<Records>>,
    ledger: Arc<Ledger>,
}

impl Shared {
    /// Creates the state of a configuration. Counters and other state that does not depend on the
    /// configuration are taken from `before`.
    fn new(config: Config, before: Option<&Self>, worker: Option<&Worker>) -> Result<Self, Fault> {
        config
            .check()
            .map_err(|bad| Fault::new(Kind::Request, &bad.expected).at(bad.path.join(".")))?;
        let kept = before.filter(|before| before.config.record == config.record);
        let records = match (kept, &config.record) {
            (Some(kept), _) => kept.records.clone(),
            (None, None) => None,
            (None, Some(record)) => {
                let fault = |error| {
                    let what = format!("`{}`: {error} (`--record`)", record.dir.display());
                    Fault::new(Kind::Request, what).at("record.dir")
                };
                Some(Arc::new(Records::new(record).map_err(fault)?))
            }
        };
        let bodies = config.limits.bodies;
        let kept = before.filter(|before| before.config.limits.bodies == bodies);
        Ok(Self {
            routes: Routes::new(&config)?,
            families: Families::new(&config, worker),
            guards: RecentGuards::default(),
            metrics: before.map(|before| before.metrics.clone()).unwrap_or_default(),
            records,
            ledger: kept.map_or_else(|| Ledger::new(bodies), |before| before.ledger.clone()),
            config: Arc::new(config),
        })
    }
}

impl Proxy {
    /// Creates a proxy from a configuration. Only [`crate::serve`] uses the configured address to
    /// listen on.
    ///
    /// # Errors
    /// An invalid value, a key or roots of trust for `https` that cannot be read, or a directory
    /// for records that cannot be created.
    pub fn new(config: Config) -> Result<Self, Fault> {
        Self::create(config, None)
    }

    /// Creates a proxy as [`Proxy::new`] does. `worker` renders chat templates: those of configured
    /// checkpoints, and those of llama.cpp for models without a known family.
    ///
    /// # Errors
    /// As [`Proxy::new`].
    pub fn with_worker(config: Config, worker: Worker) -> Result<Self, Fault> {
        Self::create(config, Some(worker))
    }

    fn create(config: Config, worker: Option<Worker>) -> Result<Self, Fault> {
        let shared = Arc::new(Shared::new(config, None, worker.as_ref())?);
        let (current, drains) = (RwLock::new(shared.clone()), AtomicBool::new(false));
        Ok(Self { slot: Arc::new(Slot { current, drains, worker }), shared })
    }

    /// Applies another configuration to new requests. Open requests keep the old configuration, and
    /// the address to listen on does not change.
    ///
    /// # Errors
    /// As [`Proxy::new`]. The old configuration then stays in force.
    pub fn reload(&self, config: Config) -> Result<(), Fault> {
        let shared = Shared::new(config, Some(&self.now().shared), self.slot.worker.as_ref())?;
        *self.slot.current.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(shared);
        Ok(())
    }

    /// Asks every server for its list of models, and logs the result: the kind of server and its
    /// models, or why the answer is missing.
    pub async fn look_at_servers(&self) {
        self.now().shared.routes.look().await;
    }

    /// Makes `/readyz` answer that the proxy is not ready. Requests are still answered.
    pub fn drain(&self) {
        self.slot.drains.store(true, Ordering::Release);
    }

    fn drains(&self) -> bool {
        self.slot.drains.load(Ordering::Acquire)
    }

    /// Returns a clone with the configuration currently in force.
    fn now(&self) -> Self {
        let current = self.slot.current.read().unwrap_or_else(PoisonError::into_inner);
        Self { slot: self.slot.clone(), shared: current.clone() }
    }

    /// Returns the configuration in force.
    #[must_use]
    pub fn config(&self) -> Arc<Config> {
        self.now().shared.config.clone()
    }

    async fn guarded(self, dialect: ApiDialect, mut request: Request) -> Response {
        if dialect == ApiDialect::Completions {
            match self.guards_completion(request.headers_mut()) {
                Ok(true) => {}
                Ok(false) => return Self::untouched(State(self), request).await,
                Err(fault) => {
                    self.shared.metrics.fault(fault.kind);
                    log(&fault);
                    return refusal(dialect, &fault);
                }
            }
        }
        let exchange = Exchange::begin(self.shared.metrics.clone(), dialect, request.headers());
        let answer = self.answer(dialect, request, &exchange).await;
        let mut response = answer.unwrap_or_else(|fault| {
            exchange.fault(&fault);
            refusal(dialect, &fault)
        });
        let status = response.status().as_u16();
        exchange.head(status, response.headers_mut());
        self.shared.metrics.request(dialect.path(), status);
        response
    }

    /// Returns whether to guard the answer to a text completion.
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
        dialect: ApiDialect,
        request: Request,
        exchange: &Exchange,
    ) -> Result<Response, Fault> {
        let Shared { config, routes, metrics, .. } = &*self.shared;
        let (mut parts, body) = request.into_parts();
        exchange.pass_on(&mut parts.headers);
        check_uncompressed(&parts.headers)?;
        let (bytes, charge) = self.shared.ledger.read(body, config).await?;
        if dialect.ollama().is_some()
            && let Some(backend) = self.ollama_for(dialect, &parts.headers, &bytes).await?
        {
            exchange.goes_to(backend.client.address());
            if metrics.generated(dialect.path()) {
                let path = dialect.path();
                tracing::warn!(path, "requests of Ollama's clients pass without a guard to Ollama");
            }
            exchange.end(Ending::Passed);
            return backend.client.send(&parts, bytes).await;
        }
        let (read, policy) = (bytes.clone(), config.unsupported_tools);
        let read = move || dialect.translate(&read, policy);
        let UpstreamRequest { body, asked, dropped } = heavy(bytes.len(), read).await??;
        dropped.into_iter().for_each(|kind| exchange.dropped(kind));
        if let Some(form) = dialect.ollama().filter(|_| is_load(&body)) {
            exchange.end(Ending::Complete);
            return Ok(json(StatusCode::OK, loaded(form, &asked).to_string()));
        }
        let route = routes.find(&body.string("model"));
        let client = &route.backend.client;
        exchange.goes_to(client.address());
        let incoming = Incoming { dialect, headers: &parts.headers, exchange, route };
        let Some(Asked { reading, mut body, prompt }) = self.asked(body, incoming).await? else {
            exchange.end(Ending::Passed);
            return client.send(&parts, bytes).await;
        };
        let streamed = body.is("stream", "true");
        let options = body.get("stream_options")?.unwrap_or_default();
        let counted = options.get("include_usage") == Some(&Value::Bool(true));
        let query = parts.uri.query();
        let query = query.map_or_else(String::new, |query| format!("?{query}"));
        let (path, sent) = match &prompt {
            Some(prompt) => {
                let own = dialect.ollama().map(|_| RequestBody::read(&bytes)).transpose()?;
                let sent = generate::request(&mut body, &prompt.0, own)?;
                (generate::PATH.to_owned(), sent)
            }
            None => (format!("{}{query}", dialect.upstream_path()), body.to_vec()),
        };
        drop((body, bytes));
        let is_generated = prompt.is_some();
        let answer = client.ask(parts, &path, sent).await?;
        drop(charge);
        if !answer.status().is_success() {
            exchange.end(Ending::Failed);
            return match dialect.is_upstreams() && !is_generated {
                true => Ok(answer),
                false => Err(self.declined(answer).await?),
            };
        }
        let answering =
            Answering { dialect, exchange, asked, reading, streamed, counted, is_generated };
        self.guarded_answer(answering, answer).await
    }

    /// Returns the upstream of a request of Ollama's API if it is Ollama, whose answers to its own
    /// clients pass. Chats whose prompt can be rendered are guarded.
    async fn ollama_for(
        &self,
        dialect: ApiDialect,
        headers: &HeaderMap,
        bytes: &Bytes,
    ) -> Result<Option<&Backend>, Fault> {
        let read = bytes.clone();
        let read =
            move || RequestBody::read(&read).map(|body| (body.string("model"), is_load(&body)));
        let (model, is_load) = heavy(bytes.len(), read).await??;
        let route = self.shared.routes.find(&model);
        let is_rendered = dialect == ApiDialect::Ollama(OllamaForm::Chat)
            && !is_load
            && self.slot.worker.is_some()
            && self.shared.families.template(&model).is_some();
        let passes = !is_rendered && route.sent.is_none() && route.backend.is_ollama(headers).await;
        Ok(passes.then_some(route.backend))
    }

    /// Returns the fault that upstream's answer with an error status reports.
    async fn declined(&self, answer: Response) -> Result<Fault, Fault> {
        let config = &self.shared.config;
        let (head, body) = answer.into_parts();
        let bytes = Idle::new(body, config.timeouts.idle.0).whole(config.limits.answer).await?;
        let said = String::from_utf8_lossy(&bytes);
        let said = condense(&said).ok().and_then(|said| serde_json::from_str(&said).ok());
        let mut fault = Fault::reported(&said.unwrap_or_default());
        fault.retry_after = head.headers.get(RETRY_AFTER).cloned();
        Ok(fault.status(head.status))
    }
}
