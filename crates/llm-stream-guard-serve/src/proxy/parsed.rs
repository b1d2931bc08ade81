//! Requests to parse a text, which need no server.

use axum::{
    extract::{Request, State},
    http::StatusCode,
    response::Response,
};
use serde_json::Value;

use super::{
    Proxy,
    service::{json, log, refusal},
    work::heavy,
};
use crate::{
    dialect::ApiDialect, error::Fault, families::Families, headers::check_uncompressed, parse,
};

/// A function from the body of a request to its answer.
type Parse = fn(&[u8], &Families) -> Result<Value, Fault>;

impl Proxy {
    pub(super) async fn parse(State(proxy): State<Self>, request: Request) -> Response {
        proxy.now().parsed("/parse", parse::one, request).await
    }

    pub(super) async fn parse_batch(State(proxy): State<Self>, request: Request) -> Response {
        proxy.now().parsed("/parse/batch", parse::batch, request).await
    }

    /// Answers a request at `path` with the result of `parse` for its body.
    async fn parsed(self, path: &'static str, parse: Parse, request: Request) -> Response {
        let answer = self.parse_body(parse, request).await;
        let response = answer.unwrap_or_else(|fault| {
            self.shared.metrics.fault(fault.kind);
            log(&fault);
            refusal(ApiDialect::Chat, &fault)
        });
        self.shared.metrics.request(path, response.status().as_u16());
        response
    }

    async fn parse_body(&self, parse: Parse, request: Request) -> Result<Response, Fault> {
        let (parts, body) = request.into_parts();
        check_uncompressed(&parts.headers)?;
        let (bytes, charge) = self.shared.ledger.read(body, &self.shared.config).await?;
        let shared = self.shared.clone();
        let answer = heavy(bytes.len(), move || parse(&bytes, &shared.families)).await??;
        drop(charge);
        Ok(json(StatusCode::OK, answer.to_string()))
    }
}
