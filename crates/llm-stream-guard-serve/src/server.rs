//! The listener: connections, their limits, and the shutdown.

use std::{
    error::Error,
    future::Future,
    io,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    sync::Arc,
    time::Duration,
};

use axum::{Router, body::Body, http::Request};
use hyper_util::{
    client::legacy::Client,
    rt::{TokioExecutor, TokioIo, TokioTimer},
    server::{conn::auto::Builder, graceful::GracefulShutdown},
    service::TowerToHyperService,
};
use tokio::net::{TcpListener, TcpStream};

use crate::{
    config::{Config, ProxyLimits},
    connection::{Activity, Service},
    proxy::Proxy,
};

/// Maximum time for a proxy to answer a health check.
const ALIVE: Duration = Duration::from_secs(2);

type Connection = hyper_util::server::conn::auto::Connection<
    'static,
    TokioIo<TcpStream>,
    TowerToHyperService<Service>,
    TokioExecutor,
>;

/// Serves `proxy` on `listener`, HTTP/1.1 and HTTP/2 without TLS, until `shutdown` resolves.
///
/// Open requests then have [`crate::Timeouts::shutdown`] to end. Meanwhile new requests are refused
/// with 503, and `/healthz` and `/metrics` are answered.
///
/// # Errors
/// Faults of a single connection are only logged.
pub async fn serve(
    proxy: &Proxy,
    listener: TcpListener,
    shutdown: impl Future<Output = ()>,
) -> io::Result<()> {
    let connections = GracefulShutdown::new();
    let router = proxy.router();
    tokio::pin!(shutdown);
    loop {
        let stream = tokio::select! {
            stream = accept(&listener) => stream,
            () = &mut shutdown => break,
        };
        let (connection, activity) = connect(&proxy.config(), router.clone(), stream);
        tokio::spawn(run(connections.watch(connection), activity));
    }
    proxy.drain();
    tracing::info!("open requests end; new ones are refused");
    let end = tokio::time::timeout(proxy.config().timeouts.shutdown.0, connections.shutdown());
    tokio::pin!(end);
    let router = proxy.refusing();
    loop {
        let stream = tokio::select! {
            stream = accept(&listener) => stream,
            ended = &mut end => {
                if ended.is_err() {
                    tracing::warn!("open connections are cut");
                }
                return Ok(());
            }
        };
        let (connection, activity) = connect(&proxy.config(), router.clone(), stream);
        tokio::spawn(run(connection, activity));
    }
}

/// Answers `/metrics`, `/healthz` and `/readyz` of `proxy` on `listener` as long as it is polled,
/// also while the proxy refuses requests. Other paths are not found.
///
/// ```
/// # async fn operate() -> Result<(), Box<dyn std::error::Error>> {
/// use llm_stream_guard_serve::{Config, Proxy, serve, serve_metrics};
/// use tokio::net::TcpListener;
///
/// let metrics = TcpListener::bind("127.0.0.1:9090").await?;
/// let config = Config { metrics_listen: Some(metrics.local_addr()?), ..Config::default() };
/// let proxy = Proxy::new(config)?;
/// let listener = TcpListener::bind(proxy.config().listen).await?;
/// tokio::select! {
///     served = serve(&proxy, listener, std::future::pending()) => served?,
///     () = serve_metrics(&proxy, metrics) => {}
/// }
/// # Ok(())
/// # }
/// ```
pub async fn serve_metrics(proxy: &Proxy, listener: TcpListener) {
    let router = proxy.operation();
    loop {
        let stream = accept(&listener).await;
        let (connection, activity) = connect(&proxy.config(), router.clone(), stream);
        tokio::spawn(run(connection, activity));
    }
}

/// Waits for a connection.
async fn accept(listener: &TcpListener) -> TcpStream {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => return stream,
            Err(error) => {
                // Usually too many open files, which is temporary.
                tracing::warn!("no connection accepted: {error}");
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    }
}

/// Returns the connection to serve, and its activity.
fn connect(config: &Config, router: Router, stream: TcpStream) -> (Connection, Arc<Activity>) {
    // Streams consist of small pieces, which must not wait for more data.
    let _ = stream.set_nodelay(true);
    let activity = Activity::new(&config.timeouts);
    let service = TowerToHyperService::new(Service { router, activity: activity.clone() });
    (builder(config).serve_connection(TokioIo::new(stream), service).into_owned(), activity)
}

/// Serves a connection until it ends or is given up.
async fn run<F>(connection: F, activity: Arc<Activity>)
where
    F: Future<Output = Result<(), Box<dyn Error + Send + Sync>>>,
{
    tokio::select! {
        ended = connection => if let Err(error) = ended {
            tracing::debug!("connection: {error}");
        },
        () = activity.given_up() => tracing::debug!("connection: no request in time"),
    }
}

/// Asks the proxy that listens on `address` whether it is alive.
///
/// # Errors
/// The proxy does not answer, or answers with an error status. The error is the reason.
pub async fn check_health(address: SocketAddr) -> Result<(), String> {
    let ip = match address.ip() {
        ip if !ip.is_unspecified() => ip,
        IpAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
    };
    let address = SocketAddr::new(ip, address.port());
    let request = Request::get(format!("http://{address}/healthz")).body(Body::empty());
    let request = request.map_err(|error| error.to_string())?;
    let client = Client::builder(TokioExecutor::new()).build_http();
    match tokio::time::timeout(ALIVE, client.request(request)).await {
        Err(_) => Err(format!("{address} does not answer in time")),
        Ok(Err(error)) => Err(format!("{address} does not answer: {error}")),
        Ok(Ok(answer)) if answer.status().is_success() => Ok(()),
        Ok(Ok(answer)) => Err(format!("{address} answers {}", answer.status())),
    }
}

fn builder(config: &Config) -> Builder<TokioExecutor> {
    let mut builder = Builder::new(TokioExecutor::new());
    // The HTTP library panics on a smaller size, which a checked configuration never has.
    let head = config.limits.head.max(ProxyLimits::LEAST_HEAD);
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(config.timeouts.head.0)
        .max_buf_size(usize::try_from(head).unwrap_or(usize::MAX));
    builder.http2().timer(TokioTimer::new()).max_header_list_size(head);
    builder
}

/// Returns whether other machines can reach a listener on `address`.
#[must_use]
pub fn is_open(address: SocketAddr) -> bool {
    !address.ip().is_loopback()
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_non_loopback_address_is_open() {
        for (address, open) in [
            ("127.0.0.1:1", false),
            ("[::1]:1", false),
            ("0.0.0.0:1", true),
            ("[::]:1", true),
            ("10.0.0.7:1", true),
        ] {
            assert_eq!(super::is_open(address.parse().unwrap()), open, "{address}");
        }
    }
}
