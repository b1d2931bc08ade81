//! A client that looks closely at what it gets.

use std::{
    fmt,
    sync::LazyLock,
    time::{Duration, Instant},
};

use axum::{body::Body, http::Request};
use http_body_util::BodyExt as _;
use hyper_util::{
    client::legacy::{Client, connect::HttpConnector},
    rt::TokioExecutor,
};
use llm_stream_guard::sse::{Decoder, SseItem};
use serde_json::Value;

use crate::{
    Fallible,
    upstream::{EVENTS, Trouble, trouble},
};

static CLIENT: LazyLock<Client<HttpConnector, Body>> =
    LazyLock::new(|| Client::builder(TokioExecutor::new()).build_http());

/// What streams were like.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    whole: u64,
    broken: u64,
    lost: u64,
    wrong: u64,
    /// Microseconds from an event's sending to its arrival.
    latencies: Vec<u32>,
}

impl Seen {
    pub(crate) fn add(&mut self, other: Self) {
        self.whole += other.whole;
        self.broken += other.broken;
        self.lost += other.lost;
        self.wrong += other.wrong;
        self.latencies.extend(other.latencies);
    }

    pub(crate) fn faults(&self) -> u64 {
        self.lost + self.wrong + u64::from(self.whole == 0)
    }

    pub(crate) fn events(&self) -> usize {
        self.latencies.len()
    }

    pub(crate) fn quantile(&mut self, share: f64) -> f64 {
        self.latencies.sort_unstable();
        let at = (self.latencies.len() as f64 * share) as usize;
        self.latencies.get(at).copied().unwrap_or_default().into()
    }
}

impl fmt::Display for Seen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { whole, broken, lost, wrong, latencies } = self;
        let mut sorted = latencies.clone();
        sorted.sort_unstable();
        let at = |share: usize| sorted.get(sorted.len() * share / 100).copied().unwrap_or(0);
        write!(
            f,
            "{whole} whole, {broken} in trouble, {lost} lost, {wrong} mixed or cut wrong; {} events, p50 {} us, p99 {} us",
            latencies.len(),
            at(50),
            at(99),
        )
    }
}

/// What a stream said.
#[derive(Debug, Default)]
struct Said {
    content: String,
    arguments: String,
    error: bool,
    done: bool,
}

/// Asks for the stream with a number, and looks whether it is what it must be.
pub(crate) async fn ask(
    port: u16,
    guarded: bool,
    number: u64,
    epoch: Instant,
    seen: &mut Seen,
) -> Fallible<()> {
    let path = if guarded { "chat/completions" } else { "untouched" };
    let uri = format!("http://127.0.0.1:{port}/v1/{path}?number={number}");
    let body = r#"{"model": "Qwen/Qwen3-8B", "stream": true, "messages": []}"#;
    let response = CLIENT.request(Request::post(uri).body(Body::from(body))?).await?;
    let (mut body, mut decoder) = (response.into_body(), Decoder::new());
    let mut said = Said::default();
    let broke = loop {
        match body.frame().await {
            None => break false,
            Some(Err(_)) => break true,
            Some(Ok(frame)) => {
                let now = epoch.elapsed();
                let bytes = frame.data_ref().ok_or("trailers")?;
                decoder.push(bytes, |item| said.take(&item, now, seen))?;
            }
        }
    };
    let trouble = trouble(number);
    // A truncated body that is passed looks whole to all but its reader.
    let is_clean = trouble == Some(Trouble::Truncated) && !broke;
    let told = if guarded { said.error && !broke } else { broke || is_clean };
    let as_due = if trouble.is_some() {
        seen.broken += 1;
        told && !said.done
    } else {
        seen.whole += 1;
        !told && said.done && said.ends_well(guarded, number)
    };
    let events: Vec<_> = said.content.split(' ').filter(|word| word.contains(':')).collect();
    let events = events.iter().filter(|word| !word.contains('"'));
    let own = |(n, word): (u64, &&&str)| word.starts_with(&format!("{number}:{n}:"));
    seen.lost += u64::from(events.clone().count() < EVENTS as usize);
    seen.wrong += u64::from(!as_due || !(0..).zip(events).all(|it| own((it.0, &it.1))));
    Ok(())
}

impl Said {
    fn take(&mut self, item: &SseItem<'_>, now: Duration, seen: &mut Seen) {
        let SseItem::Event(event) = item else { return };
        let data = event.data.unwrap_or_default();
        self.done |= data == b"[DONE]";
        let value: Value = serde_json::from_slice(data).unwrap_or_default();
        self.error |= value.get("error").is_some();
        let delta = &value["choices"][0]["delta"];
        if let Some(text) = delta["content"].as_str() {
            self.content.push_str(text);
            let sent = text.trim_end().rsplit(':').next().and_then(|it| it.parse::<u64>().ok());
            if let Some(sent) = sent {
                let late = now.saturating_sub(Duration::from_nanos(sent)).as_micros();
                seen.latencies.push(u32::try_from(late).unwrap_or(u32::MAX));
            }
        }
        if let Some(text) = delta["tool_calls"][0]["function"]["arguments"].as_str() {
            self.arguments.push_str(text);
        }
    }

    /// Whether the call is this stream's own.
    fn ends_well(&self, guarded: bool, number: u64) -> bool {
        let arguments = format!("{{\"n\": {number}, \"said\": \"{number}\"}}");
        match guarded {
            true => self.arguments == arguments && !self.content.contains("<tool_call>"),
            false => self.content.contains(&arguments),
        }
    }
}

/// A number that an instance tells of itself.
pub(crate) async fn metric(port: u16, name: &str) -> Fallible<i64> {
    let uri = format!("http://127.0.0.1:{port}/metrics");
    let answer = CLIENT.request(Request::get(uri).body(Body::empty())?).await?;
    let text = answer.into_body().collect().await?.to_bytes();
    let text = String::from_utf8(text.to_vec())?;
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    Ok(line.ok_or("no such metric")?.parse()?)
}
