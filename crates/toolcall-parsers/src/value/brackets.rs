//! The open brackets of JSON text.

/// The open objects and lists, at most 128.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Brackets {
    depth: u32,
    /// Bit `d` is set if the bracket at depth `d + 1` is an object's.
    objects: u128,
}

impl Brackets {
    /// Returns a state without open brackets.
    pub(crate) fn none() -> Self {
        Self::default()
    }

    /// Returns the brackets of `self` with those of `inner` inside, or `None` if there are too
    /// many.
    pub(crate) fn with(mut self, inner: Self) -> Option<Self> {
        for depth in 0..inner.depth {
            self = self.push(inner.is_object(depth))?;
        }
        Some(self)
    }

    /// Returns the brackets with another one inside, or `None` if there are too many.
    pub(crate) fn push(self, object: bool) -> Option<Self> {
        let bit = 1_u128.checked_shl(self.depth)?;
        let objects = if object { self.objects | bit } else { self.objects & !bit };
        Some(Self { depth: self.depth.saturating_add(1), objects })
    }

    /// Returns the brackets after the closing bracket of an object or a list. It closes the
    /// innermost one of that kind, and everything inside. Returns `None` if none is open.
    pub(crate) fn close(self, object: bool) -> Option<Self> {
        let depth = (0..self.depth).rev().find(|&depth| self.is_object(depth) == object)?;
        Some(Self { depth, objects: self.objects })
    }

    /// Returns whether no bracket is open.
    pub(crate) fn is_empty(self) -> bool {
        self.depth == 0
    }

    /// Creates brackets from the fields of [`super::JsonScan`].
    pub(super) fn new(depth: u8, objects: u128) -> Self {
        Self { depth: depth.into(), objects }
    }

    fn is_object(self, depth: u32) -> bool {
        self.objects.checked_shr(depth).is_some_and(|objects| objects & 1 != 0)
    }
}

/// The quote of an open string.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OpenQuote {
    Byte(u8),
    /// The family's own quote.
    Own,
}

/// A position inside a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct InValue {
    /// The brackets that are open at the position.
    pub(crate) brackets: Brackets,
    /// The quote of the string around the position.
    pub(crate) quote: Option<u8>,
}
