//! Guards for chat-completion streams. Chunks whose text contains markup go in; clean chunks come
//! back.
//!
//! [`ChatGuard`] reads [`Chunk`]s. Each chunk releases a [`ChatStep`], which a caller takes as
//! chunks or as [`Delta`]s. [`Aggregator`] joins the chunks of a stream into a [`Completion`]. A
//! whole response is guarded as a stream of one chunk.
//! ```
//! use llm_stream_guard::{End, Guard, chat::{Aggregator, ChatGuard, ChatOptions, Chunk}};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let guard = Guard::for_model("Qwen/Qwen3-8B")?.build()?;
//! let mut guard = ChatGuard::new(guard, ChatOptions::default());
//! let chunk = |text: &str, finish: Option<&str>| {
//!     serde_json::from_value::<Chunk>(serde_json::json!({"choices": [
//!         {"index": 0, "delta": {"content": text}, "finish_reason": finish}]}))
//! };
//! let mut clean: Vec<Chunk> = Vec::new();
//! guard.push(chunk("<tool_call>{\"name\": \"pi", None)?, &mut clean)?;
//! guard.push(chunk("ng\"}</tool_call>", Some("stop"))?, &mut clean)?;
//! guard.finish(End::Stop, &mut clean)?;
//! let mut answer = Aggregator::default();
//! clean.iter().for_each(|chunk| answer.push(chunk));
//! let choice = &answer.finish().choices[0];
//! assert_eq!(choice.finish_reason.value().unwrap(), "tool_calls");
//! # Ok(())
//! # }
//! ```
//!
//! # Types by task
//!
//! | task | types |
//! |---|---|
//! | model a chunk | [`Chunk`]: [`Choice`], [`MessageDelta`], [`Content`], [`ToolCallDelta`], [`FunctionDelta`], [`Field`] |
//! | model a whole response | [`Completion`], [`CompletionChoice`] |
//! | use a chunk type of your own; read an event yourself | [`ChatChunk`], [`FailureChunk`]; `ConvertError` (feature `async-openai`); [`EventData`] |
//! | configure a guard | [`ChatOptions`]: [`BrokenCalls`], [`CallForm`], [`Emission`], [`Logprobs`], [`ReasoningField`], [`ReasoningTokens`], [`Synthesis`], [`Stop`], [`ChatLimits`] |
//! | receive the result | [`ChatSink`]: each [`ChatStep`] as chunks or as [`Delta`]s, and each [`Note`] about a choice as a [`ChatNote`]; [`ChatError`], [`Failures`] |
//! | guard a stream of chunks | [`guard_chunks`], [`ChatStream`] |
//! | guard the bytes of an event stream | [`guard_sse`], [`SseStream`]; [`ChatSse`] with [`SseSink`] and [`ChatSseError`]; [`SplitEscapes`] |
//! | divide a server's text by its token ids | [`TokenText`], [`DividedText`] |
//! | keep annotations of a transport | [`Annotated`], [`Annotation`], [`Annotations`]; [`ChatItem`], [`FailureItem`] and [`Opened`] for item types of your own |
//! | give signs of life | [`KeepAlive`], [`Ticking`] |

mod aggregate;
mod annotate;
mod annotated;
mod choice;
mod delta;
mod ending;
mod error;
mod guard;
mod keep_alive;
mod model;
mod note;
mod options;
mod progress;
mod sse;
mod step;
mod stream;
mod tokens;

pub use aggregate::Aggregator;
pub use annotate::Annotations;
pub use annotated::{Annotated, Annotation, ChatItem, FailureItem, Opened};
pub(crate) use choice::finish::end_of;
pub use delta::Delta;
pub use error::{ChatError, Failures};
pub use guard::ChatGuard;
pub use keep_alive::{KeepAlive, Ticking};
#[cfg(feature = "async-openai")]
pub use model::async_openai::ConvertError;
pub(crate) use model::field::append_to;
pub use model::{
    chunk::{Choice, Chunk, Content, FunctionDelta, MessageDelta, ToolCallDelta},
    completion::{Completion, CompletionChoice},
    condensed::{TooManyValues, condense, condensed_object},
    condensed_string::expand,
    convert::{ChatChunk, FailureChunk, from_json},
    event_data::EventData,
    field::Field,
    parsed_size::parsed_size,
};
pub use note::{ChatNote, ChatSink, Note, Violation};
pub use options::{
    BrokenCalls, CallForm, ChatLimits, ChatOptions, Emission, Logprobs, ReasoningField,
    ReasoningTokens, Stop, Synthesis, TokenIds,
};
pub use sse::{
    ChatSse, ChatSseError, Done, SseSink,
    split_escapes::SplitEscapes,
    stream::{SseStream, guard_sse},
};
pub use step::ChatStep;
pub use stream::{ChatStream, guard_chunks};
pub(crate) use tokens::marker_ids::{ChunkPiece, ChunkTokens, TokenReader};
pub use tokens::token_text::{DividedText, TokenText};

pub use crate::json::{Balance, SealedArguments};
