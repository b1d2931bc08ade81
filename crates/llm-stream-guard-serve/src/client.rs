//! Requests to upstream.

use std::error::Error as _;

use axum::{
    body::Body,
    http::{HeaderValue, Request, Response, header::ACCEPT_ENCODING, request::Parts},
};
use hyper_util::{
    client::legacy::{Client as Pool, Error, connect::HttpConnector},
    rt::{TokioExecutor, TokioTimer},
};

use crate::{
    config::Config,
    config::Upstream,
    error::{Fault, Kind},
    headers::forwarded,
};

#[cfg(feature = "tls")]
type Connector = hyper_rustls::HttpsConnector<HttpConnector>;
#[cfg(not(feature = "tls"))]
type Connector = HttpConnector;

/// Upstream, and the connections to it.
#[derive(Debug, Clone)]
pub(crate) struct Client {
    pool: Pool<Connector, Body>,
    upstream: Upstream,
    first_byte: std::time::Duration,
}

impl Client {
    pub(crate) fn new(config: &Config) -> Result<Self, Fault> {
        let mut http = HttpConnector::new();
        http.set_connect_timeout(Some(config.timeouts.connect.0));
        http.set_nodelay(true);
        let pool = Pool::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(std::time::Duration::from_secs(30))
            .build(connector(http)?);
        let first_byte = config.timeouts.first_byte.0;
        Ok(Self { pool, upstream: config.upstream.clone(), first_byte })
    }

    /// Sends what a client asked for, at the same path, with another body. The answer's body ends
    /// when it is dropped, and with it upstream's work.
    pub(crate) async fn send(&self, parts: &Parts, body: Body) -> Result<Response<Body>, Fault> {
        let path = parts.uri.path_and_query().map_or("/", |path| path.as_str());
        let mut request = Request::builder().method(parts.method.clone()).uri(self.at(path)?);
        if let Some(headers) = request.headers_mut() {
            *headers = forwarded(&parts.headers);
        }
        let request = request.body(body).map_err(|error| Fault::new(Kind::Request, error))?;
        let answer = tokio::time::timeout(self.first_byte, self.pool.request(request));
        match answer.await {
            Err(_) => Err(Fault::new(Kind::Timeout, "upstream sent nothing in time")),
            Ok(Err(error)) => Err(unanswered(&error)),
            Ok(Ok(response)) => {
                let (mut head, body) = response.into_parts();
                head.headers = forwarded(&head.headers);
                Ok(Response::from_parts(head, Body::new(body)))
            }
        }
    }

    /// As [`Client::send`], for an answer that is to be read: not compressed.
    pub(crate) async fn ask(
        &self,
        mut parts: Parts,
        path: &str,
        body: Vec<u8>,
    ) -> Result<Response<Body>, Fault> {
        parts.headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        let json = HeaderValue::from_static("application/json");
        parts.headers.insert(axum::http::header::CONTENT_TYPE, json);
        parts.uri = path.parse().map_err(|error| Fault::new(Kind::Request, error))?;
        self.send(&parts, body.into()).await
    }

    fn at(&self, path: &str) -> Result<axum::http::Uri, Fault> {
        self.upstream.join(path).map_err(|error| Fault::new(Kind::Request, error))
    }
}

fn unanswered(error: &Error) -> Fault {
    // The sources say what happened: refused, reset, no such name.
    let mut why = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        why = error.to_string();
        source = error.source();
    }
    match error.is_connect() {
        true => Fault::new(Kind::Unreachable, format!("no connection to upstream: {why}")),
        false => Fault::new(Kind::Broken, format!("upstream did not answer: {why}")),
    }
}

#[cfg(not(feature = "tls"))]
fn connector(http: HttpConnector) -> Result<Connector, Fault> {
    Ok(http)
}

#[cfg(feature = "tls")]
fn connector(mut http: HttpConnector) -> Result<Connector, Fault> {
    http.enforce_http(false);
    let roots = hyper_rustls::HttpsConnectorBuilder::new().with_native_roots();
    let roots = roots.map_err(|error| Fault::new(Kind::Unreachable, error))?;
    Ok(roots.https_or_http().enable_all_versions().wrap_connector(http))
}
