//! Edges: what a marker is and what it does. All recognition of free text is a list of these.

use alloc::borrow::Cow;

use crate::{
    channel::{Channel, ChannelMask},
    suffix::SuffixRule,
};

/// Number of a body kind, given by whoever builds the table and handed back to
/// [`crate::BodyParsers::begin`].
pub type BodyId = u16;

/// A marker with its conditions and its effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edge {
    /// The literal text.
    pub marker: Cow<'static, str>,
    /// Whether letter case counts.
    pub case: LetterCase,
    /// Whether the marker may carry a suffix of its own.
    pub suffix: SuffixRule,
    /// The channels in which the marker is live.
    pub on: ChannelMask,
    /// Where it may stand.
    pub anchor: Anchor,
    /// The newlines around it that go with it.
    pub newlines: Newlines,
    /// Whether code fences and inline code hide it (in content; elsewhere code is not tracked).
    pub in_code: InCode,
    /// How often it may act.
    pub uses: Uses,
    /// The pair it is of, from 1; 0 for none. In a channel that a marker of a pair opened, the
    /// markers of other pairs are text.
    pub pair: u8,
    /// What it is where the stream's end cuts it.
    pub cut: CutMarker,
    /// Whether a message of the stream ends with it: see [`CutMarker::BehindEnd`].
    pub ends_message: bool,
    /// What it does.
    pub then: Then,
}

impl Edge {
    /// A case-sensitive marker, live on `on` wherever it stands.
    #[must_use]
    pub fn new(marker: impl Into<Cow<'static, str>>, on: ChannelMask, then: Then) -> Self {
        Self {
            marker: marker.into(),
            case: LetterCase::Exact,
            suffix: SuffixRule::None,
            on,
            anchor: Anchor::Anywhere,
            newlines: Newlines::NONE,
            in_code: InCode::Live,
            uses: Uses::Unlimited,
            pair: 0,
            cut: CutMarker::Text,
            ends_message: false,
            then,
        }
    }

    /// The same edge with another anchor.
    #[must_use]
    pub fn anchored(self, anchor: Anchor) -> Self {
        Self { anchor, ..self }
    }

    /// The same edge with newlines bound to it.
    #[must_use]
    pub fn bound(self, newlines: Newlines) -> Self {
        Self { newlines, ..self }
    }

    /// The same edge with another case rule.
    #[must_use]
    pub fn cased(self, case: LetterCase) -> Self {
        Self { case, ..self }
    }

    /// The same edge with another suffix rule.
    #[must_use]
    pub fn suffixed(self, suffix: SuffixRule) -> Self {
        Self { suffix, ..self }
    }

    /// The same edge, literal inside code.
    #[must_use]
    pub fn literal_in_code(self) -> Self {
        Self { in_code: InCode::Literal, ..self }
    }

    /// The same edge as one of a pair of markers: openers and closers with the same number.
    #[must_use]
    pub fn of_pair(self, pair: u8) -> Self {
        Self { pair, ..self }
    }

    /// The same edge for special tokens: if its marker begins with one (`<|x|>`, with bars of
    /// either width) and goes on, the first token tells it from text where the stream's end cuts
    /// the rest.
    #[must_use]
    pub fn of_tokens(self) -> Self {
        let ends = self.marker.match_indices(['|', '｜']).filter_map(|(at, bar)| {
            let rest = self.marker.get(at + bar.len()..)?.strip_prefix('>')?;
            (at > 1).then_some(self.marker.len() - rest.len())
        });
        let token = self.marker.starts_with("<|") || self.marker.starts_with("<｜");
        let first = ends.min().filter(|&end| token && end < self.marker.len());
        let cut = first.map_or(CutMarker::Text, CutMarker::MarkupFrom);
        Self { cut, ..self }
    }

    /// The same edge as the end of a message.
    #[must_use]
    pub fn ending_message(self) -> Self {
        Self { ends_message: true, ..self }
    }

    /// The same edge with a limit on its uses.
    #[must_use]
    pub fn used(self, uses: Uses) -> Self {
        Self { uses, ..self }
    }
}

