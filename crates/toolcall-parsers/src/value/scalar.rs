//! Reading of words, numbers and keys without quotes.
//!
//! ```text
//! [None, +07]    null, 7      in Python
//! {a key: 1}     "a key": 1   in literals
//! ```

use super::{
    Syntax,
    container::Container,
    dialect::{Quote, Tolerated},
    number,
    prefix::StringPrefix,
    transcoder::{Cx, Flow, Top, Transcoder, TranscoderState},
};

impl Transcoder {
    /// Reads a word, or a string with a prefix.
    pub(super) fn word(&mut self, cx: &mut Cx<'_, '_>) -> Flow {
        let bytes = cx.rest().as_bytes();
        let part = |b: &&u8| b.is_ascii_alphanumeric() || **b == b'_';
        let len = bytes.iter().take_while(part).count();
        let word = &cx.rest()[..len];
        let python = cx.dialect.is(Syntax::Python);
        if let Some(n) = (1..=len).find(|&n| !self.may_begin(cx, &word[..n])) {
            return cx.bad(n.saturating_sub(1));
        }
        let Some(&following) = bytes.get(len) else { return cx.more() };
        if let (b'\'' | b'"', Some(prefix), true) = (following, StringPrefix::parse(word), python) {
            if prefix.bytes {
                return cx.inexpressible(len);
            }
            self.certain(cx)?;
            cx.advance(len);
            return self.begin_quoted(prefix, Some(Quote::Byte(following)), cx);
        }
        let outermost = self.frames.is_empty();
        self.word = match (cx.dialect.word(word), self.top) {
            (Some("null"), Top::Object) if outermost => "{}",
            (Some(_), Top::Object | Top::Text | Top::Key) if outermost => "",
            (Some(json), _) => json,
            (None, _) if python && is_nan(word) => return cx.inexpressible(len),
            (None, _) => "",
        };
        if self.word.is_empty() {
            return cx.bad(len);
        }
        if word.starts_with(['T', 'F', 'N']) {
            self.tolerate(Tolerated::PythonWord, cx)?;
        }
        cx.advance(len);
        self.state = TranscoderState::After;
        Ok(())
    }

    /// Returns whether a known word or a string may begin with `head`. Words that JSON cannot
    /// express count only in a call that is certain.
    fn may_begin(&self, cx: &Cx<'_, '_>, head: &str) -> bool {
        let python = cx.dialect.is(Syntax::Python);
        let string =
            python && StringPrefix::parse(head).is_some_and(|prefix| self.certain || !prefix.bytes);
        match self.top {
            Top::Text | Top::Key if self.frames.is_empty() => return string,
            Top::Object if self.frames.is_empty() => {
                let mut nulls = cx.dialect.words().filter(|&(_, json)| json == "null");
                return nulls.any(|(word, _)| word.starts_with(head));
            }
            _ => {}
        }
        string
            || cx.dialect.words().any(|(word, _)| word.starts_with(head))
            || python && self.certain && NANS.iter().any(|word| word.starts_with(head))
    }

    /// Reads a number in any spelling.
    pub(super) fn number(&mut self, cx: &mut Cx<'_, '_>) -> Flow {
        while let Some(byte) = cx.peek() {
            let begun = self.scalar.bytes().any(|b| b.is_ascii_digit());
            let sound = match byte {
                b'+' | b'-' if self.scalar.is_empty() => true,
                b'.' if !begun => !self.scalar.ends_with('.'),
                b'0'..=b'9' => {
                    if !begun {
                        self.certain(cx)?;
                        self.lead_in(cx);
                    }
                    true
                }
                _ if !begun => false,
                _ => number::continues(&self.scalar, byte),
            };
            if !sound && begun {
                match number::to_json(&self.scalar) {
                    Ok(json) => {
                        if json != self.scalar {
                            self.tolerate(Tolerated::Number, cx)?;
                        }
                        self.scalar = json;
                    }
                    Err(number::NumberFault::NotOne) => return cx.bad(0),
                    Err(number::NumberFault::Inexpressible) => return cx.inexpressible(0),
                }
                self.state = TranscoderState::After;
                return Ok(());
            }
            if !sound || self.scalar.len() >= cx.dialect.limits.name {
                return cx.bad(0);
            }
            self.scalar.push(char::from(byte));
            cx.advance(1);
        }
        cx.more()
    }

    /// Reads a key without quotes. It is held until the text after it was seen.
    pub(super) fn bare_key(&mut self, cx: &mut Cx<'_, '_>) -> Flow {
        let keywords = self.frames.last() == Some(&Container::Keywords);
        let literal = cx.dialect.is(Syntax::Literal) && !keywords;
        for scalar in cx.rest().chars() {
            // A quote ends the key if its opening quote is missing.
            let quote = if literal { cx.dialect.own_quote(cx.rest()) } else { Ok(None) };
            let Ok(quote) = quote else { return cx.more() };
            let goes_on = match scalar {
                _ if quote.is_some() => false,
                ':' if self.scalar.trim_ascii().is_empty() => return cx.bad(0),
                ',' | '{' | '}' | '[' | ']' if literal => return cx.bad(0),
                _ if literal => scalar != ':',
                '$' | '-' => !keywords,
                _ => scalar == '_' || scalar.is_alphanumeric(),
            };
            if !goes_on {
                cx.advance(quote.map_or(0, |quote| cx.dialect.measure(quote).1));
                self.scalar.truncate(self.scalar.trim_ascii_end().len());
                if self.is_plain() {
                    cx.out.put(&self.scalar);
                    self.scalar.clear();
                }
                self.state =
                    if self.is_plain() { TranscoderState::Done } else { TranscoderState::After };
                return Ok(());
            }
            if self.scalar.len() >= cx.dialect.limits.name {
                return cx.bad(0);
            }
            self.scalar.push(scalar);
            cx.advance(scalar.len_utf8());
        }
        cx.more()
    }
}

/// Words for numbers that JSON does not have.
const NANS: [&str; 4] = ["nan", "NaN", "inf", "Infinity"];

fn is_nan(word: &str) -> bool {
    NANS.contains(&word)
}

/// Returns whether a key without quotes may begin with the first character of `text`.
pub(super) fn begins_key(text: &str) -> bool {
    text.starts_with(|c: char| c == '_' || c == '$' || c.is_alphabetic())
}
