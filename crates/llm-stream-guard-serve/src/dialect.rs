//! Translation between the APIs of clients and chat completions, without a transport.
//!
//! [`ApiDialect::translate`] turns a client's request into one for a server of chat completions.
//! [`ApiDialect::stream`] turns that server's event stream into the client's, bytes in and bytes out.
//! [`ApiDialect::whole`] does so for an answer in one piece. A [`ChatGuard`] reads the model's text on
//! the way. Without the feature `proxy`, the crate has this module and its errors alone.
//!
//! ```
//! use llm_stream_guard::{Guard, chat::{ChatGuard, ChatOptions}};
//! use llm_stream_guard_serve::dialect::{ApiDialect, UnsupportedTools};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let request = br#"{"model": "Qwen/Qwen3-8B", "max_tokens": 99, "stream": true,
//!                    "messages": [{"role": "user", "content": "Hi"}]}"#;
//! let request = ApiDialect::Messages.translate(request, UnsupportedTools::Refuse)?;
//! let sent = String::from_utf8(request.body())?;
//! assert!(sent.contains(r#""messages":[{"role":"user","content":"Hi"}]"#), "{sent}");
//!
//! let guard = ChatGuard::new(Guard::for_model("Qwen/Qwen3-8B")?.build()?, ChatOptions::default());
//! let mut stream = ApiDialect::Messages.stream(guard, request.asked());
//! let mut out = Vec::new();
//! let upstream = br#"data: {"choices": [{"index": 0, "delta": {"content": "<think>hm</think>Hello"}}]}
//!
//! data: {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
//!
//! data: [DONE]
//!
//! "#;
//! stream.push(upstream, &mut out)?;
//! stream.finish(&mut out)?;
//! let events = String::from_utf8(out)?;
//! assert!(events.contains(r#""type":"thinking_delta","thinking":"hm""#), "{events}");
//! assert!(events.contains(r#""type":"text_delta","text":"Hello""#), "{events}");
//! # Ok(())
//! # }
//! ```

pub(crate) mod chat;
pub(crate) mod completions;
mod content;
pub(crate) mod converted;
pub(crate) mod encoded;
pub(crate) mod fields;
mod messages;
pub(crate) mod ollama;
pub(crate) mod renamed;
mod responses;
mod translated;
mod turns;
pub(crate) mod unsupported;
mod usage;

use std::borrow::Cow;

use llm_stream_guard::chat::{
    ChatError, ChatGuard, ChatSseError, Completion, condense, expand, from_json,
};
use serde::de::Error as _;
use serde_json::{Map, Value};

use self::{encoded::Encoded, unsupported::Unsupported};
pub use self::{ollama::OllamaForm, translated::UpstreamRequest, unsupported::UnsupportedTools};
use crate::{body::Body, error::Fault};

/// A shape of requests and answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ApiDialect {
    /// Chat completions: `POST /v1/chat/completions`.
    Chat,
    /// Text completions: `POST /v1/completions`.
    Completions,
    /// Anthropic's messages: `POST /v1/messages`.
    Messages,
    /// OpenAI's responses: `POST /v1/responses`.
    Responses,
    /// Ollama's API: `POST /api/chat` and `POST /api/generate`.
    Ollama(OllamaForm),
}

/// A whole answer for a client.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct WholeAnswer {
    /// The answer in the dialect's form, as JSON.
    pub body: String,
    /// Token usage, in the form of chat completions.
    pub usage: Option<Value>,
    /// Number of choices without a call that runs.
    pub uncalled: usize,
}

