//! A guarded answer as a body. Upstream is read only when the client reads.

use std::{
    convert::Infallible,
    future::Future as _,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::{Duration, Instant},
};

use axum::body::{Body, Bytes, HttpBody};
use futures_core::Stream;
use llm_stream_guard::chat::ChatSseError;
use serde_json::Value;
use tokio::task::JoinHandle;

use crate::{
    alarm::Alarm,
    dialect::Machine,
    elsewhere::{HEAVY, elsewhere},
    error::{Fault, Kind},
    exchange::Ending,
    idle::{Break, Idle},
    meter::Meter,
    metrics::Told,
    record::Recording,
};

/// The time limits of a stream.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Patience {
    /// Time until the first byte.
    pub(crate) first: Duration,
    /// Time until each later byte.
    pub(crate) idle: Duration,
    /// Time without output until a keep-alive comment is sent.
    pub(crate) keep_alive: Duration,
}

/// Upstream's body, converted by a machine. Nothing is read ahead: one frame from upstream makes
/// one frame for the client. Dropping it drops upstream's body.
pub(crate) struct Guarded {
    upstream: Option<Idle>,
    machine: Box<dyn Machine>,
    patience: Patience,
    /// The machine at work on a heavy piece, on another thread.
    away: Option<JoinHandle<Result<Pushed, Fault>>>,
    /// Number of choices that a stop string must end before upstream is dropped. `None` never drops
    /// it.
    leave_after: Option<usize>,
    /// Whether the request demands a call.
    forced: bool,
    /// Rings when a keep-alive comment is due.
    quiet: Alarm,
    meter: Meter,
    recording: Option<(Recording, Arc<Told>)>,
    /// Whether the end of the answer was noted.
    over: bool,
}

impl Guarded {
    pub(crate) fn new(
        upstream: Body,
        machine: Box<dyn Machine>,
        patience: Patience,
        leave_after: Option<usize>,
        meter: Meter,
    ) -> Self {
        Self {
            upstream: Some(Idle::after(upstream, patience.first, patience.idle)),
            machine,
            patience,
            away: None,
            leave_after,
            forced: false,
            quiet: Alarm::new(patience.keep_alive),
            meter,
            recording: None,
            over: false,
        }
    }

    /// Sets whether the request demands a call.
    pub(crate) fn forced(mut self, forced: bool) -> Self {
        self.forced = forced;
        self
    }

    /// Records the stream, and keeps the record if the guards report anything.
    pub(crate) fn recorded(mut self, recording: Recording, told: Arc<Told>) -> Self {
        self.recording = Some((recording, told));
        self
    }

    /// Feeds upstream's bytes to the machine, on another thread if they are many.
    fn take(&mut self, bytes: &Bytes, out: &mut Vec<u8>) {
        if let Some((recording, _)) = &mut self.recording {
            recording.take(bytes);
        }
        let machine = std::mem::replace(&mut self.machine, Box::new(Absent));
        // The machine parses an event when its last piece arrives.
        if bytes.len().saturating_add(machine.held()) >= HEAVY {
            let bytes = bytes.clone();
            let work = elsewhere(move || Pushed::new(machine, &bytes));
            self.away = Some(tokio::spawn(work));
        } else {
            self.pushed(Pushed::new(machine, bytes), out);
        }
    }

    /// Takes the machine back from its work on a piece.
    fn pushed(&mut self, pushed: Pushed, out: &mut Vec<u8>) {
        let Pushed { machine, result, came, took, .. } = pushed;
        self.machine = machine;
        *out = pushed.out;
        self.meter.piece(came, out.len(), self.machine.held(), took);
        let stopped = self.leave_after.is_some_and(|count| self.machine.stopped() >= count);
        match result {
            Err(error) => self.fail(&Fault::of_stream(error), out),
            Ok(()) if self.machine.upstream_failed() => self.reported(),
            Ok(()) if stopped => self.end(out),
            // The client has the last event. It may leave before upstream ends.
            Ok(()) if self.machine.is_over() => self.complete(out),
            Ok(()) => {}
        }
    }

