//! The gauges of one open stream.

use std::{sync::Arc, time::Duration};

use prometheus_client::metrics::counter::Counter;

use crate::{exchange::Exchange, metrics::Metrics};

/// Counts a stream as open until it is dropped.
#[derive(Debug)]
pub(crate) struct Meter {
    metrics: Arc<Metrics>,
    exchange: Exchange,
    /// The counter of bytes from upstream.
    came: Counter,
    /// The counter of bytes to the client.
    left: Counter,
    held: usize,
}

impl Meter {
    pub(crate) fn new(metrics: Arc<Metrics>, exchange: Exchange) -> Self {
        metrics.opened();
        exchange.streams();
        let (came, left) = metrics.bytes();
        Self { metrics, exchange, came, left, held: 0 }
    }

    /// Counts a piece of the stream.
    pub(crate) fn piece(&mut self, came: usize, left: usize, held: usize, took: Duration) {
        self.came.inc_by(came as u64);
        self.left.inc_by(left as u64);
        self.metrics.added(took);
        self.metrics.holds(held, self.held);
        self.held = held;
    }

    /// Returns the request and its answer.
    pub(crate) fn exchange(&self) -> &Exchange {
        &self.exchange
    }
}

impl Drop for Meter {
    fn drop(&mut self) {
        self.metrics.holds(0, self.held);
        self.metrics.closed();
    }
}
