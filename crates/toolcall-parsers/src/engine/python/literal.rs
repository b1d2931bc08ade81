//! A Python literal as JSON, while it arrives.
//!
//! Text inside strings goes out as slices of what came in. What is kept: the spelling of a
//! number, and the first thing in a `{` or `(` up to what follows it, which alone tells a dict
//! from a set and a tuple from a value in parentheses.

use alloc::string::String;

use smallvec::SmallVec;

use super::{
    number::{self, Fault},
    shape::Quotes,
    text::{Prefix, Text},
};
use crate::{
    engine::text::space,
    grammar::{self, List},
};

/// The deepest nesting of the arguments, their own object included.
const MAX_DEPTH: usize = 128;

/// What a literal's reader must know.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rules<'a> {
    pub(super) quotes: Quotes,
    pub(super) null_words: &'a List<grammar::Text>,
    /// What may follow the literal.
    pub(super) ends: &'static [u8],
    /// The most bytes kept of a string whose role is open.
    pub(super) key_limit: usize,
    /// The most bytes of a number.
    pub(super) number_limit: usize,
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
    Text(Text),
    /// Behind a value.
    After,
}

/// An open bracket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Frame {
    /// `{` with one thing at most behind it: a dict or a set.
    Brace,
    /// `(` with one thing at most behind it: a tuple, or parentheses that mean nothing.
    Paren,
    List,
    Tuple,
    /// Taken for a tuple because of what its first element is; the comma must follow.
    TupleOfOne,
    Set,
    Dict,
    /// Parentheses that mean nothing.
    Group,
}

impl Frame {
    fn json(self) -> (&'static str, &'static str) {
        match self {
            Self::Dict => ("{", "}"),
            Self::Group => ("", ""),
            _ => ("[", "]"),
        }
    }
}

/// Which literals are accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Top {
    Any,
    /// A dict; `None` is an empty one.
    Dict,
}

/// Reads one literal.
#[derive(Debug, Clone)]
pub(super) struct Literal {
    top: Top,
    pub(super) state: State,
    frames: SmallVec<[Frame; 8]>,
    /// Innermost frames whose kind is known and whose bracket did not go out yet.
    unwritten: usize,
    certain: bool,
    /// A comma was read whose successor did not begin yet.
    separator: bool,
    /// What comes or came last is a dict's key.
    key: bool,
    /// JSON of the first thing in a frame whose kind is open.
    kept: String,
    number: String,
    /// JSON of a word, until its end is certain.
    word: &'static str,
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

