//! The other objects of a list, after one that is malformed.
//!
//! ```text
//! [{"name": "f", "arguments": {"a": }}, {"name": "g", "arguments": {}}]
//!                                   ^ the fault, in two objects
//!                                     ^ in none: what follows may be a call
//! ```

use super::call::{ActiveReader, List, Machine, MachineState};
use crate::{
    cursor::Cursor,
    template::Dialect,
    value::{Brackets, InValue},
};

/// A place after a fault in an object of a list. Brackets and strings are counted from the fault on,
/// byte by byte, as far as the text is JSON or a Python literal.
#[derive(Debug, Clone, Copy)]
pub(super) struct Siblings {
    brackets: Brackets,
    quote: Option<u8>,
    escaped: bool,
    /// Apostrophes enclose strings.
    python: bool,
}

/// A byte after a fault.
pub(super) enum After {
    /// A part of the malformed object.
    Object(Siblings),
    /// The comma after it, the next object, or the end of the list.
    Sibling,
    /// Outside of a list: the end of the object is unknown.
    Lost,
}

impl Siblings {
    /// The place after `byte`.
    pub(super) fn take(self, byte: u8) -> After {
        let object = |brackets: Option<Brackets>| {
            brackets.map_or(After::Lost, |brackets| After::Object(Self { brackets, ..self }))
        };
        let in_string = self.quote.is_some();
        match byte {
            _ if self.escaped => After::Object(Self { escaped: false, ..self }),
            b'\\' if in_string => After::Object(Self { escaped: true, ..self }),
            _ if self.quote == Some(byte) => After::Object(Self { quote: None, ..self }),
            // A line ends no string as models write them: this one has no end.
            b'\n' if in_string => After::Lost,
            _ if in_string => After::Object(self),
            b',' | b'{' | b']' if self.brackets.is_empty() => After::Sibling,
            // A surplus bracket.
            b'}' if self.brackets.is_empty() => After::Object(self),
            b'}' => object(self.brackets.close(true).or(Some(self.brackets))),
            // Where no list is open in the object, its braces are missing.
            b']' => match self.brackets.close(false) {
                None => After::Sibling,
                brackets => object(brackets),
            },
            _ if byte.is_ascii_whitespace() => After::Object(self),
            _ if self.brackets.is_empty() => After::Lost,
            b'{' | b'[' => object(self.brackets.push(byte == b'{')),
            b'"' => After::Object(Self { quote: Some(byte), ..self }),
            b'\'' if self.python => After::Object(Self { quote: Some(byte), ..self }),
            b'\'' | b'`' | b'\\' => After::Lost,
            _ => After::Object(self),
        }
    }
}

impl Machine {
    /// The place of a fault at the cursor in the list it is in; none if it is in none.
    pub(super) fn fault_in_list(&self, cursor: &Cursor<'_>) -> Option<Siblings> {
        let in_list = self.list != List::None || self.object.is_in_list();
        if self.reader != ActiveReader::Object || !in_list {
            return None;
        }
        let place = match self.state {
            MachineState::Arguments => self.object.place(&self.value)?,
            MachineState::Between => InValue { brackets: Brackets::none(), quote: None },
            _ => return None,
        };
        // An object in the place of a key: the one before it has no end.
        let opens = cursor.peek() == Some(b'{') && self.object.is_before_key();
        let brackets = if opens { Brackets::none() } else { place.brackets };
        let python = self.object.syntax == Dialect::Python;
        Some(Siblings { brackets, quote: place.quote, escaped: false, python })
    }

    /// Moves over the scalar at the cursor; whether the list of a malformed object goes on with it
    /// instead.
    pub(super) fn find_sibling(&mut self, cursor: &mut Cursor<'_>) -> bool {
        if let Some((siblings, byte)) = self.siblings.zip(cursor.peek()) {
            self.siblings = match siblings.take(byte) {
                After::Object(next) => Some(next),
                // The next place may be here.
                After::Lost => {
                    self.siblings = None;
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

    /// Goes on in the list whose next object or end is at the cursor.
    pub(super) fn go_on_in_list(&mut self) {
        self.siblings = None;
        if self.object.is_in_list() {
            self.object.begin_in_list();
            self.state = MachineState::Arguments;
        } else {
            self.state = MachineState::Between;
        }
    }
}
