//! Spans as a collector gets them.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{TcpListener, TcpStream},
    process::Stdio,
    sync::mpsc::{Receiver, channel},
    thread,
    time::Duration,
};

use serde_json::Value;

use crate::{serve::Started, support::command};

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";

/// Answers a request as a collector or as a model; its head and its body.
fn answer(mut stream: TcpStream) -> Option<(String, String)> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        reader.read_line(&mut head).ok().filter(|len| *len > 0)?;
    }
    let head = head.to_ascii_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    let mut body = vec![0; length.and_then(|it| it.parse().ok()).unwrap_or(0)];
    reader.read_exact(&mut body).ok()?;
    let (kind, said) = match head.starts_with("post /v1/traces") {
        true => ("application/json", "{}"),
        false => (
            "text/event-stream",
            "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"secret\"},\"finish_reason\":\"stop\"}]}\n\n\
             data: {\"choices\":[],\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":9}}\n\n",
        ),
    };
    let length = said.len();
    let answer = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{said}"
    );
    stream.write_all(answer.as_bytes()).ok()?;
    Some((head, String::from_utf8(body).ok()?))
}

/// A model and a collector on one port, and what they were told.
fn listener() -> (u16, Receiver<(String, String)>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let (send, receive) = channel();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let told = answer(stream);
            if told.is_some_and(|told| send.send(told).is_err()) {
                break;
            }
        }
    });
    (port, receive)
}

#[test]
fn guarded_request_is_a_span_of_the_client_trace() {
    let (port, told) = listener();
    let there = format!("http://127.0.0.1:{port}");
    let mut serve = command(&["serve", "--upstream", &there, "--listen", "127.0.0.1:0"]);
    serve.env("OTEL_EXPORTER_OTLP_ENDPOINT", &there).env("OTEL_BSP_SCHEDULE_DELAY", "50");
    let serve = serve.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("it starts");
    let mut serve = Started(serve);
    let mut line = String::new();
    let out = serve.0.stdout.take().expect("piped");
    BufReader::new(out).read_line(&mut line).expect("a line");
    let address = line.split_whitespace().next().and_then(|it| it.strip_prefix("http://"));
    let mut client = TcpStream::connect(address.expect("an address")).expect("it listens");
    let body =
        r#"{"model": "Qwen/Qwen3-8B", "stream": true, "stream_options": {"include_usage": true}}"#;
    let head = format!(
        "POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\
         traceparent: 00-{TRACE}-00f067aa0ba902b7-01\r\ncontent-length: {}",
        body.len()
    );
    write!(client, "{head}\r\n\r\n{body}").expect("it reads");
    let mut said = String::new();
    client.read_to_string(&mut said).expect("it answers");
    assert!(said.contains("secret"), "{said}");

    let next = || told.recv_timeout(Duration::from_secs(15)).expect("it is told");
    let mut asked = None;
    let spans = loop {
        match next() {
            (head, body) if head.starts_with("post /v1/traces") => break body,
            (head, _) if head.starts_with("post ") => asked = Some(head),
            _ => {}
        }
    };
    assert!(!spans.contains("secret"), "{spans}");
    let spans: Value = serde_json::from_str(&spans).expect("JSON");
    let span = &spans["resourceSpans"][0]["scopeSpans"][0]["spans"][0];
    assert_eq!(span["name"], "POST /v1/chat/completions");
    assert_eq!(span["traceId"], TRACE);
    assert_eq!(span["parentSpanId"], "00f067aa0ba902b7");
    let own = span["spanId"].as_str().expect("an id");
    let asked = asked.expect("upstream was asked");
    assert!(asked.contains(&format!("traceparent: 00-{TRACE}-{own}-01")), "{asked}");
    let attributes = span["attributes"].as_array().expect("attributes");
    let value = |name: &str| {
        let found = attributes.iter().find(|it| it["key"] == name);
        found.unwrap_or_else(|| panic!("{name} is not in {span}"))["value"].clone()
    };
    assert_eq!(value("gen_ai.request.model")["stringValue"], "Qwen/Qwen3-8B");
    assert_eq!(value("llm_stream_guard.family")["stringValue"], "qwen3");
    assert_eq!(value("llm_stream_guard.end")["stringValue"], "complete");
    assert_eq!(value("gen_ai.usage.output_tokens")["intValue"], "9");
}
