//! A guarded answer as a body: upstream is read when the client reads.

use std::{
    convert::Infallible,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::{Duration, Instant},
};

use axum::body::{Body, Bytes, HttpBody};
use futures_core::Stream;

use crate::{
    alarm::Alarm,
    dialect::Machine,
    error::{Fault, Kind},
    exchange::Ending,
    idle::{Break, Idle},
    meter::Meter,
    metrics::Told,
    record::Recording,
};

/// The time a stream is given.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Patience {
    /// For the first byte from now on.
    pub(crate) first: Duration,
    /// Limit for each later byte.
    pub(crate) idle: Duration,
    /// Until a sign of life is due.
    pub(crate) keep_alive: Duration,
}

/// Upstream's body on its way through a machine. Nothing is read ahead: one frame that came makes
/// one that goes. Dropped, it drops upstream.
pub(crate) struct Guarded {
    upstream: Option<Idle>,
    machine: Box<dyn Machine>,
    patience: Patience,
    /// Stop strings that must have been seen before upstream is left; `None`: never.
    leave_after: Option<usize>,
    /// The request demands a call.
    forced: bool,
    /// Rings when a sign of life is due.
    quiet: Alarm,
    meter: Meter,
    recording: Option<(Recording, Arc<Told>)>,
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
            leave_after,
            forced: false,
            quiet: Alarm::new(patience.keep_alive),
            meter,
            recording: None,
        }
    }

    /// Marks the answer to a request that demands a call, if `forced`.
    pub(crate) fn forced(mut self, forced: bool) -> Self {
        self.forced = forced;
        self
    }

    /// Records the stream, and keeps the record if the guards report anything.
    pub(crate) fn recorded(mut self, recording: Recording, told: Arc<Told>) -> Self {
        self.recording = Some((recording, told));
        self
    }

    /// Takes what upstream sent.
    fn take(&mut self, bytes: &[u8], out: &mut Vec<u8>) {
        if let Some((recording, _)) = &mut self.recording {
            recording.take(bytes);
        }
        let came = Instant::now();
        let result = self.machine.push(bytes, out);
        self.meter.piece(bytes.len(), out.len(), self.machine.held(), came.elapsed());
        let stopped = self.leave_after.is_some_and(|count| self.machine.stopped() >= count);
        match result {
            Err(error) => self.fail(&Fault::of_stream(error), out),
            Ok(()) if self.machine.upstream_failed() => self.reported(),
            Ok(()) if stopped => self.end(out),
            Ok(()) => {}
        }
    }

    /// Upstream reported an error, which the client has read.
    fn reported(&mut self) {
        self.upstream = None;
        // Its words may repeat the request.
        tracing::warn!(kind = Kind::Upstream.name(), "stream failed");
        self.meter.exchange().fault(Kind::Upstream);
        self.meter.exchange().counted(self.machine.usage());
    }

    fn end(&mut self, out: &mut Vec<u8>) {
        self.upstream = None;
        match self.machine.finish(out) {
            // An error may be the last event, without its blank line.
            Ok(()) if self.machine.upstream_failed() => self.reported(),
            Ok(()) => {
                let exchange = self.meter.exchange();
                exchange.counted(self.machine.usage());
                exchange.end(Ending::Complete);
                if self.forced && self.machine.uncalled() > 0 {
                    exchange.unmet();
                    // After the last event, where it changes nothing.
                    out.extend_from_slice(b": a call was required and not given\n\n");
                }
            }
            Err(error) => self.fail(&Fault::of_stream(error), out),
        }
    }

    fn fail(&mut self, fault: &Fault, out: &mut Vec<u8>) {
        self.upstream = None;
        tracing::warn!(kind = fault.kind.name(), "stream failed: {fault}");
        self.meter.exchange().fault(fault.kind);
        self.machine.fail(fault, out);
        self.meter.exchange().counted(self.machine.usage());
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
            let Some(upstream) = &mut this.upstream else { return Poll::Ready(None) };
            match Pin::new(upstream).poll_frame(cx) {
                // A frame without data has trailers, which describe the original body.
                Poll::Ready(Some(Ok(frame))) => {
                    if let Some(bytes) = frame.data_ref() {
                        this.take(bytes, &mut out);
                    }
                }
                // A failure after the end of the answer takes nothing from it.
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
