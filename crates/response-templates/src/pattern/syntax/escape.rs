//! Escapes, and sets of characters.

use regex_syntax::hir::ClassUnicode;

use super::{
    super::{
        class::{escape, one, range},
        flags::Flag,
    },
    Assert, Node, Parser, Read,
};

#[expect(
    clippy::arithmetic_side_effects,
    reason = "`at` moves over characters that are there, or back over the one just read; two \
              octal digits are less than 64"
)]
impl Parser<'_> {
    pub(super) fn escape(&mut self, start: usize) -> Read<Node> {
        let ascii = self.flags.has(Flag::Ascii);
        let c = self.next().ok_or_else(|| self.invalid("bad escape at the end"))?;
        if let Some(class) = escape(c, ascii) {
            return Ok(Node::Set(class));
        }
        let assert = match c {
            'A' => Assert::Start,
            'Z' | 'z' => Assert::End,
            'b' => Assert::Word { ascii, negated: false },
            'B' => Assert::Word { ascii, negated: true },
            'm' => Assert::WordStart,
            'M' => Assert::WordEnd,
            '1'..='9' => {
                self.at -= 1;
                let number = self.number().map(|number| number as usize);
                return self.again(number, start);
            }
            'g' if self.eat("<") => {
                let name = self.name('>')?;
                return self.again_by_name(&name, start);
            }
            _ => {
                let c = self.escaped(c, start)?;
                return Ok(Node::Set(self.folded(one(c))));
            }
        };
        Ok(Node::Assert(assert))
    }

    /// The character that `\c` and what follows stand for.
    fn escaped(&mut self, c: char, start: usize) -> Read<char> {
        let digits = match c {
            'x' => 2,
            'u' => 4,
            'U' => 8,
            '0' => {
                let mut code = 0;
                for _ in 0..2 {
                    let Some(digit) = self.peek().and_then(|c| c.to_digit(8)) else { break };
                    code = code * 8 + digit;
                    self.at += 1;
                }
                return Ok(char::from_u32(code).unwrap_or('\0'));
            }
            'n' => return Ok('\n'),
            't' => return Ok('\t'),
            'r' => return Ok('\r'),
            'f' => return Ok('\x0c'),
            'v' => return Ok('\x0b'),
            'a' => return Ok('\x07'),
            'p' | 'P' => return self.unsupported("property of characters", start),
            'N' => return self.unsupported("character by name", start),
            'X' | 'R' | 'h' | 'H' | 'K' | 'G' | 'L' => {
                return self.unsupported("escape beyond those of Python's `re`", start);
            }
            c if c.is_ascii_alphanumeric() => return Err(self.invalid("bad escape")),
            c => return Ok(c),
        };
        let mut code = 0_u32;
        for _ in 0..digits {
            let digit = self.peek().and_then(|c| c.to_digit(16));
            let Some(digit) = digit else { return Err(self.invalid("incomplete escape")) };
            code = code.saturating_mul(16).saturating_add(digit);
            self.at += 1;
        }
        char::from_u32(code).ok_or_else(|| self.invalid("no character has this number"))
    }

    pub(super) fn set(&mut self) -> Read<ClassUnicode> {
        let negated = self.eat("^");
        let mut class = ClassUnicode::empty();
        let mut first = true;
        loop {
            let at = self.at;
            let c = self.next().ok_or_else(|| self.invalid("unterminated character set"))?;
            if c == ']' && !first {
                break;
            }
            first = false;
            if c == '[' && self.peek() == Some(':') {
                return self.unsupported("class of POSIX", at);
            }
            let low = self.member(c, at, &mut class)?;
            let ranges = self.peek() == Some('-')
                && self.chars.get(self.at + 1).is_some_and(|&after| after != ']');
            let Some(low) = low else { continue };
            if !ranges {
                class.union(&one(low));
                continue;
            }
            self.at += 1;
            let at = self.at;
            let c = self.next().unwrap_or(']');
            match self.member(c, at, &mut class)? {
                Some(high) if high < low => return Err(self.invalid("bad character range")),
                Some(high) => class.union(&range(low, high)),
                None => [low, '-'].into_iter().for_each(|c| class.union(&one(c))),
            }
        }
        let mut class = self.folded(class);
        if negated {
            class.negate();
        }
        Ok(class)
    }

    /// A member of a set: a character, or a class that is added to `class`.
    fn member(&mut self, c: char, at: usize, class: &mut ClassUnicode) -> Read<Option<char>> {
        if c != '\\' {
            return Ok(Some(c));
        }
        let c = self.next().ok_or_else(|| self.invalid("unterminated character set"))?;
        if let Some(more) = escape(c, self.flags.has(Flag::Ascii)) {
            class.union(&more);
            return Ok(None);
        }
        match c {
            'b' => Ok(Some('\x08')),
            c => self.escaped(c, at).map(Some),
        }
    }
}
