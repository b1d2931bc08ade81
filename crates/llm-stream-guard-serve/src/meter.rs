//! The gauges of one open stream.

use std::{sync::Arc, time::Duration};

use crate::{exchange::Exchange, metrics::Metrics};

/// Counts a stream as open until it is dropped.
#[derive(Debug)]
pub(crate) struct Meter {
    metrics: Arc<Metrics>,
    exchange: Exchange,
    held: usize,
}

impl Meter {
    pub(crate) fn new(metrics: Arc<Metrics>, exchange: Exchange) -> Self {
        metrics.opened();
        exchange.streams();
        Self { metrics, exchange, held: 0 }
    }

    /// Counts a piece that was read.
    pub(crate) fn piece(&mut self, came: usize, left: usize, held: usize, took: Duration) {
        self.metrics.piece(came, left, took);
        self.metrics.holds(held, self.held);
        self.held = held;
    }

    /// The request and its answer.
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
