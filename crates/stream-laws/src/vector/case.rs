//! A case of a vector file: a model's text, the options for reading it, and the expected result.

use std::collections::BTreeMap;

use crate::json::JsonValue;

/// The options a case may set. An adapter decides which of them and which values it supports.
pub const OPTIONS: &[&str] = &[
    "openers",
    "lead_only",
    "case_insensitive",
    "stray_close",
    "recur",
    "dup_open",
    "trim",
    "tool_ends_reasoning",
    "force_nonempty_content",
    "drop_ws_before_tools",
    "strip_budget_reflect",
    "thinking",
    "token_suffix",
    "tag_prefix",
    "tag",
    "markers",
    "variant",
    "in_code",
];

/// One case of a vector file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VectorCase {
    /// The id, unique in its file.
    pub id: String,
    /// The part of the family under test.
    pub kind: CaseKind,
    /// A tool-call family, a reasoning format or a profile, by kind.
    pub family: String,
    /// The whitespace policy the expectation was written for.
    pub whitespace: CaseWhitespace,
    /// The declared tools as JSON text of an array, or `None` if the case has none.
    pub tools: Option<String>,
    /// The channel the stream begins in.
    pub start: CaseStart,
    /// How the stream ended.
    pub finish: CaseFinish,
    /// Options of the format, all of them among [`OPTIONS`].
    pub options: BTreeMap<String, JsonValue>,
    /// The model's raw text.
    pub wire: String,
    /// The text as tokens, if the case has them.
    pub tokens: Option<Box<CaseTokens>>,
    /// The expected result.
    pub expect: Expect,
    /// The subject of the case.
    pub note: String,
    /// The rule that decides it.
    pub policy: String,
    /// The parsers with another result, if any.
    pub disputed: String,
}

impl VectorCase {
    /// Returns the value of an option, if the case sets it.
    #[must_use]
    pub fn option(&self, name: &str) -> Option<&JsonValue> {
        self.options.get(name)
    }
}

/// The wire of a case as tokens.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CaseTokens {
    /// The pieces of the wire: text, and whether it is a marker token.
    pub pieces: Vec<(String, bool)>,
    /// The texts that are single added tokens of the tokenizer.
    pub marker_tokens: Vec<String>,
    /// The roles of the stretches of the wire, if the case has them: the role's name and the text.
    pub roles: Option<Vec<(String, String)>>,
}

impl CaseTokens {
    /// Returns the offset and the length in bytes of each marker token in the wire.
    pub fn markers(&self) -> impl Iterator<Item = (usize, usize)> {
        self.pieces
            .iter()
            .scan(0, |end, (text, marker)| {
                let at = *end;
                *end += text.len();
                Some(marker.then_some((at, text.len())))
            })
            .flatten()
    }
}

/// The part of a family under test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CaseKind {
    /// The tool-call grammar alone.
    Tools,
    /// The reasoning format alone.
    Reasoning,
    /// The whole profile on one cursor.
    Both,
}

/// The policy for whitespace around markup.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum CaseWhitespace {
    /// Only markup is removed.
    Verbatim,
    /// Blank runs between markup, or markup and an edge, are dropped.
    #[default]
    Framing,
    /// Text is trimmed around markup.
    Trim,
}

/// The channel a stream begins in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum CaseStart {
    /// Not stated: content, unless the family defines another channel.
    #[default]
    Default,
    /// The prompt closed the reasoning.
    Content,
    /// The prompt opened the reasoning.
    Reasoning,
}

/// The way in which a stream ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum CaseFinish {
    /// The model stopped on its own.
    #[default]
    Stop,
    /// A limit of tokens cut the stream.
    Length,
}

/// The expected result of a case.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Expect {
    /// The expected visible text.
    pub content: String,
    /// The expected reasoning.
    pub reasoning: String,
    /// The complete calls, in order.
    pub calls: Vec<ExpectedCall>,
    /// A call that did not complete. `None` is not compared.
    pub incomplete: Option<Incomplete>,
}

/// A call that must complete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpectedCall {
    /// The name of the function.
    pub name: String,
    /// The arguments, compared as a value.
    pub arguments: JsonValue,
    /// The id on the wire. `None` is not compared.
    pub id: Option<String>,
}

/// A call that must not complete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Incomplete {
    /// The name of the function.
    pub name: String,
    /// The part of the arguments that was emitted.
    pub arguments: Arguments,
}

/// The expected part of a call's arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Arguments {
    /// The arguments are not compared.
    Any,
    /// The arguments are this JSON text. Whitespace outside of strings does not count.
    Prefix(String),
    /// The arguments are JSON text that becomes this value if its open strings and containers are
    /// closed.
    SoFar(JsonValue),
}
