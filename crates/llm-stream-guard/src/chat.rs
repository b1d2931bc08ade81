//! Chat-completion streams: chunks whose text holds markup in, clean chunks out.
//!
//! [`ChatGuard`] is the machine, [`Chunk`] the model of a chunk, [`Aggregator`] puts the chunks of
//! a stream together to a [`Completion`]. A whole response takes the same way: it is one chunk.

mod aggregate;
mod annotate;
mod annotated;
#[cfg(feature = "async-openai")]
mod async_openai;
mod calls;
mod choice;
mod choice_state;
mod chunk;
mod completion;
mod content;
mod convert;
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
mod pending_fields;
mod progress;
mod repair;
mod reports;
mod response_fields;
mod response_remap;
mod room;
mod sse;
mod sse_rewriter;
mod sse_stream;
mod stream;
mod tail;
mod token_content;
mod token_ids;
mod tokens;
mod upstream_calls;
mod whole;
mod writer;

pub use aggregate::Aggregator;
pub use annotate::Annotations;
pub use annotated::{Annotated, Annotation, ChatItem, FailureItem, Opened};
#[cfg(feature = "async-openai")]
pub use async_openai::ConvertError;
pub use chunk::{Choice, Chunk, Content, Delta, FunctionDelta, ToolCallDelta};
pub use completion::{Completion, CompletionChoice};
pub use convert::{ChatChunk, FailureChunk, from_json};
pub use error::{ChatError, Failures};
pub use field::Field;
pub(crate) use field::append_to;
pub use guard::ChatGuard;
pub use keep_alive::{KeepAlive, Ticking};
pub(crate) use marker_ids::{ChunkPiece, ChunkTokens, TokenReader};
pub use note::{ChatNote, ChatSink, Note, Violation};
pub use options::{
    BrokenCalls, ChatLimits, ChatOptions, Emission, Logprobs, ReasoningField, ReasoningTokens,
    Stop, Synthesis, TokenIds,
};
pub use sse::{ChatSse, ChatSseError, Done, SseSink};
pub use sse_stream::{SseStream, guard_sse};
pub use stream::{ChatStream, guard_chunks};

pub use crate::json::Balance;
