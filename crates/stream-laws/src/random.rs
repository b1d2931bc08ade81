//! A small deterministic generator of random numbers. The seed in a failure message is enough to
//! repeat the failure.

/// The generator SplitMix64 (Steele, Lea and Flood, 2014). Not for secrets.
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// Returns a generator whose numbers depend on `seed` alone.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns the next number. Endless, hence no [`Iterator`].
    #[allow(
        clippy::should_implement_trait,
        reason = "an iterator without an end needs no `Option`"
    )]
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below `bound`; 0 when `bound` is 0. The bias for small bounds is
    /// negligible.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound.max(1) as u64) as usize
    }
}
