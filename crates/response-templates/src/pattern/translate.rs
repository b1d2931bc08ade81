//! Translation of patterns from the syntax of Python to that of `regex-syntax`.
//!
//! | Python | translated |
//! |---|---|
//! | `(x)`, `(?P<n>x)` | `(?:x)`, `(?P<n>x)` |
//! | a second `(?P<n>x)` | `(?P<n.1>x)` |
//! | `(?=x)` | `(?P<_.0>x)`, taken apart by [`compile`](super::compile()) |
//! | `$`, `\Z` | `(?:\z\|(?P<_.1>\n\z))`, `\z` |
//! | `{`, `[[a]`, `\<`, `{,3}` | `\{`, `[\[a]`, `<`, `{0,3}` |
//!
//! Features that need more than an automaton are refused by name.

mod class;
mod escape;

use alloc::{format, string::String, vec::Vec};

use super::{Fault, FaultKind};

/// A translated pattern.
pub(super) struct Translated {
    pub(super) text: String,
    /// The look-aheads by number: the place in the pattern, and the name for errors.
    pub(super) aheads: Vec<(usize, &'static str)>,
    /// Pairs of an offset in `text` and the character of the pattern it was translated from.
    places: Vec<(usize, usize)>,
}

impl Translated {
    /// Returns the character of the pattern from which offset `at` of the text was translated.
    pub(super) fn origin(&self, at: usize) -> usize {
        let after = self.places.partition_point(|&(offset, _)| offset <= at);
        after.checked_sub(1).and_then(|last| self.places.get(last)).map_or(0, |&(_, place)| place)
    }
}

/// The name of look-aheads in the error text.
const LOOK_AHEAD: &str = "a look-ahead before the end of an alternative";
const END: &str = "`$` before the end of an alternative";

type Read<T> = Result<T, Fault>;

/// The flags that hold inside a group.
#[derive(Clone, Copy)]
struct GroupFlags {
    /// Whether `$` matches at the end of each line.
    lines: bool,
    in_look_ahead: bool,
}

struct Translator<'p> {
    chars: &'p [char],
    at: usize,
    translated: Translated,
    names: Vec<String>,
    /// The scopes of the groups that are open, from the outside.
    outer: Vec<GroupFlags>,
    scope: GroupFlags,
}

/// Translates `pattern`.
pub(super) fn translate(pattern: &str) -> Read<Translated> {
    let chars: Vec<char> = pattern.chars().collect();
    let mut translator = Translator {
        chars: &chars,
        at: 0,
        translated: Translated { text: String::new(), aheads: Vec::new(), places: Vec::new() },
        names: Vec::new(),
        outer: Vec::new(),
        scope: GroupFlags { lines: false, in_look_ahead: false },
    };
    while translator.at < chars.len() {
        translator.next_item()?;
    }
    Ok(translator.translated)
}

