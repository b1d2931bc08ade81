//! Edges: markers with the conditions under which they act, and their effects. All recognition of
//! free text is a list of edges.
//!
//! | wire | edge | effect |
//! |---|---|---|
//! | `<think>` at the start of content | `Then::Enter(Channel::REASONING)` | text after it is reasoning |
//! | `</think>` in reasoning | `Then::Leave` | text after it is content |
//! | `<tool_call>` | `Then::Body(id, OnCommit::Stay)` | a body reads what follows |

use alloc::borrow::Cow;

use crate::{
    channel::{Channel, ChannelMask},
    suffix::SuffixRule,
};

/// The number of a kind of body. The builder of the table chooses it, and
/// [`crate::BodyParsers::begin`] receives it.
pub type BodyId = u16;

/// A marker with its conditions and its effect.
///
/// ```
/// use jail_match::{Anchor, Channel, Edge, Then};
/// let opener = Edge::new("<think>", Channel::CONTENT.mask(), Then::Enter(Channel::REASONING))
///     .anchored(Anchor::Lead)
///     .literal_in_code();
/// assert_eq!(opener.anchor, Anchor::Lead);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edge {
    /// The literal text of the marker.
    pub marker: Cow<'static, str>,
    /// Whether the letter case of the marker matters.
    pub case: LetterCase,
    /// Whether the marker may carry a suffix that depends on the checkpoint.
    pub suffix: SuffixRule,
    /// The channels in which the marker is live.
    pub on: ChannelMask,
    /// The places where the marker may act.
    pub anchor: Anchor,
    /// The newlines next to the marker that are part of it.
    pub newlines: Newlines,
    /// Whether code fences and inline code hide the marker. Code is tracked in content only.
    pub in_code: InCode,
    /// How often the marker may act.
    pub uses: Uses,
    /// The number of the marker's pair, from 1, or 0 for none. In a channel that a marker of a pair
    /// opened, the markers of other pairs are text.
    pub pair: u8,
    /// How the marker is treated where the end of the stream cuts it.
    pub cut: CutMarker,
    /// Whether the marker ends a message of the stream. See [`CutMarker::AfterEnd`].
    pub ends_message: bool,
    /// Whether the marker closes reasoning that has no opener. The marker is text if more openers
    /// than closers of reasoning were shown as text before it. Markers with a newline do not count.
    pub orphan: bool,
    /// The effect of the marker.
    pub then: Then,
}

impl Edge {
    /// Creates a case-sensitive marker that acts anywhere in the channels `on`.
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
            orphan: false,
            then,
        }
    }

    /// Sets the places where the marker may act.
    #[must_use]
    pub fn anchored(self, anchor: Anchor) -> Self {
        Self { anchor, ..self }
    }

    /// Sets the newlines that are part of the marker.
    #[must_use]
    pub fn bound(self, newlines: Newlines) -> Self {
        Self { newlines, ..self }
    }

    /// Sets whether the letter case of the marker matters.
    #[must_use]
    pub fn cased(self, case: LetterCase) -> Self {
        Self { case, ..self }
    }

    /// Sets whether the marker may carry a suffix.
    #[must_use]
    pub fn suffixed(self, suffix: SuffixRule) -> Self {
        Self { suffix, ..self }
    }

    /// Makes the marker text inside code.
    #[must_use]
    pub fn literal_in_code(self) -> Self {
        Self { in_code: InCode::Literal, ..self }
    }

    /// Tells the body of the marker in which code or quotes it begins.
    #[must_use]
    pub fn told_of_code(self) -> Self {
        Self { in_code: InCode::Told, ..self }
    }

    /// Makes the marker one of a pair: openers and closers with the same number.
    #[must_use]
    pub fn of_pair(self, pair: u8) -> Self {
        Self { pair, ..self }
    }

    /// Treats the marker as one or more special tokens.
    ///
    /// If a marker of several tokens begins with `<|x|>` (with bars of either width), that first
    /// token alone is markup where the end of the stream cuts the rest.
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

    /// Makes the marker the end of a message.
    #[must_use]
    pub fn ending_message(self) -> Self {
        Self { ends_message: true, ..self }
    }

    /// Makes the edge a closer of reasoning without an opener. See [`Edge::orphan`].
    #[must_use]
    pub fn as_orphan(self) -> Self {
        Self { orphan: true, ..self }
    }

    /// Limits how often the marker may act.
    #[must_use]
    pub fn used(self, uses: Uses) -> Self {
        Self { uses, ..self }
    }
}

/// Whether the letter case of the marker matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LetterCase {
    /// Bytes must be equal.
    #[default]
    Exact,
    /// ASCII letters match in either case.
    FoldAscii,
}

