//! Channels: where text belongs, and which markers are live there.

/// A stream of text inside the message: the answer, the reasoning, or one of a caller's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Channel(u8);

impl Channel {
    /// The visible answer; the bottom of the channel stack.
    pub const CONTENT: Self = Self(0);
    /// The model's reasoning.
    pub const REASONING: Self = Self(1);
    /// Text that is markup itself (message headers): accounted for, never emitted.
    pub const HIDDEN: Self = Self(2);
    /// How many channels there may be.
    pub const COUNT: u8 = 8;

    /// The channel with number `n`, if `n` is below [`Channel::COUNT`].
    #[must_use]
    pub const fn new(n: u8) -> Option<Self> {
        if n < Self::COUNT { Some(Self(n)) } else { None }
    }

    /// The channel's number.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// The set holding just this channel.
    #[must_use]
    pub const fn mask(self) -> ChannelMask {
        ChannelMask(1 << self.0)
    }
}

/// A set of channels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ChannelMask(u8);

impl ChannelMask {
    /// No channel.
    pub const NONE: Self = Self(0);
    /// Every channel.
    pub const ALL: Self = Self(u8::MAX);
    /// Content and reasoning.
    pub const TEXT: Self = Self(0b11);

    /// This set with `channel` added.
    #[must_use]
    pub const fn with(self, channel: Channel) -> Self {
        Self(self.0 | 1 << channel.0)
    }

    /// Whether `channel` is in the set.
    #[must_use]
    pub const fn has(self, channel: Channel) -> bool {
        self.0 >> channel.0 & 1 != 0
    }
}
