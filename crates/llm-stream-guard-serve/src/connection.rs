//! The activity of one connection: its open requests, and the time of the last transfer.
//!
//! Connections without a request, with half a preface, or with a client that accepts no data are
//! closed: [`Activity::given_up`] then resolves. Earlier, a client that pauses too long loses its
//! answer, so that upstream stops working for it.

use std::{
    convert::Infallible,
    future::Future,
    pin::Pin,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, Weak,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll},
    time::{Duration, Instant},
};

use axum::{
    Router,
    body::{Body, Bytes, HttpBody},
    http::{
        Method, Request, StatusCode, Version,
        header::{CONTENT_TYPE, HOST},
    },
    response::{IntoResponse as _, Response},
};
use http_body::{Frame, SizeHint};

use crate::{
    config::Timeouts,
    dialect::chat,
    error::{Fault, Kind},
};

/// Maximum length of a piece of an answer. Only the request for the next piece shows that the
/// client is still reading.
const PIECE: usize = 64 << 10;

/// Number of checks of a connection within the shortest of its timeouts.
const LOOKS: u32 = 4;
/// Minimum time between two checks.
const SHORTEST_STEP: Duration = Duration::from_millis(1);
const LONGEST_STEP: Duration = Duration::from_secs(60);

/// The activity of one connection.
#[derive(Debug)]
pub(crate) struct Activity {
    /// Time until the first request.
    head: Duration,
    /// Time until each further request.
    idle: Duration,
    /// Time for a client to accept a piece of an answer.
    write: Duration,
    open: AtomicUsize,
    last: Mutex<Moment>,
    answers: Mutex<Vec<Weak<Mutex<Answer>>>>,
}

/// The time of the last activity.
#[derive(Debug, Clone, Copy)]
struct Moment {
    when: Instant,
    /// Whether a request arrived by then.
    asked: bool,
}

/// An answer on its way to the client.
#[derive(Debug)]
struct Answer {
    body: Option<Body>,
    /// The remainder of a piece longer than [`PIECE`].
    rest: Bytes,
    /// When the client received a piece; `None` once it asks for the next.
    handed: Option<Instant>,
}

/// The body of an answer, which the connection's [`Activity`] may end.
#[derive(Debug)]
struct Watched {
    answer: Arc<Mutex<Answer>>,
    _open: Open,
}

/// Counts a request as open.
#[derive(Debug)]
struct Open(Arc<Activity>);

/// Locks a mutex. No code panics while it holds one, so that a poisoned mutex is still consistent.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Activity {
    pub(crate) fn new(timeouts: &Timeouts) -> Arc<Self> {
        Arc::new(Self {
            head: timeouts.head.0,
            idle: timeouts.idle.0,
            write: timeouts.write.0,
            open: AtomicUsize::new(0),
            last: Mutex::new(Moment { when: Instant::now(), asked: false }),
            answers: Mutex::default(),
        })
    }

    /// Answers a request with `answer`, and watches its body.
    async fn answer(
        self: Arc<Self>,
        answer: impl Future<Output = Result<Response, Infallible>>,
    ) -> Result<Response, Infallible> {
        let open = Open::new(self.clone());
        let (head, body) = answer.await?.into_parts();
        let answer = Answer { body: Some(body), rest: Bytes::new(), handed: None };
        let answer = Arc::new(Mutex::new(answer));
        let mut answers = lock(&self.answers);
        answers.retain(|answer| answer.strong_count() > 0);
        answers.push(Arc::downgrade(&answer));
        drop(answers);
        Ok(Response::from_parts(head, Body::new(Watched { answer, _open: open })))
    }

    /// Resolves when the connection has had no request for too long. Until then, drops the answers
    /// that the client does not accept.
    pub(crate) async fn given_up(&self) {
        let step = self.head.min(self.idle).min(self.write).checked_div(LOOKS).unwrap_or_default();
        let step = step.clamp(SHORTEST_STEP, LONGEST_STEP);
        loop {
            tokio::time::sleep(step).await;
            self.drop_untaken();
            let Moment { when, asked } = *lock(&self.last);
            let given = if asked { self.idle } else { self.head };
            if self.open.load(Ordering::Acquire) == 0 && when.elapsed() >= given {
                return;
            }
        }
    }

    /// Drops the answers that the client has not read for too long.
    fn drop_untaken(&self) {
        let answers: Vec<_> = lock(&self.answers).iter().filter_map(Weak::upgrade).collect();
        for answer in answers {
            let mut answer = lock(&answer);
            if answer.handed.is_some_and(|handed| handed.elapsed() >= self.write)
                && answer.body.is_some()
            {
                tracing::info!("a client that takes nothing of its answer is left");
                let (body, rest) = (answer.body.take(), std::mem::take(&mut answer.rest));
                drop((body, rest));
            }
        }
    }

    fn moved(&self) {
        *lock(&self.last) = Moment { when: Instant::now(), asked: true };
    }
}

