//! Requests of clients, translated for upstream.

use serde_json::Value;

use super::{ApiDialect, UnsupportedTools, unsupported::Unsupported};
use crate::{body::Body, error::Fault};

/// A request for upstream, and what the writer of its answer needs to know.
#[derive(Debug)]
pub struct UpstreamRequest {
    pub(crate) body: Body,
    pub(crate) asked: Value,
    pub(crate) dropped: Vec<&'static str>,
}

impl ApiDialect {
    /// Translates the JSON of a client's request into a request for upstream, at
    /// [`ApiDialect::upstream_path`]. Fields without a counterpart keep their spelling.
    ///
    /// # Errors
    /// The request is malformed, or asks for something that chat completions cannot express and
    /// `policy` does not omit. The fault names the field.
    pub fn translate(
        self,
        request: &[u8],
        policy: UnsupportedTools,
    ) -> Result<UpstreamRequest, Fault> {
        let mut unsupported = Unsupported::new(policy);
        let mut body = Body::read(request)?;
        let asked = self.asked(&mut body)?;
        let body = self.request(body, &mut unsupported)?;
        Ok(UpstreamRequest { body, asked, dropped: unsupported.into_dropped() })
    }
}

impl UpstreamRequest {
    /// Returns the JSON of the request.
    #[must_use]
    pub fn body(&self) -> Vec<u8> {
        self.body.to_vec()
    }

    /// Returns the fields of the original request that [`ApiDialect::stream`] and
    /// [`ApiDialect::whole`] take.
    #[must_use]
    pub fn asked(&self) -> &Value {
        &self.asked
    }

    /// Returns the kind of each tool and item that was omitted, such as `web_search`.
    #[must_use]
    pub fn dropped(&self) -> &[&'static str] {
        &self.dropped
    }
}