/// A stream from upstream to a client, without input or output: bytes in, bytes out.
///
/// The output does not depend on how the input was cut into pieces.
pub trait Machine: Send + 'static {
    /// Feeds upstream's bytes and writes the bytes for the client.
    ///
    /// # Errors
    /// A limit was hit and the stream is over. Held text was emitted first.
    fn push(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Result<(), ChatSseError>;

    /// Ends upstream's bytes.
    ///
    /// # Errors
    /// As [`Machine::push`], and
    /// [`ChatError::Unfinished`] if upstream did not
    /// signal that the answer is whole.
    fn finish(&mut self, out: &mut Vec<u8>) -> Result<(), ChatSseError>;

    /// Fails the stream: held text is emitted, then the fault, unless the answer was complete.
    fn fail(&mut self, fault: &Fault, out: &mut Vec<u8>);

    /// Writes a comment that keeps the connection alive.
    fn keep_alive(&self, out: &mut Vec<u8>);

    /// Returns the latest usage that upstream sent.
    fn usage(&self) -> Option<&Value>;

    /// Returns the number of bytes held back.
    fn held(&self) -> usize;

    /// Returns the number of choices that a stop string ended. Upstream may not know of it.
    fn stopped(&self) -> usize;

    /// Returns the number of choices without a complete call.
    fn uncalled(&self) -> usize;

    /// Returns whether upstream signalled that the answer is whole. Nothing more is emitted then.
    fn is_over(&self) -> bool;

    /// Returns whether upstream sent an error event. The answer is then over, and the client has
    /// the error.
    fn upstream_failed(&self) -> bool;
}

impl ApiDialect {
    /// All dialects of the proxy.
    pub const ALL: [Self; 6] = [
        Self::Chat,
        Self::Completions,
        Self::Messages,
        Self::Responses,
        Self::Ollama(OllamaForm::Chat),
        Self::Ollama(OllamaForm::Generate),
    ];

