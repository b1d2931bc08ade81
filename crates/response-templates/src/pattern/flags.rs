//! Flags of expressions.

/// What a flag changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flag {
    AnyCase = 1,
    Lines = 2,
    DotAll = 4,
    Verbose = 8,
    Ascii = 16,
}

impl Flag {
    pub(crate) fn of(letter: char) -> Option<Self> {
        Some(match letter {
            'i' => Self::AnyCase,
            'm' => Self::Lines,
            's' => Self::DotAll,
            'x' => Self::Verbose,
            'a' => Self::Ascii,
            _ => return None,
        })
    }
}

/// A set of flags. At first the dot matches newlines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Flags(u8);

impl Default for Flags {
    fn default() -> Self {
        Self(Flag::DotAll as u8)
    }
}

impl Flags {
    pub(crate) fn has(self, flag: Flag) -> bool {
        self.0 & flag as u8 != 0
    }

    pub(crate) fn set(&mut self, flag: Flag, on: bool) {
        if on {
            self.0 |= flag as u8;
        } else {
            self.0 &= !(flag as u8);
        }
    }

    pub(crate) fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}
