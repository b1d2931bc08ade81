//! The data of an explanation. All types serialize to JSON.

use std::borrow::Cow;

use serde::Serialize;

/// The fate of a recording under one reading.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Explanation {
    /// Name of the reading, as the caller set it.
    pub name: String,
    /// The most important facts.
    pub summary: ExplanationSummary,
    /// The whole text of the model.
    pub wire: String,
    /// The fate of each part of `wire`, in order and without gaps.
    pub regions: Vec<Region>,
    /// The effect of each chunk. The last step is the end of the stream.
    pub steps: Vec<Step>,
    /// The tokens, in order, if the recording has token ids.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tokens: Vec<ExplainedToken>,
}

/// A token of the recording, or several tokens whose single texts are unknown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ExplainedToken {
    /// The ids of the tokens. None for text without ids.
    pub ids: Vec<u32>,
    /// Offset in `wire`, in bytes.
    pub at: usize,
    /// Length of the text in bytes.
    pub len: usize,
    /// The roles of the bytes, in order.
    pub parts: Vec<TokenPart>,
}

/// Bytes of a token with one role.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct TokenPart {
    /// Name of the role; see [`crate::TokenRole::name`].
    pub role: &'static str,
    /// Position of the call whose name or arguments the bytes are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call: Option<u32>,
    /// Number of bytes with the role.
    pub bytes: usize,
}

/// A part of the text, and its fate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Region {
    /// Offset in `wire`, in bytes.
    pub at: usize,
    /// Length in bytes; never 0.
    pub len: usize,
    /// Fate of the region's bytes.
    pub fate: Fate,
    /// Effect of the marker, if the region is a marker that acted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub marker: Option<Cow<'static, str>>,
}

/// The fate of a byte of the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Fate {
    /// Emitted as visible content.
    Content,
    /// Emitted as reasoning.
    Reasoning,
    /// Emitted in a channel of the caller's own.
    Other,
    /// Markup, which was removed.
    Markup,
    /// White space around markup, which was removed.
    Framing,
    /// Part of a tool call.
    Call,
    /// Dropped and counted.
    Dropped,
    /// Unknown for single bytes, because a stage of the guard rewrites text.
    Rewritten,
}

/// The effect of one chunk.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[non_exhaustive]
pub struct Step {
    /// Offset of the chunk in the text, in bytes.
    pub at: usize,
    /// Length of the chunk in bytes.
    pub len: usize,
    /// Arrival in milliseconds after the first chunk, where the recording has times.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ms: Option<f64>,
    /// How the stream ended, on the last step only: `stop`, `length` or `aborted`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end: Option<&'static str>,
    /// Bytes passed as the answer.
    #[serde(skip_serializing_if = "is_zero")]
    pub content: usize,
    /// Bytes passed as reasoning.
    #[serde(skip_serializing_if = "is_zero")]
    pub reasoning: usize,
    /// Bytes passed in other channels.
    #[serde(skip_serializing_if = "is_zero")]
    pub other: usize,
    /// Bytes of arguments passed.
    #[serde(skip_serializing_if = "is_zero")]
    pub arguments: usize,
    /// Further events of the step, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<Happening>,
    /// Text held back after the step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub held: Option<Holding>,
    /// The longest delay of the text emitted in this step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay: Option<Delay>,
}

fn is_zero(bytes: &usize) -> bool {
    *bytes == 0
}