    /// Returns the path of the dialect's requests.
    #[must_use]
    pub const fn path(self) -> &'static str {
        match self {
            Self::Chat => "/v1/chat/completions",
            Self::Completions => "/v1/completions",
            Self::Messages => "/v1/messages",
            Self::Responses => "/v1/responses",
            Self::Ollama(OllamaForm::Chat) => "/api/chat",
            Self::Ollama(OllamaForm::Generate) => "/api/generate",
        }
    }

    /// Returns a short name for logs and metrics.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Chat => "chat",
            Self::Completions => "completions",
            Self::Messages => "messages",
            Self::Responses => "responses",
            Self::Ollama(OllamaForm::Chat) => "ollama_chat",
            Self::Ollama(OllamaForm::Generate) => "ollama_generate",
        }
    }

    /// Returns the path of the request for upstream. For a dialect that upstream speaks, the path
    /// is unchanged.
    #[must_use]
    pub const fn upstream_path(self) -> &'static str {
        match self {
            Self::Chat | Self::Completions => self.path(),
            _ => Self::Chat.path(),
        }
    }

    /// Returns whether upstream speaks the dialect, so that requests and answers may pass
    /// unchanged.
    #[must_use]
    pub fn is_upstreams(self) -> bool {
        self.upstream_path() == self.path()
    }

    /// Returns the form of the answer, if the dialect is Ollama's.
    pub(crate) const fn ollama(self) -> Option<OllamaForm> {
        match self {
            Self::Ollama(form) => Some(form),
            _ => None,
        }
    }

    /// Returns the media type of the dialect's streams.
    #[must_use]
    pub const fn stream_type(self) -> &'static str {
        match self.ollama() {
            Some(_) => "application/x-ndjson",
            None => "text/event-stream",
        }
    }

    /// Returns the request for upstream: a chat completion, or a text completion.
    ///
    /// # Errors
    /// The request is malformed, or asks for something that chat completions cannot express.
    pub(crate) fn request(self, body: Body, unsupported: &mut Unsupported) -> Result<Body, Fault> {
        match self {
            Self::Chat => Ok(body),
            Self::Completions => completions::request(body),
            Self::Messages => messages::request(body, unsupported),
            Self::Responses => responses::request(body, unsupported),
            // The proxy answers a request without text itself.
            Self::Ollama(_) if ollama::is_load(&body) => Ok(body),
            Self::Ollama(OllamaForm::Chat) => ollama::chat(body),
            Self::Ollama(OllamaForm::Generate) => ollama::generate(body),
        }
    }

    /// Returns an object of the request's fields that the writer of the answer needs.
    ///
    /// # Errors
    /// The fields are malformed, or their values take too much memory.
    pub(crate) fn asked(self, body: &mut Body) -> Result<Value, Fault> {
        let names = match self {
            Self::Chat | Self::Completions => Vec::new(),
            Self::Messages => vec!["stop_sequences"],
            Self::Responses => {
                responses::gather_tools(body)?;
                responses::asked().collect()
            }
            Self::Ollama(_) => vec!["model"],
        };
        let mut asked = Map::new();
        if self.ollama().is_some() {
            asked.insert("created".into(), ollama::now().into());
        }
        for name in names {
            if let Some(value) = body.get(name)? {
                asked.insert(name.to_owned(), value);
            }
        }
        Ok(asked.into())
    }

    /// Returns the machine that converts upstream's event stream into the dialect's, for the answer
    /// to the original request `asked`. Dialects with [`ApiDialect::is_upstreams`] ignore `asked`.
    #[must_use]
    pub fn stream(self, guard: ChatGuard, asked: &Value) -> Box<dyn Machine> {
        match self {
            Self::Chat => Box::new(chat::Stream::new(guard)),
            Self::Completions => Box::new(Encoded::new(guard, completions::CompletionsEvents)),
            Self::Messages => Box::new(Encoded::new(guard, messages::MessagesEvents::new(asked))),
            Self::Responses => {
                Box::new(Encoded::new(guard, responses::ResponsesEvents::new(asked)))
            }
            Self::Ollama(form) => {
                Box::new(Encoded::new(guard, ollama::OllamaEvents::new(form, asked)))
            }
        }
    }

    /// Reads upstream's whole answer as a chat completion. Heavy values that no guard reads are
    /// condensed ([`condense`]), and [`ApiDialect::whole`] restores them.
    ///
    /// # Errors
    /// The answer is not a completion, or has too many values.
    pub fn read(self, said: &[u8]) -> Result<Completion, serde_json::Error> {
        let text = String::from_utf8_lossy(said);
        self.read_condensed(&condense(&text).map_err(serde_json::Error::custom)?)
    }

    /// Reads upstream's whole answer, of which no more values need be condensed.
    pub(crate) fn read_condensed(self, text: &str) -> Result<Completion, serde_json::Error> {
        match self {
            Self::Completions => serde_json::from_value(completions::read(from_json(text)?)),
            _ => from_json(text),
        }
    }

    /// Guards a whole answer to the original request `asked`, and returns it in the dialect's form.
    /// Dialects with [`ApiDialect::is_upstreams`] ignore `asked`.
    ///
    /// # Errors
    /// As [`ChatGuard::complete`].
    pub fn whole(
        self,
        guard: &ChatGuard,
        completion: Completion,
        asked: &Value,
    ) -> Result<WholeAnswer, ChatError> {
        let (guard, body, usage) = match self {
            Self::Chat | Self::Completions => {
                let (whole, guard) = guard.complete_reporting(completion, |_| {})?;
                let body = match self {
                    Self::Completions => completions::whole(&whole).to_string(),
                    // Strings, numbers and maps with string keys are always valid JSON.
                    _ => serde_json::to_string(&whole).unwrap_or_default(),
                };
                (guard, body, whole.usage.into_value())
            }
            Self::Messages => {
                let mut message = messages::WholeMessage::default();
                let guard = guard.complete_into(completion, &mut message)?;
                let (body, usage) = message.into_json();
                (guard, body.to_string(), usage)
            }
            Self::Responses => {
                let mut response = responses::WholeResponse::new(asked);
                let guard = guard.complete_into(completion, &mut response)?;
                let (body, usage) = response.into_json();
                (guard, body.to_string(), usage)
            }
            Self::Ollama(form) => {
                let mut answer = ollama::OllamaWhole::new(form, asked);
                let guard = guard.complete_into(completion, &mut answer)?;
                let (body, usage) = answer.into_json();
                (guard, body.to_string(), usage)
            }
        };
        let body = match expand(&body) {
            Cow::Owned(expanded) => expanded,
            Cow::Borrowed(_) => body,
        };
        Ok(WholeAnswer { body, usage, uncalled: guard.uncalled() })
    }

    /// Returns the error object that reports a fault in place of an answer.
    #[must_use]
    pub fn fault(self, fault: &Fault) -> Value {
        match self {
            Self::Messages => messages::fault(fault),
            Self::Ollama(_) => ollama::fault(fault),
            _ => chat::fault(fault),
        }
    }
}
