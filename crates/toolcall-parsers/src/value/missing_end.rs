//! Values with a missing end, which are ended by the end of the call around them.
//!
//! ```text
//! {a:12<tool_call|>                       outside of strings: the call ended
//! {c:<|"|>ls}<tool_call|>                 inside a string, at the end of the turn: the call ended
//! {c:<|"|>ls}<tool_call|> and<|"|>}…      inside a string: data, because the closing quote follows
//! ```
//!
//! Outside of strings the end is certain, because a complete call does not contain markup there.
//! Inside a string it counts only in the family's own quotes, and only if no closing quote comes
//! after it. In other quotes it is data, and so the call is not complete.
//!
//! The call is repaired. It is malformed if a value is missing, too: after a key, a comma or the
//! opening bracket of an inner value.

#![expect(
    clippy::arithmetic_side_effects,
    reason = "`i` is an index of the fed text or its length; `open` is positive where it is decreased"
)]

use super::{
    Note, Scanned,
    dialect::ValueDialect,
    transcoder::{Cx, Flow, StringMode, Transcoder, TranscoderState},
};
use crate::{
    cursor::{Prefix, Undecided, after_blanks, blanks, filled, longest_prefix, within},
    limits::{MAX_BLANKS, MAX_CALL_HEAD, MAX_TEXT_AFTER_END},
    tools::Tools,
    typing::admitted,
};

/// The call's end inside a string, after optional closing brackets, and the text after it.
enum CallEndInString {
    No,
    /// The end is at this index, and the text stops after it.
    Open(usize),
    /// The end is at this index, and a text follows that proves it.
    At(usize),
    /// The end is at this index, and other text follows.
    Followed(usize),
}

impl Transcoder {
    /// Returns whether a possible end of the call is here, inside a string.
    pub(super) fn begins_end(&self, cx: &Cx<'_, '_>) -> Result<bool, Scanned> {
        if cx.dialect.ends.is_empty() || !self.certain || self.frames.is_empty() {
            return Ok(false);
        }
        match self.call_end_at(cx.dialect, cx.rest()) {
            Err(Undecided) => Err(Scanned::More { used: cx.i }),
            Ok(CallEndInString::No) => Ok(false),
            Ok(
                CallEndInString::Open(_) | CallEndInString::At(_) | CallEndInString::Followed(_),
            ) => Ok(true),
        }
    }

    /// Closes all open strings and brackets if the call's end is here.
    pub(super) fn close_at_call_end(&mut self, cx: &mut Cx<'_, '_>) -> Result<bool, Scanned> {
        if cx.dialect.ends.is_empty() || !self.certain || self.frames.is_empty() {
            return Ok(false);
        }
        let more = Scanned::More { used: cx.i };
        let at = if matches!(self.state, TranscoderState::Text(_)) {
            match self.call_end_at(cx.dialect, cx.rest()) {
                Err(Undecided) | Ok(CallEndInString::Open(_)) => return Err(more),
                Ok(CallEndInString::No) => return Ok(false),
                Ok(_) if !self.may_lack_end(cx.dialect) => return Ok(false),
                Ok(CallEndInString::Followed(_)) => return self.followed(cx),
                Ok(CallEndInString::At(at)) => at,
            }
        } else {
            match self.at_end(cx.dialect, cx.rest()) {
                Err(Undecided) => return Err(more),
                Ok(false) => return Ok(false),
                Ok(true) => 0,
            }
        };
        self.close_at_missing_end(cx)?;
        cx.advance(at);
        Err(Scanned::Noted { used: cx.i, note: Note::MissingEnd })
    }

    /// Returns whether the call's end inside a string counts if the string's own end never came. Not
    /// if the message was cut, if a limit released text of the string, or if the end may be that of a
    /// quoted call.
    fn may_lack_end(&self, dialect: &ValueDialect<'_>) -> bool {
        let is_whole = dialect.ended && !dialect.cut && !self.own.released;
        self.mode == StringMode::Key || is_whole && !self.own.quoted_call.is_seen()
    }

