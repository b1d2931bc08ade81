//! Many streams at once, some of which break: none is lost, mixed with another or cut wrong.
//!
//! `SOAK=10000 cargo test -p llm-stream-guard-serve --test it soak` asks for more of them.

use std::sync::Arc;

use axum::{body::Body, http::Request};
use http_body_util::BodyExt as _;
use serde_json::{Value, json};

use crate::support::{Do, Got, Replay, STREAM, Served, asks, config, end, piece, text_event};

/// How many are open at a time.
const AT_ONCE: usize = 100;

/// What upstream sends for the number in a request's query: a call that has it; every third breaks
/// off in the middle of it.
fn script(line: &str) -> Vec<Do> {
    let number = line.split(['=', ' ']).find_map(|word| word.parse::<usize>().ok()).unwrap_or(0);
    let said = format!(
        "Number {number}. <tool_call>{{\"name\": \"f\", \"arguments\": {{\"n\": {number}}}}}</tool_call>"
    );
    let words: Vec<_> = said.split_inclusive([' ', '_']).map(text_event).collect();
    let mut script = vec![Do::Send(STREAM.to_vec())];
    let breaks = number.is_multiple_of(3);
    let kept = if breaks { words.len() - 2 } else { words.len() };
    for word in &words[..kept] {
        let (one, other) = word.split_at(number % word.len());
        script.extend([one, other].into_iter().filter(|it| !it.is_empty()).map(piece));
    }
    match breaks {
        true => script.extend([Do::Wait(std::time::Duration::from_millis(20)), Do::Reset]),
        false => script.extend([piece(b"data: [DONE]\n\n"), end()]),
    }
    script
}

async fn ask(served: &Served, number: usize) -> Got {
    let body = Body::from(asks("Qwen/Qwen3-8B", json!({})).to_string());
    let request = Request::post(format!("/v1/chat/completions?number={number}")).body(body);
    let (head, body) = served.send(request.unwrap()).await.into_parts();
    let body = body.collect().await.unwrap().to_bytes().to_vec();
    Got { status: head.status, headers: head.headers, body }
}

fn check(got: &Got, number: usize) {
    assert_eq!(got.status, 200, "{number}");
    if number.is_multiple_of(3) {
        let events = got.events();
        let error: Value = serde_json::from_str(events.last().unwrap()).unwrap();
        assert_eq!(error["error"]["code"], "upstream_broken", "{number}");
        assert!(got.text().contains(&format!("{number}.")), "{number}: {}", got.text());
        return;
    }
    let whole = got.completion();
    let message = &whole.choices[0].message;
    assert_eq!(message.text().map(str::trim), Some(format!("Number {number}.").as_str()));
    let function = message.tool_calls[0].function.as_ref().unwrap();
    let arguments: Value = serde_json::from_str(function.arguments.as_ref().unwrap()).unwrap();
    assert_eq!(arguments, json!({"n": number}));
}

#[tokio::test(flavor = "multi_thread")]
async fn soak() {
    let count = std::env::var("SOAK").ok().and_then(|it| it.parse().ok()).unwrap_or(300);
    let upstream = Replay::choosing(script).await;
    let served = Arc::new(Served::new(upstream.port, config()).await);
    let tasks: Vec<_> = (0..AT_ONCE)
        .map(|first| {
            let served = served.clone();
            tokio::spawn(async move {
                for number in (first..count).step_by(AT_ONCE) {
                    check(&ask(&served, number).await, number);
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    let metrics = Request::get("/metrics").body(Body::empty()).unwrap();
    let metrics = served.send(metrics).await.into_body().collect().await.unwrap().to_bytes();
    let metrics = String::from_utf8(metrics.to_vec()).unwrap();
    let broken = count.div_ceil(3);
    for line in [
        format!("streams_total{{end=\"failed\"}} {broken}"),
        format!("streams_total{{end=\"complete\"}} {}", count - broken),
        "streams_open 0".to_owned(),
        "held_bytes 0".to_owned(),
    ] {
        assert!(metrics.contains(&line), "{line} is not in\n{metrics}");
    }
}