    /// Notes that the answer is complete.
    fn complete(&mut self, out: &mut Vec<u8>) {
        if std::mem::replace(&mut self.over, true) {
            return;
        }
        let exchange = self.meter.exchange();
        exchange.counted(self.machine.usage());
        exchange.end(Ending::Complete);
        if self.forced && self.machine.uncalled() > 0 {
            exchange.unmet();
            // A comment after the last event, which clients ignore.
            out.extend_from_slice(b": a call was required and not given\n\n");
        }
    }

    /// Notes an error that upstream reported and the client has received.
    fn reported(&mut self) {
        self.upstream = None;
        self.meter.exchange().fault(&Fault::new(Kind::Upstream, "upstream reported an error"));
        self.meter.exchange().counted(self.machine.usage());
    }

    fn end(&mut self, out: &mut Vec<u8>) {
        self.upstream = None;
        match self.machine.finish(out) {
            // An error may be the last event, without its blank line.
            Ok(()) if self.machine.upstream_failed() => self.reported(),
            Ok(()) => self.complete(out),
            Err(error) => self.fail(&Fault::of_stream(error), out),
        }
    }

    fn fail(&mut self, fault: &Fault, out: &mut Vec<u8>) {
        self.upstream = None;
        self.meter.exchange().fault(fault);
        self.machine.fail(fault, out);
        self.meter.exchange().counted(self.machine.usage());
    }
}

/// A machine after its work on a piece.
struct Pushed {
    machine: Box<dyn Machine>,
    result: Result<(), ChatSseError>,
    out: Vec<u8>,
    /// The number of bytes of the piece.
    came: usize,
    took: Duration,
}

impl Pushed {
    fn new(mut machine: Box<dyn Machine>, bytes: &[u8]) -> Self {
        let (began, mut out) = (Instant::now(), Vec::new());
        let result = machine.push(bytes, &mut out);
        Self { machine, result, out, came: bytes.len(), took: began.elapsed() }
    }
}

/// A placeholder for a machine that runs on another thread. Its methods are called only if that
/// work was abandoned.
struct Absent;

impl Machine for Absent {
    fn push(&mut self, _: &[u8], _: &mut Vec<u8>) -> Result<(), ChatSseError> {
        Ok(())
    }

    fn finish(&mut self, _: &mut Vec<u8>) -> Result<(), ChatSseError> {
        Ok(())
    }

    fn fail(&mut self, _: &Fault, _: &mut Vec<u8>) {}

    fn keep_alive(&self, _: &mut Vec<u8>) {}

    fn usage(&self) -> Option<&Value> {
        None
    }

    fn held(&self) -> usize {
        0
    }

    fn stopped(&self) -> usize {
        0
    }

    fn uncalled(&self) -> usize {
        0
    }

    fn is_over(&self) -> bool {
        false
    }

    fn upstream_failed(&self) -> bool {
        false
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        if let Some((recording, told)) = self.recording.take()
            && told.noted()
        {
            recording.keep();
        }
    }
}

impl Stream for Guarded {
    type Item = Result<Bytes, Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        let mut out = Vec::new();
        while out.is_empty() {
            if let Some(away) = &mut this.away {
                let pushed = ready!(Pin::new(away).poll(cx));
                this.away = None;
                match pushed.unwrap_or_else(|error| Err(Fault::new(Kind::Limit, error))) {
                    Ok(pushed) => this.pushed(pushed, &mut out),
                    Err(fault) => this.fail(&fault, &mut out),
                }
                continue;
            }
            let Some(upstream) = &mut this.upstream else { return Poll::Ready(None) };
            match Pin::new(upstream).poll_frame(cx) {
                // A frame without data has trailers, which describe the original body.
                Poll::Ready(Some(Ok(frame))) => {
                    if let Some(bytes) = frame.data_ref() {
                        this.take(bytes, &mut out);
                    }
                }
                // A failure after the end of the answer does not affect it.
                Poll::Ready(Some(Err(_))) if this.machine.is_over() => this.end(&mut out),
                Poll::Ready(Some(Err(error))) => {
                    let fault = match error {
                        Break::Idle => Fault::new(Kind::Timeout, "upstream sent nothing in time"),
                        Break::Broken(error) => {
                            Fault::new(Kind::Broken, format!("upstream broke off: {error}"))
                        }
                    };
                    this.fail(&fault, &mut out);
                }
                Poll::Ready(None) => this.end(&mut out),
                Poll::Pending if this.quiet.poll(cx).is_ready() => {
                    this.machine.keep_alive(&mut out);
                }
                Poll::Pending => return Poll::Pending,
            }
        }
        this.quiet.set(this.patience.keep_alive);
        Poll::Ready(Some(Ok(out.into())))
    }
}

