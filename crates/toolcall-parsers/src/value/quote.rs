//! Handling of a quote inside a string that is equal to the opening quote.
//!
//! ```text
//! f(a='it's', b=1)      the quote before `s` is data: no delimiter follows it
//!          ^ this quote ends the string: a comma follows
//! ```

use super::{
    Syntax,
    dialect::Quote,
    prefix::{Continued, continues},
    string::{StringAt, Text},
    transcoder::{Cx, Flow, Transcoder, TranscoderState},
};
use crate::cursor::{Undecided, blanks};

impl Transcoder {
    /// Handles a quote that is equal to the opening one.
    #[expect(
        clippy::indexing_slicing,
        reason = "the range ends at the length of the text or before"
    )]
    pub(super) fn at_quote(&mut self, text: Text, cx: &mut Cx<'_, '_>) -> Flow {
        let rest = cx.rest();
        if text.triple {
            let head = &rest.as_bytes()[..rest.len().min(3)];
            let run = head.iter().take_while(|&&b| b == self.stops[0]).count();
            if run == head.len() && run < 3 {
                return cx.more();
            }
            if run < 3 {
                self.write(&rest[..run], cx)?;
                cx.advance(run);
                return Ok(());
            }
            cx.advance(3);
            return self.go(text, StringAt::End);
        }
        cx.advance(cx.dialect.measure(text.quote).1);
        match text.quote {
            Quote::Byte(_) if cx.dialect.nests_quotes() => self.go(text, StringAt::Quote),
            _ => self.end_text(cx),
        }
    }

    /// Decides by the text after a quote whether it ended the string.
    pub(super) fn after_quote(&mut self, text: Text, cx: &mut Cx<'_, '_>) -> Flow {
        let blank = blanks(cx.rest());
        let room = cx.dialect.limits.name.saturating_sub(self.blanks.len());
        let taken = blank.min(room);
        self.blanks.push_str(&cx.rest()[..taken]);
        cx.advance(taken);
        let next = cx.rest().as_bytes();
        let ends = match next {
            _ if blank > room => true,
            [] => return cx.more(),
            // If another bracket or quote follows, the parenthesis does not end the call, so the
            // quote is data.
            [b')'] if self.ends_call(text) => return cx.more(),
            [b')', b')' | b'"' | b'\'', ..] if self.ends_call(text) => false,
            [b',' | b')' | b']' | b'}' | b':', ..] => true,
            _ if cx.dialect.is(Syntax::Literal) => match self.at_end(cx.dialect, cx.rest()) {
                Ok(at_end) => at_end,
                Err(Undecided) => return cx.more(),
            },
            _ if cx.dialect.is(Syntax::Python) && !text.nested => match continues(cx.rest()) {
                None => return cx.more(),
                Some(Continued::No) => false,
                // Without a blank between them, these are inner quotes (`'it''s'`), not adjacent
                // strings.
                Some(_) if self.blanks.is_empty() => false,
                Some(_) => {
                    self.blanks.clear();
                    return self.go(text, StringAt::End);
                }
            },
            _ => false,
        };
        let blanks = core::mem::take(&mut self.blanks);
        let step = if ends {
            self.own.inner_quotes = text.nested;
            self.end_text(cx)
        } else if self.key && cx.dialect.is(Syntax::Python) {
            // No key contains quotes: the string has ended, and what follows is a fault.
            self.go(text, StringAt::End)?;
            cx.bad(0)
        } else {
            if cx.dialect.is(Syntax::Python) {
                self.stops[1] = b',';
            }
            self.state = TranscoderState::Text(Text { at: StringAt::Inside, nested: true, ..text });
            let mut quote = [0; 4];
            let quote = char::from(self.stops[0]).encode_utf8(&mut quote);
            self.write(quote, cx).and_then(|()| self.write(&blanks, cx))
        };
        self.blanks = blanks;
        self.blanks.clear();
        step
    }
}
