//! A limit for the memory of all requests' bodies together.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use axum::{
    body::{Body, Bytes, HttpBody as _},
    http::{HeaderValue, StatusCode},
};
use http_body_util::BodyExt as _;

use crate::{
    config::{COPIES, Config},
    error::{Fault, Kind},
    idle::{Break, Idle},
};

/// The memory in use, and its maximum.
#[derive(Debug)]
pub(crate) struct Ledger {
    used: AtomicUsize,
    most: usize,
}

/// The bytes charged to one request, until it is dropped.
#[derive(Debug)]
pub(crate) struct Charge {
    ledger: Arc<Ledger>,
    bytes: usize,
}

impl Ledger {
    pub(crate) fn new(most: usize) -> Arc<Self> {
        Arc::new(Self { used: AtomicUsize::new(0), most })
    }

    /// Reads a request's whole body, and returns it with the charge for its memory.
    pub(crate) async fn read(
        self: &Arc<Self>,
        body: Body,
        config: &Config,
    ) -> Result<(Bytes, Charge), Fault> {
        let late = || {
            let fault = Fault::new(Kind::Request, "the body did not come in time");
            fault.status(StatusCode::REQUEST_TIMEOUT)
        };
        let whole = self.collect(body, config, late);
        tokio::time::timeout(config.timeouts.body.0, whole).await.unwrap_or_else(|_| Err(late()))
    }

    async fn collect(
        self: &Arc<Self>,
        body: Body,
        config: &Config,
        late: impl Fn() -> Fault,
    ) -> Result<(Bytes, Charge), Fault> {
        let most = config.limits.body;
        let large = || {
            let what = format!("the body has more than {most} bytes, the limit `limits.body`");
            let fault = Fault::new(Kind::Request, what);
            fault.status(StatusCode::PAYLOAD_TOO_LARGE)
        };
        let length = usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX);
        if length > most {
            return Err(large());
        }
        let mut charge = Charge { ledger: self.clone(), bytes: 0 };
        let mut bytes: Vec<u8> = Vec::new();
        let mut body = Idle::new(body, config.timeouts.idle.0);
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|error| match error {
                Break::Idle => late(),
                Break::Broken(_) => Fault::new(Kind::Request, "the body broke off"),
            })?;
            // A frame without data holds trailers.
            let Ok(data) = frame.into_data() else { continue };
            if bytes.len().saturating_add(data.len()) > most {
                return Err(large());
            }
            charge.add(data.len().saturating_mul(COPIES))?;
            bytes.extend_from_slice(&data);
        }
        Ok((bytes.into(), charge))
    }
}

impl Charge {
    /// Charges more bytes to the request.
    pub(crate) fn add(&mut self, bytes: usize) -> Result<(), Fault> {
        let used = self.ledger.used.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes);
        self.bytes = self.bytes.saturating_add(bytes);
        if used <= self.ledger.most {
            return Ok(());
        }
        let mut fault = Fault::new(Kind::Busy, "too many requests are being read");
        fault.retry_after = Some(HeaderValue::from_static("1"));
        Err(fault)
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        self.ledger.used.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}
