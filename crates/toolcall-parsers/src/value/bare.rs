//! Values that may be strings or other types: bare values, and values in the family's own quotes.
//!
//! ```text
//! {a:12,b:ls -l}      the schema or the text decides: 12 is a number, `ls -l` a string
//! ```
//!
//! The text is held until the value is complete, or until it can only be a string.

use super::{
    Fit, Note, Scanned,
    container::Container,
    dialect::{Quote, Typing, ValueDialect},
    json_or_string,
    transcoder::{Cx, Flow, StringMode, Transcoder, TranscoderState},
    typed,
};
use crate::{
    cursor::{Undecided, longest_prefix},
    limits::MAX_HELD_BLANKS,
    typing::{TypeSet, declared_at},
};

impl Transcoder {
    /// Returns the conversion that the schema requires for the value that begins here.
    pub(super) fn declared(&self, typing: &Typing<'_>) -> StringMode {
        let types = typing.parameters.and_then(|schema| declared_at(schema, self.path.steps()));
        match types {
            Some(TypeSet::ALL) | None => StringMode::Guess,
            Some(types) => StringMode::Typed(types),
        }
    }

    /// Starts a value without quotes.
    pub(super) fn begin_bare(&mut self, cx: &mut Cx<'_, '_>) {
        self.count_element(cx);
        self.mode = cx.dialect.typing.map_or(StringMode::Guess, |typing| self.declared(&typing));
        self.scalar.clear();
        self.blank = true;
        self.state = TranscoderState::Bare;
        if self.mode == StringMode::Typed(TypeSet::STRING) {
            self.begin_string(cx);
        }
    }

    /// Starts a value in quotes, whose mode is set. A string is emitted from the start.
    pub(super) fn begin_held(&mut self, cx: &mut Cx<'_, '_>) {
        self.scalar.clear();
        self.blank = true;
        if matches!(self.mode, StringMode::String | StringMode::Typed(TypeSet::STRING)) {
            self.begin_string(cx);
        }
    }

    /// Emits the start of a string, and the text held so far.
    fn begin_string(&mut self, cx: &mut Cx<'_, '_>) {
        self.mode = StringMode::String;
        self.lead_in(cx);
        self.put("\"", cx);
        self.put_held(cx);
    }

    /// Emits the held text of a string.
    fn put_held(&mut self, cx: &mut Cx<'_, '_>) {
        cx.out.put_escaped(&self.scalar);
        self.scalar.clear();
    }

    /// Adds text to a value in quotes that may be of another type than string.
    pub(super) fn hold(&mut self, text: &str, cx: &mut Cx<'_, '_>) {
        self.scalar.push_str(text);
        let mut is_text = false;
        if self.blank
            && let Some(byte) = text.bytes().find(|byte| !byte.is_ascii_whitespace())
        {
            self.blank = false;
            let json = matches!(byte, b'{' | b'[' | b'"' | b'-' | b'0'..=b'9' | b't' | b'f' | b'n');
            is_text = self.mode == StringMode::Guess && !json;
        }
        if is_text || self.scalar.len() > cx.dialect.limits.value {
            self.give_up_type(cx);
        }
    }

    /// Makes a string of a held value, if its type allows one. Otherwise the value is too long: a
    /// limit must not make another value of it.
    fn give_up_type(&mut self, cx: &mut Cx<'_, '_>) {
        match self.mode {
            StringMode::Typed(types) if !types.has(TypeSet::STRING) => {
                self.overlong = true;
                self.scalar.clear();
            }
            _ => self.begin_string(cx),
        }
    }

    /// Reads a value without quotes, up to a delimiter.
    pub(super) fn bare(&mut self, cx: &mut Cx<'_, '_>) -> Flow {
        let keywords = self.frames.last() == Some(&Container::Keywords);
        while let Some(scalar) = cx.rest().chars().next() {
            match scalar {
                ',' | '}' | ']' => return self.end_held(true, cx),
                ')' if keywords => return self.end_held(true, cx),
                _ => {}
            }
            match ended(cx.dialect, cx.rest()) {
                Err(Undecided) => return cx.more(),
                Ok(Ended::No) => {}
                Ok(Ended::Call) => return self.end_held(true, cx),
                Ok(Ended::Opener) => return cx.bad(0),
                Ok(Ended::Quote(len)) => {
                    // The opening quote is missing.
                    if self.mode != StringMode::String {
                        self.begin_string(cx);
                    }
                    cx.advance(len);
                    return self.end_held(true, cx);
                }
            }
            self.push_bare(scalar, cx);
            cx.advance(scalar.len_utf8());
        }
        cx.more()
    }

