//! Bodies: resumable machines that read the text after an opener.
//!
//! A body for `<call>NAME</call>` answers these texts like this:
//!
//! | text fed | answer | meaning |
//! |---|---|---|
//! | `go` | `Undecided` after 0 bytes | the name may continue: the text is fed again with more after it |
//! | `go</call> so` | `Complete(SameChannel)` after 9 bytes | a call; ` so` is text again |
//! | `is a tag` | `Refuted(Rescan)` after 3 bytes | not a call: the opener and everything after it are text |

use core::str::FromStr;

use crate::{
    channel::Channel,
    code::OpenCode,
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

impl End {
    /// Returns a short, stable name: `stop`, `length` or `aborted`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Stop => "stop",
            Self::Length => "length",
            Self::Aborted => "aborted",
        }
    }
}

impl FromStr for End {
    type Err = UnknownName;

    /// Reads `stop`, `length` or `aborted`.
    fn from_str(name: &str) -> Result<Self, UnknownName> {
        let ends = [Self::Stop, Self::Length, Self::Aborted].map(|end| (end.name(), end));
        named("end", name, &ends)
    }
}

/// The answer of a body to the text it was fed, or to the end of the stream.
///
/// `used` must not depend on chunks, except under [`Verdict::Undecided`] and [`Verdict::Certain`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Feed {
    /// The number of bytes consumed, or examined up to and including the deciding one. At the end
    /// of the stream it counts only for [`Verdict::Complete`].
    pub used: usize,
    /// The decision about the body.
    pub verdict: Verdict,
}

/// The decision of a body about itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The body needs more text. Text after `used` is fed again with more text after it, and must
    /// be short.
    Undecided,
    /// The body needs more text, as under [`Verdict::Undecided`], and is certain that the opener
    /// was markup.
    ///
    /// Until a body is certain or complete, the driver keeps everything since the opener, and the
    /// body must not write to the sink. Later answers may be `Certain` or `Undecided`.
    Certain,
    /// The body is complete after `used` bytes. At the end of the stream it also ended its open
    /// calls, and the rest is text.
    Complete(Resume),
    /// The body is complete after `used` bytes, which are markup without a call. Not allowed after
    /// `Certain`. At the end of the stream the bytes are dropped and counted.
    Empty(Resume),
    /// The opener begins no call. Not allowed after `Certain`.
    Refuted(Refutation),
}

/// The fate of an opener that begins no call, and of the bytes after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refutation {
    /// All bytes are text, in which markers are searched for.
    Rescan,
    /// The opener and the first `used` bytes are text that is not scanned again, although they have
    /// the form of a call.
    Literal,
    /// The opener and the first `len` bytes after it are markup. The text after them is scanned for
    /// markers.
    Markup {
        /// The number of bytes after the opener that are markup.
        len: usize,
    },
}

impl Verdict {
    /// The opener and the bytes after it are text, in which markers are searched for.
    pub const RESCAN: Self = Self::Refuted(Refutation::Rescan);

    /// Returns the answer with this verdict after `used` bytes.
    #[must_use]
    pub fn after(self, used: usize) -> Feed {
        Feed { used, verdict: self }
    }

    /// Returns whether the body needs more text.
    #[must_use]
    pub fn is_open(self) -> bool {
        matches!(self, Self::Undecided | Self::Certain)
    }
}

impl Feed {
    /// Returns the bytes that a committed body used, and where text continues if the body is
    /// complete. A body that takes its commit back broke its contract: it used nothing.
    pub(crate) fn of_committed(self) -> (usize, Option<Resume>) {
        match self.verdict {
            Verdict::Undecided | Verdict::Certain => (self.used, None),
            Verdict::Complete(then) | Verdict::Empty(then) => (self.used, Some(then)),
            Verdict::Refuted(_) => (0, Some(Resume::SameChannel)),
        }
    }
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
    /// The code that contains the opener, if the edge asks for it ([`crate::InCode::Told`]).
    pub code: Option<OpenCode>,
    /// Whether the opener is in quotes, if the edge asks for the code around it.
    pub quoted: bool,
}

/// The machines that a [`crate::Driver`] hands text to. At most one is active at a time.
///
/// [`Verdict`] lists the answers.
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
    /// another format with the same opener. Called after
    /// [`Refutation::Rescan`].
    fn retry(&mut self) -> bool {
        false
    }

    /// Returns whether the active body has begun a call whose events it keeps back. Such a call
    /// continues after a [`ServerItem::Channel`](crate::ServerItem::Channel), as a committed one
    /// does.
    fn keeps_call(&self) -> bool {
        false
    }

    /// Ends the stream. `tail` is the text that was not consumed.
    fn finish(&mut self, tail: &str, end: End, sink: &mut dyn Sink) -> Feed;

    /// Releases the memory of the active body. Called when the body is complete or refuted, the
    /// stream ended, or the sink panicked while the body was fed.
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
        Verdict::RESCAN.after(0)
    }
    fn finish(&mut self, _: &str, _: End, _: &mut dyn Sink) -> Feed {
        Verdict::RESCAN.after(0)
    }
}
