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
//! | use a chunk type of your own | [`ChatChunk`], [`FailureChunk`]; `ConvertError` (feature `async-openai`) |
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
#[cfg(feature = "async-openai")]
mod async_openai;
mod calls;
mod choice;
mod choice_state;
mod choice_steps;
mod chunk;
mod completion;
mod condensed;
mod condensed_string;
mod condenser;
mod content;
mod convert;
mod delta;
mod delta_part;
mod empty_fields;
mod ending;
mod entries;
mod error;
mod field;
mod finish;
mod frame;
mod guard;
mod keep_alive;
mod marker_ids;
mod marker_places;
mod merge;
mod note;
mod options;
mod parsed_size;
mod pending_fields;
mod progress;
mod repair;
mod reports;
mod response_fields;
mod response_remap;
mod room;
mod split_escapes;
mod sse;
mod sse_rewriter;
mod sse_stream;
mod step;
mod stream;
mod token_content;
mod token_ids;
mod token_text;
mod tokens;
mod upstream_calls;
mod usage;
mod whole;
mod writer;

pub use aggregate::Aggregator;
pub use annotate::Annotations;
pub use annotated::{Annotated, Annotation, ChatItem, FailureItem, Opened};
#[cfg(feature = "async-openai")]
pub use async_openai::ConvertError;
pub use chunk::{Choice, Chunk, Content, FunctionDelta, MessageDelta, ToolCallDelta};
pub use completion::{Completion, CompletionChoice};
pub use condensed::{TooManyValues, condense, condensed_object};
pub use condensed_string::expand;
pub use convert::{ChatChunk, FailureChunk, from_json};
pub use delta::Delta;
pub use error::{ChatError, Failures};
pub use field::Field;
pub(crate) use field::append_to;
pub(crate) use finish::end_of;
pub use guard::ChatGuard;
pub use keep_alive::{KeepAlive, Ticking};
pub(crate) use marker_ids::{ChunkPiece, ChunkTokens, TokenReader};
pub use note::{ChatNote, ChatSink, Note, Violation};
pub use options::{
    BrokenCalls, CallForm, ChatLimits, ChatOptions, Emission, Logprobs, ReasoningField,
    ReasoningTokens, Stop, Synthesis, TokenIds,
};
pub use parsed_size::parsed_size;
pub use split_escapes::SplitEscapes;
pub use sse::{ChatSse, ChatSseError, Done, SseSink};
pub use sse_stream::{SseStream, guard_sse};
pub use step::ChatStep;
pub use stream::{ChatStream, guard_chunks};
pub use token_text::{DividedText, TokenText};

pub use crate::json::{Balance, SealedArguments};
