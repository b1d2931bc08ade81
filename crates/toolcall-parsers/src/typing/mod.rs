//! The JSON types that a tool's schema admits for a value; `value` converts text by them.
//!
//! Tagged formats write every value as bare text, and only the request's schema proves that `42` is
//! a number and `0042` is not. The rules are the cautious common ground of the engines in use: a
//! value declared exactly as a string is never converted, other types are used only when the text
//! is plainly one of them, and any other text stays a string.

mod path;
mod schema;

pub(crate) use path::Path;
pub(crate) use schema::{admitted, by_name, declared_at, declares, has_containers, is_fractional};

/// A set of JSON types.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct TypeSet(u8);

impl TypeSet {
    pub(crate) const NONE: Self = Self(0);
    pub(crate) const NULL: Self = Self(1);
    pub(crate) const BOOLEAN: Self = Self(2);
    pub(crate) const INTEGER: Self = Self(4);
    /// Every number; integers are numbers.
    pub(crate) const NUMBER: Self = Self(4 | 8);
    pub(crate) const STRING: Self = Self(16);
    pub(crate) const ARRAY: Self = Self(32);
    pub(crate) const OBJECT: Self = Self(64);
    pub(crate) const ALL: Self = Self(127);

    pub(crate) const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(crate) const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Whether every type of `other` is among these.
    pub(crate) const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether the value may be written out as a string while it arrives.
    pub(crate) const fn only_string(self) -> bool {
        self.0 == Self::STRING.0
    }
}
