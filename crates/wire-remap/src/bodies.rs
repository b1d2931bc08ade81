//! Request and response bodies of four APIs.

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
