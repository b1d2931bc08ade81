//! `POST /parse` and `POST /parse/batch`: parse a model's text into a message and diagnostics.
//!
//! The command's `parse` uses the same [`ChatReader`] with another output.

mod answer;
mod intake;
mod reader;
mod request;
mod shown;
mod writer;

use axum::http::StatusCode;
use serde_json::{Value, json, value::RawValue};

use self::request::Request;
pub use self::{
    intake::Intake,
    reader::ChatReader,
    shown::{Remark, Render},
    writer::EventWriter,
};
use crate::{
    body::{Body, each},
    dialect::chat,
    error::{Fault, Kind, expected},
    families::Families,
    limits::MAX_BATCH,
};

/// Answers a request for one text.
pub(crate) fn one(body: &[u8], families: &Families) -> Result<Value, Fault> {
    Request::read(Body::read(body)?)?.answer(families)
}

/// Answers each request of a batch, in order. A malformed request is answered with its fault.
pub(crate) fn batch(body: &[u8], families: &Families) -> Result<Value, Fault> {
    let body = Body::read(body)?;
    let requests = body.text("requests").ok_or_else(|| expected("requests", "a list"))?;
    let mut results = Vec::new();
    each(requests, "requests", &mut |number, request| {
        if number >= MAX_BATCH {
            let fault = expected("requests", &format!("at most {MAX_BATCH} requests"));
            return Err(fault.status(StatusCode::PAYLOAD_TOO_LARGE));
        }
        results.push(answer(request, families).unwrap_or_else(|fault| chat::fault(&fault)));
        Ok(())
    })?;
    Ok(json!({"results": results}))
}

fn answer(request: &RawValue, families: &Families) -> Result<Value, Fault> {
    one(request.get().as_bytes(), families)
}

/// Returns the fault of a malformed request.
fn fault(field: &str, what: impl std::fmt::Display) -> Fault {
    Fault::new(Kind::Request, what).at(field)
}
