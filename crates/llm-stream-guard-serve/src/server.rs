//! Listening: connections, their limits, and the end.

use std::{future::Future, io, net::SocketAddr, time::Duration};

use hyper_util::{
    rt::{TokioExecutor, TokioIo, TokioTimer},
    server::{conn::auto::Builder, graceful::GracefulShutdown},
    service::TowerToHyperService,
};
use tokio::net::{TcpListener, TcpStream};

use crate::{
    config::{Config, Limits},
    connection::{Activity, Service},
    proxy::Proxy,
};

/// Serves `proxy` on `listener`, HTTP/1.1 and HTTP/2 without TLS, until `shutdown` resolves; open
/// streams are then given [`crate::Timeouts::shutdown`] to end.
///
/// # Errors
/// None of a connection: those are logged.
pub async fn serve(
    proxy: &Proxy,
    listener: TcpListener,
    shutdown: impl Future<Output = ()>,
) -> io::Result<()> {
    let config = proxy.config();
    let builder = builder(config);
    let connections = GracefulShutdown::new();
    let router = proxy.router();
    tokio::pin!(shutdown);
    loop {
        let stream = tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => stream,
                Err(error) => {
                    // Too many open files, as a rule: it passes.
                    tracing::warn!("no connection accepted: {error}");
                    tokio::time::sleep(Duration::from_millis(100)).await;
                    continue;
                }
            },
            () = &mut shutdown => break,
        };
        let activity = Activity::new(&config.timeouts);
        spawn(&builder, &connections, stream, Service { router: router.clone(), activity });
    }
    drop(listener);
    tracing::info!("no new connections; open ones end");
    if tokio::time::timeout(config.timeouts.shutdown.0, connections.shutdown()).await.is_err() {
        tracing::warn!("open connections are cut");
    }
    Ok(())
}

fn spawn(
    builder: &Builder<TokioExecutor>,
    connections: &GracefulShutdown,
    stream: TcpStream,
    service: Service,
) {
    // Small pieces are what streams are made of.
    let _ = stream.set_nodelay(true);
    let activity = service.activity.clone();
    let service = TowerToHyperService::new(service);
    let connection = builder.serve_connection(TokioIo::new(stream), service).into_owned();
    let watched = connections.watch(connection);
    tokio::spawn(async move {
        tokio::select! {
            ended = watched => if let Err(error) = ended {
                tracing::debug!("connection: {error}");
            },
            () = activity.given_up() => tracing::debug!("connection: no request in time"),
        }
    });
}

fn builder(config: &Config) -> Builder<TokioExecutor> {
    let mut builder = Builder::new(TokioExecutor::new());
    // Fewer bytes are refused with a panic; a checked configuration has no fewer.
    let head = config.limits.head.max(Limits::LEAST_HEAD);
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(config.timeouts.head.0)
        .max_buf_size(usize::try_from(head).unwrap_or(usize::MAX));
    builder.http2().timer(TokioTimer::new()).max_header_list_size(head);
    builder
}

/// Whether others than this machine can reach what listens on `address`.
#[must_use]
pub fn is_open(address: SocketAddr) -> bool {
    !address.ip().is_loopback()
}

#[cfg(test)]
mod tests {
    #[test]
    fn whatever_is_not_loopback_is_open() {
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
