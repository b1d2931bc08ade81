//! Translation of character classes. In Python a bracket, `&&` or `--` inside a class is text.

use super::{Read, Translator, unsupported};

impl Translator<'_> {
    /// Translates the class whose bracket is at `start`.
    pub(super) fn class(&mut self, start: usize) -> Read<()> {
        self.emit("[");
        if self.eat("^") {
            self.emit("^");
        }
        let first = self.at;
        while self.at == first || self.peek() != Some(']') {
            let Some(c) = self.peek() else {
                self.at = start;
                return self.invalid("a class without its end");
            };
            if c == '[' && self.chars.get(self.at + 1) == Some(&':') {
                return unsupported("a POSIX class", self.at);
            }
            let is_single = self.member()?;
            let is_range =
                self.peek() == Some('-') && self.chars.get(self.at + 1).is_some_and(|&c| c != ']');
            if is_single && is_range {
                self.at += 1;
                self.emit("-");
                self.member()?;
            }
        }
        self.at += 1;
        self.emit("]");
        Ok(())
    }

    /// Translates one member. Returns whether it is a single character.
    fn member(&mut self) -> Read<bool> {
        let start = self.at;
        let Some(c) = self.next() else { return Ok(false) };
        if c != '\\' {
            self.emit_literal(c);
            return Ok(true);
        }
        match self.peek() {
            Some('d' | 'D' | 'w' | 'W' | 's' | 'S') => {
                self.keep_escape();
                return Ok(false);
            }
            Some('b') => {
                self.at += 1;
                self.emit_literal('\x08');
            }
            _ => {
                let c = self.escaped(start)?;
                self.emit_literal(c);
            }
        }
        Ok(true)
    }
}
