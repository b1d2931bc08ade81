//! Channels: the streams of text inside a message, and the sets of channels in which markers are
//! live.

/// A stream of text inside the message: the answer, the reasoning, or one that the host defines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Channel(u8);

impl Channel {
    /// The visible answer. Content continues when every other channel is closed.
    pub const CONTENT: Self = Self(0);
    /// The model's reasoning.
    pub const REASONING: Self = Self(1);
    /// Text that is markup itself, such as message headers. It is accounted for and never emitted.
    pub const HIDDEN: Self = Self(2);
    /// The number of channels.
    pub const COUNT: u8 = 8;

    /// Returns the channel with number `n`, if `n` is below [`Channel::COUNT`].
    #[must_use]
    pub const fn new(n: u8) -> Option<Self> {
        if n < Self::COUNT { Some(Self(n)) } else { None }
    }

    /// Returns the number of the channel.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// Returns the set that holds only this channel.
    #[must_use]
    pub const fn mask(self) -> ChannelMask {
        ChannelMask(1 << self.0)
    }
}

/// A set of text channels.
///
/// ```
/// use jail_match::{Channel, ChannelMask};
/// let both = Channel::CONTENT.mask().with(Channel::REASONING);
/// assert_eq!(both, ChannelMask::TEXT);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ChannelMask(u8);

impl ChannelMask {
    /// The empty set of channels.
    pub const NONE: Self = Self(0);
    /// The set of all channels.
    pub const ALL: Self = Self(u8::MAX);
    /// The set of content and reasoning.
    pub const TEXT: Self = Self(0b11);

    /// Returns this set with `channel` added.
    #[must_use]
    pub const fn with(self, channel: Channel) -> Self {
        Self(self.0 | 1 << channel.0)
    }

    /// Returns whether `channel` is in the set.
    #[must_use]
    pub const fn has(self, channel: Channel) -> bool {
        self.0 >> channel.0 & 1 != 0
    }
}