    /// Handles the call's end in a string with the family's own quotes, if text follows. If the
    /// closing quote follows, the end is data. But if the opener of another call is before that
    /// quote, the call is malformed.
    #[expect(
        clippy::indexing_slicing,
        reason = "`looked` bytes of the same text were examined before; `stops` has three entries"
    )]
    fn followed(&mut self, cx: &mut Cx<'_, '_>) -> Result<bool, Scanned> {
        let Some(quote) = self.own_quote() else { return Ok(false) };
        let rest = cx.rest();
        let room = cx.dialect.limits.value.saturating_sub(self.scalar.len());
        // At least a few bytes, so that the loop makes progress at any limit.
        let most = room.clamp(8, MAX_TEXT_AFTER_END);
        let mut data = None;
        while let Some(hit) = memchr::memchr(self.stops[0], &rest.as_bytes()[self.own.looked..]) {
            let at = self.own.looked + hit;
            if at >= most {
                break;
            }
            match cx.dialect.matches(quote, &rest[at..]) {
                Prefix::Match => {
                    data = Some(at);
                    break;
                }
                Prefix::Partial => {
                    self.own.looked = at;
                    return Err(Scanned::More { used: cx.i });
                }
                Prefix::Mismatch => self.own.looked = at + 1,
            }
        }
        let Some(end) = data.or_else(|| filled(rest, most)) else {
            self.own.looked = rest.len();
            return Err(Scanned::More { used: cx.i });
        };
        self.own.looked = 0;
        let data = &rest[..end];
        if cx.dialect.follows.iter().any(|token| data.contains(token.as_str())) {
            cx.bad(0)?;
        }
        self.write(data, cx)?;
        cx.advance(end);
        Ok(true)
    }

    /// Completes the value at the end of the stream, whose rest is in `cx`. Returns the index of
    /// the call's end.
    pub(super) fn finish(&mut self, cx: &mut Cx<'_, '_>) -> Option<usize> {
        let at = if self.is_last_bracket(cx.rest()) {
            self.end_text(cx).ok()?;
            cx.rest().len()
        } else if let (
            TranscoderState::Text(_),
            Ok(CallEndInString::Open(at) | CallEndInString::Followed(at)),
        ) = (self.state, self.call_end_at(cx.dialect, cx.rest()))
            && self.may_lack_end(cx.dialect)
        {
            self.close_at_missing_end(cx).ok()?;
            at
        } else {
            return None;
        };
        self.close_all(cx);
        cx.out.flush();
        Some(cx.i + at)
    }

    /// Ends the current value and closes all brackets. Fails if the result would not be JSON.
    fn close_at_missing_end(&mut self, cx: &mut Cx<'_, '_>) -> Flow {
        match self.state {
            _ if self.is_open_kind() => return cx.bad(0),
            TranscoderState::Text(_) if self.mode != StringMode::Key => match self.end_text(cx) {
                // The missing end is reported instead of a type that does not fit.
                Ok(()) | Err(Scanned::Noted { .. }) => {}
                fault => return fault,
            },
            TranscoderState::After if !self.key => self.settle(cx),
            // The brackets of the arguments, and nothing in them.
            TranscoderState::Element if self.frames.len() == 1 && !self.lead.ends_with(", ") => {}
            TranscoderState::Done => {}
            // A key without its value, or a comma or bracket without the element after it.
            _ => return cx.bad(0),
        }
        self.close_all(cx);
        Ok(())
    }

    /// Returns whether `text` begins with the call's end.
    pub(super) fn at_end(&self, dialect: &ValueDialect<'_>, text: &str) -> Result<bool, Undecided> {
        Ok(!self.frames.is_empty() && longest_prefix(text, ends(dialect))?.is_some())
    }

    /// Returns the call's end at the start of `text`, inside a string.
    #[expect(clippy::indexing_slicing, reason = "`end` is an index of the list")]
    fn call_end_at(
        &self,
        dialect: &ValueDialect<'_>,
        text: &str,
    ) -> Result<CallEndInString, Undecided> {
        // A string in other quotes may be text that begins with an apostrophe.
        let may_end = self.own_quote().is_some() && self.mode != StringMode::Plain;
        if !may_end || self.frames.is_empty() {
            return Ok(CallEndInString::No);
        }
        let mut at = 0;
        let mut open = self.frames.len();
        while open > 0 && matches!(text.as_bytes().get(at), Some(b'}' | b']')) {
            at += 1;
            open -= 1;
            let blank = blanks(&text[at..]);
            at += if blank <= MAX_BLANKS { blank } else { 0 };
        }
        if at == text.len() {
            return Err(Undecided);
        }
        let Some(end) = longest_prefix(&text[at..], ends(dialect))? else {
            return Ok(CallEndInString::No);
        };
        let following = at + dialect.ends[end].len();
        let Some(rest) = after_blanks(&text[following..]) else { return Ok(CallEndInString::No) };
        if rest.is_empty() {
            return Ok(CallEndInString::Open(at));
        }
        match longest_prefix(rest, dialect.follows.iter().map(|text| text.as_str()))? {
            Some(_) => Ok(CallEndInString::At(at)),
            None => Ok(CallEndInString::Followed(at)),
        }
    }
}

