//! Objects whose members are read by the caller, such as call objects.
//!
//! ```text
//! {"name": "ring"}
//! {                Open
//! "name"           First: Member::Key. The caller reads the key.
//! :                Separator: Member::Value. The caller reads the value.
//! }                After: Member::End
//! ```

use super::{
    Scanned, Syntax, ValueFault,
    dialect::{Between, BlanksBefore, ValueDialect},
};

/// The next token of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub(crate) enum Member {
    /// More text is needed after the first `used` bytes.
    More { used: usize },
    /// A key begins at `used`. The caller reads it with a [`super::TextReader`].
    Key { used: usize },
    /// The value of the key begins at `used`. The caller reads it.
    Value { used: usize },
    /// The object ended after `used` bytes.
    End { used: usize },
    /// The byte at `at` is not allowed there.
    Bad { at: usize },
}

/// The position in the object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum MemberState {
    /// Before the opening brace.
    #[default]
    Open,
    /// Before the first key or the closing brace.
    First,
    /// Before a key, after a comma.
    Key,
    /// After a key, before its colon.
    Separator,
    /// After a value, or inside one that the caller reads.
    After,
}

/// A reader of an object's structure. The caller reads the keys and values between two results. For
/// an inner object the caller uses the same reader, and calls [`Members::after_value`] at its end.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Members {
    state: MemberState,
    between: Between,
}

impl Members {
    /// Creates a reader before an object.
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Continues after a value, at the end of an inner object.
    pub(crate) fn after_value(&mut self) {
        self.state = MemberState::After;
    }

    /// Returns whether a key may follow: after a value or a comma.
    pub(crate) fn is_before_key(&self) -> bool {
        matches!(self.state, MemberState::Key | MemberState::After)
    }

    /// Reads up to the next key or value, or to the end.
    pub(crate) fn next(&mut self, dialect: &ValueDialect<'_>, text: &str) -> Member {
        let mut i = 0;
        let lenient = dialect.is(Syntax::Lenient);
        loop {
            if lenient {
                if self.between.skip(text, &mut i, true) == BlanksBefore::More {
                    return Member::More { used: i };
                }
            } else {
                i = i.saturating_add(crate::cursor::blanks(&text[i..]));
            }
            let Some(&byte) = text.as_bytes().get(i) else { return Member::More { used: i } };
            let trailing = self.state != MemberState::Key || !dialect.is(Syntax::Json);
            self.state = match (self.state, byte) {
                (MemberState::Open, b'{') => MemberState::First,
                (MemberState::First | MemberState::Key | MemberState::After, b'}') if trailing => {
                    return Member::End { used: i.saturating_add(1) };
                }
                (MemberState::First | MemberState::Key, _)
                    if dialect.begins_string(&text[i..]) || dialect.bare_keys() =>
                {
                    self.state = MemberState::Separator;
                    return Member::Key { used: i };
                }
                (MemberState::Separator, b':') => {
                    self.state = MemberState::After;
                    return Member::Value { used: i.saturating_add(1) };
                }
                (MemberState::After, b',') => MemberState::Key,
                _ => return Member::Bad { at: i },
            };
            i = i.saturating_add(1);
        }
    }
}

impl From<Member> for Scanned {
    /// Converts a result for callers that only need its position.
    fn from(member: Member) -> Self {
        match member {
            Member::More { used } => Self::More { used },
            Member::Key { used } | Member::Value { used } | Member::End { used } => {
                Self::End { used }
            }
            Member::Bad { at } => Self::Bad { at, fault: ValueFault::Syntax },
        }
    }
}
