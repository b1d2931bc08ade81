//! Search for the next object of a list, after a malformed one.
//!
//! ```text
//! [{"name": "f", "arguments": {"a": }}, {"name": "g", "arguments": {}}]
//!                                   ^ fault, two braces are open
//!                                     ^ all braces are closed: the next object may follow
//! ```

use crate::{
    cursor::TextCursor,
    machine::{
        call::Machine,
        readers::ActiveReader,
        state::{List, MachineState},
    },
    template::Dialect,
    value::{Brackets, InValue},
};

/// The position after a fault in an object of a list: open brackets and the open string. They are
/// tracked byte by byte, while the text is JSON or a Python literal.
#[derive(Debug, Clone, Copy)]
pub(in crate::machine) struct Siblings {
    brackets: Brackets,
    quote: Option<u8>,
    escaped: bool,
    /// Whether apostrophes enclose strings.
    python: bool,
}

/// The meaning of a byte after a fault.
pub(in crate::machine) enum After {
    /// A part of the malformed object.
    Object(Siblings),
    /// The comma after the malformed object, the next object, or the end of the list.
    Sibling,
    /// The end of the malformed object cannot be found.
    Unknown,
}

impl Siblings {
    /// Returns the meaning of `byte` at this position.
    pub(in crate::machine) fn after_byte(self, byte: u8) -> After {
        let object = |brackets: Option<Brackets>| {
            brackets.map_or(After::Unknown, |brackets| After::Object(Self { brackets, ..self }))
        };
        let in_string = self.quote.is_some();
        match byte {
            _ if self.escaped => After::Object(Self { escaped: false, ..self }),
            b'\\' if in_string => After::Object(Self { escaped: true, ..self }),
            _ if self.quote == Some(byte) => After::Object(Self { quote: None, ..self }),
            // Models write newlines in strings as escapes, so the string's end is missing.
            b'\n' if in_string => After::Unknown,
            _ if in_string => After::Object(self),
            b',' | b'{' | b']' if self.brackets.is_empty() => After::Sibling,
            // A surplus brace is skipped.
            b'}' if self.brackets.is_empty() => After::Object(self),
            b'}' => object(self.brackets.close(true).or(Some(self.brackets))),
            // If the object has no open list, its braces are missing and the outer list ends.
            b']' => match self.brackets.close(false) {
                None => After::Sibling,
                brackets => object(brackets),
            },
            _ if byte.is_ascii_whitespace() => After::Object(self),
            _ if self.brackets.is_empty() => After::Unknown,
            b'{' | b'[' => object(self.brackets.push(byte == b'{')),
            b'"' => After::Object(Self { quote: Some(byte), ..self }),
            b'\'' if self.python => After::Object(Self { quote: Some(byte), ..self }),
            b'\'' | b'`' | b'\\' => After::Unknown,
            _ => After::Object(self),
        }
    }
}

impl Machine {
    /// Returns the position of a fault in its list, or `None` outside of lists.
    pub(in crate::machine) fn fault_in_list(&self, cursor: &TextCursor<'_>) -> Option<Siblings> {
        let in_list = self.place.list != List::None || self.readers.object.is_in_list();
        if self.readers.active != ActiveReader::Object || !in_list {
            return None;
        }
        let place = match self.state {
            MachineState::Arguments => self.readers.object.place(&self.readers.value)?,
            MachineState::Between => InValue { brackets: Brackets::none(), quote: None },
            _ => return None,
        };
        // An object in place of a key: the end of the object before it is missing.
        let opens = cursor.peek() == Some(b'{') && self.readers.object.is_before_key();
        let brackets = if opens { Brackets::none() } else { place.brackets };
        let python = self.readers.object.syntax == Dialect::Python;
        Some(Siblings { brackets, quote: place.quote, escaped: false, python })
    }

    /// Returns whether the list continues at the cursor. Otherwise skips one character.
    pub(in crate::machine) fn find_sibling(&mut self, cursor: &mut TextCursor<'_>) -> bool {
        if let Some((siblings, byte)) = self.recovery.siblings.zip(cursor.peek()) {
            self.recovery.siblings = match siblings.after_byte(byte) {
                After::Object(next) => Some(next),
                // A recovery point may be at this character, so it is not skipped.
                After::Unknown => {
                    self.recovery.siblings = None;
                    return false;
                }
                After::Sibling => {
                    self.go_on_in_list();
                    return true;
                }
            };
        }
        cursor.skip_char();
        false
    }

    /// Continues in the list, whose next object or end is at the cursor.
    pub(in crate::machine) fn go_on_in_list(&mut self) {
        self.recovery.siblings = None;
        if self.readers.object.is_in_list() {
            self.readers.object.begin_in_list();
            self.state = MachineState::Arguments;
        } else {
            self.state = MachineState::Between;
        }
    }
}