/// Returns whether `text`, inside a string, is the end of a call and the head of another one whose
/// first value has the same quotes: `), ring(word='`. Then the string's end is missing.
pub(super) fn begins_call(
    dialect: &ValueDialect<'_>,
    text: &str,
    quote: u8,
) -> Result<bool, Undecided> {
    let Some(tools) = dialect.tools else { return Ok(false) };
    within(MAX_CALL_HEAD, text, |text| begins_call_of(tools, text, quote))
}

fn begins_call_of(tools: &Tools, text: &str, quote: u8) -> Result<bool, Undecided> {
    let other = |c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-' | '.'));
    let between = |c: char| c.is_ascii_whitespace() || matches!(c, ')' | ',');
    let rest = text.trim_start_matches(between);
    let Some(at) = rest.find(other) else {
        return if tools.may_become(rest) { Err(Undecided) } else { Ok(false) };
    };
    let (name, rest) = rest.split_at(at);
    let (Some(tool), Some(rest)) = (tools.get(name), rest.strip_prefix('(')) else {
        return Ok(false);
    };
    let (key, rest) = rest.split_at(rest.find(other).ok_or(Undecided)?);
    match rest.as_bytes() {
        [b'='] => Err(Undecided),
        [b'=', next, ..] => Ok(*next == quote && admitted(&tool.parameters, key).is_some()),
        _ => Ok(false),
    }
}

/// Returns whether `text`, inside a string, is the head of a parameter and the quote of its value:
/// `, word="`. After a quote in the string that may not be data, the string's end is missing.
pub(super) fn begins_parameter(dialect: &ValueDialect<'_>, text: &str) -> Result<bool, Undecided> {
    within(MAX_CALL_HEAD, text, |text| {
        let other = |c: char| !(c.is_alphanumeric() || c == '_');
        let rest = text.trim_start_matches(|c: char| c.is_ascii_whitespace() || c == ',');
        let Some(at) = rest.find(other) else { return Err(Undecided) };
        let (key, rest) = rest.split_at(at);
        let known = dialect.tools.is_none_or(|tools| {
            tools.is_empty() || tools.iter().any(|tool| admitted(&tool.parameters, key).is_some())
        });
        match rest.as_bytes() {
            [b'='] => Err(Undecided),
            [b'=', b'"' | b'\'', ..] => Ok(known && !key.is_empty()),
            _ => Ok(false),
        }
    })
}

/// Returns the texts that end the call.
pub(super) fn ends<'a>(dialect: &ValueDialect<'a>) -> impl Iterator<Item = &'a str> {
    dialect.ends.iter().map(|end| end.as_str())
}
