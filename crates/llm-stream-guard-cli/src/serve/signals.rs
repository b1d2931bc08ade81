//! Signals: the end of the process, and a new configuration.

use std::io;

use llm_stream_guard_serve::Proxy;
#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::Notify;

/// The signals to end, which are heeded from the time this is made.
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

    /// Notifies `refuse` when requests are to be refused, and resolves when open ones are to be cut:
    /// at a further signal.
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

    /// Waits for a signal; whether it leaves time for balancers to see that the proxy ends.
    #[cfg(unix)]
    async fn next_is_polite(&mut self) -> bool {
        tokio::select! {
            _ = self.terminate.recv() => true,
            _ = self.interrupt.recv() => false,
        }
    }

    /// Waits for the user to interrupt the process, which leaves no time to balancers.
    #[cfg(not(unix))]
    async fn next_is_polite(&mut self) -> bool {
        // Where it cannot be waited for, nothing ends the server but the process.
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
        false
    }
}

/// The signal to read the configuration again, heeded from the time this is made.
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

    /// Calls `reload` at each signal, for ever.
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
