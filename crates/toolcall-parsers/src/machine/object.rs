//! Reading of call objects: name, arguments and id by their keys, in any dialect.
//!
//! ```text
//! {"name": "ring", "arguments": {"times": 2}}      a call of `ring` with these arguments
//! {"ring": {"times": 2}}                           the same, in families whose keys are names
//! ```
//!
//! The states for the first line:
//!
//! ```text
//! {             Member
//! "name"        Key
//! :             Member, then Value
//! "ring"        Name
//! , "arguments": {"times": 2}      Member, Key, Member, Value, Arguments
//! }             Member: the call is complete
//! ```

mod text;
mod value;

use super::{
    call::{Machine, MachineStep},
    call_sink::CallSink,
    plan::Leaf,
    state::MachineState,
};
use crate::{
    family::Keys,
    template::Dialect as Syntax,
    value::{Brackets, InValue, Member, Members, OpenQuote, TextReader, ValueDialect, ValueReader},
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
pub(super) enum ObjectAt {
    /// Before a key, a colon, a comma or the closing brace.
    Member,
    Key,
    /// Before a member's value.
    Value,
    Name,
    Id,
    Arguments,
    /// In a value that is not used.
    Ignored,
    /// In the string of an answer.
    Answer,
    /// In an answer that is JSON, not a string.
    AnswerJson,
    /// Before a call object of a list inside the object.
    ListItem,
    /// After a call object of a list inside the object.
    ListNext,
}

/// The state of a call object's arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ArgumentsState {
    Missing,
    /// The arguments are being emitted.
    Open,
    /// The arguments are being held until the name is known.
    Early,
    /// All of the arguments are held until the name is known.
    Kept,
    Closed,
}

/// A reader of call objects.
#[derive(Debug, Clone)]
pub(super) struct ObjectReader {
    pub(super) at: ObjectAt,
    pub(super) members: Members,
    text: TextReader,
    role: Role,
    nest: u8,
    in_list: bool,
    /// Whether a list of calls was read. Other members are then ignored.
    listed: bool,
    has_name: bool,
    has_id: bool,
    pub(super) arguments: ArgumentsState,
    /// Length on the wire of arguments that precede the name.
    early: usize,
    /// Whether the object contains an answer instead of a call.
    pub(super) answered: bool,
    /// The syntax of the object.
    pub(super) syntax: Syntax,
}

