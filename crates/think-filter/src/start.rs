//! The start of a stream, which the prompt decides.
//!
//! ```text
//! ...assistant\n<think>\n                  the stream starts in reasoning
//! ...assistant\n<think>\n</think>\n\n      the stream starts in content
//! ```

use core::str::FromStr;

use jail_match::{
    Channel, Driver, DriverSettings, Event, LearntSuffix, Matcher, MatcherEvent, Newlines,
    NoBodies, Table, UnknownName, named,
};

use crate::{
    format::Format,
    rules::{Openers, Recur, StrayClose},
    table::TURN_ENDS,
};

/// The channel in which a stream starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Start {
    /// The stream starts in content.
    #[default]
    Content,
    /// The stream starts inside reasoning: the prompt ended with the opener.
    Reasoning,
}

impl FromStr for Start {
    type Err = UnknownName;

    /// Reads `content` or `reasoning`.
    fn from_str(name: &str) -> Result<Self, UnknownName> {
        named("start", name, &[("content", Self::Content), ("reasoning", Self::Reasoning)])
    }
}

/// Tokens with which chat templates begin a turn, and ends of turns that the families' files lack.
/// Tags before the last of these belong to the history.
#[rustfmt::skip]
const TURNS: &[&str] = &[
    "<|im_start|>", "<|im_assistant|>", "<|im_user|>", "<|im_system|>", "<|start_header_id|>",
    "<|header_start|>", "<|start_of_role|>", "<|START_OF_TURN_TOKEN|>", "<start_of_turn>", "<|turn>",
    "<|start|>", "<|begin|>", "<|assistant|>", "<|user|>", "<|system|>", "<|observation|>",
    "<|assistant_start|>", "<|user_start|>", "<|user_end|>", "<|message_model|>", "<|message_user|>",
    "<｜Assistant｜>", "<｜User｜>", "<assistant>", "<user>", "<seed:bos>", "[|assistant|]", "[|user|]",
    "[INST]", "[/INST]", "]~b]", "<|BOT|>", "<|begin_assistant|>",
];

/// Returns the part of `prompt` after the last token that begins or ends a turn, or all of it if
/// there is none.
///
/// Earlier text, such as old reasoning or a user who asks about `<think>`, does not decide how the
/// answer starts.
#[must_use]
pub fn last_turn(prompt: &str) -> &str {
    let (mut at, mut turn) = (0, 0);
    let mut matcher = Matcher::new(TURNS.iter().chain(TURN_ENDS));
    let mut on = |found: MatcherEvent<'_>| match found {
        MatcherEvent::Text(text) => at = text.len().saturating_add(at),
        MatcherEvent::Marker { text, .. } => {
            at = text.len().saturating_add(at);
            turn = at;
        }
    };
    matcher.push(prompt, &mut on);
    matcher.finish(&mut on);
    prompt.get(turn..).unwrap_or_default()
}

impl Start {
    /// Returns the channel in which the stream starts.
    #[must_use]
    pub const fn channel(self) -> Channel {
        match self {
            Self::Content => Channel::CONTENT,
            Self::Reasoning => Channel::REASONING,
        }
    }
}

/// The start of a stream, with details of the prompt's last marker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Opening {
    /// Channel in which the stream starts.
    pub start: Start,
    /// Newlines at the start of the message that belong to the prompt's closer.
    pub newlines: Newlines,
    /// Suffix of the prompt's tags.
    pub suffix: LearntSuffix,
}

impl From<Start> for Opening {
    fn from(start: Start) -> Self {
        Self { start, ..Self::default() }
    }
}

impl Format {
    /// Returns the opening of a stream that is known to start in `start`. If that is content, the
    /// prompt is taken to have closed the reasoning, and the newlines after the closer may be at
    /// the start of the stream.
    #[must_use]
    pub fn opening(&self, start: Start) -> Opening {
        let closed = start == Start::Content && !self.close.is_empty();
        let newlines = if closed { self.newlines.closer() } else { Newlines::NONE };
        Opening { start, newlines, suffix: LearntSuffix::NONE }
    }

    /// Returns the opening of the answer to a rendered prompt, or to its last turn.
    ///
    /// The answer starts in reasoning if the prompt opened it and did not close it. If the prompt
    /// closed it, the answer may start with those newlines after the closer that the prompt lacks.
    #[must_use]
    pub fn opening_after(&self, prompt: &str) -> Opening {
        // A turn begins with a role, so its opener is not at the start.
        let format = Self { openers: Openers::Anywhere, recur: Recur::Any, ..self.clone() };
        let Ok(table) = Table::new(format.edges()) else { return Opening::default() };
        let mut driver = Driver::new(table, DriverSettings::default());
        // A push fails only at limits, and none is set here.
        let _ = driver.push(last_turn(prompt), &mut NoBodies, &mut |_: Event<'_>| {});
        let suffix = driver.suffix();
        if driver.channel() != Channel::CONTENT {
            return Opening { suffix, ..Start::Reasoning.into() };
        }
        let after = u8::try_from(driver.bound_newlines()).unwrap_or(Newlines::MAX);
        let newlines = Newlines { after, ..self.newlines.closer() };
        Opening { newlines, start: Start::Content, suffix }
    }

    /// Returns the channel in which the answer to `prompt` starts; see [`Format::opening_after`].
    ///
    /// ```
    /// # fn main() -> Result<(), think_filter::UnknownName> {
    /// use think_filter::{Start, format};
    /// let qwen3 = format("qwen3")?;
    /// let history = "<|im_start|>user\nWhat does <think> do?<|im_end|>\n";
    /// let open = format!("{history}<|im_start|>assistant\n<think>\n");
    /// let closed = format!("{open}\n</think>\n\n");
    /// assert_eq!(qwen3.start_after(&open), Start::Reasoning);
    /// assert_eq!(qwen3.start_after(&closed), Start::Content);
    /// assert_eq!(qwen3.start_after(history), Start::Content);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn start_after(&self, prompt: &str) -> Start {
        self.opening_after(prompt).start
    }

    /// Returns a format that keeps the tags in the content, for clients that split it themselves.
    /// If the prompt opened the reasoning, the opener is emitted first.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use think_filter::{Start, ThinkFilter, format};
    /// let filter = ThinkFilter::new(format("qwen3")?.inline(Start::Reasoning))?;
    /// assert_eq!(filter.split("plan</think>Done.").content, "<think>plan</think>Done.");
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn inline(self, start: Start) -> Self {
        let prepend = match start {
            Start::Content => None,
            Start::Reasoning => self.open.into_iter().next(),
        };
        Self { prepend, ..Self::passthrough(self.name) }
    }

    /// Returns the format for a stream whose start is known. A closer without an opener is then not
    /// taken for the end of reasoning that the prompt opened.
    #[must_use]
    pub fn with_known_start(self) -> Self {
        let stray_close = match self.stray_close {
            StrayClose::First => StrayClose::Leading,
            other => other,
        };
        Self { stray_close, ..self }
    }
}