/// How a marker is treated that the end of the stream cuts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CutMarker {
    /// The part of the marker is text.
    #[default]
    Text,
    /// The part is markup if it has at least this many bytes. It is dropped and reported. For
    /// markers of several special tokens, the first of which is never text.
    MarkupFrom(usize),
    /// The part is markup if only whitespace is between it and the end of a message or a call,
    /// because nothing but a marker can be there. Elsewhere it is text.
    AfterEnd,
}

/// The places where a marker may act.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Anchor {
    /// The marker acts anywhere.
    #[default]
    Anywhere,
    /// The marker acts only before visible text: at the start of the message, and again wherever a
    /// channel begins or ends. Hidden text and the hidden channel do not count.
    Lead,
    /// The marker acts only before any visible text and any markup of the message.
    Start,
    /// The marker acts only in the first column of a line of content.
    LineStart,
    /// The marker acts as with [`Anchor::Lead`], at the start of a line of content, and directly
    /// after markup. Whitespace may come before it. Elsewhere it is text, because prose may mention
    /// it.
    Line,
    /// The marker acts anywhere but in quotes that begin with such a marker: in
    /// `` `<|start|>assistant` `` it is text. A marker that begins with a letter acts only after
    /// whitespace or directly after markup.
    Unquoted,
    /// The marker acts only after a call, with nothing but whitespace between. For closers without
    /// an opener.
    AfterCall,
    /// The marker acts once, anywhere after a call ended the reasoning. For the reasoning's own
    /// closer, which then comes after the call.
    Ended,
    /// The marker acts once, anywhere after the opener of a block without calls was taken for
    /// markup ([`Refutation::Markup`](crate::Refutation::Markup)). For the closer of that block.
    Opened,
    /// The marker acts only as the last text of the message, so it is held until more text or the
    /// end comes. For ends of turns in channels where they are text elsewhere.
    MessageEnd,
}

/// Newlines (`\n`) next to a marker that are part of it when present.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Newlines {
    /// The maximum number before the marker, at most [`Newlines::MAX`].
    pub before: u8,
    /// The maximum number after the marker.
    pub after: u8,
    /// The whitespace policies under which the newlines are part of the marker.
    pub bind: Bind,
}

impl Newlines {
    /// No newline is part of the marker.
    pub const NONE: Self = Self { before: 0, after: 0, bind: Bind::WhenFraming };
    /// The maximum number of newlines on one side.
    pub const MAX: u8 = 64;

    /// Creates newlines that bind unless whitespace is kept verbatim.
    #[must_use]
    pub const fn framing(before: u8, after: u8) -> Self {
        Self { before, after, bind: Bind::WhenFraming }
    }

    /// Creates newlines that bind under every policy, because the marker was declared with them.
    #[must_use]
    pub const fn declared(before: u8, after: u8) -> Self {
        Self { before, after, bind: Bind::Always }
    }

    /// Returns the maximum number of newlines that bind before and after the marker. `optional`
    /// states whether [`Bind::WhenFraming`] binds.
    pub(crate) fn binding(self, optional: bool) -> (usize, usize) {
        if optional || self.bind == Bind::Always {
            let most = |n: u8| usize::from(n.min(Self::MAX));
            (most(self.before), most(self.after))
        } else {
            (0, 0)
        }
    }
}

/// The whitespace policies under which newlines are part of a marker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Bind {
    /// The newlines bind where the policy removes framing whitespace: under
    /// [`crate::Whitespace::Framing`] and [`crate::Whitespace::Trim`].
    #[default]
    WhenFraming,
    /// The newlines bind under every policy.
    Always,
}

/// The effect of code fences and inline code on a marker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum InCode {
    /// Code does not matter.
    #[default]
    Live,
    /// The marker is text inside code.
    Literal,
    /// The marker acts, and its body learns which code or quotes contain it
    /// ([`crate::Opener::code`], [`crate::Opener::quoted`]).
    Told,
}

/// How often the marker of an edge may act.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Uses {
    /// The marker acts every time.
    #[default]
    Unlimited,
    /// The marker acts once each time its channel is entered.
    OncePerEntry,
    /// The marker acts once in the message.
    OncePerMessage,
    /// The marker acts once in the message, and only before any reasoning. Such markup is reported
    /// as [`OrphanCloser`](crate::DiagnosticKind::OrphanCloser).
    BeforeReasoning,
}

/// The effect of a marker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Then {
    /// Removes the marker and stays in the channel.
    Erase,
    /// Opens a channel inside the current one.
    Enter(Channel),
    /// Closes the current channel. Outside of every channel, content continues.
    Leave,
    /// Closes every open channel and opens this one. For formats whose blocks each name their type
    /// and do not nest.
    Switch(Channel),
    /// Hands the text after the marker to a body. The [`OnCommit`] is the effect of the body's
    /// commit on the current channel.
    Body(BodyId, OnCommit),
}

/// The effect of a call's commit on the channel that contains the call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnCommit {
    /// The channel continues after the call.
    #[default]
    Stay,
    /// The channel is closed. A call then ends the reasoning.
    Leave,
}
