//! Bodies: resumable machines that read the text after an opener.
//!
//! A body for `<call>NAME</call>` answers these texts like this:
//!
//! | text fed | answer | meaning |
//! |---|---|---|
//! | `go` | `More { used: 0 }` | the name may continue: the text is fed again with more after it |
//! | `go</call> so` | `Done { used: 9, then: SameChannel }` | a call; ` so` is text again |
//! | `is a tag` | `Mismatch { used: 3 }` | not a call: the opener and everything after it are text |

use core::str::FromStr;

use crate::{
    channel::Channel,
    edge::BodyId,
    names::{UnknownName, named},
    sink::Sink,
    suffix::LearntSuffix,
};

/// How a stream ended, as far as the host knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum End {
    /// The model stopped on its own.
    #[default]
    Stop,
    /// A token limit cut the stream.
    Length,
    /// A filter, an error or the client cut the stream.
    Aborted,
}

impl FromStr for End {
    type Err = UnknownName;

    /// Reads `stop`, `length` or `aborted`.
    fn from_str(name: &str) -> Result<Self, UnknownName> {
        let ends = [("stop", Self::Stop), ("length", Self::Length), ("aborted", Self::Aborted)];
        named("end", name, &ends)
    }
}

/// The answer of a body to the text it was fed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Feed {
    /// The body needs more text. Its first `used` bytes are consumed. The rest is fed again with
    /// more text after it, and must be short.
    More {
        /// The number of bytes consumed.
        used: usize,
    },
    /// The body needs more text, as with [`Feed::More`], and is certain that the opener was markup.
    ///
    /// Until a body commits or is done, the driver keeps everything since the opener, and the body
    /// must not write to the sink. Later feeds may answer `Committed` or `More`.
    Committed {
        /// The number of bytes consumed.
        used: usize,
    },
    /// The body is complete after `used` bytes.
    Done {
        /// The number of bytes consumed.
        used: usize,
        /// Where the stream continues.
        then: Resume,
    },
    /// The body is complete after `used` bytes, which are markup without a call. Allowed before the
    /// commit only.
    Markup {
        /// The number of bytes consumed.
        used: usize,
        /// Where the stream continues.
        then: Resume,
    },
    /// The opener is markup, but no call follows it.
    ///
    /// The first `markup` bytes after the opener are markup too. The text after them is scanned for
    /// markers. Allowed before the commit only.
    Text {
        /// The number of bytes up to and including the deciding one; must not depend on chunks.
        used: usize,
        /// The number of bytes after the opener that are markup.
        markup: usize,
    },
    /// The opener is not markup. Its bytes and the bytes after it are text. Allowed before the
    /// commit only.
    Mismatch {
        /// The number of bytes up to and including the deciding one; must not depend on chunks.
        used: usize,
    },
    /// The opener and the first `used` bytes are text that is not scanned again, although they have
    /// the form of a call. Allowed before the commit only.
    Literal {
        /// The number of bytes that are text; must not depend on chunks.
        used: usize,
    },
}

/// Where text continues after a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Resume {
    /// The rest of the message is dropped. One diagnostic at its end counts the bytes.
    Halt,
    /// Text continues in the channel that the commit left open.
    #[default]
    SameChannel,
    /// Text continues in this channel, opened inside the current one.
    Enter(Channel),
    /// Text continues in this channel, and all others are closed.
    Switch(Channel),
}

/// The answer of a body to the end of the stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AtEnd {
    /// The body ended its open calls. The first `used` bytes of the tail belong to it, and the rest
    /// is text.
    Closed {
        /// The number of bytes of the tail consumed.
        used: usize,
    },
    /// The body never committed, and its bytes are markup: dropped and counted.
    Markup,
    /// The body never committed. The opener is markup, and the text after it is scanned for
    /// markers: see [`Feed::Text`].
    Text {
        /// The number of bytes after the opener that are markup.
        markup: usize,
    },
    /// The body never committed, and its bytes are text.
    Release,
    /// The body never committed, and its bytes are text that is not scanned again.
    Literal,
}

/// The place where a body begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Opener {
    /// The id of the body in the table.
    pub body: BodyId,
    /// The channel that contains the opener.
    pub channel: Channel,
    /// The stream offset of the first byte after the opener.
    pub at: u64,
    /// The length of the opener in bytes, with the newlines bound to it.
    pub len: usize,
    /// The maximum number of bytes after the opener that may stay undecided; see
    /// [`Limits::candidate`](crate::Limits::candidate).
    pub room: usize,
    /// The suffix of the opener, or else the suffix that the stream's earlier markers carried.
    pub suffix: LearntSuffix,
}

/// The machines that a [`crate::Driver`] hands text to. At most one is active at a time.
///
/// [`Feed`] lists the answers.
pub trait BodyParsers {
    /// Returns whether the body may begin at its opener. If not, the opener is text.
    fn may_begin(&self, _: BodyId) -> bool {
        true
    }

    /// Prepares the body for the text after its opener.
    fn begin(&mut self, opener: Opener);

    /// Reads the next text. It begins after the bytes that the body consumed so far.
    fn feed(&mut self, text: &str, sink: &mut dyn Sink) -> Feed;

    /// Returns whether the text after the opener is to be read again in another way, for example as
    /// another format with the same opener. Called after [`Feed::Mismatch`].
    fn retry(&mut self) -> bool {
        false
    }

    /// Ends the stream. `tail` is the text that was not consumed.
    fn finish(&mut self, tail: &str, end: End, sink: &mut dyn Sink) -> AtEnd;

    /// Releases the memory of the active body. Called when the body is complete or refuted, or the
    /// stream ended.
    fn end(&mut self) {}

    /// Releases all memory at the end of the stream.
    fn rest(&mut self) {}

    /// Returns the number of consumed bytes that the body keeps and has not emitted yet. Called
    /// after the commit only. The driver accounts for these bytes later.
    fn held(&self) -> usize {
        0
    }

    /// Returns the number of bytes that the body examined in its last feed of `offered` bytes. The
    /// number is lower if the body remembers an earlier feed, and higher if it looked twice.
    fn looked_at(&self, offered: usize) -> usize {
        offered
    }
}

/// An empty set of bodies, for tables without [`crate::Then::Body`] edges.
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
