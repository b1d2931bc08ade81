//! What an explanation holds, as data: it serializes to JSON.

use std::borrow::Cow;

use serde::Serialize;

/// What became of a recording, read in one way.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Explanation {
    /// How it was read: the name the caller gave.
    pub name: String,
    /// What there is to know, first.
    pub summary: Summary,
    /// The text of the model, whole.
    pub wire: String,
    /// What became of each part of `wire`; without gaps, in order.
    pub regions: Vec<Region>,
    /// What happened with each chunk; the last step is the end of the stream.
    pub steps: Vec<Step>,
}

/// A part of the text, and what became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Region {
    /// Offset in bytes.
    pub at: usize,
    /// Length in bytes; never 0.
    pub len: usize,
    /// What became of it.
    pub fate: Fate,
    /// What the marker does, if the region is one that acted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub marker: Option<Cow<'static, str>>,
}

/// What became of a byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Fate {
    /// It passed as the answer.
    Content,
    /// It passed as reasoning.
    Reasoning,
    /// It passed in a channel of the caller's own.
    Other,
    /// It is markup, and was removed.
    Markup,
    /// It is whitespace around markup, and was removed.
    Framing,
    /// It belongs to a tool call.
    Call,
    /// It was dropped.
    Dropped,
    /// It cannot be said byte by byte: a stage of the guard rewrites text.
    Rewritten,
}

/// What happened when a chunk came.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[non_exhaustive]
pub struct Step {
    /// Offset of the chunk in the text, in bytes.
    pub at: usize,
    /// Its length in bytes.
    pub len: usize,
    /// When it came, in milliseconds since the first, where the recording says.
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
    /// What else happened, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<Happening>,
    /// What is held back afterwards.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub held: Option<Holding>,
    /// The longest wait of what came out now.
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
    /// A marker acted.
    Marker {
        /// Where it stands.
        at: u64,
        /// Its length, newlines bound to it included.
        len: u64,
        /// The marker, as the family writes it.
        marker: String,
        /// What it does, in words.
        does: Cow<'static, str>,
    },
    /// A marker that may open a call was read; what follows decides.
    Opener {
        /// Where it stands.
        at: u64,
        /// Its length.
        len: u64,
        /// The marker.
        marker: String,
        /// The templates of the family that begin so.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        templates: Vec<String>,
    },
    /// What an opener began is no call: it is text.
    Refuted {
        /// Where the opener stands.
        at: u64,
        /// How far was read to know it.
        len: u64,
        /// The marker.
        marker: String,
    },
    /// What an opener began is markup without a call in it: it was removed.
    Empty {
        /// Where the opener stands.
        at: u64,
        /// How much is markup.
        len: u64,
        /// The marker.
        marker: String,
    },
    /// What an opener began is certain to be a call, or markup of calls.
    Committed {
        /// Where the opener stands.
        at: u64,
        /// How far was read to know it.
        len: u64,
    },
    /// A call began.
    CallStarted {
        /// Position among the calls.
        index: u32,
        /// Its id.
        id: String,
        /// Its name.
        name: String,
    },
    /// A call ended.
    CallEnded {
        /// Position among the calls.
        index: u32,
        /// How: `complete`, `repaired`, `malformed` or `incomplete`.
        outcome: &'static str,
    },
    /// Whitespace around markup was removed.
    Framing {
        /// Where it stands.
        at: u64,
        /// Its length.
        len: u64,
    },
    /// Text was dropped.
    Dropped {
        /// Where it stands.
        at: u64,
        /// Its length.
        len: u64,
    },
    /// The guard reported something.
    Diagnosed {
        /// The diagnostic's name.
        kind: &'static str,
        /// Where.
        at: u64,
        /// How many bytes it concerns.
        bytes: u64,
        /// The call it is about.
        #[serde(skip_serializing_if = "Option::is_none")]
        call: Option<u32>,
        /// What it means.
        says: &'static str,
        /// What to do; empty where nothing need be done.
        #[serde(skip_serializing_if = "str::is_empty")]
        advice: &'static str,
    },
    /// The recording said something besides text.
    Noted {
        /// What.
        note: Note,
    },
    /// A limit ended the message.
    Stopped {
        /// Which.
        limit: String,
    },
}

/// What a recording says besides the model's text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Note {
    /// Token usage.
    Usage,
    /// A reason to finish.
    Finish {
        /// The server's word.
        reason: String,
    },
    /// An error of the server.
    Error {
        /// What it says.
        message: String,
    },
    /// Reasoning or calls that the server had told from the text itself: no part of the text.
    Native {
        /// The field it came in.
        field: &'static str,
    },
}

/// What is held back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Holding {
    /// How many bytes.
    pub bytes: usize,
    /// Where in the text it begins: what is held are the bytes from there on, and where a call is
    /// delivered whole the call with its markup.
    pub from: usize,
    /// Why, in a word.
    pub kind: &'static str,
    /// Why, and what would release it.
    pub why: String,
}

/// How long something waited before it came out.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Delay {
    /// Chunks between its arrival and its coming out.
    pub chunks: usize,
    /// Bytes that waited.
    pub bytes: usize,
    /// Milliseconds, where the recording has times.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ms: Option<f64>,
}

/// The whole in short.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[non_exhaustive]
pub struct Summary {
    /// What went wrong or is worth knowing, the likeliest causes first.
    pub findings: Vec<Finding>,
    /// Bytes of the answer.
    pub content: usize,
    /// Bytes of reasoning.
    pub reasoning: usize,
    /// Bytes in other channels.
    pub other: usize,
    /// Bytes of text removed as markup or whitespace around it.
    pub removed: usize,
    /// Bytes dropped.
    pub dropped: usize,
    /// The calls, in order.
    pub calls: Vec<CallSummary>,
    /// Chunks of text.
    pub chunks: usize,
    /// The most bytes held after a chunk.
    pub held_max: usize,
    /// The longest wait.
    pub delay: Delay,
    /// Families whose markers passed as text, the likeliest first.
    pub looks_like: Vec<String>,
}

/// A call in short.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CallSummary {
    /// Position among the calls.
    pub index: u32,
    /// Its name.
    pub name: String,
    /// Its arguments, as JSON text.
    pub arguments: String,
    /// How it ended, if it did.
    pub outcome: Option<&'static str>,
}

/// Something worth knowing, in words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// A short, stable name.
    pub kind: &'static str,
    /// How often it was found.
    pub count: usize,
    /// Where it was found first: offset in the text, in bytes.
    pub at: u64,
    /// What was found.
    pub says: String,
    /// What to do; empty where nothing need be done.
    pub advice: String,
}