impl Translator<'_> {
    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += 1;
        Some(c)
    }

    fn eat(&mut self, text: &str) -> bool {
        let rest = self.chars.get(self.at..).unwrap_or_default();
        let found = text.chars().count() <= rest.len()
            && text.chars().eq(rest.iter().copied().take(text.chars().count()));
        if found {
            self.at += text.chars().count();
        }
        found
    }

    fn emit(&mut self, text: &str) {
        self.translated.text.push_str(text);
    }

    /// Emits a character that matches itself.
    fn emit_literal(&mut self, c: char) {
        if regex_syntax::is_meta_character(c) {
            self.translated.text.push('\\');
        }
        self.translated.text.push(c);
    }

    fn next_item(&mut self) -> Read<()> {
        let start = self.at;
        self.translated.places.push((self.translated.text.len(), start));
        let Some(c) = self.next() else { return Ok(()) };
        match c {
            '\\' => self.escape(start)?,
            '[' => self.class(start)?,
            '(' => self.group(start)?,
            ')' => {
                self.scope = self.outer.pop().unwrap_or(self.scope);
                self.emit(")");
            }
            '*' | '+' | '?' => {
                self.emit(c.encode_utf8(&mut [0; 4]));
                self.after_repetition()?;
            }
            '{' => self.counted(start)?,
            '$' if self.scope.lines => self.emit("$"),
            '$' => {
                let number = self.look_ahead(start, END);
                self.emit(&format!(r"(?:\z|(?P<_.{number}>\n\z))"));
            }
            '.' | '^' | '|' => self.emit(c.encode_utf8(&mut [0; 4])),
            c => self.emit_literal(c),
        }
        Ok(())
    }

    /// Adds a look-ahead, and returns its number.
    fn look_ahead(&mut self, start: usize, name: &'static str) -> usize {
        self.translated.aheads.push((start, name));
        self.translated.aheads.len() - 1
    }

    /// Translates `{2}`, `{2,}`, `{,3}` and `{2,3}`. Any other brace matches itself.
    fn counted(&mut self, start: usize) -> Read<()> {
        let min = self.digits();
        let has_comma = self.eat(",");
        let max = if has_comma { self.digits() } else { String::new() };
        if self.eat("}") && (has_comma || !min.is_empty()) {
            let min = if min.is_empty() { "0" } else { &min };
            self.emit(&format!("{{{min}{}{max}}}", if has_comma { "," } else { "" }));
            return self.after_repetition();
        }
        self.at = start + 1;
        let rest = self.chars.get(self.at..).unwrap_or_default();
        let inner = rest.split(|&c| c == '}').next().unwrap_or_default();
        let is_error_count = inner.len() < rest.len()
            && inner.iter().any(|c| "isde".contains(*c))
            && inner.iter().all(|c| "isde0123456789<=+, ".contains(*c));
        if is_error_count {
            return unsupported("approximate matching", start);
        }
        self.emit_literal('{');
        Ok(())
    }

    fn digits(&mut self) -> String {
        let mut digits = String::new();
        while let Some(digit) = self.peek().filter(char::is_ascii_digit) {
            digits.push(digit);
            self.at += 1;
        }
        digits
    }

    /// Reads the `?` of a lazy repetition, if there is one.
    fn after_repetition(&mut self) -> Read<()> {
        if self.peek() == Some('+') {
            return unsupported("a possessive quantifier", self.at);
        }
        if self.eat("?") {
            self.emit("?");
        }
        match self.peek() {
            Some('*' | '+' | '?') => self.invalid("multiple repeat"),
            _ => Ok(()),
        }
    }

    fn group(&mut self, start: usize) -> Read<()> {
        let outer = self.scope;
        if !self.eat("?") || self.eat(":") {
            self.emit("(?:");
        } else if self.eat("P<") {
            self.named()?;
        } else if self.eat("<") {
            if matches!(self.peek(), Some('=' | '!')) {
                return unsupported("a look-behind", start);
            }
            self.named()?;
        } else if self.eat("=") {
            let number = self.look_ahead(start, LOOK_AHEAD);
            self.emit(&format!("(?P<_.{number}>"));
            self.scope.in_look_ahead = true;
        } else if self.eat("#") {
            while self.next().is_some_and(|c| c != ')') {}
            return Ok(());
        } else {
            let refused = match self.peek() {
                Some('!') => "a negative look-ahead",
                Some('>') => "an atomic group",
                Some('|') => "a branch reset",
                Some('(') => "a conditional",
                Some('P') if self.eat("P=") => "a back-reference",
                Some('P' | 'R' | '&' | '0'..='9') => "a recursion",
                _ => return self.flags(start, outer),
            };
            return unsupported(refused, start);
        }
        self.outer.push(outer);
        Ok(())
    }

    fn named(&mut self) -> Read<()> {
        let start = self.at;
        while self.peek().is_some_and(|c| c.is_alphanumeric() || c == '_') {
            self.at += 1;
        }
        let name: String = self.chars.get(start..self.at).unwrap_or_default().iter().collect();
        let begins = name.chars().next().is_some_and(|c| c.is_alphabetic() || c == '_');
        if !begins || !self.eat(">") {
            return self.invalid("bad name of a group");
        }
        if self.scope.in_look_ahead {
            return unsupported("a named group inside a look-ahead", start);
        }
        match self.names.iter().filter(|known| **known == name).count() {
            0 => self.emit(&format!("(?P<{name}>")),
            before => self.emit(&format!("(?P<{name}.{before}>")),
        }
        self.names.push(name);
        Ok(())
    }

    /// Translates `(?i)` and `(?i:`.
    fn flags(&mut self, start: usize, outer: GroupFlags) -> Read<()> {
        let mut flags = String::new();
        let mut on = true;
        loop {
            match self.next() {
                Some('-') if on => {
                    on = false;
                    flags.push('-');
                }
                Some(c @ ('i' | 's')) => flags.push(c),
                Some('m') => {
                    self.scope.lines = on;
                    flags.push('m');
                }
                // Unicode is the default.
                Some('u') if on => {}
                Some(')') if start > 0 || !on => {
                    return unsupported("a flag after the start of a pattern", start);
                }
                Some(')') if flags.is_empty() => return Ok(()),
                Some(')') => {
                    self.emit(&format!("(?{flags})"));
                    return Ok(());
                }
                Some(':') => {
                    self.emit(&format!("(?{flags}:"));
                    self.outer.push(outer);
                    return Ok(());
                }
                Some('a' | 'x' | 'L' | 'b' | 'e' | 'f' | 'p' | 'r' | 'w' | 'V') => {
                    return unsupported("a flag other than `i`, `m`, `s`, `u`", start);
                }
                _ => return self.invalid("unknown extension"),
            }
        }
    }

    fn invalid<T>(&self, what: &str) -> Read<T> {
        Err(Fault { kind: FaultKind::Invalid(what.into()), at: self.at })
    }
}

fn unsupported<T>(feature: &'static str, at: usize) -> Read<T> {
    Err(Fault { kind: FaultKind::Unsupported(feature), at })
}
