//! Answers of upstream: guarded at once if they are whole, or event by event.

use axum::{
    body::Body,
    http::{
        HeaderValue,
        header::{CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE},
        response::Parts,
    },
    response::Response,
};
use llm_stream_guard::chat::ChatSseError;
use serde_json::Value;

use super::{
    Proxy,
    asked::Reading,
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
    stream::{Guarded, Patience},
};

/// A request that upstream answers, and how its answer is read.
pub(super) struct Answering<'r> {
    pub(super) dialect: ApiDialect,
    pub(super) exchange: &'r Exchange,
    /// The client's request, as far as the shape of its answer depends on it.
    pub(super) asked: Value,
    pub(super) reading: Reading,
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
        let Answering { dialect, exchange, asked, reading, is_generated, .. } = answering;
        let Reading { guard, told, family, forced, shown, .. } = reading;
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
        if let Some(records) = self.shared.records.as_ref().filter(|_| told.noted()) {
            let mut recording = records.begin(&format!("family {family}"));
            recording.take_whole(&answered);
            recording.keep();
        }
        let (answer, usage, uncalled) = read?;
        exchange.counted(usage.as_ref());
        exchange.end(Ending::Complete);
        let mut response = json(head.status, answer);
        if forced && uncalled {
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
        let Answering { dialect, exchange, asked, reading, streamed, counted, is_generated } =
            answering;
        let Reading { guard, told, family, choices, forced, shown } = reading;
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
        let leave_after = (streamed && !counted).then_some(choices);
        let meter = Meter::new(self.shared.metrics.clone(), exchange.clone());
        let mut machine = dialect.stream(guard, &asked);
        // Ollama's lines have the name that the client asked for.
        if let Some(shown) = shown.filter(|_| dialect.ollama().is_none()) {
            machine = Box::new(Converted::new(machine, Renamed::new(&shown)));
        }
        if is_generated {
            machine = Box::new(Converted::new(machine, GeneratedLines::new(counted)));
        }
        let mut stream = Guarded::new(body, machine, patience, leave_after, meter).forced(forced);
        if let Some(records) = &self.shared.records {
            stream = stream.recorded(records.begin(&format!("family {family}")), told);
        }
        Response::from_parts(head, Body::from_stream(stream))
    }
}
