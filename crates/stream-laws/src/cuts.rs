//! Cuts of an input into pieces, and plans of cuts under which laws are checked.
//!
//! A [`Cut`] is a small value whose pieces are computed while iterating. A plan of thousands of
//! cuts therefore allocates nothing, and the printed name of a cut is enough to repeat a failure.

use core::{fmt, ops::Range};

use crate::random::Random;

/// A way to cut an input into pieces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    /// The input in one piece.
    Whole,
    /// One byte at a time. For text the same as [`Cut::EachScalar`].
    EachByte,
    /// One Unicode scalar at a time.
    EachScalar,
    /// One scalar at a time with an empty piece after each, because transports send empty chunks.
    EachScalarAndEmpty,
    /// The input in two pieces.
    TwoWay {
        /// The offset at which the second piece starts.
        at: usize,
    },
    /// The input in three pieces.
    ThreeWay {
        /// The offset at which the second piece starts.
        first: usize,
        /// The offset at which the third piece starts.
        second: usize,
    },
    /// Pieces of random lengths, which depend only on the seed and the input.
    Random {
        /// Seed of the lengths.
        seed: u64,
    },
}

impl Cut {
    /// Returns the pieces of `text`. Offsets inside a scalar move to its end.
    pub fn pieces<'t>(&self, text: &'t str) -> impl Iterator<Item = &'t str> + use<'t> {
        Pieces::new(*self, text.as_bytes(), Grain::Scalar).map(|range| &text[range])
    }

    /// Returns the pieces of `bytes`, which may end inside a scalar.
    pub fn byte_pieces<'b>(&self, bytes: &'b [u8]) -> impl Iterator<Item = &'b [u8]> + use<'b> {
        let grain = match self {
            Self::EachScalar | Self::EachScalarAndEmpty => Grain::Scalar,
            _ => Grain::Byte,
        };
        Pieces::new(*self, bytes, grain).map(|range| &bytes[range])
    }
}

impl fmt::Display for Cut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole => f.write_str("whole"),
            Self::EachByte => f.write_str("each byte"),
            Self::EachScalar => f.write_str("each scalar"),
            Self::EachScalarAndEmpty => f.write_str("each scalar, empty pieces between"),
            Self::TwoWay { at } => write!(f, "two-way at {at}"),
            Self::ThreeWay { first, second } => write!(f, "three-way at {first} and {second}"),
            Self::Random { seed } => write!(f, "random, seed {seed:#x}"),
        }
    }
}

/// A plan of cuts to try: whole, piecewise, random, and all splits of short inputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CutPlan {
    /// The maximum length in bytes of inputs whose two-way splits are all tried.
    pub two_way_up_to: usize,
    /// The maximum length in bytes of inputs whose three-way splits are all tried.
    pub three_way_up_to: usize,
    /// The number of random splits.
    pub random: u32,
    /// Seed of the random splits.
    pub seed: u64,
}

impl CutPlan {
    /// Returns the plan of a conformance run: two-way splits up to 2 KiB, three-way splits up to 48
    /// bytes, and 64 random splits.
    #[must_use]
    pub const fn standard(seed: u64) -> Self {
        Self { two_way_up_to: 2048, three_way_up_to: 48, random: 64, seed }
    }

    /// Returns a plan of few cuts, for property tests and fuzz targets with many inputs.
    #[must_use]
    pub const fn quick(seed: u64) -> Self {
        Self { two_way_up_to: 64, three_way_up_to: 0, random: 4, seed }
    }

    /// Returns a plan with the whole input, single scalars or bytes, and `random` random cuts. For
    /// checks whose result hardly depends on the cut.
    #[must_use]
    pub const fn random(random: u32, seed: u64) -> Self {
        Self { two_way_up_to: 0, three_way_up_to: 0, random, seed }
    }

    /// Returns the cuts of `text`, at scalar boundaries only.
    pub fn text<'t>(&self, text: &'t str) -> impl Iterator<Item = Cut> + use<'t> {
        [Cut::Whole, Cut::EachScalar, Cut::EachScalarAndEmpty]
            .into_iter()
            .chain(self.splits(text.as_bytes(), Grain::Scalar))
    }

    /// Returns the cuts of `bytes`, including cuts inside scalars.
    pub fn bytes<'b>(&self, bytes: &'b [u8]) -> impl Iterator<Item = Cut> + use<'b> {
        [Cut::Whole, Cut::EachByte].into_iter().chain(self.splits(bytes, Grain::Byte))
    }

    fn splits<'b>(&self, bytes: &'b [u8], grain: Grain) -> impl Iterator<Item = Cut> + use<'b> {
        let up_to = |limit| if bytes.len() <= limit { bytes.len() } else { 0 };
        let inner = move |range: Range<usize>| range.filter(move |&at| grain.splits(bytes, at));
        let (two, three) = (up_to(self.two_way_up_to), up_to(self.three_way_up_to));
        let mut seeds = Random::new(self.seed);
        inner(1..two)
            .map(|at| Cut::TwoWay { at })
            .chain(inner(1..three).flat_map(move |first| {
                inner(first + 1..three).map(move |second| Cut::ThreeWay { first, second })
            }))
            .chain((0..self.random).map(move |_| Cut::Random { seed: seeds.next() }))
    }
}

impl Default for CutPlan {
    /// Returns the standard plan with seed 0.
    fn default() -> Self {
        Self::standard(0)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Grain {
    Byte,
    Scalar,
}

impl Grain {
    /// Returns whether a piece may end before `bytes[at]`.
    fn splits(self, bytes: &[u8], at: usize) -> bool {
        self == Self::Byte || bytes.get(at).is_none_or(|byte| byte & 0xC0 != 0x80)
    }
}

struct Pieces<'b> {
    cut: Cut,
    bytes: &'b [u8],
    grain: Grain,
    at: usize,
    random: Random,
    longest: usize,
    empty_next: bool,
}

impl<'b> Pieces<'b> {
    fn new(cut: Cut, bytes: &'b [u8], grain: Grain) -> Self {
        let mut random = Random::new(if let Cut::Random { seed } = cut { seed } else { 0 });
        // Lengths are powers of two up to the input's length, so that short pieces are as likely as
        // long ones.
        let magnitudes = bytes.len().max(1).ilog2() as usize + 1;
        let longest = 1 << random.below(magnitudes);
        Self { cut, bytes, grain, at: 0, random, longest, empty_next: false }
    }
}

impl Iterator for Pieces<'_> {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Range<usize>> {
        let (start, len) = (self.at, self.bytes.len());
        if core::mem::take(&mut self.empty_next) {
            return Some(start..start);
        }
        if start == len {
            return None;
        }
        let wish = match self.cut {
            Cut::Whole => len,
            Cut::EachByte | Cut::EachScalar | Cut::EachScalarAndEmpty => start + 1,
            Cut::TwoWay { at } if start < at => at,
            Cut::ThreeWay { first, .. } if start < first => first,
            Cut::ThreeWay { second, .. } if start < second => second,
            Cut::TwoWay { .. } | Cut::ThreeWay { .. } => len,
            Cut::Random { .. } => start + 1 + self.random.below(self.longest),
        };
        let mut end = wish.min(len);
        while !self.grain.splits(self.bytes, end) {
            end += 1;
        }
        self.at = end;
        self.empty_next = self.cut == Cut::EachScalarAndEmpty;
        Some(start..end)
    }
}
