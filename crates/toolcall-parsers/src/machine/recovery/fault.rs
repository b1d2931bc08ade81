//! The position after a fault in a call: open brackets and the open string. It is tracked silently
//! up to the end of the call, because a tag inside a string is data.
//!
//! ```text
//! <call>{"a": 7 "b": "see </call><call>{}"}</call>
//!               ^ the fault      ^ data     ^ the end of the call
//! [{"name": "f", "arguments": {"a": }}, {"name": "g", "arguments": {}}]
//!                                   ^ fault, two braces are open
//!                                     ^ all braces are closed: the next object may follow
//! ```

use alloc::string::String;

use crate::{
    cursor::{TextCursor, Undecided, after_blanks, longest_prefix},
    machine::{
        call::Machine,
        call_sink::CallSink,
        plan::{Arguments, Leaf},
        readers::ActiveReader,
        state::{List, MachineState},
    },
    template::Dialect,
    value::{Brackets, OpenQuote},
};

/// The position after a fault.
#[derive(Debug, Clone, Copy)]
pub(in crate::machine) struct FaultPlace {
    /// The open brackets, while they are known.
    brackets: Option<Brackets>,
    quote: Option<OpenQuote>,
    escaped: bool,
    /// Whether apostrophes enclose strings.
    apostrophes: bool,
    /// Whether nothing shows what is quoted, up to the end of the message.
    lost: bool,
    /// Whether the call is an object in a list of calls.
    pub(super) in_list: bool,
    /// Number of quoted calls and sections that are open, in families with elements.
    pub(super) quoted: u32,
}

/// The meaning of the text at the position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum After {
    /// The position is inside a string.
    String,
    /// The position is outside of strings.
    Outside,
    /// The comma after the malformed object, the next object, or the end of the list is at the
    /// position.
    Sibling,
    /// The last bracket of the malformed call was read.
    CallEnd,
    Undecided,
}

impl FaultPlace {
    /// Returns whether the position is inside a string.
    pub(super) fn in_string(&self) -> bool {
        self.quote.is_some()
    }

    /// Returns whether siblings of the malformed call may still be found.
    pub(super) fn seeks_sibling(&self) -> bool {
        self.in_list && self.brackets.is_some() && !self.lost
    }

    /// Returns whether only the end of the message ends the call.
    pub(super) fn is_lost(&self) -> bool {
        self.lost
    }

    /// Returns whether no bracket of the call is open, as far as it is known.
    pub(super) fn is_flat(&self) -> bool {
        self.brackets.is_none_or(Brackets::is_empty)
    }

    /// Returns whether `byte` changes the position outside of strings.
    pub(super) fn stops_at(&self, byte: u8) -> bool {
        match byte {
            _ if self.lost => false,
            b'"' | b'\\' => true,
            b'\'' => self.apostrophes || self.seeks_sibling(),
            _ if self.seeks_sibling() => true,
            b'{' | b'}' | b'[' | b']' => self.brackets.is_some(),
            _ => false,
        }
    }

    /// Skips the open string. Returns whether its end was read.
    pub(super) fn skip_string(&mut self, quotes: &[String], cursor: &mut TextCursor<'_>) -> bool {
        while let Some(quote) = self.quote {
            let rest = cursor.rest();
            let OpenQuote::Byte(byte) = quote else {
                let quote = quotes.first().map_or("", String::as_str);
                match rest.find(quote) {
                    Some(at) if !quote.is_empty() => {
                        cursor.advance(at.saturating_add(quote.len()));
                        self.quote = None;
                        return true;
                    }
                    // A part of the quote may be at the end of the text.
                    _ => {
                        let tail = (1..quote.len()).rev().find(|&len| {
                            quote.get(..len).is_some_and(|start| rest.ends_with(start))
                        });
                        cursor.advance(rest.len().saturating_sub(tail.unwrap_or(0)));
                        return false;
                    }
                }
            };
            let stop = rest.bytes().position(|b| self.escaped || b == byte || b == b'\\');
            let Some(at) = stop else {
                cursor.advance(rest.len());
                return false;
            };
            cursor.advance(at);
            let closes = !self.escaped && cursor.peek() == Some(byte);
            self.escaped = !self.escaped && !closes;
            cursor.skip_char();
            if closes {
                self.quote = None;
                return true;
            }
        }
        true
    }

