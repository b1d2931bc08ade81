//! Requests to upstream.

#[cfg(feature = "tls")]
use std::fmt;
use std::{error::Error as _, future::Future};

use axum::{
    body::{Body, Bytes, HttpBody},
    http::{
        HeaderValue, Request, Response, StatusCode,
        header::{ACCEPT_ENCODING, CONTENT_TYPE},
        request::Parts,
    },
};
use hyper_util::{
    client::legacy::{Client as Pool, Error, connect::HttpConnector},
    rt::{TokioExecutor, TokioTimer},
};
use tower_http::decompression::Decompression;
use tower_service::Service as _;

use crate::{
    config::{Config, Upstream},
    error::{Fault, Kind},
    headers::forwarded,
    idle::Break,
};

#[cfg(feature = "tls")]
type Connector = hyper_rustls::HttpsConnector<HttpConnector>;
#[cfg(not(feature = "tls"))]
type Connector = HttpConnector;

/// Certificates are for one kind of upstream.
const NO_HTTPS: &str = "upstream is not asked over `https`";

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
            .build(connector(http, config)?);
        let first_byte = config.timeouts.first_byte.0;
        Ok(Self { pool, upstream: config.upstream.clone(), first_byte })
    }

    /// Sends what a client asked for, at the same path, with another body. The answer's body ends
    /// when it is dropped, and with it upstream's work.
    pub(crate) async fn send(&self, parts: &Parts, body: Body) -> Result<Response<Body>, Fault> {
        let answer = self.pool.request(self.request(parts, body)?);
        self.answer(answer).await
    }

    /// As [`Client::send`], for an answer that is to be read: asked for as it is, and decompressed
    /// if it comes otherwise.
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
        let request = self.request(&parts, body.into())?;
        // A pool is always ready.
        self.answer(Decompression::new(self.pool.clone()).call(request)).await
    }

    fn request(&self, parts: &Parts, body: Body) -> Result<Request<Body>, Fault> {
        let path = parts.uri.path_and_query().map_or("/", |path| path.as_str());
        let mut request = Request::builder().method(parts.method.clone()).uri(self.at(path)?);
        if let Some(headers) = request.headers_mut() {
            *headers = forwarded(&parts.headers);
        }
        request.body(body).map_err(|error| Fault::new(Kind::Request, error))
    }

    async fn answer<B>(
        &self,
        answer: impl Future<Output = Result<Response<B>, Error>>,
    ) -> Result<Response<Body>, Fault>
    where
        B: HttpBody<Data = Bytes> + Send + 'static,
        B::Error: Into<axum::BoxError>,
    {
        match tokio::time::timeout(self.first_byte, answer).await {
            Err(_) => Err(Fault::new(Kind::Timeout, "upstream sent nothing in time")),
            Ok(Err(error)) => Err(unanswered(&error)),
            Ok(Ok(response)) => {
                let (mut head, body) = response.into_parts();
                head.headers = forwarded(&head.headers);
                Ok(Response::from_parts(head, Body::new(body)))
            }
        }
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
        if let Some(Break::Idle) = error.downcast_ref() {
            let late = Fault::new(Kind::Request, "the body did not come in time");
            return late.status(StatusCode::REQUEST_TIMEOUT);
        }
        why = error.to_string();
        source = error.source();
    }
    match error.is_connect() {
        true => Fault::new(Kind::Unreachable, format!("no connection to upstream: {why}")),
        false => Fault::new(Kind::Broken, format!("upstream did not answer: {why}")),
    }
}

#[cfg(not(feature = "tls"))]
fn connector(http: HttpConnector, config: &Config) -> Result<Connector, Fault> {
    match config.ca {
        Some(_) => Err(Fault::new(Kind::Request, NO_HTTPS).at("ca")),
        None => Ok(http),
    }
}

#[cfg(feature = "tls")]
fn connector(mut http: HttpConnector, config: &Config) -> Result<Connector, Fault> {
    use hyper_rustls::HttpsConnectorBuilder;
    use rustls::{
        ClientConfig, RootCertStore, pki_types::CertificateDer, pki_types::pem::PemObject,
    };

    http.enforce_http(false);
    let mut roots = RootCertStore::empty();
    if config.upstream.is_https() {
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    }
    if let Some(path) = &config.ca {
        let fault = |error: &dyn fmt::Display| {
            Fault::new(Kind::Request, format!("{}: {error}", path.display())).at("ca")
        };
        if !config.upstream.is_https() {
            return Err(fault(&NO_HTTPS));
        }
        for certificate in CertificateDer::pem_file_iter(path).map_err(|error| fault(&error))? {
            let certificate = certificate.map_err(|error| fault(&error))?;
            roots.add(certificate).map_err(|error| fault(&error))?;
        }
    }
    if config.upstream.is_https() && roots.is_empty() {
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
