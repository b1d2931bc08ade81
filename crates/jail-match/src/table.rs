//! The compiled table of edges.

use alloc::{boxed::Box, string::String, sync::Arc, vec::Vec};
use core::fmt;

use crate::{
    channel::{Channel, ChannelMask},
    edge::{Anchor, Bind, Edge, InCode, LetterCase, Newlines, Then, Uses},
    limits::MAX_LIMITED_EDGES,
    marker::{CLASS_COUNT, Class, Classes, MarkerSet, MarkerSetBuilder},
    marker_tokens::{RESERVED_LEAD, is_reserved},
};

/// A list of edges, compiled once and shared by any number of drivers.
///
/// See the [crate documentation](crate) for an example.
#[derive(Debug, Clone)]
pub struct Table {
    inner: Arc<CompiledTable>,
}

#[derive(Debug)]
struct CompiledTable {
    edges: Box<[Edge]>,
    uses: LimitedUses,
    set: MarkerSet,
    tracks_lines: bool,
    /// Whether reasoning tags that are shown as text must be counted.
    counts_mentions: bool,
    /// First bytes of the markers that may be quoted, if the text before a marker matters, and the
    /// classes whose search stops at each of them.
    quotable: Option<(FirstBytes, Classes)>,
    /// Whether a marker begins with a newline.
    newline_starts: bool,
    /// The edges that bind newlines before their markers, in descending order of that number.
    binding: Box<[u32]>,
    /// For each class, the maximum number of newlines that a marker binds before it: counting
    /// [`Bind::Always`] only, and counting all.
    newlines: [[u8; CLASS_COUNT as usize]; 2],
}

/// The edges with limited uses, as bits of sets of used edges.
#[derive(Debug, Default)]
struct LimitedUses {
    /// For each edge, its bit; 0 for edges with unlimited uses.
    bits: Vec<u64>,
    /// For each channel, the bits of the edges that act once each time the channel is entered.
    per_entry: [u64; Channel::COUNT as usize],
    /// The bits of the edges that enter reasoning once in a message.
    reasoning_once: u64,
    /// The bits of the edges that act only before any reasoning.
    before_reasoning: u64,
}

impl LimitedUses {
    /// Adds the next edge. Fails if too many have limited uses.
    fn add(&mut self, edge: &Edge) -> Result<(), EdgeProblem> {
        let bit = match edge.uses {
            Uses::Unlimited => 0,
            Uses::OncePerEntry | Uses::OncePerMessage | Uses::BeforeReasoning => {
                let limited = self.bits.iter().filter(|bit| **bit != 0).count();
                if limited == MAX_LIMITED_EDGES {
                    return Err(EdgeProblem::TooManyLimited);
                }
                1u64 << limited
            }
        };
        self.bits.push(bit);
        match edge.uses {
            Uses::OncePerEntry => {
                for channel in (0..Channel::COUNT).filter_map(Channel::new) {
                    if edge.on.has(channel) {
                        self.per_entry[channel.index()] |= bit;
                    }
                }
            }
            Uses::OncePerMessage if edge.then == Then::Enter(Channel::REASONING) => {
                self.reasoning_once |= bit;
            }
            Uses::BeforeReasoning => self.before_reasoning |= bit,
            _ => {}
        }
        Ok(())
    }
}

