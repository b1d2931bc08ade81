//! Call objects: name, arguments and id by their keys, in any dialect.
//!
//! ```text
//! {"name": "ring", "arguments": {"times": 2}}      a call `ring` with these arguments
//! {"ring": {"times": 2}}                           the same, where the name is the key
//! ```

use jail_match::Feed;

mod text;
mod value;

use super::{
    call::{Machine, State, Step},
    output::Output,
    plan::{Leaf, Plan},
};
use crate::{
    cursor::Cursor,
    family::Keys,
    template::Dialect as Syntax,
    value::{Brackets, Dialect, InValue, Member, Members, TextReader, ValueReader},
};

/// The role of a key's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Name,
    Arguments,
    Id,
    Wrapper,
    List,
    Answer,
    Other,
}

/// The position in the call object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum At {
    /// Between keys and values.
    Member,
    Key,
    /// Before a member's value.
    Value,
    Name,
    Id,
    Arguments,
    /// A value that does not matter.
    Ignored,
    /// Visible text, in a string or as JSON.
    Answer,
    AnswerJson,
    /// Before a call object of an inner list.
    ListItem,
    /// After a member of a list.
    ListNext,
}

/// The state of the arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ArgumentsState {
    Missing,
    /// Being emitted as fragments.
    Open,
    /// Being kept until the name is known.
    Early,
    /// Kept, and already whole.
    Kept,
    Closed,
}

/// Reads the keys of call objects.
#[derive(Debug, Clone)]
pub(super) struct ObjectReader {
    pub(super) at: At,
    pub(super) members: Members,
    text: TextReader,
    role: Role,
    nest: u8,
    in_list: bool,
    /// An inner list was seen: the object holds nothing else.
    listed: bool,
    has_name: bool,
    has_id: bool,
    pub(super) arguments: ArgumentsState,
    /// Wire bytes of arguments that came before the name.
    early: usize,
    /// The object holds visible text.
    pub(super) answered: bool,
    /// The syntax that its values are written in.
    pub(super) syntax: Syntax,
}

impl ObjectReader {
    pub(super) fn new() -> Self {
        Self {
            at: At::Member,
            members: Members::new(),
            text: TextReader::new(),
            role: Role::Other,
            nest: 0,
            in_list: false,
            listed: false,
            has_name: false,
            has_id: false,
            arguments: ArgumentsState::Missing,
            early: 0,
            answered: false,
            syntax: Syntax::Json,
        }
    }

    /// Begins before an object.
    pub(super) fn begin(&mut self) {
        (self.at, self.members) = (At::Member, Members::new());
        (self.nest, self.in_list, self.listed, self.answered) = (0, false, false, false);
        self.next_call();
    }

    fn next_call(&mut self) {
        (self.has_name, self.has_id) = (false, false);
        (self.arguments, self.early) = (ArgumentsState::Missing, 0);
    }

    /// Returns the number of live bytes.
    pub(super) fn buffered(&self) -> usize {
        self.text.buffered()
    }

    /// Whether it holds no more calls.
    pub(super) fn is_listed(&self) -> bool {
        self.listed && !self.in_list
    }

    /// Whether the arguments stream out right now.
    #[inline]
    pub(super) fn streams(&self) -> bool {
        self.at == At::Arguments && self.arguments == ArgumentsState::Open
    }

    /// Returns the position in the object at which the text so far ends; `value` reads its values.
    /// `None` if the next token is unknown.
    pub(super) fn place(&self, value: &ValueReader) -> Option<InValue> {
        let mut brackets = Brackets::none();
        if matches!(self.at, At::ListItem | At::ListNext) {
            return Some(InValue { brackets, quote: None });
        }
        for _ in 0..=self.nest {
            brackets = brackets.push(true)?;
        }
        let quote = match self.at {
            At::Arguments | At::Ignored | At::AnswerJson => {
                let inner = value.place()?;
                brackets = brackets.with(inner.brackets)?;
                inner.quote
            }
            At::Key | At::Name | At::Id => self.text.place()?.quote,
            At::Answer => Some(b'"'),
            At::Member | At::Value | At::ListItem | At::ListNext => None,
        };
        Some(InValue { brackets, quote })
    }

    /// Whether a key of the call object must come next.
    pub(super) fn is_before_key(&self) -> bool {
        self.at == At::Member && self.nest == 0 && self.members.is_before_key()
    }

    /// Before the next call of the object's list.
    pub(super) fn begin_in_list(&mut self) {
        (self.at, self.nest) = (At::ListNext, 0);
        self.next_call();
    }

    /// Whether the object holds a list of calls, and one of them is read.
    pub(super) fn is_in_list(&self) -> bool {
        self.in_list
    }

