//! Values with a missing end: the end of the call around them ends them.
//!
//! Outside of strings that is certain, since a complete call never contains markup there. A text
//! inside a string is data unless nothing but the end of the stream, an end-of-turn token or the
//! next call's opener follows it: `{c:<|"|>ls}<tool_call|>`. Where text follows, and the string is
//! in the family's own quotes, it is data if the closing quote arrives.

#![expect(
    clippy::arithmetic_side_effects,
    reason = "`i` is a place in the text of this feed or its end, and moves over what was found \
              there; a bracket is open where one is counted off"
)]

use super::{
    Note, Scanned, Syntax,
    dialect::ValueDialect,
    transcoder::{Cx, Flow, StringMode, Transcoder, TranscoderState},
};
use crate::{
    cursor::{Prefix, Undecided, after_blanks, blanks, filled, longest_prefix, within},
    limits::{MAX_BLANKS, MAX_HEAD, MAX_WAIT},
    tools::Tools,
    typing::admitted,
};

/// The position of the call's end after closing brackets, and the text after it.
enum Lost {
    No,
    /// The end is at this index, and nothing follows yet.
    Open(usize),
    /// The end is at this index.
    At(usize),
    /// The end is at this index, and text follows.
    Followed(usize),
}

impl Transcoder {
    /// Whether the end of the call, with the brackets before it, is here in a string.
    pub(super) fn begins_end(&self, cx: &Cx<'_, '_>) -> Result<bool, Scanned> {
        if cx.dialect.ends.is_empty() || !self.certain || self.frames.is_empty() {
            return Ok(false);
        }
        match self.look(cx.dialect, cx.rest()) {
            Err(Undecided) => Err(Scanned::More { used: cx.i }),
            Ok(Lost::No) => Ok(false),
            Ok(Lost::Open(_) | Lost::At(_) | Lost::Followed(_)) => Ok(true),
        }
    }

    /// Closes everything that is open if the call's end is here.
    pub(super) fn lost_end(&mut self, cx: &mut Cx<'_, '_>) -> Result<bool, Scanned> {
        if cx.dialect.ends.is_empty() || !self.certain || self.frames.is_empty() {
            return Ok(false);
        }
        let more = Scanned::More { used: cx.i };
        let at = if matches!(self.state, TranscoderState::Text(_)) {
            match self.look(cx.dialect, cx.rest()) {
                Err(Undecided) | Ok(Lost::Open(_)) => return Err(more),
                Ok(Lost::No) => return Ok(false),
                Ok(Lost::Followed(_)) => return self.followed(cx),
                Ok(Lost::At(at)) => at,
            }
        } else {
            match self.at_end(cx.dialect, cx.rest()) {
                Err(Undecided) => return Err(more),
                Ok(false) => return Ok(false),
                Ok(true) => 0,
            }
        };
        self.close_lost(cx)?;
        cx.advance(at);
        Err(Scanned::Noted { used: cx.i, note: Note::LostEnd })
    }

