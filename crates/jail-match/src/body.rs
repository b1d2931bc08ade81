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
    /// The body needs more text. The first `used` bytes are done with; the rest is fed again with
    /// more text after it. The body must keep that rest short.
    More {
        /// The number of bytes consumed.
        used: usize,
    },
    /// The body needs more text, as with [`Feed::More`], and is certain that it is not text.
    ///
    /// Until a body answers so, or that it is done, the driver keeps everything since the opener,
    /// and the body must not write to the sink. The answer may be given once, or with every feed
    /// from there on.
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
    /// The body is complete after `used` bytes, which were markup. The body never committed, and
    /// there was no call.
    Markup {
        /// The number of bytes consumed.
        used: usize,
        /// Where the stream continues.
        then: Resume,
    },
    /// The opener is markup, but no call follows it.
    ///
    /// The first `markup` bytes after the opener are markup, too. Text after them is scanned like
    /// any other. Allowed before the commit only.
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
    /// The rest of the message is dropped and counted in one notice at its end.
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
    /// The body ended what was open. The first `used` bytes of the tail belong to it, the rest is
    /// text.
    Closed {
        /// The number of bytes of the tail consumed.
        used: usize,
    },
    /// The body never committed, and its bytes are markup: dropped and counted.
    Markup,
    /// The body never committed. The opener is markup, and the text after it is scanned like any
    /// other: see [`Feed::Text`].
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
    /// The suffix of the opener, or else the suffix of the stream's markers so far.
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

    /// Reads the next text, which starts where the last `used` ended.
    fn feed(&mut self, text: &str, sink: &mut dyn Sink) -> Feed;

    /// Returns whether to try another reading of the same opener, from the byte after it on. Called
    /// after [`Feed::Mismatch`].
    fn retry(&mut self) -> bool {
        false
    }

    /// Ends the stream. `tail` is the text that was not consumed.
    fn finish(&mut self, tail: &str, end: End, sink: &mut dyn Sink) -> AtEnd;

    /// Releases the memory of the active body, which is complete, was refuted, or met the end of
    /// the stream.
    fn end(&mut self) {}

    /// Releases all memory at the end of the stream.
    fn rest(&mut self) {}

    /// Returns how many consumed bytes the body keeps without having emitted or accounted for them.
    /// Asked after the commit; the account follows it.
    fn held(&self) -> usize {
        0
    }

    /// Returns how many bytes the body examined of the text fed last, of which it was offered
    /// `offered` bytes: fewer where it remembers how far an earlier feed came, more where it looked
    /// twice.
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
