//! A Python literal as JSON, while it arrives.
//!
//! Text inside strings goes out as slices of what came in. What is kept: the spelling of a
//! number, and the first thing in a `{` or `(` up to what follows it, which alone tells a dict
//! from a set and a tuple from a value in parentheses.

use alloc::string::String;

use smallvec::SmallVec;

use super::{
    container::Frame,
    number::{self, Fault},
    shape::Quotes,
    text::{Prefix, Text},
};
use crate::{
    engine::text::space,
    grammar::{self, List},
};

/// What a literal's reader must know.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rules<'a> {
    pub(super) quotes: Quotes,
    pub(super) null_words: &'a List<grammar::Text>,
    /// As in JavaScript: keys may be bare, strings may stand in backquotes, `{` begins a dict.
    pub(super) script: bool,
    /// What may follow the literal.
    pub(super) ends: &'static [u8],
    /// The most bytes of a number, and of a string while its role is open.
    pub(super) limit: usize,
    /// Whether the call around it is certain, so that what is wrong with it is worth a report.
    pub(super) in_call: bool,
}

/// Where a reading stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Read {
    /// The literal goes on; the rest is a short undecided tail.
    More { used: usize },
    /// From `used` on there stands a literal, which nothing went out of yet. Said once.
    Certain { used: usize },
    /// The literal ended after `used` bytes; whitespace behind it may be among them.
    End { used: usize },
    /// The byte at `at` cannot stand there.
    Bad { at: usize },
    /// A literal that JSON cannot express; the byte at `at` decided that.
    Inexpressible { at: usize },
}

/// A step's result: go on, or hand this to the caller.
pub(super) type Step = Result<(), Read>;

/// Where fragments of JSON text go.
pub(super) type Out<'o> = &'o mut dyn FnMut(&str);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// Before a value.
    Value,
    /// Before a value or the bracket that closes its container.
    Element,
    Number,
    /// Inside a key without quotes.
    BareKey,
    Text(Text),
    /// Behind a value.
    After,
}

/// Which literals are accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Top {
    Any,
    /// A dict; `None` is an empty one.
    Dict,
    /// A string.
    Text,
}

/// Reads one literal.
#[derive(Debug, Clone)]
pub(super) struct Literal {
    pub(super) top: Top,
    pub(super) state: State,
    pub(super) frames: SmallVec<[Frame; 8]>,
    /// Innermost frames whose kind is known and whose bracket did not go out yet.
    pub(super) unwritten: usize,
    pub(super) certain: bool,
    /// A comma was read whose successor did not begin yet.
    pub(super) separator: bool,
    /// What comes or came last is a dict's key.
    pub(super) key: bool,
    /// JSON of the first thing in a frame whose kind is open.
    pub(super) kept: String,
    pub(super) number: String,
    /// JSON of a word, until its end is certain.
    pub(super) word: &'static str,
    /// Whitespace behind a quote that may belong to the string.
    pub(super) blanks: String,
}

impl Literal {
    pub(super) fn new(top: Top) -> Self {
        Self {
            top,
            state: State::Value,
            frames: SmallVec::new(),
            unwritten: 0,
            certain: false,
            separator: false,
            key: false,
            kept: String::new(),
            number: String::new(),
            word: "",
            blanks: String::new(),
        }
    }

    /// Makes it as new, for a literal of another kind; keeps the buffers' memory.
    pub(super) fn restart(&mut self, top: Top) {
        self.frames.clear();
        self.kept.clear();
        self.number.clear();
        self.blanks.clear();
        (self.top, self.state, self.unwritten, self.word) = (top, State::Value, 0, "");
        (self.certain, self.separator, self.key) = (false, false, false);
    }

    /// Bytes held.
    pub(super) fn held(&self) -> usize {
        self.kept.len() + self.number.len() + self.blanks.len()
    }

    /// Whether all of `text` is the inside of a string, to be passed as it is.
    #[inline]
    pub(super) fn passes(&self, text: &str) -> bool {
        match self.state {
            State::Text(state) => !self.is_open_kind() && state.passes(text),
            _ => false,
        }
    }

