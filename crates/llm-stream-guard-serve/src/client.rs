//! Requests to upstream.

#[cfg(feature = "tls")]
use std::fmt;
use std::{
    collections::VecDeque,
    error::Error as _,
    future::Future,
    io,
    net::SocketAddr,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use axum::{
    body::{Body, Bytes, HttpBody},
    http::{
        HeaderMap, HeaderName, HeaderValue, Request, Response, StatusCode, Version,
        header::{ACCEPT_ENCODING, AUTHORIZATION, CONTENT_TYPE},
        request::Parts,
    },
};
use hyper_util::{
    client::legacy::{
        Client as Pool, Error,
        connect::{CaptureConnection, HttpConnector, HttpInfo, capture_connection},
    },
    rt::{TokioExecutor, TokioTimer},
};
use tower_http::decompression::Decompression;
use tower_service::Service as _;

use crate::{
    config::{Endpoint, Timeouts, Upstream},
    error::{Fault, Kind},
    headers::{forwarded, is_event_stream},
    idle::Break,
    limits::{MAX_POOL_IDLE, MAX_USED_CONNECTIONS},
};

#[cfg(feature = "tls")]
type Connector = hyper_rustls::HttpsConnector<HttpConnector>;
#[cfg(not(feature = "tls"))]
type Connector = HttpConnector;

const NO_HTTPS: &str = "upstream is not asked over `https`";

/// The header in which clients of messages send their key.
pub(crate) const API_KEY: HeaderName = HeaderName::from_static("x-api-key");

/// A client with a pool of connections to upstream.
#[derive(Debug, Clone)]
pub(crate) struct Client {
    pool: Pool<Connector, Body>,
    upstream: Upstream,
    /// The credentials to send in place of a client's.
    key: Option<HeaderValue>,
    first_byte: Duration,
    used: Arc<UsedConnections>,
}

/// The own ends of connections that carried an answer. If a request on one of them gets none, the
/// server may have closed the connection before the request arrived.
#[derive(Debug, Default)]
struct UsedConnections(Mutex<VecDeque<SocketAddr>>);

impl UsedConnections {
    fn add(&self, connection: &CaptureConnection) {
        let Some(end) = own_end(connection) else { return };
        let mut used = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !used.contains(&end) {
            if used.len() == MAX_USED_CONNECTIONS {
                used.pop_front();
            }
            used.push_back(end);
        }
    }

    /// Removes a connection, and returns whether it carried an answer.
    fn take(&self, connection: &CaptureConnection) -> bool {
        let Some(end) = own_end(connection) else { return false };
        let mut used = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let at = used.iter().position(|known| *known == end);
        at.is_some_and(|at| used.remove(at).is_some())
    }
}

fn own_end(connection: &CaptureConnection) -> Option<SocketAddr> {
    let mut extras = axum::http::Extensions::new();
    connection.connection_metadata().as_ref()?.get_extras(&mut extras);
    Some(extras.get::<HttpInfo>()?.local_addr())
}

/// The body of a request to upstream.
#[derive(Debug)]
pub(crate) enum Payload {
    /// A body that can be sent again.
    Whole(Bytes),
    /// A body that passes from the client.
    Streamed(Body),
}

impl Payload {
    /// Returns the body to send, and the body of another attempt.
    fn divide(self) -> (Body, Option<Bytes>) {
        match self {
            Self::Whole(bytes) => (bytes.clone().into(), Some(bytes)),
            Self::Streamed(body) if body.size_hint().exact() == Some(0) => {
                (body, Some(Bytes::new()))
            }
            Self::Streamed(body) => (body, None),
        }
    }
}

impl From<Body> for Payload {
    fn from(body: Body) -> Self {
        Self::Streamed(body)
    }
}

impl From<Bytes> for Payload {
    fn from(bytes: Bytes) -> Self {
        Self::Whole(bytes)
    }
}

impl Client {
    /// # Errors
    /// The key or a certificate cannot be read.
    pub(crate) fn new(endpoint: &Endpoint, timeouts: &Timeouts) -> Result<Self, Fault> {
        let mut http = HttpConnector::new();
        http.set_connect_timeout(Some(timeouts.connect.0));
        http.set_nodelay(true);
        let pool = Pool::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(MAX_POOL_IDLE)
            .build(connector(http, endpoint)?);
        let first_byte = timeouts.first_byte.0;
        let key = endpoint.key_env.as_deref().map(key).transpose()?;
        let used = Arc::default();
        Ok(Self { pool, upstream: endpoint.url.clone(), key, first_byte, used })
    }

    /// Sends a client's request with another body to the same path. Dropping the answer's body ends
    /// upstream's work.
    pub(crate) async fn send(
        &self,
        parts: &Parts,
        body: impl Into<Payload>,
    ) -> Result<Response<Body>, Fault> {
        let (body, again) = body.into().divide();
        let send = |body: Body| {
            let mut request = self.request(parts, body)?;
            let connection = capture_connection(&mut request);
            Ok::<_, Fault>(self.answer(connection, self.pool.request(request)))
        };
        match (send(body)?.await, again) {
            (Err(Unanswered { stale: true, .. }), Some(body)) => send(body.into())?.await,
            (answer, _) => answer,
        }
        .map_err(|unanswered| unanswered.fault)
    }

    /// Returns the address of upstream.
    pub(crate) fn address(&self) -> String {
        self.upstream.to_string()
    }

    /// Sends a request whose answer will be parsed. An uncompressed answer is requested, and a
    /// compressed one is decompressed.
    pub(crate) async fn ask(
        &self,
        mut parts: Parts,
        path: &str,
        body: Vec<u8>,
    ) -> Result<Response<Body>, Fault> {
        parts.headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        let json = HeaderValue::from_static("application/json");
        parts.headers.insert(CONTENT_TYPE, json);
        parts.uri = path.parse().map_err(|error| Fault::new(Kind::Request, error))?;
        let body = Bytes::from(body);
        let send = || {
            let mut request = self.request(&parts, body.clone().into())?;
            // The server's own API uses only the `Authorization` header.
            request.headers_mut().remove(API_KEY);
            let connection = capture_connection(&mut request);
            // A pool is always ready.
            Ok::<_, Fault>(
                self.answer(connection, Decompression::new(self.pool.clone()).call(request)),
            )
        };
        match send()?.await {
            Err(Unanswered { stale: true, .. }) => send()?.await,
            answer => answer,
        }
        .map_err(|unanswered| unanswered.fault)
    }

    fn request(&self, parts: &Parts, body: Body) -> Result<Request<Body>, Fault> {
        let path = parts.uri.path_and_query().map_or("/", |path| path.as_str());
        let mut request = Request::builder().method(parts.method.clone()).uri(self.at(path)?);
        if let Some(headers) = request.headers_mut() {
            *headers = forwarded(&parts.headers);
            self.authorize(headers);
        }
        request.body(body).map_err(|error| Fault::new(Kind::Request, error))
    }

    /// Sets the credentials: the configured ones, or else the client's.
    fn authorize(&self, headers: &mut HeaderMap) {
        if let Some(key) = &self.key {
            headers.remove(API_KEY);
            headers.insert(AUTHORIZATION, key.clone());
        } else if !headers.contains_key(AUTHORIZATION)
            && let Some(key) = headers.get(API_KEY).and_then(|key| bearer(key.as_bytes()))
        {
            headers.insert(AUTHORIZATION, key);
        }
    }

    async fn answer<B>(
        &self,
        connection: CaptureConnection,
        answer: impl Future<Output = Result<Response<B>, Error>>,
    ) -> Result<Response<Body>, Unanswered>
    where
        B: HttpBody<Data = Bytes> + Send + 'static,
        B::Error: Into<axum::BoxError>,
    {
        match tokio::time::timeout(self.first_byte, answer).await {
            Err(_) => {
                let fault = Fault::new(Kind::Timeout, "upstream sent nothing in time");
                Err(Unanswered { fault, stale: false })
            }
            Ok(Err(error)) => {
                let stale = is_closed(&error) && self.used.take(&connection);
                Err(Unanswered { fault: self.unanswered(&error), stale })
            }
            Ok(Ok(response)) if response.status() == StatusCode::SWITCHING_PROTOCOLS => {
                let fault = Fault::new(Kind::Broken, "upstream switched to another protocol");
                Err(Unanswered { fault, stale: false })
            }
            Ok(Ok(response)) => {
                self.used.add(&connection);
                let (mut head, body) = response.into_parts();
                if head.version < Version::HTTP_2 && is_event_stream(&head.headers) {
                    retire(&connection);
                }
                head.headers = forwarded(&head.headers);
                Ok(Response::from_parts(head, Body::new(body)))
            }
        }
    }

    fn unanswered(&self, error: &Error) -> Fault {
        // The sources of the error have the cause: refused, reset, unknown host.
        let mut why = error.to_string();
        let mut source = error.source();
        while let Some(error) = source {
            if let Some(Break::Idle) = error.downcast_ref() {
                let late = Fault::new(Kind::Request, "the body did not come in time");
                return late.status(StatusCode::REQUEST_TIMEOUT);
            }
            why = error.to_string();
            source = error.source();
        }
        let upstream = &self.upstream;
        match error.is_connect() {
            true => Fault::new(
                Kind::Unreachable,
                format!("no connection to upstream {upstream}: {why}"),
            ),
            false => Fault::new(Kind::Broken, format!("upstream {upstream} did not answer: {why}")),
        }
    }

    fn at(&self, path: &str) -> Result<axum::http::Uri, Fault> {
        self.upstream.join(path).map_err(|error| Fault::new(Kind::Request, error))
    }
}

/// Returns the credentials in an environment variable: a key, or a scheme and its credentials.
fn key(name: &str) -> Result<HeaderValue, Fault> {
    let value = std::env::var(name).unwrap_or_default();
    let value = value.trim();
    let credentials = match value.contains(' ') {
        _ if value.is_empty() => None,
        true => HeaderValue::from_str(value).ok(),
        false => bearer(value.as_bytes()),
    };
    let fault = || {
        let what = format!("expected a key in the environment variable `{name}`");
        Fault::new(Kind::Request, what).at("key_env")
    };
    credentials.map(sensitive).ok_or_else(fault)
}

fn bearer(key: &[u8]) -> Option<HeaderValue> {
    HeaderValue::from_bytes(&[b"Bearer ", key].concat()).ok().map(sensitive)
}

/// Hides a value from logs.
fn sensitive(mut value: HeaderValue) -> HeaderValue {
    value.set_sensitive(true);
    value
}

/// Keeps a connection out of the pool. Some servers close a connection after a stream without
/// announcing it (llama.cpp's), and a request sent at that moment gets no answer.
fn retire(connection: &CaptureConnection) {
    if let Some(connection) = connection.connection_metadata().as_ref() {
        connection.poison();
    }
}

/// The reason why a request got no answer.
struct Unanswered {
    fault: Fault,
    /// Whether the connection had carried an answer before, and was closed without a byte of this
    /// one.
    stale: bool,
}

/// Whether the server closed the connection without a byte of an answer.
fn is_closed(error: &Error) -> bool {
    let mut source = error.source();
    while let Some(error) = source {
        if error.downcast_ref().is_some_and(hyper::Error::is_incomplete_message) {
            return true;
        }
        let closed = [
            io::ErrorKind::ConnectionReset,
            io::ErrorKind::ConnectionAborted,
            io::ErrorKind::BrokenPipe,
        ];
        if error.downcast_ref::<io::Error>().is_some_and(|it| closed.contains(&it.kind())) {
            return true;
        }
        source = error.source();
    }
    false
}

#[cfg(not(feature = "tls"))]
fn connector(http: HttpConnector, endpoint: &Endpoint) -> Result<Connector, Fault> {
    match endpoint.ca {
        Some(_) => Err(Fault::new(Kind::Request, NO_HTTPS).at("ca")),
        None => Ok(http),
    }
}

#[cfg(feature = "tls")]
fn connector(mut http: HttpConnector, endpoint: &Endpoint) -> Result<Connector, Fault> {
    use hyper_rustls::HttpsConnectorBuilder;
    use rustls::{
        ClientConfig, RootCertStore, pki_types::CertificateDer, pki_types::pem::PemObject,
    };

    http.enforce_http(false);
    let mut roots = RootCertStore::empty();
    if endpoint.url.is_https() {
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    }
    if let Some(path) = &endpoint.ca {
        let fault = |error: &dyn fmt::Display| {
            Fault::new(Kind::Request, format!("{}: {error}", path.display())).at("ca")
        };
        if !endpoint.url.is_https() {
            return Err(fault(&NO_HTTPS));
        }
        for certificate in CertificateDer::pem_file_iter(path).map_err(|error| fault(&error))? {
            let certificate = certificate.map_err(|error| fault(&error))?;
            roots.add(certificate).map_err(|error| fault(&error))?;
        }
    }
    if endpoint.url.is_https() && roots.is_empty() {
        return Err(Fault::new(Kind::Unreachable, "this system trusts no certificates"));
    }
    let tls = ClientConfig::builder_with_provider(rustls::crypto::ring::default_provider().into())
        .with_safe_default_protocol_versions()
        .map_err(|error| Fault::new(Kind::Unreachable, error))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    let builder = HttpsConnectorBuilder::new().with_tls_config(tls);
    Ok(builder.https_or_http().enable_all_versions().wrap_connector(http))
}