/// Whether letter case counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LetterCase {
    /// Byte for byte.
    #[default]
    Exact,
    /// ASCII letters in either case.
    FoldAscii,
}

/// What a marker is that the end of the stream cuts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CutMarker {
    /// Text like any other.
    #[default]
    Text,
    /// Markup, if at least this many of its bytes came: it is several tokens, of which one alone
    /// says what it is. It is dropped and reported.
    MarkupFrom(usize),
    /// Markup directly behind the end of a message or a call, where nothing else can stand, whitespace
    /// between allowed; text elsewhere.
    BehindEnd,
}

/// Where a marker may stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Anchor {
    /// Anywhere.
    #[default]
    Anywhere,
    /// Only while nothing but whitespace was seen in the channel: at the start of the message,
    /// again after a channel ended, and at the start of each. Hidden text is as if it were not there.
    Lead,
    /// Only before everything else: neither visible text nor markup came in the message.
    Start,
    /// Only at the first column of a line of content.
    LineStart,
    /// At the lead, at the start of a line of content, and directly after markup; whitespace
    /// before it allowed. Elsewhere prose may mention the marker.
    Line,
    /// Only directly after a call, whitespace between allowed: orphan closers.
    AfterCall,
    /// Anywhere since a call ended the reasoning, once: the closer that the call came before.
    Ended,
    /// Anywhere since the opener of a block without calls was taken for markup
    /// ([`Feed::Text`](crate::Feed::Text)), once: that block's closer.
    Opened,
}

/// Newlines (`\n`) next to a marker that belong to it when present.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Newlines {
    /// At most this many before it ([`Newlines::MANY`]: as many as there are).
    pub before: u8,
    /// At most this many after it.
    pub after: u8,
    /// Under which whitespace policies they bind.
    pub bind: Bind,
}

impl Newlines {
    /// No newline is bound.
    pub const NONE: Self = Self { before: 0, after: 0, bind: Bind::WhenFraming };
    /// The most newlines that bind on one side.
    pub const MANY: u8 = 64;

    /// Newlines that bind unless whitespace is kept verbatim.
    #[must_use]
    pub const fn framing(before: u8, after: u8) -> Self {
        Self { before, after, bind: Bind::WhenFraming }
    }

    /// Newlines written in the marker's own declaration: they bind under every policy.
    #[must_use]
    pub const fn declared(before: u8, after: u8) -> Self {
        Self { before, after, bind: Bind::Always }
    }

    /// How many before and after bind where optional ones do or do not.
    pub(crate) fn binding(self, optional: bool) -> (usize, usize) {
        if optional || self.bind == Bind::Always {
            let most = |n: u8| usize::from(n.min(Self::MANY));
            (most(self.before), most(self.after))
        } else {
            (0, 0)
        }
    }
}

/// Under which whitespace policies bound newlines bind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Bind {
    /// Under every policy but [`crate::Whitespace::Verbatim`].
    #[default]
    WhenFraming,
    /// Under every policy.
    Always,
}

/// What code fences and inline code do to a marker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum InCode {
    /// Nothing.
    #[default]
    Live,
    /// They make it ordinary text.
    Literal,
}

/// How often an edge may act.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Uses {
    /// Every time.
    #[default]
    Unlimited,
    /// Once each time its channel is entered.
    OncePerEntry,
    /// Once in the message.
    OncePerMessage,
    /// Once in the message, and only as long as it did not reason. Markup of this kind is reported
    /// as [`OrphanCloser`](crate::DiagnosticKind::OrphanCloser).
    BeforeReasoning,
}

/// What a marker does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Then {
    /// It is removed.
    Erase,
    /// A channel opens on top of the current one.
    Enter(Channel),
    /// The current channel closes; at the bottom of the stack content goes on.
    Leave,
    /// Every open channel closes and this one opens: for formats of flat, typed blocks.
    Switch(Channel),
    /// A body takes over; what the commit does to the current channel is the second part.
    Body(BodyId, OnCommit),
}

/// What happens to the channel a call stands in once the call is certain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnCommit {
    /// The channel goes on after the call.
    #[default]
    Stay,
    /// The channel is left: a call ends the reasoning.
    Leave,
}
