//! Answers of upstream: guarded at once if they are whole, or event by event.

use std::sync::Arc;

use axum::{
    body::Body,
    http::{
        HeaderValue,
        header::{CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE},
        response::Parts,
    },
    response::Response,
};
use llm_stream_guard::chat::{ChatGuard, ChatSseError};
use serde_json::Value;

use super::{
    Proxy,
    service::json,
    work::{heavy, whole},
};
use crate::{
    dialect::{ApiDialect, converted::Converted, renamed::Renamed},
    error::{Fault, Kind},
    exchange::{Ending, Exchange, NOTE},
    generate::{self, GeneratedLines},
    headers::is_event_stream,
    idle::Idle,
    meter::Meter,
    metrics::Told,
    stream::{Guarded, Patience},
};

/// A request that upstream answers, and the guard for its answer.
pub(super) struct Answering<'r> {
    pub(super) dialect: ApiDialect,
    pub(super) exchange: &'r Exchange,
    /// The client's request, as far as the shape of its answer depends on it.
    pub(super) asked: Value,
    pub(super) guard: ChatGuard,
    pub(super) told: Arc<Told>,
    pub(super) family: String,
    /// Whether the request demands a call.
    pub(super) forced: bool,
    /// The model's id in the answer, if upstream uses another id.
    pub(super) shown: Option<String>,
    pub(super) choices: usize,
    /// Whether the request asks for a stream.
    pub(super) streamed: bool,
    /// Whether the request asks for counts of tokens at the stream's end.
    pub(super) counted: bool,
    /// Whether upstream got a rendered prompt, so that it answers in Ollama's shape.
    pub(super) is_generated: bool,
}

impl Proxy {
    /// Returns the client's answer.
    pub(super) async fn guarded_answer(
        &self,
        answering: Answering<'_>,
        answer: Response,
    ) -> Result<Response, Fault> {
        let (mut head, body) = answer.into_parts();
        if let Some(coding) = head.headers.get(CONTENT_ENCODING).filter(|it| *it != "identity") {
            let coding = coding.to_str().unwrap_or_default();
            let what = format!("upstream compressed its answer ({coding}), asked not to");
            return Err(Fault::new(Kind::Broken, what));
        }
        head.headers.remove(CONTENT_ENCODING);
        match is_event_stream(&head.headers) || answering.is_generated && answering.streamed {
            true => Ok(self.guarded_stream(answering, head, body)),
            false => self.guarded_whole(answering, head, body).await,
        }
    }

    async fn guarded_whole(
        &self,
        answering: Answering<'_>,
        mut head: Parts,
        body: Body,
    ) -> Result<Response, Fault> {
        let config = &self.shared.config;
        let Answering { dialect, exchange, asked, guard, shown, is_generated, .. } = answering;
        let bytes = Idle::new(body, config.timeouts.idle.0).whole(config.limits.answer).await?;
        let length = bytes.len();
        let answered = bytes.clone();
        let work = move || -> Result<_, Fault> {
            let said = match is_generated {
                true => generate::completion(&bytes).into(),
                false => bytes,
            };
            let mut completion = whole(dialect, &said)?;
            if let Some(shown) = shown {
                completion.fields.insert("model".into(), shown.into());
            }
            let fault = |error| Fault::of_stream(ChatSseError::Chat(error));
            let whole = dialect.whole(&guard, completion, &asked).map_err(fault)?;
            Ok((whole.body, whole.usage, whole.uncalled > 0))
        };
        let read = heavy(length, work).await?;
        if let Some(records) = self.shared.records.as_ref().filter(|_| answering.told.noted()) {
            let mut recording = records.begin(&format!("family {}", answering.family));
            recording.take_whole(&answered);
            recording.keep();
        }
        let (answer, usage, uncalled) = read?;
        exchange.counted(usage.as_ref());
        exchange.end(Ending::Complete);
        let mut response = json(head.status, answer);
        if answering.forced && uncalled {
            exchange.unmet();
            let note = HeaderValue::from_static("a call was required and not given");
            response.headers_mut().insert(NOTE, note);
        }
        head.headers.remove(CONTENT_TYPE);
        response.headers_mut().extend(head.headers);
        Ok(response)
    }

    fn guarded_stream(&self, answering: Answering<'_>, mut head: Parts, body: Body) -> Response {
        let timeouts = &self.shared.config.timeouts;
        let Answering { dialect, exchange, is_generated, counted, .. } = answering;
        head.headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        // A reverse proxy in front must not buffer the stream.
        head.headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
        let patience = Patience {
            first: timeouts.first_byte.0.saturating_sub(exchange.began().elapsed()),
            idle: timeouts.idle.0,
            keep_alive: timeouts.keep_alive.0,
        };
        if !dialect.is_upstreams() || is_generated {
            // Upstream's headers describe its own events.
            head.headers.insert(CONTENT_TYPE, HeaderValue::from_static(dialect.stream_type()));
        }
        let leave_after = (answering.streamed && !counted).then_some(answering.choices);
        let meter = Meter::new(self.shared.metrics.clone(), exchange.clone());
        let mut machine = dialect.stream(answering.guard, &answering.asked);
        // Ollama's lines have the name that the client asked for.
        if let Some(shown) = answering.shown.filter(|_| dialect.ollama().is_none()) {
            machine = Box::new(Converted::new(machine, Renamed::new(&shown)));
        }
        if is_generated {
            machine = Box::new(Converted::new(machine, GeneratedLines::new(counted)));
        }
        let stream = Guarded::new(body, machine, patience, leave_after, meter);
        let mut stream = stream.forced(answering.forced);
        if let Some(records) = &self.shared.records {
            let recording = records.begin(&format!("family {}", answering.family));
            stream = stream.recorded(recording, answering.told);
        }
        Response::from_parts(head, Body::from_stream(stream))
    }
}