/// Something that happened. Offsets and lengths are bytes of the text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Happening {
    /// A marker of the family acted.
    Marker {
        /// Offset of the marker.
        at: u64,
        /// Length of the marker, including newlines that belong to it.
        len: u64,
        /// The marker, as the family writes it.
        marker: String,
        /// Effect of the marker, in words.
        does: Cow<'static, str>,
    },
    /// A marker that may open a call was read. The text after it decides.
    Opener {
        /// Offset of the text, in bytes.
        at: u64,
        /// Length of the text, in bytes.
        len: u64,
        /// Text of the acting marker.
        marker: String,
        /// The templates of the family that begin so.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        templates: Vec<String>,
    },
    /// A candidate was not a call, so that its opener is text.
    Refuted {
        /// Offset of the opener.
        at: u64,
        /// How far was read to know it.
        len: u64,
        /// Text of the opening marker.
        marker: String,
    },
    /// A candidate was markup without a call, and was removed.
    Empty {
        /// Offset of the opener.
        at: u64,
        /// Length of the markup.
        len: u64,
        /// Text of the opening marker.
        marker: String,
    },
    /// A candidate is certainly a call, or markup of calls.
    Committed {
        /// Offset of the opener.
        at: u64,
        /// How far was read to know it.
        len: u64,
    },
    /// The start of a tool call.
    CallStarted {
        /// Position among the calls.
        index: u32,
        /// Id of the started call.
        id: String,
        /// Name of the called tool.
        name: String,
    },
    /// The end of a tool call.
    CallEnded {
        /// Position among the calls.
        index: u32,
        /// Outcome: `complete`, `repaired`, `malformed` or `incomplete`.
        outcome: &'static str,
    },
    /// Whitespace around markup was removed.
    Framing {
        /// Offset of the text, in bytes.
        at: u64,
        /// Length of the text, in bytes.
        len: u64,
    },
    /// Text was dropped and counted.
    Dropped {
        /// Offset of the text, in bytes.
        at: u64,
        /// Length of the text, in bytes.
        len: u64,
    },
    /// The guard reported something.
    Diagnosed {
        /// The diagnostic's name.
        kind: &'static str,
        /// Offset of the diagnostic.
        at: u64,
        /// Number of bytes that the diagnostic concerns.
        bytes: u64,
        /// Position of the call that the diagnostic concerns.
        #[serde(skip_serializing_if = "Option::is_none")]
        call: Option<u32>,
        /// Meaning of the diagnostic.
        says: &'static str,
        /// Advice; empty where no action is needed.
        #[serde(skip_serializing_if = "str::is_empty")]
        advice: &'static str,
    },
    /// The recording has an item that is not text.
    Noted {
        /// Item of the recording.
        note: RecordedNote,
    },
    /// A limit ended the message.
    Stopped {
        /// Name of the reached limit.
        limit: String,
    },
}

/// An item of a recording that is not text of the model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum RecordedNote {
    /// Token usage of the answer.
    Usage,
    /// A finish reason of the server.
    Finish {
        /// The server's word for the reason.
        reason: String,
    },
    /// An error of the server.
    Error {
        /// Text of the server's error.
        message: String,
    },
    /// Reasoning or calls that the server had separated from the text.
    Native {
        /// Name of the field with the text.
        field: &'static str,
    },
}

/// Text held back after a step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Holding {
    /// Number of bytes held.
    pub bytes: usize,
    /// Offset in the text at which the held bytes begin. If a call is delivered whole, the call is
    /// held with its markup.
    pub from: usize,
    /// Reason for holding, in a word.
    pub kind: &'static str,
    /// Why the text is held, and which text would release it.
    pub why: String,
}

/// The delay of a text between its arrival and its emission.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Delay {
    /// Number of chunks between arrival and emission.
    pub chunks: usize,
    /// Number of bytes that waited.
    pub bytes: usize,
    /// Milliseconds, where the recording has times.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ms: Option<f64>,
}

/// Totals of an explanation.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[non_exhaustive]
pub struct ExplanationSummary {
    /// Findings, the likeliest causes first.
    pub findings: Vec<Finding>,
    /// Bytes of the answer.
    pub content: usize,
    /// Number of bytes of reasoning.
    pub reasoning: usize,
    /// Bytes in other channels.
    pub other: usize,
    /// Bytes of text removed as markup or whitespace around it.
    pub removed: usize,
    /// Number of bytes dropped.
    pub dropped: usize,
    /// The calls, in order.
    pub calls: Vec<CallSummary>,
    /// Number of chunks with text.
    pub chunks: usize,
    /// Maximum number of bytes held after a chunk.
    pub held_max: usize,
    /// Longest delay of any byte.
    pub delay: Delay,
    /// Families whose markers passed as text, the likeliest first.
    pub looks_like: Vec<String>,
}

/// The totals of one tool call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CallSummary {
    /// Position among the calls.
    pub index: u32,
    /// Name of the called tool.
    pub name: String,
    /// Arguments of the call, as JSON text.
    pub arguments: String,
    /// Outcome of the call, if it ended.
    pub outcome: Option<&'static str>,
}

/// A finding: a likely cause of a fault, in words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// A short, stable name.
    pub kind: &'static str,
    /// Number of times that the finding was made.
    pub count: usize,
    /// Offset of the first occurrence in the text, in bytes.
    pub at: u64,
    /// Text of the finding.
    pub says: String,
    /// Advice; empty where no action is needed.
    pub advice: String,
    /// Lines of the proxy's configuration that follow the advice; empty if there are none.
    pub serve: String,
}
