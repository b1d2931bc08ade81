//! Objects whose keys and values the caller reads: call objects, in any dialect.

use super::{
    Scanned, Syntax, ValueFault,
    dialect::{Between, BlanksBefore, ValueDialect},
};

/// The next token of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub(crate) enum Member {
    /// More text is needed; `used` bytes are done with.
    More { used: usize },
    /// A key begins at `used`, for a [`super::TextReader`] that was made ready for a key.
    Key { used: usize },
    /// The value of that key begins at `used`, for whichever reader the key asks for.
    Value { used: usize },
    /// The object ended after `used` bytes.
    End { used: usize },
    /// The byte at `at` is not allowed there.
    Bad { at: usize },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum MemberState {
    /// The state before `{`.
    #[default]
    Open,
    /// Before a first key or `}`.
    First,
    /// The state before a key, after a comma.
    Key,
    /// The state after a key.
    Separator,
    /// The state after a value.
    After,
}

/// A reader of keys and values. Between two results the caller reads the value. The same reader
/// reads an inner object; the caller reports when it is past the inner one.
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

    /// Enters the state after a value: the end of an inner object.
    pub(crate) fn behind_value(&mut self) {
        self.state = MemberState::After;
    }

    /// Whether a comma or a key comes next, after a value.
    pub(crate) fn is_before_key(&self) -> bool {
        matches!(self.state, MemberState::Key | MemberState::After)
    }

    /// Reads up to what the caller must read next.
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
    /// Where nothing depends on what was found.
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
