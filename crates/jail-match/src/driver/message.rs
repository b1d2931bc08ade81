//! The state of a driver that belongs to the current message.

use smallvec::SmallVec;

use super::{mention::Mentions, preceding::Preceding, value_text::ValueText, window::OpenChannel};
use crate::{channel::Channel, code::Code, table::Table};

/// The state that starts over with each message of a stream.
#[derive(Debug, Clone, Default)]
pub(super) struct MessageState {
    /// The open channels, the innermost last.
    pub(super) open: SmallVec<[OpenChannel; 4]>,
    /// Lines and code of the content.
    pub(super) code: Code,
    /// Newlines that still belong to the marker just passed.
    pub(super) swallow: u8,
    /// Bits of the edges whose limited uses are used up.
    pub(super) spent: u64,
    /// Spans of reasoning so far.
    pub(super) spans: u32,
    /// Whether the server separated reasoning from the text.
    pub(super) separated: Separated,
    /// Whether a call ended the reasoning and the reasoning's own closer has not come yet.
    pub(super) ended_by_call: bool,
    /// Whether the last marker was the end of a message.
    pub(super) ended: bool,
    /// Whether the opener of a block without calls was markup and the block's closer has not come
    /// yet.
    pub(super) block_opened: bool,
    /// Reasoning tags that are shown as text.
    pub(super) mentions: Mentions,
    /// The text since the last markup, if the table has edges that depend on it.
    pub(super) preceding: Preceding,
    /// The value after an opener that began no call.
    pub(super) value: ValueText,
}

/// Whether the server separated the message's reasoning from its text.
///
/// A server that sends `reasoning_content: "hm"`, then `content: "so"`: `Never`, then `Now` at
/// `hm`, then `Before` at `so`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Separated {
    #[default]
    Never,
    /// The text that follows is reasoning that the server separated.
    Now,
    Before,
}

impl MessageState {
    /// Returns the channel that text goes to now.
    pub(super) fn channel(&self) -> Channel {
        self.open.last().map_or(Channel::CONTENT, |open| open.channel)
    }

    /// Records that text was removed: the text before it and the text after it are not adjacent.
    pub(super) fn interrupt(&mut self, table: &Table) {
        self.mentions.interrupt(table);
        self.preceding = Preceding::default();
    }

    /// Records that the server put the next text into `channel`.
    pub(super) fn separate(&mut self, channel: Channel) {
        self.separated = match (channel, self.separated) {
            (Channel::REASONING, _) => Separated::Now,
            (_, Separated::Never) => Separated::Never,
            _ => Separated::Before,
        };
    }
}

/// Returns a number of newlines that a marker binds. They are few.
pub(super) fn few(newlines: usize) -> u8 {
    u8::try_from(newlines).unwrap_or(u8::MAX)
}
