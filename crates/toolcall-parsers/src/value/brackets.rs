//! The brackets that are open in JSON text, innermost last.

/// Open objects and lists, 128 at most.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Brackets {
    depth: u32,
    /// Bit `d`: the bracket at depth `d + 1` is an object's.
    objects: u128,
}

impl Brackets {
    /// Returns a state without open brackets.
    pub(crate) fn none() -> Self {
        Self::default()
    }

    /// The brackets that are open in `self` and, inside the last of them, those of `inner`; none if they
    /// are too many.
    pub(crate) fn with(mut self, inner: Self) -> Option<Self> {
        for depth in 0..inner.depth {
            self = self.push(inner.is_object(depth))?;
        }
        Some(self)
    }

    /// One more bracket, of an object or of a list; none if there are too many.
    pub(crate) fn push(self, object: bool) -> Option<Self> {
        let bit = 1_u128.checked_shl(self.depth)?;
        let objects = if object { self.objects | bit } else { self.objects & !bit };
        Some(Self { depth: self.depth.saturating_add(1), objects })
    }

    /// Returns the state after the closing bracket of an object or of a list: the innermost one of
    /// that kind closes, with everything inside it. `None` if none is open.
    pub(crate) fn close(self, object: bool) -> Option<Self> {
        let depth = (0..self.depth).rev().find(|&depth| self.is_object(depth) == object)?;
        Some(Self { depth, objects: self.objects })
    }

    /// Whether no bracket is open.
    pub(crate) fn is_empty(self) -> bool {
        self.depth == 0
    }

    /// The brackets of [`super::JsonScan`], which counts them the same way.
    pub(super) fn new(depth: u8, objects: u128) -> Self {
        Self { depth: depth.into(), objects }
    }

    fn is_object(self, depth: u32) -> bool {
        self.objects.checked_shr(depth).is_some_and(|objects| objects & 1 != 0)
    }
}

/// A place inside a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct InValue {
    /// The brackets that are open there.
    pub(crate) brackets: Brackets,
    /// The quote of the string that it is inside of.
    pub(crate) quote: Option<u8>,
}