    /// Adds a character to a bare value. White space is held, because it is removed at the value's
    /// end.
    fn push_bare(&mut self, scalar: char, cx: &mut Cx<'_, '_>) {
        let guess = self.mode == StringMode::Guess;
        let is_text = guess && !may_go_on(&self.scalar, scalar, cx.dialect);
        self.scalar.push(scalar);
        if self.mode == StringMode::String {
            if !scalar.is_ascii_whitespace() || self.scalar.len() > MAX_HELD_BLANKS {
                self.put_held(cx);
            }
            return;
        }
        // A value whose type is guessed is held only as long as a number or a word can be.
        let limits = &cx.dialect.limits;
        if is_text || self.scalar.len() > if guess { limits.name } else { limits.value } {
            self.give_up_type(cx);
        }
    }

    /// Ends a value whose text is held or is being emitted.
    pub(super) fn end_held(&mut self, bare: bool, cx: &mut Cx<'_, '_>) -> Flow {
        if core::mem::take(&mut self.overlong) {
            return cx.bad(0);
        }
        let mut fit = Fit::Yes;
        if self.mode == StringMode::String {
            cx.out.put("\"");
        } else {
            self.lead_in(cx);
            let text = if bare { self.scalar.trim_ascii_end() } else { self.scalar.as_str() };
            let word = if bare { cx.dialect.word(text) } else { None };
            let out = |piece: &str| cx.out.put(piece);
            fit = match (self.mode, word) {
                (StringMode::Typed(types), Some("null")) if types.has(TypeSet::NULL) => {
                    typed("null", TypeSet::NULL, out)
                }
                (StringMode::Typed(types), _) => typed(text, types, out),
                (_, Some(json)) => json_or_string(json, out),
                _ => {
                    let _ = json_or_string(text, out);
                    Fit::Yes
                }
            };
        }
        self.scalar.clear();
        self.ended();
        match fit {
            Fit::Yes | Fit::Mended => Ok(()),
            Fit::No | Fit::Broken => Err(Scanned::Noted { used: cx.i, note: Note::Mistyped }),
        }
    }
}

/// The end of a bare value, other than a bracket or a comma.
enum Ended {
    No,
    /// A closing quote of this length, whose opening quote is missing.
    Quote(usize),
    /// The end of the call.
    Call,
    /// The opener of another call, which no value without quotes contains.
    Opener,
}

fn ended(dialect: &ValueDialect<'_>, text: &str) -> Result<Ended, Undecided> {
    if longest_prefix(text, dialect.ends.iter().map(|end| end.as_str()))?.is_some() {
        return Ok(Ended::Call);
    }
    if longest_prefix(text, dialect.openers.iter().map(|opener| opener.as_str()))?.is_some() {
        return Ok(Ended::Opener);
    }
    Ok(match dialect.quote(text)? {
        Some(quote @ Quote::Own(_)) => Ended::Quote(dialect.measure(quote).1),
        _ => Ended::No,
    })
}

/// Returns whether `next` may continue `held` as a number or a word.
fn may_go_on(held: &str, next: char, dialect: &ValueDialect<'_>) -> bool {
    match held.as_bytes() {
        _ if next.is_ascii_whitespace() => true,
        [] if matches!(next, '-' | '0'..='9') => true,
        [.., last] if last.is_ascii_whitespace() => false,
        [b'-' | b'0'..=b'9', ..] => matches!(next, '0'..='9' | '+' | '-' | '.' | 'e' | 'E'),
        _ => {
            let mut words = dialect.words();
            words.any(|(word, _)| word.strip_prefix(held).is_some_and(|w| w.starts_with(next)))
        }
    }
}
