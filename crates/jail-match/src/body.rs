//! Bodies: the resumable machines that take over after an opener.

use crate::{channel::Channel, edge::BodyId, sink::Sink, suffix::LearntSuffix};

/// How a stream ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum End {
    /// The model stopped by itself.
    #[default]
    Stop,
    /// A token limit cut the stream.
    Length,
    /// A filter, an error or the client cut the stream.
    Aborted,
}

/// What a body did with the text it was fed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Feed {
    /// It wants more. The first `used` bytes are done with; the rest comes again with more text
    /// after it, and the body must keep it short.
    More {
        /// Bytes consumed.
        used: usize,
    },
    /// As [`Feed::More`], and it is sure of itself: what it consumed will not be text. Until a
    /// body says so, or that it is done, the driver keeps everything since the opener, and nothing
    /// may be written to the sink. Said once or with every feed from there on.
    Committed {
        /// Bytes consumed.
        used: usize,
    },
    /// It is complete after `used` bytes, and was what the opener promised.
    Done {
        /// Bytes consumed.
        used: usize,
        /// Where the stream goes on.
        then: Resume,
    },
    /// It is complete after `used` bytes, which were markup and nothing else: it never committed,
    /// and there was no call.
    Markup {
        /// Bytes consumed.
        used: usize,
        /// Where the stream goes on.
        then: Resume,
    },
    /// It holds nothing of what the opener promised, but the opener is markup all the same. So
    /// are the first `markup` bytes behind it; what follows them is text, and is scanned like any
    /// other. The byte before `used` made that certain. Only before the commit.
    Text {
        /// Bytes up to and with the deciding one; must not depend on chunking.
        used: usize,
        /// Bytes behind the opener that are markup, counted from the opener's end.
        markup: usize,
    },
    /// It is not what the opener promised, which the byte before `used` made certain. Only
    /// before the commit.
    Mismatch {
        /// Bytes up to and with the deciding one; must not depend on chunking.
        used: usize,
    },
    /// It was what the opener promised, but is not to act: the opener and the first `used` bytes
    /// are text as they are, which is not looked at again. Only before the commit.
    Literal {
        /// Bytes that are text; must not depend on chunking.
        used: usize,
    },
}

/// Where text goes on after a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Resume {
    /// Nowhere: the rest of the message is dropped, and counted in one notice at its end.
    Halt,
    /// In the channel it would have been in.
    #[default]
    SameChannel,
    /// In a channel opened on top of it.
    Enter(Channel),
    /// In this channel alone, all others closed.
    Switch(Channel),
}

/// What a body makes of the end of the stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AtEnd {
    /// It ended what was open; the first `used` bytes of the tail are its own, the rest is text.
    Closed {
        /// Bytes of the tail consumed.
        used: usize,
    },
    /// It never committed, and its bytes are markup: dropped and counted.
    Markup,
    /// It never committed; the opener is markup, and what follows it is text: see
    /// [`Feed::Text`].
    Text {
        /// Bytes behind the opener that are markup, counted from the opener's end.
        markup: usize,
    },
    /// It never committed, and its bytes are text.
    Release,
    /// It never committed, and its bytes are text that is not looked at again.
    Literal,
}

/// Where a body begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Opener {
    /// The body's id in the table.
    pub body: BodyId,
    /// The channel the opener stood in.
    pub channel: Channel,
    /// Stream offset of the first byte after the opener.
    pub at: u64,
    /// How long the opener is, in bytes, with what is bound to it.
    pub len: usize,
    /// The suffix of the opener, or else of the stream's markers so far.
    pub suffix: LearntSuffix,
}

/// The machines a [`crate::Driver`] may hand control to; at most one is active at a time.
pub trait BodyParsers {
    /// Whether the body may begin where its opener stands: if not, the opener is text.
    fn may_begin(&self, _: BodyId) -> bool {
        true
    }

    /// An opener was matched: prepare the body for the text after it.
    fn begin(&mut self, opener: Opener);

    /// The next text. Called with text that starts where the last `used` ended.
    fn feed(&mut self, text: &str, sink: &mut dyn Sink) -> Feed;

    /// After [`Feed::Mismatch`]: whether another reading of the same opener is to be tried, from
    /// the byte after the opener.
    fn retry(&mut self) -> bool {
        false
    }

    /// The stream ended; `tail` is what was not consumed.
    fn finish(&mut self, tail: &str, end: End, sink: &mut dyn Sink) -> AtEnd;

    /// The active body is over: it is complete, was refuted, or the stream ended. What it holds
    /// may be let go.
    fn end(&mut self) {}

    /// The stream is over: nothing need be kept.
    fn rest(&mut self) {}

    /// How many bytes it was fed and is done with that nothing came of yet: it keeps them itself,
    /// beyond what the driver keeps for it. Asked after the commit; the account follows it.
    fn held(&self) -> usize {
        0
    }

    /// Returns how many bytes of the text fed last the body passed over without a look, because it
    /// had looked at them in an earlier feed and remembers how far it came.
    fn passed_over(&self) -> usize {
        0
    }
}

/// No bodies at all, for tables without [`crate::Then::Body`] edges.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoBodies;

impl BodyParsers for NoBodies {
    fn begin(&mut self, _: Opener) {}
    fn feed(&mut self, _: &str, _: &mut dyn Sink) -> Feed {
        Feed::Mismatch { used: 0 }
    }
    fn finish(&mut self, _: &str, _: End, _: &mut dyn Sink) -> AtEnd {
        AtEnd::Release
    }
}
