//! An upstream that writes streams which tell who they are and when each event was sent.

use std::time::{Duration, Instant};

use serde_json::json;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
};

use crate::Fallible;

/// Events of text in a stream.
pub(crate) const EVENTS: u64 = 20;
/// Between two of them.
const PACE: Duration = Duration::from_millis(500);
/// Until what was sent is surely read, before the connection is reset.
const LINGER: Duration = Duration::from_secs(1);

/// How a stream ends in the middle of its call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// The connection is reset.
    Reset,
    /// The body ends as if it were whole.
    Truncated,
    /// Nothing more is sent, and the connection stays open.
    Stalled,
}

/// The trouble of the stream with this number: every third has one.
pub(crate) fn trouble(number: u64) -> Option<Trouble> {
    match number % 9 {
        0 => Some(Trouble::Reset),
        3 => Some(Trouble::Truncated),
        6 => Some(Trouble::Stalled),
        _ => None,
    }
}

/// Starts it; the port.
pub(crate) async fn start(epoch: Instant) -> Fallible<u16> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let port = listener.local_addr()?.port();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            // Clients that leave are not expected, and missed where they are counted.
            tokio::spawn(async move { drop(answer(stream, epoch).await) });
        }
    });
    Ok(port)
}

async fn answer(mut stream: TcpStream, epoch: Instant) -> Fallible<()> {
    stream.set_nodelay(true)?;
    let head = read(&mut stream).await?;
    let number = head.split(['=', ' ']).find_map(|word| word.parse::<u64>().ok());
    let Some(number) = number else {
        let none = "HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
        return Ok(stream.write_all(none.as_bytes()).await?);
    };
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\
                transfer-encoding: chunked\r\nconnection: close\r\n\r\n";
    stream.write_all(head.as_bytes()).await?;
    for event in 0..EVENTS {
        tokio::time::sleep(PACE).await;
        let text = format!("{number}:{event}:{} ", epoch.elapsed().as_nanos());
        say(&mut stream, &text).await?;
    }
    let call = format!(
        "<tool_call>{{\"name\": \"f\", \"arguments\": {{\"n\": {number}, \"said\": \"{number}\"}}}}</tool_call>"
    );
    let (first, second) = call.split_at(call.len() - 20);
    say(&mut stream, first).await?;
    match trouble(number) {
        None => {}
        Some(Trouble::Reset) => {
            tokio::time::sleep(LINGER).await;
            return Ok(stream.set_zero_linger()?);
        }
        Some(Trouble::Truncated) => return Ok(stream.write_all(b"0\r\n\r\n").await?),
        Some(Trouble::Stalled) => {
            // Nothing is sent by the other side: the read ends when it leaves.
            let _ = stream.read(&mut [0]).await;
            return Ok(());
        }
    }
    say(&mut stream, second).await?;
    piece(&mut stream, b"data: [DONE]\n\n").await?;
    Ok(stream.write_all(b"0\r\n\r\n").await?)
}

async fn say(stream: &mut TcpStream, text: &str) -> Fallible<()> {
    let choice = json!({"index": 0, "delta": {"content": text}, "finish_reason": null});
    let chunk = json!({"id": "c", "object": "chat.completion.chunk", "choices": [choice]});
    piece(stream, format!("data: {chunk}\n\n").as_bytes()).await
}

async fn piece(stream: &mut TcpStream, bytes: &[u8]) -> Fallible<()> {
    let mut piece = format!("{:x}\r\n", bytes.len()).into_bytes();
    piece.extend_from_slice(bytes);
    piece.extend_from_slice(b"\r\n");
    Ok(stream.write_all(&piece).await?)
}

/// Reads a request with a body of known length; its first line.
async fn read(stream: &mut TcpStream) -> Fallible<String> {
    let mut came = Vec::new();
    loop {
        let mut piece = [0; 1024];
        let len = stream.read(&mut piece).await?;
        if len == 0 {
            return Err("no request".into());
        }
        came.extend_from_slice(&piece[..len]);
        let text = String::from_utf8_lossy(&came);
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
        if body.len() >= length.map_or(Ok(0), str::parse)? {
            return Ok(head.lines().next().unwrap_or_default().to_owned());
        }
    }
}