    /// Reads on; `out` receives JSON text, none before [`Read::Certain`] was returned.
    pub(super) fn feed(&mut self, rules: &Rules<'_>, text: &str, out: Out<'_>) -> Read {
        let mut i = 0;
        loop {
            let step = match self.state {
                State::Text(state) => self.text(rules, state, text, &mut i, out),
                State::Number => self.number(rules, text, &mut i, out),
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
        if self.frames.is_empty() && self.top == Top::Dict && !matches!(byte, b'{' | b'N' | b'n') {
            return Err(Read::Bad { at });
        }
        match byte {
            b'[' | b'{' | b'(' => self.open(byte, at, out)?,
            b']' | b'}' | b')' if self.state == State::Element => {
                self.close_empty(byte, at, out)?;
                *i += 1;
                return self.closed(*i);
            }
            b'\'' | b'"' => {
                self.certain(at)?;
                self.begin_text(Prefix::default(), byte, out);
            }
            b'0'..=b'9' | b'+' | b'-' | b'.' => {
                self.number.clear();
                self.state = State::Number;
                return Ok(());
            }
            b'_' | b'a'..=b'z' | b'A'..=b'Z' => return self.word(rules, text, i, out),
            _ => return Err(Read::Bad { at }),
        }
        *i += 1;
        Ok(())
    }

    /// Says once that a literal is certain to stand at `at`.
    fn certain(&mut self, at: usize) -> Step {
        if self.certain {
            return Ok(());
        }
        self.certain = true;
        Err(Read::Certain { used: at })
    }

    /// Writes what the comma before and the brackets around the next thing are in JSON.
    fn lead_in(&mut self, out: Out<'_>) {
        if self.separator {
            self.separator = false;
            out(", ");
        }
        if self.unwritten > 0 {
            let known = self.frames.len() - usize::from(self.is_open_kind());
            for frame in &self.frames[known - self.unwritten..known] {
                put(frame.json().0, out);
            }
            self.unwritten = 0;
        }
    }

    fn is_open_kind(&self) -> bool {
        matches!(self.frames.last(), Some(Frame::Brace | Frame::Paren))
    }

    /// Decides what the innermost frame is.
    fn decide(&mut self, frame: Frame) {
        if let Some(last) = self.frames.last_mut() {
            *last = frame;
            self.unwritten += 1;
        }
    }

    fn open(&mut self, byte: u8, at: usize, out: Out<'_>) -> Step {
        let room = MAX_DEPTH - usize::from(self.top == Top::Any);
        if self.key {
            return Err(Read::Inexpressible { at });
        }
        if self.frames.len() >= room {
            return Err(Read::Bad { at });
        }
        match self.frames.last() {
            Some(Frame::Brace) => self.decide(Frame::Set),
            Some(Frame::Paren) => self.decide(Frame::TupleOfOne),
            _ => {}
        }
        let frame = match byte {
            b'[' => Frame::List,
            b'(' => Frame::Paren,
            _ if self.top == Top::Dict && self.frames.is_empty() => Frame::Dict,
            _ => Frame::Brace,
        };
        self.frames.push(frame);
        self.unwritten += usize::from(matches!(frame, Frame::List | Frame::Dict));
        self.key = frame == Frame::Dict;
        if self.certain {
            self.lead_in(out);
        }
        self.state = State::Element;
        Ok(())
    }

    /// A bracket closes directly behind the opening one or a comma.
    fn close_empty(&mut self, byte: u8, at: usize, out: Out<'_>) -> Step {
        match (self.frames.last(), byte) {
            (Some(Frame::Brace), b'}') | (Some(Frame::Paren), b')') => {
                self.certain(at)?;
                self.decide(if byte == b'}' { Frame::Dict } else { Frame::Tuple });
                self.lead_in(out);
            }
            (Some(Frame::List), b']')
            | (Some(Frame::Tuple), b')')
            | (Some(Frame::Set | Frame::Dict), b'}') => {
                self.certain(at)?;
                // A comma at the end has no successor.
                self.separator &= self.unwritten > 0;
                self.lead_in(out);
            }
            _ => return Err(Read::Bad { at }),
        }
        self.pop(out);
        Ok(())
    }

    fn pop(&mut self, out: Out<'_>) {
        if let Some(frame) = self.frames.pop() {
            put(frame.json().1, out);
        }
        self.key = false;
        self.state = State::After;
    }

    /// Behind a container: the literal is over if that was the outermost.
    fn closed(&self, used: usize) -> Step {
        if self.frames.is_empty() { Err(Read::End { used }) } else { Ok(()) }
    }

    /// A word, or a string with a prefix.
    fn word(&mut self, rules: &Rules<'_>, text: &str, i: &mut usize, out: Out<'_>) -> Step {
        /// Longer than any word that means something.
        const LONG: usize = 16;
        let bytes = &text.as_bytes()[*i..];
        let part = |b: &&u8| b.is_ascii_alphanumeric() || **b == b'_';
        let len = bytes.iter().take(LONG).take_while(part).count();
        let word = &text[*i..*i + len];
        // The first byte that no known word has there decides, so that nothing waits for more.
        let nulls = rules.null_words.iter().map(|null| null.as_ref());
        let known = KNOWN.iter().copied().chain(nulls).map(|known| shared(known, word)).max();
        let sound = known.unwrap_or(0).max(Prefix::shared(word));
        if sound < len {
            return Err(Read::Bad { at: *i + sound });
        }
        let Some(&behind) = bytes.get(len) else {
            return Err(Read::More { used: *i });
        };
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
            _ if len == LONG => "",
            "None" | "null" if self.frames.is_empty() && self.top == Top::Dict => "{}",
            _ if self.frames.is_empty() && self.top == Top::Dict => "",
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
            if self.number.len() >= rules.number_limit {
                return Err(Read::Bad { at: *i });
            }
            self.number.push(char::from(byte));
            *i += 1;
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
        if self.kept.len() > rules.key_limit {
            let brace = self.frames.last() == Some(&Frame::Brace);
            self.decide(if brace { Frame::Set } else { Frame::Group });
            self.lead_in(out);
            out(&self.kept);
            self.kept.clear();
        }
    }

    /// Behind a value: what follows says what it was.
    fn after(&mut self, rules: &Rules<'_>, text: &str, i: &mut usize, out: Out<'_>) -> Step {
        *i += space(&text[*i..]);
        let at = *i;
        let Some(&byte) = text.as_bytes().get(at) else { return Err(Read::More { used: at }) };
        let Some(&frame) = self.frames.last() else {
            if !rules.ends.contains(&byte) {
                return Err(Read::Bad { at });
            }
            self.certain(at)?;
            self.settle(out);
            return Err(Read::End { used: at });
        };
        let decided = match (frame, byte) {
            (Frame::Brace, b':') => Some(Frame::Dict),
            (Frame::Brace, b',' | b'}') => Some(Frame::Set),
            (Frame::Paren, b',') => Some(Frame::Tuple),
            (Frame::Paren, b')') => Some(Frame::Group),
            (Frame::Group, b',') | (Frame::TupleOfOne, b')') => {
                return Err(Read::Inexpressible { at });
            }
            _ => None,
        };
        let frame = decided.unwrap_or(frame);
        let key = self.key || (decided == Some(Frame::Dict));
        let fits = match byte {
            b':' => frame == Frame::Dict && key,
            b',' => frame != Frame::Group && !key,
            b']' => frame == Frame::List,
            b')' => matches!(frame, Frame::Tuple | Frame::Group),
            b'}' => frame == Frame::Set || frame == Frame::Dict && !key,
            _ => false,
        };
        if !fits {
            return Err(Read::Bad { at });
        }
        self.certain(at)?;
        self.key = key;
        if decided.is_some() {
            // A scalar that was pending belongs to what was kept.
            self.lead_in(out);
            self.decide(frame);
        }
        self.settle(out);
        *i += 1;
        match byte {
            b':' => {
                out(": ");
                (self.key, self.state) = (false, State::Value);
            }
            b',' => {
                if frame == Frame::TupleOfOne {
                    self.retake(Frame::Tuple);
                }
                (self.separator, self.key) = (true, frame == Frame::Dict);
                self.state = State::Element;
            }
            _ => {
                self.pop(out);
                return self.closed(*i);
            }
        }
        Ok(())
    }

    fn retake(&mut self, frame: Frame) {
        if let Some(last) = self.frames.last_mut() {
            *last = frame;
        }
    }

    /// Writes the scalar before the cursor, whose end is now certain.
    fn settle(&mut self, out: Out<'_>) {
        self.lead_in(out);
        let scalar = if self.word.is_empty() { self.number.as_str() } else { self.word };
        if self.key && !scalar.is_empty() {
            out("\"");
            out(scalar);
            out("\"");
        } else {
            put(scalar, out);
            put(&self.kept, out);
        }
        self.word = "";
        self.number.clear();
        self.kept.clear();
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
            State::Element => {}
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

fn put(piece: &str, out: Out<'_>) {
    if !piece.is_empty() {
        out(piece);
    }
}

/// Words that are literals, or would be if JSON could say them.
const KNOWN: &[&str] =
    &["None", "null", "True", "true", "False", "false", "nan", "NaN", "inf", "Infinity"];

/// How many bytes two words share from the start.
fn shared(a: &str, b: &str) -> usize {
    a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count()
}