    /// Handles the call's end in a string of the family's own quotes, with text after it. Data is
    /// taken in; a quote after the opener of another call may belong to that call.
    #[expect(
        clippy::indexing_slicing,
        reason = "`looked` bytes of the same text were seen before, and there are three stops"
    )]
    fn followed(&mut self, cx: &mut Cx<'_, '_>) -> Result<bool, Scanned> {
        let Some(quote) = self.own_quote() else { return Ok(false) };
        let rest = cx.rest();
        let room = cx.dialect.limits.value.saturating_sub(self.scalar.len());
        // However little room is left, there is a step to take.
        let most = room.clamp(8, MAX_WAIT);
        let mut data = None;
        while let Some(hit) = memchr::memchr(self.stops[0], &rest.as_bytes()[self.looked..]) {
            let at = self.looked + hit;
            if at >= most {
                break;
            }
            match cx.dialect.matches(quote, &rest[at..]) {
                Prefix::Match => {
                    data = Some(at);
                    break;
                }
                Prefix::Partial => {
                    self.looked = at;
                    return Err(Scanned::More { used: cx.i });
                }
                Prefix::Mismatch => self.looked = at + 1,
            }
        }
        let Some(end) = data.or_else(|| filled(rest, most)) else {
            self.looked = rest.len();
            return Err(Scanned::More { used: cx.i });
        };
        self.looked = 0;
        let data = &rest[..end];
        if cx.dialect.follows.iter().any(|token| data.contains(token.as_str())) {
            cx.bad(0)?;
        }
        self.write(data, cx)?;
        cx.advance(end);
        Ok(true)
    }

    /// Completes the value if `cx` holds all that is left of the stream; the index of the call's
    /// end in it.
    pub(super) fn finish(&mut self, cx: &mut Cx<'_, '_>) -> Option<usize> {
        let at = if self.is_last_bracket(cx.rest()) {
            self.end_text(cx).ok()?;
            cx.rest().len()
        } else if let (TranscoderState::Text(_), Ok(Lost::Open(at) | Lost::Followed(at))) =
            (self.state, self.look(cx.dialect, cx.rest()))
        {
            self.close_lost(cx).ok()?;
            at
        } else {
            return None;
        };
        self.close_all(cx);
        cx.out.flush();
        Some(cx.i + at)
    }

    /// Ends what is being read, and all brackets. What would not be JSON stays a fault.
    fn close_lost(&mut self, cx: &mut Cx<'_, '_>) -> Flow {
        match self.state {
            _ if self.is_open_kind() => return cx.bad(0),
            TranscoderState::Text(_) if self.mode != StringMode::Key => match self.end_text(cx) {
                // A type that does not fit is the lesser news.
                Ok(()) | Err(Scanned::Noted { .. }) => {}
                fault => return fault,
            },
            TranscoderState::After
                if self.key && self.scalar.is_empty() && self.mode != StringMode::Key =>
            {
                return cx.bad(0);
            }
            TranscoderState::After if !self.key => self.settle(cx),
            TranscoderState::Value if self.lead.is_empty() => return cx.bad(0),
            _ => {}
        }
        self.close_all(cx);
        Ok(())
    }

    /// Whether `text` begins with the call's end.
    pub(super) fn at_end(&self, dialect: &ValueDialect<'_>, text: &str) -> Result<bool, Undecided> {
        Ok(!self.frames.is_empty() && longest_prefix(text, ends(dialect))?.is_some())
    }

    /// Looks for the call's end in the string that `text` goes on with.
    #[expect(clippy::indexing_slicing, reason = "`end` is the place of an end in the list")]
    fn look(&self, dialect: &ValueDialect<'_>, text: &str) -> Result<Lost, Undecided> {
        if !dialect.is(Syntax::Literal) || self.mode == StringMode::Plain || self.frames.is_empty()
        {
            return Ok(Lost::No);
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
        let Some(end) = longest_prefix(&text[at..], ends(dialect))? else { return Ok(Lost::No) };
        let behind = at + dialect.ends[end].len();
        let Some(rest) = after_blanks(&text[behind..]) else { return Ok(Lost::No) };
        if rest.is_empty() {
            return Ok(Lost::Open(at));
        }
        match longest_prefix(rest, dialect.follows.iter().map(|text| text.as_str()))? {
            Some(_) => Ok(Lost::At(at)),
            None if self.own_quote().is_some() => Ok(Lost::Followed(at)),
            None => Ok(Lost::No),
        }
    }
}

/// Whether `text` continues with the end of a call and the head of another one, whose first value
/// has quotes like the string around it: `), ring(word='`. Then the end of the outer string
/// is missing.
pub(super) fn begins_call(
    dialect: &ValueDialect<'_>,
    text: &str,
    quote: u8,
) -> Result<bool, Undecided> {
    let Some(tools) = dialect.tools else { return Ok(false) };
    within(MAX_HEAD, text, |text| begins_call_of(tools, text, quote))
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

pub(super) fn ends<'a>(dialect: &ValueDialect<'a>) -> impl Iterator<Item = &'a str> {
    dialect.ends.iter().map(|end| end.as_str())
}