    /// Reads on; `out` receives JSON text, none before [`Read::Certain`] was returned.
    pub(super) fn feed(&mut self, rules: &Rules<'_>, text: &str, out: Out<'_>) -> Read {
        let mut i = 0;
        loop {
            let step = match self.state {
                State::Text(state) => self.text(rules, state, text, &mut i, out),
                State::Number => self.number(rules, text, &mut i, out),
                State::BareKey => self.bare_key(rules, text, &mut i),
                State::Value | State::Element => self.value(rules, text, &mut i, out),
                State::After => self.after(rules, text, &mut i, out),
            };
            if let Err(read) = step {
                return read;
            }
        }
    }

    fn value(&mut self, rules: &Rules<'_>, text: &str, i: &mut usize, out: Out<'_>) -> Step {
        *i += space(&text[*i..]);
        let at = *i;
        let Some(&byte) = text.as_bytes().get(at) else { return Err(Read::More { used: at }) };
        let fits = match self.top {
            _ if !self.frames.is_empty() => true,
            Top::Any => true,
            Top::Dict => matches!(byte, b'{' | b'N' | b'n'),
            Top::Text => matches!(byte, b'\'' | b'"') || byte.is_ascii_alphabetic(),
        };
        if !fits {
            return Err(Read::Bad { at });
        }
        match byte {
            b'[' | b'{' | b'(' => self.open(rules, byte, at, out)?,
            b']' | b'}' | b')' if self.state == State::Element => {
                self.close_empty(byte, at, out)?;
                *i += 1;
                return self.closed(*i);
            }
            b'\'' | b'"' => {
                self.certain(at)?;
                self.begin_text(Prefix::default(), byte, out);
            }
            b'`' if rules.script => {
                self.certain(at)?;
                self.begin_text(Prefix::default(), byte, out);
            }
            b'0'..=b'9' | b'+' | b'-' | b'.' => {
                self.number.clear();
                self.state = State::Number;
                return Ok(());
            }
            _ if rules.script && self.key && begins_key(&text[at..]) => {
                self.certain(at)?;
                self.number.clear();
                self.state = State::BareKey;
                return Ok(());
            }
            b'_' | b'a'..=b'z' | b'A'..=b'Z' => return self.word(rules, text, i, out),
            _ => return Err(Read::Bad { at }),
        }
        *i += 1;
        Ok(())
    }

    /// Says once that a literal is certain to stand at `at`.
    pub(super) fn certain(&mut self, at: usize) -> Step {
        if self.certain {
            return Ok(());
        }
        self.certain = true;
        Err(Read::Certain { used: at })
    }

    /// A word, or a string with a prefix.
    fn word(&mut self, rules: &Rules<'_>, text: &str, i: &mut usize, out: Out<'_>) -> Step {
        let bytes = &text.as_bytes()[*i..];
        let part = |b: &&u8| b.is_ascii_alphanumeric() || **b == b'_';
        let len = bytes.iter().take_while(part).count();
        let word = &text[*i..*i + len];
        if let Some(n) = (1..=len).find(|&n| !self.may_begin(rules, &word[..n])) {
            return Err(Read::Bad { at: *i + n - 1 });
        }
        let Some(&behind) = bytes.get(len) else { return Err(Read::More { used: *i }) };
        if let (b'\'' | b'"', Some(prefix)) = (behind, Prefix::parse(word)) {
            if prefix.bytes {
                return Err(Read::Inexpressible { at: *i + len });
            }
            self.certain(*i)?;
            self.begin_text(prefix, behind, out);
            *i += len + 1;
            return Ok(());
        }
        let null = || rules.null_words.iter().any(|null| null == word);
        self.word = match word {
            "None" | "null" if self.frames.is_empty() && self.top == Top::Dict => "{}",
            _ if self.frames.is_empty() && self.top != Top::Any => "",
            "None" | "null" => "null",
            "True" | "true" => "true",
            "False" | "false" => "false",
            "nan" | "NaN" | "inf" | "Infinity" => {
                return Err(Read::Inexpressible { at: *i + len });
            }
            _ if null() => "null",
            _ => "",
        };
        if self.word.is_empty() {
            return Err(Read::Bad { at: *i + len });
        }
        *i += len;
        self.state = State::After;
        Ok(())
    }

    /// Whether a word that means something, or a string, may begin with `head`. What JSON cannot
    /// express is worth a report only in a call that is certain.
    fn may_begin(&self, rules: &Rules<'_>, head: &str) -> bool {
        let any = |words: &[&str]| words.iter().any(|word| word.starts_with(head));
        let certain = self.certain || rules.in_call;
        let string = Prefix::parse(head).is_some_and(|prefix| certain || !prefix.bytes);
        match self.top {
            Top::Dict if self.frames.is_empty() => return any(&["None", "null"]),
            Top::Text if self.frames.is_empty() => return string,
            _ => {}
        }
        string
            || any(&["None", "null", "True", "true", "False", "false"])
            || rules.null_words.iter().any(|word| word.starts_with(head))
            || certain && any(&["nan", "NaN", "inf", "Infinity"])
    }

