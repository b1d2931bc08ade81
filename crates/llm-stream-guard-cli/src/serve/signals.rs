//! Signals to end the process, and to reload the configuration.

use std::io;

use llm_stream_guard_serve::Proxy;
#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::Notify;

/// The signals to end the process, received from the creation of this value on.
#[derive(Debug)]
pub(super) struct End {
    #[cfg(unix)]
    terminate: Signal,
    #[cfg(unix)]
    interrupt: Signal,
}

impl End {
    #[cfg(unix)]
    pub(super) fn new() -> io::Result<Self> {
        let (terminate, interrupt) = (SignalKind::terminate(), SignalKind::interrupt());
        Ok(Self { terminate: signal(terminate)?, interrupt: signal(interrupt)? })
    }

    #[cfg(not(unix))]
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self {})
    }

    /// Notifies `refuse` when new requests should be refused. Resolves at a further signal, when
    /// open requests should be cut.
    pub(super) async fn comes(mut self, proxy: &Proxy, refuse: &Notify) {
        if self.next_is_polite().await {
            proxy.drain();
            let drain = proxy.config().timeouts.drain;
            tracing::info!("not ready from now on; new requests are refused in {drain}");
            tokio::select! {
                () = tokio::time::sleep(drain.0) => {}
                _ = self.next_is_polite() => {}
            }
        }
        refuse.notify_one();
        self.next_is_polite().await;
        tracing::warn!("told to end again: open requests are cut");
    }

    /// Waits for a signal. Returns whether it leaves load balancers time to notice the shutdown.
    #[cfg(unix)]
    async fn next_is_polite(&mut self) -> bool {
        tokio::select! {
            _ = self.terminate.recv() => true,
            _ = self.interrupt.recv() => false,
        }
    }

    /// Waits for the user to interrupt the process, which leaves load balancers no time.
    #[cfg(not(unix))]
    async fn next_is_polite(&mut self) -> bool {
        // Without a handler, only the end of the process ends the server.
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
        false
    }
}

/// The signal to reload the configuration, received from the creation of this value on.
#[derive(Debug)]
pub(super) struct Hangup {
    #[cfg(unix)]
    signal: Signal,
}

impl Hangup {
    #[cfg(unix)]
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self { signal: signal(SignalKind::hangup())? })
    }

    #[cfg(not(unix))]
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self {})
    }

    /// Calls `reload` at each signal, and never returns.
    #[cfg(unix)]
    pub(super) async fn each(mut self, mut reload: impl FnMut()) {
        while self.signal.recv().await.is_some() {
            reload();
        }
        std::future::pending::<()>().await;
    }

    /// Waits forever: this system lacks such a signal.
    #[cfg(not(unix))]
    pub(super) async fn each(self, _: impl FnMut()) {
        std::future::pending::<()>().await;
    }
}
