//! Bodies with a time limit for each piece.

use std::{
    fmt,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use axum::body::{Body, Bytes, HttpBody};
use http_body::{Frame, SizeHint};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};

use crate::{
    alarm::Alarm,
    error::{Fault, Kind},
};

/// A body that fails if no piece arrives in time. Only the time spent waiting for the body counts,
/// not the time of its reader.
#[derive(Debug)]
pub(crate) struct Idle {
    body: Body,
    /// Time limit for the next piece.
    span: Duration,
    /// Time limit for each later piece.
    then: Duration,
    alarm: Alarm,
    waiting: bool,
}

/// The reason why a body broke off.
#[derive(Debug)]
pub(crate) enum Break {
    /// No piece arrived in time.
    Idle,
    /// The sender ended the body with an error.
    Broken(axum::Error),
}

impl Idle {
    /// Creates a body with the limit `span` for each piece.
    pub(crate) fn new(body: Body, span: Duration) -> Self {
        Self::after(body, span, span)
    }

    /// Creates a body with a separate limit for its first piece.
    pub(crate) fn after(body: Body, first: Duration, then: Duration) -> Self {
        Self { body, span: first, then, alarm: Alarm::new(first), waiting: false }
    }

    /// Reads the whole body, if it has at most `most` bytes.
    pub(crate) async fn whole(self, most: usize) -> Result<Bytes, Fault> {
        match Limited::new(self, most).collect().await {
            Ok(whole) => Ok(whole.to_bytes()),
            Err(error) if error.is::<LengthLimitError>() => {
                let what =
                    format!("the answer has more than {most} bytes, the limit `limits.answer`");
                Err(Fault::new(Kind::Limit, what))
            }
            Err(error) => match error.downcast_ref::<Break>() {
                Some(Break::Idle) => {
                    Err(Fault::new(Kind::Timeout, "the body did not come in time"))
                }
                _ => Err(Fault::new(Kind::Broken, format!("the body broke off: {error}"))),
            },
        }
    }
}

impl HttpBody for Idle {
    type Data = Bytes;
    type Error = Break;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Break>>> {
        let this = &mut *self;
        if let Poll::Ready(frame) = Pin::new(&mut this.body).poll_frame(cx) {
            (this.waiting, this.span) = (false, this.then);
            return Poll::Ready(frame.map(|frame| frame.map_err(Break::Broken)));
        }
        if !std::mem::replace(&mut this.waiting, true) {
            this.alarm.set(this.span);
        }
        this.alarm.poll(cx).map(|()| Some(Err(Break::Idle)))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl fmt::Display for Break {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Idle => f.write_str("nothing came in time"),
            Self::Broken(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Break {}