impl Table {
    /// Compiles `edges`. Where several match at one place the longest marker wins, and the first of
    /// equal ones.
    ///
    /// # Errors
    /// Returns an error that names the entry with an empty marker or without a channel, or the
    /// first entry beyond 64 with limited uses.
    pub fn new(edges: impl IntoIterator<Item = Edge>) -> Result<Self, EdgeError> {
        let edges: Box<[Edge]> = edges.into_iter().collect();
        let mut builder = MarkerSetBuilder::new();
        let mut uses = LimitedUses::default();
        let mut newlines = [[0u8; CLASS_COUNT as usize]; 2];
        let counts_mentions = edges.iter().any(Edge::closes_nothing);
        for (entry, edge) in edges.iter().enumerate() {
            let error = |problem| EdgeError { entry, marker: edge.marker.clone().into(), problem };
            if edge.marker.is_empty() {
                return Err(error(EdgeProblem::EmptyMarker));
            }
            if edge.on == ChannelMask::NONE {
                return Err(error(EdgeProblem::NoChannel));
            }
            let mentioned = counts_mentions && edge.is_mentioned();
            builder.edge(edge, classes(edge) | if mentioned { MENTIONED } else { 0 });
            if edge.newlines.before > 0 {
                builder.stop_byte(b'\n', classes(edge));
                let first = usize::from(edge.newlines.bind == Bind::WhenFraming);
                for most in &mut newlines[first..] {
                    for (class, most) in most.iter_mut().enumerate() {
                        if classes(edge) >> class & 1 != 0 {
                            *most = (*most).max(edge.newlines.before.min(Newlines::MAX));
                        }
                    }
                }
            }
            uses.add(edge).map_err(error)?;
        }
        let tracks_lines = edges.iter().any(|e| {
            e.on.has(Channel::CONTENT)
                && (matches!(e.anchor, Anchor::Line | Anchor::LineStart)
                    || e.in_code == InCode::Told
                    || e.in_code == InCode::Literal
                        && matches!(e.anchor, Anchor::Anywhere | Anchor::Unquoted))
        });
        if tracks_lines {
            for byte in [b'\n', b'`'] {
                builder.stop_byte(byte, channel_classes(Channel::CONTENT));
            }
        }
        if edges.iter().any(|edge| edge.marker.contains(is_reserved)) {
            // A chunk with a reserved scalar must not pass unread.
            let classes = (0..Channel::COUNT).filter_map(Channel::new).map(channel_classes);
            builder.stop_byte(RESERVED_LEAD, classes.fold(0, |all, classes| all | classes));
        }
        let mut quotable = None;
        for edge in &edges {
            if edge.in_code == InCode::Told || edge.anchor == Anchor::Unquoted {
                quotable.get_or_insert_with(FirstBytes::default).add(edge);
            }
        }
        let newline_starts = edges.iter().any(|edge| edge.marker.starts_with('\n'));
        let mut binding: Vec<u32> = (0..edges.len() as u32).collect();
        binding.retain(|&id| edges[id as usize].newlines.before > 0);
        binding.sort_by_key(|&id| core::cmp::Reverse(edges[id as usize].newlines.before));
        let set = builder.build();
        let quotable = quotable.map(|first| {
            let bytes = (0..=u8::MAX).filter(|&byte| first.has(byte));
            (first, bytes.fold(Classes::MAX, |all, byte| all & set.stops_at(byte)))
        });
        let inner = CompiledTable {
            edges,
            uses,
            set,
            tracks_lines,
            counts_mentions,
            quotable,
            newline_starts,
            binding: binding.into(),
            newlines,
        };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// Returns the edges in the order given.
    #[must_use]
    pub fn edges(&self) -> &[Edge] {
        &self.inner.edges
    }

    /// Returns the length of the longest marker in bytes.
    #[must_use]
    pub fn longest(&self) -> usize {
        self.inner.set.longest()
    }

    pub(crate) fn set(&self) -> &MarkerSet {
        &self.inner.set
    }

    pub(crate) fn use_bit(&self, edge: usize) -> u64 {
        self.inner.uses.bits[edge]
    }

    pub(crate) fn per_entry(&self, channel: Channel) -> u64 {
        self.inner.uses.per_entry[channel.index()]
    }

    pub(crate) fn reasoning_once(&self) -> u64 {
        self.inner.uses.reasoning_once
    }

    pub(crate) fn before_reasoning(&self) -> u64 {
        self.inner.uses.before_reasoning
    }

    /// Returns whether lines and code must be tracked in content.
    pub(crate) fn tracks_lines(&self) -> bool {
        self.inner.tracks_lines
    }

    /// Returns whether reasoning tags that are shown as text must be counted.
    pub(crate) fn counts_mentions(&self) -> bool {
        self.inner.counts_mentions
    }

    /// Returns whether the edge with this number opens reasoning in content.
    pub(crate) fn opens_reasoning(&self, edge: usize) -> bool {
        self.inner.edges[edge].opens_reasoning()
    }

    /// Returns the first bytes of the markers that may be quoted, if the text before a marker
    /// matters.
    #[inline]
    pub(crate) fn quotable(&self) -> Option<&FirstBytes> {
        self.inner.quotable.as_ref().map(|(first, _)| first)
    }

    /// Returns whether text without a stop of `class` has no [quotable](Self::quotable) byte.
    #[inline]
    pub(crate) fn stops_at_quotable(&self, class: Class) -> bool {
        self.inner.quotable.as_ref().is_none_or(|&(_, classes)| classes >> class & 1 != 0)
    }

    /// Returns whether a marker begins with a newline.
    pub(crate) fn newline_starts(&self) -> bool {
        self.inner.newline_starts
    }

    /// Returns the edges that bind newlines before their markers.
    pub(crate) fn binding(&self) -> impl Iterator<Item = usize> {
        self.inner.binding.iter().map(|&id| id as usize)
    }

    /// Returns the maximum number of newlines that a marker of `class` binds before itself.
    pub(crate) fn newlines_before(&self, class: Class, optional: bool) -> usize {
        usize::from(self.inner.newlines[usize::from(optional)][usize::from(class)])
    }
}

/// The place of the cursor in its channel. It decides which anchors may be met.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// The cursor is in a line of text.
    Within,
    /// The cursor is in a line of content that is blank so far.
    Line,
    /// Only whitespace came since the last markup or the start of the message.
    EdgeOfMarkup,
}