impl Open {
    fn new(activity: Arc<Activity>) -> Self {
        activity.open.fetch_add(1, Ordering::AcqRel);
        activity.moved();
        Self(activity)
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.0.moved();
        self.0.open.fetch_sub(1, Ordering::AcqRel);
    }
}

impl HttpBody for Watched {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let answer = &mut *lock(&self.answer);
        answer.handed = None;
        if !answer.rest.is_empty() {
            let piece = answer.rest.split_to(PIECE.min(answer.rest.len()));
            answer.handed = Some(Instant::now());
            return Poll::Ready(Some(Ok(Frame::data(piece))));
        }
        let Some(body) = &mut answer.body else {
            let late = std::io::Error::from(std::io::ErrorKind::TimedOut);
            return Poll::Ready(Some(Err(axum::Error::new(late))));
        };
        let polled = Pin::new(body).poll_frame(cx);
        if let Poll::Ready(Some(_)) = polled {
            answer.handed = Some(Instant::now());
        }
        polled.map_ok(|frame| match frame.into_data() {
            Ok(mut data) => {
                let piece = data.split_to(PIECE.min(data.len()));
                answer.rest = data;
                Frame::data(piece)
            }
            Err(frame) => frame,
        })
    }

    fn is_end_stream(&self) -> bool {
        let answer = lock(&self.answer);
        answer.rest.is_empty() && answer.body.as_ref().is_some_and(HttpBody::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        let answer = lock(&self.answer);
        let rest = answer.rest.len() as u64;
        let hint = answer.body.as_ref().map(HttpBody::size_hint).unwrap_or_default();
        let mut whole = SizeHint::new();
        if let Some(upper) = hint.upper().and_then(|upper| upper.checked_add(rest)) {
            whole.set_upper(upper);
        }
        whole.set_lower(hint.lower().saturating_add(rest));
        whole
    }
}

/// The service of one connection: a router whose requests and answers are watched.
#[derive(Debug, Clone)]
pub(crate) struct Service {
    pub(crate) router: Router,
    pub(crate) activity: Arc<Activity>,
}

impl<B> tower_service::Service<Request<B>> for Service
where
    B: HttpBody<Data = Bytes> + Send + 'static,
    B::Error: Into<axum::BoxError>,
{
    type Response = Response;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        tower_service::Service::<Request<B>>::poll_ready(&mut self.router, cx)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        if let Some((status, what)) = refusal(&request) {
            let fault = Fault::new(Kind::Request, what).status(status);
            let body =
                (status, [(CONTENT_TYPE, "application/json")], chat::fault(&fault).to_string());
            let answer = async move { Ok(body.into_response()) };
            return Box::pin(self.activity.clone().answer(answer));
        }
        Box::pin(
            self.activity.clone().answer(tower_service::Service::call(&mut self.router, request)),
        )
    }
}

/// Returns the reason to refuse a request regardless of its path, if there is one.
fn refusal<B>(request: &Request<B>) -> Option<(StatusCode, &'static str)> {
    let hosts = request.headers().get_all(HOST).iter().count();
    if request.method() == Method::CONNECT {
        return Some((StatusCode::METHOD_NOT_ALLOWED, "this is no proxy of connections"));
    }
    let named = hosts == 1 || hosts == 0 && request.version() != Version::HTTP_11;
    (!named).then_some((StatusCode::BAD_REQUEST, "expected one `Host`"))
}
