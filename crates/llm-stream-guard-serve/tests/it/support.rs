//! An upstream that does exactly what a test says, and a client that shows what came.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use axum::{
    body::Body,
    http::{HeaderMap, Request, Response, StatusCode},
};
use http_body_util::BodyExt as _;
use hyper_util::{
    client::legacy::{Client, connect::HttpConnector},
    rt::TokioExecutor,
};
use llm_stream_guard::{
    chat::{Aggregator, Chunk, Completion},
    sse::{Decoder, SseItem},
};
use llm_stream_guard_serve::{Config, Proxy, Upstream, serve};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    sync::Notify,
};

/// Longer than anything a test waits for.
pub(crate) const LONG: Duration = Duration::from_secs(20);

/// What an upstream does when it was asked.
#[derive(Debug, Clone)]
pub(crate) enum Do {
    /// Sends bytes, head included.
    Send(Vec<u8>),
    Wait(Duration),
    /// Nothing more until the other side leaves.
    Hang,
    /// Cuts the connection.
    Reset,
}

/// An upstream that follows a script, whatever it is asked.
#[derive(Debug)]
pub(crate) struct Replay {
    pub(crate) port: u16,
    /// Heads and bodies of the requests that came.
    pub(crate) asked: Arc<Mutex<Vec<(String, Value)>>>,
    /// How often the other side left before the script was over.
    pub(crate) left: Arc<AtomicUsize>,
    pub(crate) changed: Arc<Notify>,
}

impl Replay {
    pub(crate) async fn new(script: Vec<Do>) -> Self {
        Self::choosing(move |_| script.clone()).await
    }

    /// The script is `choose`'s, from the request's first line.
    pub(crate) async fn choosing(
        choose: impl Fn(&str) -> Vec<Do> + Clone + Send + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let new =
            Self { port, asked: Arc::default(), left: Arc::default(), changed: Arc::default() };
        let (asked, left, changed) = (new.asked.clone(), new.left.clone(), new.changed.clone());
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (asked, left, changed) = (asked.clone(), left.clone(), changed.clone());
                let choose = choose.clone();
                tokio::spawn(async move {
                    let Some(stream) = follow(stream, choose, &asked).await else {
                        left.fetch_add(1, Ordering::SeqCst);
                        changed.notify_one();
                        return;
                    };
                    drop(stream);
                });
            }
        });
        new
    }

    /// Waits until the other side left.
    pub(crate) async fn was_left(&self) {
        while self.left.load(Ordering::SeqCst) == 0 {
            tokio::time::timeout(LONG, self.changed.notified()).await.expect("it leaves");
        }
    }

    pub(crate) fn last_asked(&self) -> (String, Value) {
        self.asked.lock().unwrap().last().cloned().expect("it was asked")
    }
}

/// Answers one request; `None` if the other side left first.
async fn follow(
    mut stream: TcpStream,
    choose: impl Fn(&str) -> Vec<Do>,
    asked: &Mutex<Vec<(String, Value)>>,
) -> Option<TcpStream> {
    let (head, body) = request(&mut stream).await?;
    let script = choose(head.lines().next().unwrap_or_default());
    asked.lock().unwrap().push((head, serde_json::from_slice(&body).unwrap_or_default()));
    for step in script {
        match step {
            Do::Send(bytes) => stream.write_all(&bytes).await.ok()?,
            Do::Wait(time) => tokio::time::sleep(time).await,
            Do::Reset => {
                stream.set_zero_linger().unwrap();
                return Some(stream);
            }
            Do::Hang => {
                let mut byte = [0];
                // Bytes do not come, so what comes is the end.
                let _ = stream.read(&mut byte).await;
                return None;
            }
        }
    }
    Some(stream)
}

async fn request(stream: &mut TcpStream) -> Option<(String, Vec<u8>)> {
    let mut came = Vec::new();
    loop {
        let mut piece = [0; 4096];
        let len = stream.read(&mut piece).await.ok().filter(|len| *len > 0)?;
        came.extend_from_slice(&piece[..len]);
        let Some(end) = came.windows(4).position(|four| four == b"\r\n\r\n") else { continue };
        let head = String::from_utf8(came[..end].to_vec()).ok()?;
        let length = head.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case("content-length")
                .then(|| value.trim().parse::<usize>().ok())?
        });
        let missing = (end + 4 + length.unwrap_or(0)).saturating_sub(came.len());
        let mut rest = vec![0; missing];
        stream.read_exact(&mut rest).await.ok()?;
        came.extend(rest);
        return Some((head, came.split_off(end + 4)));
    }
}

/// A response of known length.
pub(crate) fn whole(status: &str, head: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!(
        "HTTP/1.1 {status}\r\n{head}content-length: {length}\r\nconnection: close\r\n\r\n{body}"
    )
    .into()
}

pub(crate) fn whole_json(status: &str, body: &Value) -> Vec<u8> {
    whole(status, "content-type: application/json\r\n", &body.to_string())
}

/// The head of an event stream that comes in chunks.
pub(crate) const STREAM: &[u8] =
    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";

/// A chunk of a body.
pub(crate) fn piece(bytes: &[u8]) -> Do {
    let mut piece = format!("{:x}\r\n", bytes.len()).into_bytes();
    piece.extend_from_slice(bytes);
    piece.extend_from_slice(b"\r\n");
    Do::Send(piece)
}

/// The end of a body that comes in chunks.
pub(crate) fn end() -> Do {
    Do::Send(b"0\r\n\r\n".to_vec())
}

