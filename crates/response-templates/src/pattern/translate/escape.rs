//! Translation of escapes: `\n`, `\x41`, `\d`, `\Z`.

use super::{Read, Translator, unsupported};

impl Translator<'_> {
    /// Translates the escape whose backslash is at `start`.
    pub(super) fn escape(&mut self, start: usize) -> Read<()> {
        match self.peek() {
            Some('d' | 'D' | 'w' | 'W' | 's' | 'S' | 'b' | 'B' | 'A') => self.keep_escape(),
            Some('Z' | 'z') => {
                self.at += 1;
                self.emit(r"\z");
            }
            Some('1'..='9' | 'g') => return unsupported("a back-reference", start),
            _ => {
                let c = self.escaped(start)?;
                self.emit_literal(c);
            }
        }
        Ok(())
    }

    /// Emits an escape that means the same in both syntaxes.
    pub(super) fn keep_escape(&mut self) {
        if let Some(c) = self.next() {
            self.emit("\\");
            self.emit(c.encode_utf8(&mut [0; 4]));
        }
    }

    /// Reads an escape of one character, after its backslash.
    pub(super) fn escaped(&mut self, start: usize) -> Read<char> {
        let Some(c) = self.next() else { return self.invalid("a backslash at the end") };
        Ok(match c {
            'x' => return self.number(2, 16),
            'u' => return self.number(4, 16),
            'U' => return self.number(8, 16),
            '0' => {
                let octal = |c: &char| c.is_digit(8);
                let digits =
                    (0..2).take_while(|ahead| self.chars.get(self.at + ahead).is_some_and(octal));
                let digits = digits.count();
                return self.number(digits, 8);
            }
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            'f' => '\x0c',
            'v' => '\x0b',
            'a' => '\x07',
            'p' | 'P' => return unsupported("a property of characters", start),
            'N' => return unsupported("a character by name", start),
            'X' | 'R' | 'h' | 'H' | 'K' | 'G' | 'L' | 'm' | 'M' => {
                return unsupported("an escape beyond those of Python's `re`", start);
            }
            c if c.is_ascii_alphanumeric() => return self.invalid("bad escape"),
            c => c,
        })
    }

    /// Reads the number of a character, of exactly `digits` digits.
    fn number(&mut self, digits: usize, radix: u32) -> Read<char> {
        let mut code = 0_u32;
        for _ in 0..digits {
            let Some(digit) = self.peek().and_then(|c| c.to_digit(radix)) else {
                return self.invalid("incomplete escape");
            };
            code = code.saturating_mul(radix).saturating_add(digit);
            self.at += 1;
        }
        char::from_u32(code).map_or_else(|| self.invalid("not the number of a character"), Ok)
    }
}