    fn number(&mut self, rules: &Rules<'_>, text: &str, i: &mut usize, out: Out<'_>) -> Step {
        while let Some(&byte) = text.as_bytes().get(*i) {
            let begun = self.number.bytes().any(|b| b.is_ascii_digit());
            let sound = match byte {
                b'+' | b'-' if self.number.is_empty() => true,
                b'.' if !begun => !self.number.ends_with('.'),
                b'0'..=b'9' => {
                    if !begun {
                        self.certain(*i)?;
                        self.lead_in(out);
                    }
                    true
                }
                _ if !begun => return Err(Read::Bad { at: *i }),
                _ => number::continues(&self.number, byte),
            };
            if !begun && !sound {
                return Err(Read::Bad { at: *i });
            }
            if !sound {
                match number::to_json(&self.number) {
                    Ok(json) => self.number = json,
                    Err(Fault::NotOne) => return Err(Read::Bad { at: *i }),
                    Err(Fault::Inexpressible) => return Err(Read::Inexpressible { at: *i }),
                }
                self.state = State::After;
                return Ok(());
            }
            if self.number.len() >= rules.limit {
                return Err(Read::Bad { at: *i });
            }
            self.number.push(char::from(byte));
            *i += 1;
        }
        Err(Read::More { used: *i })
    }

    /// A key without quotes. It is kept, as a number is, until what follows it was seen.
    fn bare_key(&mut self, rules: &Rules<'_>, text: &str, i: &mut usize) -> Step {
        for scalar in text[*i..].chars() {
            if !in_key(scalar) {
                self.state = State::After;
                return Ok(());
            }
            if self.number.len() >= rules.limit {
                return Err(Read::Bad { at: *i });
            }
            self.number.push(scalar);
            *i += scalar.len_utf8();
        }
        Err(Read::More { used: *i })
    }

    fn begin_text(&mut self, prefix: Prefix, quote: u8, out: Out<'_>) {
        self.lead_in(out);
        self.put("\"", out);
        self.state = State::Text(Text::begin(prefix, quote));
    }

    /// Writes a piece of a string, or keeps it while its role is open.
    pub(super) fn put(&mut self, piece: &str, out: Out<'_>) {
        if self.is_open_kind() { self.kept.push_str(piece) } else { out(piece) }
    }

    /// A string whose role is open has grown: too long for a key it is one no more.
    pub(super) fn bound(&mut self, rules: &Rules<'_>, out: Out<'_>) {
        if self.kept.len() > rules.limit {
            let brace = self.frames.last() == Some(&Frame::Brace);
            self.decide(if brace { Frame::Set } else { Frame::Group });
            self.lead_in(out);
            out(&self.kept);
            self.kept.clear();
        }
    }

    /// The text that closes what is open, if that makes JSON of what went out; `tail` was read
    /// and not consumed.
    pub(super) fn closing(&self, tail: &str) -> Option<String> {
        let mut text = String::new();
        let cut = !tail.trim_ascii().is_empty();
        if self.is_open_kind() || self.unwritten > 0 {
            return None;
        }
        match self.state {
            State::Text(_) if self.key => text.push_str("\": null"),
            State::Text(_) => text.push('"'),
            _ if cut => return None,
            // Half a key is left out.
            State::Element | State::BareKey => {}
            State::Value => text.push_str("null"),
            State::Number if self.key => return None,
            State::Number => text.push_str(&number::to_json(&self.number).ok()?),
            State::After if self.key => return None,
            State::After => {
                text.push_str(&self.number);
                text.push_str(self.word);
            }
        }
        for frame in self.frames.iter().rev() {
            text.push_str(frame.json().1);
        }
        Some(text)
    }
}

/// Whether a key without quotes may begin with the head of `text`.
fn begins_key(text: &str) -> bool {
    text.starts_with(|c: char| in_key(c) && c != '-' && !c.is_ascii_digit())
}

/// Whether a key without quotes may hold `scalar`.
fn in_key(scalar: char) -> bool {
    scalar.is_alphanumeric() || matches!(scalar, '_' | '$' | '-')
}