#[cfg(test)]
mod tests {
    use std::{
        collections::VecDeque,
        sync::{Arc, Mutex},
        thread::{self, ThreadId},
        time::Duration,
    };

    use axum::{
        body::{Body, Bytes},
        http::HeaderMap,
    };
    use http_body::Frame;
    use http_body_util::BodyExt as _;
    use llm_stream_guard::{
        Guard, GuardStage, Observer,
        chat::{ChatGuard, ChatOptions},
        profile,
    };

    use super::{Guarded, HEAVY, Patience};
    use crate::{dialect::ApiDialect, exchange::Exchange, meter::Meter, metrics::Metrics};

    /// The thread that read the model's last text.
    #[derive(Debug, Default)]
    struct Reader(Mutex<Option<ThreadId>>);

    impl Observer for Reader {
        fn chunk(&self, _: usize) {
            *self.0.lock().unwrap() = Some(thread::current().id());
        }
    }

    /// A body that comes in pieces.
    struct Pieces(VecDeque<Bytes>);

    impl http_body::Body for Pieces {
        type Data = Bytes;
        type Error = std::convert::Infallible;

        fn poll_frame(
            mut self: std::pin::Pin<&mut Self>,
            _: &mut std::task::Context<'_>,
        ) -> std::task::Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
            std::task::Poll::Ready(self.0.pop_front().map(|piece| Ok(Frame::data(piece))))
        }
    }

    /// Guards an answer whose text is `length` bytes and which comes in pieces of `size` bytes.
    /// Returns whether it was read on this thread.
    async fn is_read_here(length: usize, size: usize) -> bool {
        let text = "x".repeat(length);
        let event = format!(
            "data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"{text}\"}},\"finish_reason\":\"stop\"}}]}}\n\n"
        );
        let body = format!("{event}data: [DONE]\n\n");
        let reader = Arc::new(Reader::default());
        let guard = Guard::builder(&profile("qwen3").unwrap());
        let guard = guard.stage(GuardStage::Observer(reader.clone())).build().unwrap();
        let guard = ChatGuard::new(guard, ChatOptions::default());
        let machine = ApiDialect::Chat.stream(guard, &serde_json::Value::Null);
        let long = Duration::from_secs(60);
        let patience = Patience { first: long, idle: long, keep_alive: long };
        let metrics = Arc::<Metrics>::default();
        let exchange = Exchange::begin(metrics.clone(), ApiDialect::Chat, &HeaderMap::new());
        let pieces = body.as_bytes().chunks(size).map(Bytes::copy_from_slice).collect();
        let pieces = Body::new(Pieces(pieces));
        let guarded = Guarded::new(pieces, machine, patience, None, Meter::new(metrics, exchange));
        let came = Body::from_stream(guarded).collect().await.unwrap().to_bytes();
        assert!(came.ends_with(b"data: [DONE]\n\n"));
        assert!(came.len() > length);
        let reader = reader.0.lock().unwrap().unwrap();
        reader == thread::current().id()
    }

    #[tokio::test]
    async fn heavy_events_are_read_on_another_thread() {
        assert!(is_read_here(HEAVY / 2, HEAVY).await);
        assert!(!is_read_here(HEAVY, 2 * HEAVY).await, "one piece");
        assert!(!is_read_here(HEAVY, HEAVY / 4).await, "the last piece is light");
    }
}