    /// Reads the character at the cursor, which is outside of strings. Leaves the cursor before a
    /// sibling.
    pub(super) fn step(&mut self, quotes: &[String], cursor: &mut TextCursor<'_>) -> After {
        if self.lost {
            cursor.skip_char();
            return After::Outside;
        }
        match longest_prefix(cursor.rest(), quotes.iter().map(String::as_str)) {
            Err(Undecided) => return After::Undecided,
            Ok(Some(n)) => {
                cursor.advance(quotes.get(n).map_or(0, String::len));
                self.quote = Some(OpenQuote::Own);
                return After::String;
            }
            Ok(None) => {}
        }
        let Some(byte) = cursor.peek() else { return After::Undecided };
        let sibling = self.in_list && self.brackets.is_some_and(Brackets::is_empty);
        match (byte, self.brackets) {
            (b'"', _) => self.quote = Some(OpenQuote::Byte(byte)),
            (b'\'', _) if self.apostrophes => self.quote = Some(OpenQuote::Byte(byte)),
            // A backslash occurs in strings only, so the string's quote is missing.
            (b'\\', _) => {
                self.brackets = None;
                self.quote = Some(OpenQuote::Byte(b'"'));
                return After::String;
            }
            (b'\'' | b'`', _) if self.in_list => self.brackets = None,
            (b',' | b'{' | b']', _) if sibling => return After::Sibling,
            (b'{' | b'[', Some(brackets)) => self.brackets = brackets.push(byte == b'{'),
            // A surplus brace is skipped.
            (b'}', Some(brackets)) => {
                self.brackets = brackets.close(true).or(self.brackets);
                if !brackets.is_empty() && self.is_flat() && !self.in_list {
                    cursor.advance(1);
                    return After::CallEnd;
                }
            }
            (b']', Some(brackets)) => match brackets.close(false) {
                None if self.in_list => match Goes::after_bracket(cursor.rest()) {
                    Err(Undecided) => return After::Undecided,
                    Ok(Goes::Out) => return After::Sibling,
                    Ok(Goes::On) => self.brackets = None,
                    Ok(Goes::Astray) => self.lost = true,
                },
                None => {}
                closed => self.brackets = closed,
            },
            (byte, _) if sibling && !byte.is_ascii_whitespace() => self.brackets = None,
            _ => {}
        }
        cursor.skip_char();
        if self.in_string() { After::String } else { After::Outside }
    }
}

/// The place after a bracket that closes no list of the malformed object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Goes {
    /// The braces of the object are missing, and the bracket ends the list of calls.
    Out,
    /// The malformed object goes on.
    On,
    /// The bracket is in a string whose quote is missing, so nothing shows what is quoted.
    Astray,
}

impl Goes {
    /// Returns the place after the bracket with which `text` begins.
    fn after_bracket(text: &str) -> Result<Self, Undecided> {
        let rest = text.get(1..).unwrap_or_default();
        let next = after_blanks(rest).unwrap_or("\n").chars().next().ok_or(Undecided)?;
        Ok(match next {
            ',' | '}' | ']' => Self::On,
            ':' | '"' | '\'' | '\\' => Self::Astray,
            _ if rest.starts_with(char::is_alphanumeric) => Self::Astray,
            _ => Self::Out,
        })
    }
}

impl Machine {
    /// Returns the position of a fault at the cursor.
    pub(super) fn fault_place(&self, leaf: Option<&Leaf>, out: &CallSink<'_>) -> FaultPlace {
        let in_arguments = self.state == MachineState::Arguments;
        let object = self.readers.active == ActiveReader::Object;
        let in_list = object && (self.place.list != List::None || self.readers.object.is_in_list());
        let arguments = leaf.map(|leaf| &leaf.arguments);
        let dialect = match arguments {
            Some(Arguments::Object(_)) => Some(self.readers.object.syntax),
            Some(&(Arguments::Value(dialect) | Arguments::Keywords(dialect))) => Some(dialect),
            _ => None,
        };
        let (brackets, quote) = match arguments {
            Some(Arguments::Object(_)) if in_arguments => {
                let (object, value) = (&self.readers.object, &self.readers.value);
                // An object in place of a key: the end of the object before it is missing.
                let opens = out.cursor.peek() == Some(b'{') && object.is_before_key();
                let place = object.place(value).map(|place| place.brackets);
                let brackets = if opens { Some(Brackets::none()) } else { place };
                (brackets, object.open_quote(value))
            }
            Some(Arguments::Value(_) | Arguments::Keywords(_) | Arguments::Raw { .. })
                if in_arguments && self.readers.active == ActiveReader::Value =>
            {
                let value = &self.readers.value;
                (value.place().map(|place| place.brackets), value.open_quote())
            }
            _ => (Some(Brackets::none()), None),
        };
        let lost = in_arguments
            && matches!(arguments, Some(Arguments::Value(_) | Arguments::Keywords(_)))
            && self.readers.value.has_inner_quotes();
        let apostrophes = dialect.is_some_and(|dialect| dialect != Dialect::Json);
        FaultPlace { brackets, quote, escaped: false, apostrophes, lost, in_list, quoted: 0 }
    }

    /// Continues in the list, whose next object or end is at the cursor.
    pub(super) fn go_on_in_list(&mut self) {
        self.recovery.fault = None;
        if self.readers.object.is_in_list() {
            self.readers.object.begin_in_list();
            self.state = MachineState::Arguments;
        } else {
            self.state = MachineState::Between;
        }
    }
}