impl ObjectReader {
    pub(super) fn new() -> Self {
        Self {
            at: ObjectAt::Member,
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

    /// Starts before an object.
    pub(super) fn begin(&mut self) {
        (self.at, self.members) = (ObjectAt::Member, Members::new());
        (self.nest, self.in_list, self.listed, self.answered) = (0, false, false, false);
        self.next_call();
    }

    fn next_call(&mut self) {
        (self.has_name, self.has_id) = (false, false);
        (self.arguments, self.early) = (ArgumentsState::Missing, 0);
    }

    /// Returns the number of bytes in buffers.
    pub(super) fn buffered(&self) -> usize {
        self.text.buffered()
    }

    /// Returns whether the list of calls has ended, so that no more calls follow.
    pub(super) fn is_listed(&self) -> bool {
        self.listed && !self.in_list
    }

    /// Returns whether the arguments are being emitted at this position.
    #[inline]
    pub(super) fn streams(&self) -> bool {
        self.at == ObjectAt::Arguments && self.arguments == ArgumentsState::Open
    }

    /// Returns the open brackets and the open quote at the current position. `value` is the reader
    /// of values. Returns `None` if the position is unknown.
    pub(super) fn place(&self, value: &ValueReader) -> Option<InValue> {
        let mut brackets = Brackets::none();
        if matches!(self.at, ObjectAt::ListItem | ObjectAt::ListNext) {
            return Some(InValue { brackets, quote: None });
        }
        for _ in 0..=self.nest {
            brackets = brackets.push(true)?;
        }
        let quote = match self.at {
            ObjectAt::Arguments | ObjectAt::Ignored | ObjectAt::AnswerJson => {
                let inner = value.place()?;
                brackets = brackets.with(inner.brackets)?;
                inner.quote
            }
            ObjectAt::Key | ObjectAt::Name | ObjectAt::Id => self.text.place()?.quote,
            ObjectAt::Answer => Some(b'"'),
            ObjectAt::Member | ObjectAt::Value | ObjectAt::ListItem | ObjectAt::ListNext => None,
        };
        Some(InValue { brackets, quote })
    }

    /// Returns the quote of the string around the current position. `value` is the reader of values.
    pub(super) fn open_quote(&self, value: &ValueReader) -> Option<OpenQuote> {
        match self.at {
            ObjectAt::Arguments | ObjectAt::Ignored | ObjectAt::AnswerJson => value.open_quote(),
            ObjectAt::Key | ObjectAt::Name | ObjectAt::Id => {
                self.text.place()?.quote.map(OpenQuote::Byte)
            }
            ObjectAt::Answer => Some(OpenQuote::Byte(b'"')),
            ObjectAt::Member | ObjectAt::Value | ObjectAt::ListItem | ObjectAt::ListNext => None,
        }
    }

    /// Returns whether a key of the outermost object must follow.
    pub(super) fn is_before_key(&self) -> bool {
        self.at == ObjectAt::Member && self.nest == 0 && self.members.is_before_key()
    }

    /// Continues after a call object of the inner list.
    pub(super) fn begin_in_list(&mut self) {
        (self.at, self.nest) = (ObjectAt::ListNext, 0);
        self.next_call();
    }

    /// Returns whether the position is inside a list of calls.
    pub(super) fn is_in_list(&self) -> bool {
        self.in_list
    }

    /// Returns the role of the value at `key`.
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
        leaf: &Leaf,
        dialect: &ValueDialect<'_>,
        out: &mut CallSink<'_>,
    ) -> MachineStep {
        loop {
            let step = match self.readers.object.at {
                ObjectAt::Member => self.member(dialect, out),
                ObjectAt::Key | ObjectAt::Name | ObjectAt::Id => self.string(leaf, dialect, out),
                ObjectAt::Value => self.member_value(dialect, out),
                ObjectAt::Arguments => self.object_arguments(dialect, out),
                ObjectAt::Ignored | ObjectAt::AnswerJson => self.aside(dialect, out),
                ObjectAt::Answer => self.answer_text(out),
                ObjectAt::ListItem | ObjectAt::ListNext => self.list_item(out),
            };
            match step {
                Some(step) => return step,
                None if self.state != MachineState::Arguments => return MachineStep::Go,
                None => {}
            }
        }
    }

    fn member(
        &mut self,
        dialect: &ValueDialect<'_>,
        out: &mut CallSink<'_>,
    ) -> Option<MachineStep> {
        match self.readers.object.members.next(dialect, out.cursor.rest()) {
            Member::More { used } => {
                out.cursor.advance(used);
                Some(MachineStep::more(out.cursor.at))
            }
            Member::Key { used } => {
                out.cursor.advance(used);
                if self.call.started {
                    // In families whose keys are names, another key begins another call.
                    self.call.item_at = out.stream_offset(out.cursor.at);
                }
                self.readers.object.text.restart_key();
                self.readers.object.at = ObjectAt::Key;
                None
            }
            Member::Value { used } => {
                out.cursor.advance(used);
                self.readers.object.at = ObjectAt::Value;
                None
            }
            Member::End { used } => {
                out.cursor.advance(used);
                self.end_object(out)
            }
            Member::Bad { at } => {
                out.cursor.advance(at);
                Some(self.bad(out))
            }
        }
    }

    /// Reads the text between the call objects of an inner list.
    fn list_item(&mut self, out: &mut CallSink<'_>) -> Option<MachineStep> {
        out.cursor.skip_blanks();
        self.call.item_at = out.stream_offset(out.cursor.at);
        let Some(byte) = out.cursor.peek() else { return Some(MachineStep::more(out.cursor.at)) };
        match (self.readers.object.at, byte) {
            (_, b'{') => {
                self.readers.object.members = Members::new();
                self.readers.object.at = ObjectAt::Member;
            }
            (ObjectAt::ListNext, b',') => {
                out.cursor.advance(1);
                self.call.item_at = self.call.item_at.saturating_add(1);
                self.readers.object.at = ObjectAt::ListItem;
            }
            (ObjectAt::ListNext, b']') => {
                out.cursor.advance(1);
                (self.readers.object.in_list, self.readers.object.listed) = (false, true);
                self.readers.object.members.after_value();
                self.readers.object.at = ObjectAt::Member;
            }
            _ => return Some(self.bad(out)),
        }
        None
    }

    /// Handles the closing brace of a call object or wrapper.
    fn end_object(&mut self, out: &mut CallSink<'_>) -> Option<MachineStep> {
        if self.readers.object.answered || self.readers.object.is_listed() {
            self.state = MachineState::CallEnd(0);
            return None;
        }
        if self.readers.object.nest > 0 {
            self.readers.object.nest = self.readers.object.nest.saturating_sub(1);
            self.readers.object.members.after_value();
            return None;
        }
        if !self.call.started {
            // In a thought, the end of the object confirms a call without arguments.
            let ends = self.readers.object.has_name && out.waits_for_arguments();
            if !ends {
                out.cursor.back(1);
                return Some(self.bad(out));
            }
            if let Err(step) = self.start(out) {
                return Some(step);
            }
        }
        self.end_item(out);
        if self.readers.object.in_list {
            self.readers.object.at = ObjectAt::ListNext;
            self.state = MachineState::Arguments;
        }
        None
    }

    /// Completes a call of the object.
    fn end_item(&mut self, out: &mut CallSink<'_>) {
        if self.readers.object.arguments == ArgumentsState::Missing {
            out.arguments("{}");
        }
        self.complete(out);
        self.call.id.clear();
        self.readers.object.next_call();
    }
}
