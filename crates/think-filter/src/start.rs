//! Where a stream begins, and how to tell from the prompt.

use jail_match::{
    Channel, Driver, DriverSettings, Event, LearntSuffix, Matcher, MatcherEvent, Newlines,
    NoBodies, Table,
};

use crate::{
    format::Format,
    rules::{Openers, Recur, StrayClose},
    table::TURN_ENDS,
};

/// Where a stream begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Start {
    /// In content.
    #[default]
    Content,
    /// Inside reasoning: the prompt ended with the opener.
    Reasoning,
}

/// What chat templates write where a turn begins, and ends that no family's file names. Tags before
/// any of these belong to the history, and so do those before the end of a turn.
#[rustfmt::skip]
const TURNS: &[&str] = &[
    "<|im_start|>", "<|im_assistant|>", "<|im_user|>", "<|im_system|>", "<|start_header_id|>",
    "<|header_start|>", "<|start_of_role|>", "<|START_OF_TURN_TOKEN|>", "<start_of_turn>", "<|turn>",
    "<|start|>", "<|begin|>", "<|assistant|>", "<|user|>", "<|system|>", "<|observation|>",
    "<|assistant_start|>", "<|user_start|>", "<|user_end|>", "<|message_model|>", "<|message_user|>",
    "<｜Assistant｜>", "<｜User｜>", "<assistant>", "<user>", "<seed:bos>", "[|assistant|]", "[|user|]",
    "[INST]", "[/INST]", "]~b]", "<|BOT|>", "<|begin_assistant|>",
];

/// `prompt` after the last place where a turn begins or ends; all of it if there is none that is
/// known.
///
/// What the prompt says before that (old thoughts, a user who asks about `<think>`) says nothing
/// about where the answer begins.
#[must_use]
#[expect(
    clippy::arithmetic_side_effects,
    reason = "`at` is the length of what was found of `prompt`, never more than all of it"
)]
pub fn last_turn(prompt: &str) -> &str {
    let (mut at, mut turn) = (0, 0);
    let mut matcher = Matcher::new(TURNS.iter().chain(TURN_ENDS));
    let mut on = |found: MatcherEvent<'_>| match found {
        MatcherEvent::Text(text) => at += text.len(),
        MatcherEvent::Marker { text, .. } => {
            at += text.len();
            turn = at;
        }
    };
    matcher.push(prompt, &mut on);
    matcher.finish(&mut on);
    &prompt[turn..]
}

impl Start {
    /// The channel that the stream begins in.
    #[must_use]
    pub const fn channel(self) -> Channel {
        match self {
            Self::Content => Channel::CONTENT,
            Self::Reasoning => Channel::REASONING,
        }
    }
}

/// Where a stream begins, and what is still to come of the prompt's last marker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Opening {
    /// The channel.
    pub start: Start,
    /// Newlines that go with the closer of the prompt, where the message begins with them.
    pub newlines: Newlines,
    /// The suffix that the prompt's tags carry.
    pub suffix: LearntSuffix,
}

impl From<Start> for Opening {
    fn from(start: Start) -> Self {
        Self { start, ..Self::default() }
    }
}

impl Format {
    /// How a stream begins that the caller says to begin in `start`. In content, the prompt closed
    /// the reasoning, and all newlines after its closer are still to come.
    #[must_use]
    pub fn opening(&self, start: Start) -> Opening {
        let closed = start == Start::Content && !self.close.is_empty();
        let newlines = if closed { self.newlines.closer() } else { Newlines::NONE };
        Opening { start, newlines, suffix: LearntSuffix::NONE }
    }

    /// How the answer to `prompt` begins: in reasoning, if the rendered prompt (or just its last
    /// turn) opened some and did not close it. If it did, it may have written only some of the
    /// newlines after the closer.
    #[must_use]
    pub fn opening_after(&self, prompt: &str) -> Opening {
        // The turn begins with a role, and nothing is once only in what was written by others.
        let format = Self { openers: Openers::Anywhere, recur: Recur::Any, ..self.clone() };
        let Ok(table) = Table::new(format.edges()) else { return Opening::default() };
        let mut driver = Driver::new(table, DriverSettings::default());
        // Without bodies and a limit on the reasoning no push fails.
        let _ = driver.push(last_turn(prompt), &mut NoBodies, &mut |_: Event<'_>| {});
        let suffix = driver.suffix();
        if driver.channel() != Channel::CONTENT {
            return Opening { suffix, ..Start::Reasoning.into() };
        }
        let after = u8::try_from(driver.bound_newlines()).unwrap_or(Newlines::MANY);
        let newlines = Newlines { after, ..self.newlines.closer() };
        Opening { newlines, start: Start::Content, suffix }
    }

    /// Where the answer to `prompt` begins; see [`Format::opening_after`].
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

    /// The format with its tags left in the text: everything is content, for clients that split
    /// it themselves. If the prompt opened the reasoning, the opener it wrote is put first.
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

    /// The format where it is known how the stream begins: no prompt can have opened reasoning
    /// unseen.
    #[must_use]
    pub fn with_known_start(self) -> Self {
        let stray_close = match self.stray_close {
            StrayClose::First => StrayClose::Leading,
            other => other,
        };
        Self { stray_close, ..self }
    }
}