/// The script of an event stream whose body is cut into pieces of `size` bytes.
pub(crate) fn stream(body: &[u8], size: usize) -> Vec<Do> {
    let mut script = vec![Do::Send(STREAM.to_vec())];
    script.extend(body.chunks(size).map(piece));
    script.push(end());
    script
}

pub(crate) fn sample(name: &str) -> Vec<u8> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/samples/");
    std::fs::read(format!("{path}{name}")).unwrap()
}

/// An event of a chunk with one choice.
pub(crate) fn event(choice: &Value) -> Vec<u8> {
    let chunk = json!({"id": "c1", "object": "chat.completion.chunk", "choices": [choice]});
    format!("data: {chunk}\n\n").into_bytes()
}

pub(crate) fn text_event(text: &str) -> Vec<u8> {
    event(&json!({"index": 0, "delta": {"content": text}, "finish_reason": null}))
}

/// An event with all of an answer's text, and its end.
pub(crate) fn whole_event(text: &str) -> Vec<u8> {
    event(&json!({"index": 0, "delta": {"content": text}, "finish_reason": "stop"}))
}

/// A proxy in front of a port, serving.
#[derive(Debug)]
pub(crate) struct Served {
    pub(crate) port: u16,
    pub(crate) proxy: Proxy,
    client: Client<HttpConnector, Body>,
    stop: Option<tokio::sync::oneshot::Sender<()>>,
    pub(crate) ended: tokio::task::JoinHandle<()>,
}

/// A configuration that asks upstream nothing but what is asked of it.
pub(crate) fn config() -> Config {
    Config { server: llm_stream_guard_serve::ServerName::Plain, ..Config::default() }
}

impl Served {
    pub(crate) async fn new(upstream: u16, config: Config) -> Self {
        Self::of(Config { upstream: Upstream::local(upstream), ..config }).await
    }

    pub(crate) async fn of(config: Config) -> Self {
        Self::with(Proxy::new(config).unwrap()).await
    }

    pub(crate) async fn with(proxy: Proxy) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
        let serving = proxy.clone();
        let ended = tokio::spawn(async move {
            let shutdown = async { drop(stopped.await) };
            serve(&serving, listener, shutdown).await.unwrap();
        });
        let client = Client::builder(TokioExecutor::new()).build_http();
        Self { port, proxy, client, stop: Some(stop), ended }
    }

    pub(crate) fn stop(&mut self) {
        drop(self.stop.take());
    }

    pub(crate) async fn send(&self, request: Request<Body>) -> Response<Body> {
        let (mut parts, body) = request.into_parts();
        let path = parts.uri.path_and_query().unwrap().to_string();
        parts.uri = format!("http://127.0.0.1:{}{path}", self.port).parse().unwrap();
        let request = self.client.request(Request::from_parts(parts, body));
        let response = tokio::time::timeout(LONG, request).await.expect("it answers").unwrap();
        response.map(Body::new)
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> Response<Body> {
        let body = Body::from(body.to_string());
        self.send(Request::post(path).body(body).unwrap()).await
    }

    /// Asks for a completion, and takes all that comes.
    pub(crate) async fn ask(&self, body: &Value) -> Got {
        let response = self.post("/v1/chat/completions", body).await;
        let (head, body) = response.into_parts();
        let body = tokio::time::timeout(LONG, body.collect()).await.expect("it ends").unwrap();
        Got { status: head.status, headers: head.headers, body: body.to_bytes().to_vec() }
    }
}

/// An answer.
#[derive(Debug)]
pub(crate) struct Got {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
}

impl Got {
    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|_| panic!("no JSON: {}", self.text()))
    }

    /// The data of every event, in order.
    pub(crate) fn events(&self) -> Vec<String> {
        let mut events = Vec::new();
        let mut item = |item: SseItem<'_>| {
            if let SseItem::Event(event) = item {
                events.extend(event.data.map(|data| String::from_utf8(data.to_vec()).unwrap()));
            }
        };
        let mut decoder = Decoder::new();
        decoder.push(&self.body, &mut item).unwrap();
        decoder.finish(item).unwrap();
        events
    }

    /// The chunks put together. Everything must be a chunk, but for one `[DONE]`, which is last.
    pub(crate) fn completion(&self) -> Completion {
        let events = self.events();
        let (done, chunks) = events.split_last().expect("events");
        assert_eq!(done, "[DONE]");
        let mut whole = Aggregator::default();
        for chunk in chunks {
            let chunk: Chunk = serde_json::from_str(chunk).unwrap_or_else(|_| panic!("{chunk}"));
            whole.push(&chunk);
        }
        whole.finish()
    }
}

/// `body` with the ids that were made numbered, which differ between responses.
pub(crate) fn numbered(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    let (mut ids, mut pieces) = (Vec::new(), text.split("call_"));
    let mut out = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        out.push_str("call_");
        let made = |id: &&str| id.bytes().all(|byte| byte.is_ascii_alphanumeric());
        let Some(id) = piece.get(..24).filter(made) else {
            out.push_str(piece);
            continue;
        };
        let n = ids.iter().position(|known| *known == id).unwrap_or_else(|| {
            ids.push(id);
            ids.len() - 1
        });
        out.push_str(&format!("{n}{}", &piece[24..]));
    }
    out
}

pub(crate) fn asks(model: &str, more: Value) -> Value {
    let mut body =
        json!({"model": model, "messages": [{"role": "user", "content": "?"}], "stream": true});
    body.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap_or_default());
    body
}
