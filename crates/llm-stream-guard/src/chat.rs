//! Chat-completion streams: chunks whose text holds markup in, clean chunks out.
//!
//! [`ChatGuard`] is the machine, [`Chunk`] the model of a chunk, [`Aggregator`] puts the chunks of
//! a stream together to a [`Completion`]. A whole response takes the same way: it is one chunk.

mod aggregate;
mod calls;
mod choice;
mod chunk;
mod completion;
mod convert;
mod envelope;
mod field;
mod guard;
mod lane;
mod merge;
mod native;
mod note;
mod options;
mod piece;
mod riders;
mod writer;

pub use aggregate::Aggregator;
pub use chunk::{Choice, Chunk, Content, Delta, FunctionDelta, ToolCallDelta};
pub use completion::{Completion, CompletionChoice};
pub use convert::ChatChunk;
pub use field::Field;
pub use guard::{ChatError, ChatGuard};
pub use note::{ChatNote, ChatSink, Note, Violation};
pub use options::{
    BrokenCalls, Calls, ChatLimits, ChatOptions, Emission, ReasoningField, Stop, Synthesis,
};