/// Returns the search class of a channel at a place.
pub(crate) fn class(channel: Channel, place: Place) -> Class {
    (channel.index() * 3 + place as usize) as Class
}

/// The search class of reasoning tags in text that is shown.
pub(crate) const MENTIONS: Class = Channel::COUNT * 3;

/// The classes of tags that are counted where they are shown: [`MENTIONS`] and those of content.
const MENTIONED: Classes = 1 << MENTIONS | 0b111;

fn channel_classes(channel: Channel) -> Classes {
    [Place::Within, Place::Line, Place::EdgeOfMarkup]
        .into_iter()
        .fold(0, |classes, place| classes | 1 << class(channel, place))
}

fn classes(edge: &Edge) -> Classes {
    let mut classes = 0;
    for channel in (0..Channel::COUNT).filter_map(Channel::new) {
        if !edge.on.has(channel) {
            continue;
        }
        let not_at = match edge.anchor {
            Anchor::Anywhere
            | Anchor::Unquoted
            | Anchor::Ended
            | Anchor::Opened
            | Anchor::MessageEnd => 0,
            Anchor::LineStart | Anchor::Line => 1 << class(channel, Place::Within),
            Anchor::Lead | Anchor::Start | Anchor::AfterCall => {
                1 << class(channel, Place::Within) | 1 << class(channel, Place::Line)
            }
        };
        classes |= channel_classes(channel) & !not_at;
    }
    classes
}

/// A set of bytes with which markers begin.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct FirstBytes([u64; 4]);

impl FirstBytes {
    fn add(&mut self, edge: &Edge) {
        let Some(&first) = edge.marker.as_bytes().first() else { return };
        let cases = [first.to_ascii_lowercase(), first.to_ascii_uppercase()];
        for byte in if edge.case == LetterCase::FoldAscii { cases } else { [first; 2] } {
            self.0[usize::from(byte >> 6)] |= 1 << (byte & 63);
        }
    }

    #[inline]
    pub(crate) fn has(&self, byte: u8) -> bool {
        self.0[usize::from(byte >> 6)] >> (byte & 63) & 1 != 0
    }
}

impl Edge {
    /// Returns whether the edge removes closers in content that have no opener.
    fn closes_nothing(&self) -> bool {
        self.orphan && self.on.has(Channel::CONTENT)
    }

    /// Returns whether the edge opens reasoning in content.
    fn opens_reasoning(&self) -> bool {
        self.then == Then::Enter(Channel::REASONING) && self.on.has(Channel::CONTENT)
    }

    /// Returns whether the edge's marker counts where it is shown. Newlines before the next marker
    /// may still be undecided, so a marker with a newline does not count.
    fn is_mentioned(&self) -> bool {
        (self.closes_nothing() || self.opens_reasoning()) && !self.marker.contains('\n')
    }

    /// Returns the maximum number of newlines that bind before and after the marker. `optional`
    /// states whether [`Bind::WhenFraming`] binds.
    pub(crate) fn binds(&self, optional: bool) -> (usize, usize) {
        self.newlines.binding(optional)
    }
}

/// An error: an edge cannot be part of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EdgeError {
    entry: usize,
    marker: String,
    problem: EdgeProblem,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum EdgeProblem {
    EmptyMarker,
    NoChannel,
    TooManyLimited,
}

impl EdgeError {
    /// Returns the position of the faulty edge in the list.
    #[must_use]
    pub fn entry(&self) -> usize {
        self.entry
    }
}

impl fmt::Display for EdgeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { entry, marker, problem } = self;
        match problem {
            EdgeProblem::EmptyMarker => write!(f, "edge {entry}: the marker is empty"),
            EdgeProblem::NoChannel => write!(f, "edge {entry} ({marker:?}): live on no channel"),
            EdgeProblem::TooManyLimited => write!(
                f,
                "edge {entry} ({marker:?}): more than {MAX_LIMITED_EDGES} edges have limited uses"
            ),
        }
    }
}

impl core::error::Error for EdgeError {}
