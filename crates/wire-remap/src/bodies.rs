//! Request and response bodies of four APIs.
//!
//! [`Regime::request`](crate::Regime::request) rewrites requests by a [`RequestRemap`], and
//! [`Regime::response`](crate::Regime::response) rewrites whole responses and streamed events by a
//! [`ResponseRemap`]. A
//! [`BodyShape`] finds the texts: [`OpenAiChat`], [`OpenAiResponses`], [`AnthropicMessages`],
//! [`GeminiContents`], or your own.
//! ```
//! use serde_json::json;
//! use wire_remap::{Regime, RemapTable, bodies::OpenAiChat};
//!
//! let regime = Regime::on(RemapTable::hermes());
//! let mut body = json!({"messages": [{"role": "system", "content": "Calls begin with <tool_call>."}]});
//! regime.request().apply(&mut body, &OpenAiChat)?;
//! assert_eq!(body["messages"][0]["content"], "Calls begin with [[CALL]].");
//! # Ok::<(), wire_remap::bodies::BodyError>(())
//! ```

mod anthropic;
mod chat;
mod gemini;
mod request;
mod response;
mod responses;
mod shape;
mod walk;

pub use self::{
    anthropic::AnthropicMessages,
    chat::OpenAiChat,
    gemini::GeminiContents,
    request::RequestRemap,
    response::ResponseRemap,
    responses::OpenAiResponses,
    shape::{BodyError, BodyShape, StreamEvent, TextField, TextId, TextKind},
};