    fn role(&self, keys: &Keys, key: &str, calls_seen: u32) -> Role {
        let keys = match keys {
            Keys::NameIsKey => return Role::Arguments,
            Keys::Named(keys) => keys,
        };
        let has = |list: &[alloc::string::String]| list.iter().any(|known| known == key);
        if self.answered || self.is_listed() {
            Role::Other
        } else if has(&keys.name) && !self.has_name {
            Role::Name
        } else if has(&keys.arguments) {
            Role::Arguments
        } else if has(&keys.id) && !self.has_id {
            Role::Id
        } else if has(&keys.wrapper) {
            Role::Wrapper
        } else if has(&keys.list) && calls_seen == 0 {
            Role::List
        } else if has(&keys.answer) && self.nest == 0 && !self.in_list && !self.has_name {
            Role::Answer
        } else {
            Role::Other
        }
    }
}

impl Machine {
    /// Reads the text of a call object.
    pub(super) fn object(
        &mut self,
        plan: &Plan,
        leaf: &Leaf,
        dialect: &Dialect<'_>,
        cursor: &mut Cursor<'_>,
        out: &mut Output<'_>,
    ) -> Step {
        loop {
            let step = match self.object.at {
                At::Member => self.member(dialect, cursor, out),
                At::Key | At::Name | At::Id => self.string(plan, leaf, dialect, cursor, out),
                At::Value => self.member_value(dialect, cursor, out),
                At::Arguments => self.object_arguments(plan, dialect, cursor, out),
                At::Ignored | At::AnswerJson => self.aside(dialect, cursor, out),
                At::Answer => self.answer_text(cursor, out),
                At::ListItem | At::ListNext => self.list_item(cursor, out),
            };
            match step {
                Some(step) => return step,
                None if self.state != State::Arguments => return Step::Go,
                None => {}
            }
        }
    }

    fn member(
        &mut self,
        dialect: &Dialect<'_>,
        cursor: &mut Cursor<'_>,
        out: &mut Output<'_>,
    ) -> Option<Step> {
        match self.object.members.next(dialect, cursor.rest()) {
            Member::More { used } => {
                cursor.advance(used);
                Some(Step::more(cursor.at))
            }
            Member::Key { used } => {
                cursor.advance(used);
                if self.started {
                    // Where keys are names, the next call begins.
                    self.item_at = out.place(cursor.at);
                }
                self.object.text.restart_key();
                self.object.at = At::Key;
                None
            }
            Member::Value { used } => {
                cursor.advance(used);
                self.object.at = At::Value;
                None
            }
            Member::End { used } => {
                cursor.advance(used);
                self.end_object(cursor, out)
            }
            Member::Bad { at } => {
                cursor.advance(at);
                Some(self.bad(cursor, out))
            }
        }
    }

    /// In a list inside the outermost object.
    fn list_item(&mut self, cursor: &mut Cursor<'_>, out: &mut Output<'_>) -> Option<Step> {
        cursor.skip_blanks();
        self.item_at = out.place(cursor.at);
        let Some(byte) = cursor.peek() else { return Some(Step::more(cursor.at)) };
        match (self.object.at, byte) {
            (_, b'{') => {
                self.object.members = Members::new();
                self.object.at = At::Member;
            }
            (At::ListNext, b',') => {
                cursor.advance(1);
                self.item_at = self.item_at.saturating_add(1);
                self.object.at = At::ListItem;
            }
            (At::ListNext, b']') => {
                cursor.advance(1);
                (self.object.in_list, self.object.listed) = (false, true);
                self.object.members.behind_value();
                self.object.at = At::Member;
            }
            _ => return Some(self.bad(cursor, out)),
        }
        None
    }

    /// `}` of a call object, or of one nested in it.
    fn end_object(&mut self, cursor: &mut Cursor<'_>, out: &mut Output<'_>) -> Option<Step> {
        if self.object.answered || self.object.is_listed() {
            self.state = State::CallEnd(0);
            return None;
        }
        if self.object.nest > 0 {
            self.object.nest = self.object.nest.saturating_sub(1);
            self.object.members.behind_value();
            return None;
        }
        if !self.started {
            cursor.back(1);
            return Some(self.bad(cursor, out));
        }
        self.end_item(out);
        if self.object.in_list {
            self.object.at = At::ListNext;
            self.state = State::Arguments;
        }
        None
    }

    /// A call of the object is whole.
    fn end_item(&mut self, out: &mut Output<'_>) {
        if self.object.arguments == ArgumentsState::Missing {
            out.arguments("{}");
        }
        self.complete(out);
        self.id.clear();
        self.object.next_call();
    }
}

/// Returns the step for text that proves not to be a call.
fn refuted(cursor: &Cursor<'_>) -> Step {
    Step::Return(Feed::Mismatch { used: cursor.at })
}
