//! Request and response bodies of four APIs.
//!
//! [`Regime::request`](crate::Regime::request) rewrites requests, and
//! [`Regime::response`](crate::Regime::response) rewrites whole responses and streamed events. A
//! [`BodyShape`] finds the texts: [`OpenAiChat`], [`OpenAiResponses`], [`AnthropicMessages`],
//! [`GeminiContents`], or your own.

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
