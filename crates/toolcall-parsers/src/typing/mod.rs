//! The JSON types that a tool's schema admits for a value. Module `value` converts text by them.
//!
//! Tagged formats write every value as bare text. Only the schema shows whether `42` is a number or
//! a string. The rules are those that the engines have in common:
//!
//! - A value that the schema declares as a string is never converted.
//! - Another type is used only if the text is plainly of that type.
//! - Any other text is a string.
//!
//! ```text
//! <parameter=n>42</parameter>     schema {"n": integer}   {"n": 42}
//! <parameter=n>42</parameter>     schema {"n": string}    {"n": "42"}
//! <parameter=n>0042</parameter>   schema {"n": integer}   {"n": "0042"}: not a JSON number
//! ```

mod path;
mod schema;

pub(crate) use path::{Path, PathStep};
pub(crate) use schema::{admitted, by_name, declared_at, declares, has_containers, is_fractional};

/// A set of JSON types.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct TypeSet(u8);

impl TypeSet {
    pub(crate) const NONE: Self = Self(0);
    pub(crate) const NULL: Self = Self(1);
    pub(crate) const BOOLEAN: Self = Self(2);
    pub(crate) const INTEGER: Self = Self(4);
    /// All numbers, including integers.
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

    /// Returns whether the set contains every type of `other`.
    pub(crate) const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Returns whether only strings are admitted, so that the value can be emitted while it
    /// arrives.
    pub(crate) const fn only_string(self) -> bool {
        self.0 == Self::STRING.0
    }
}
