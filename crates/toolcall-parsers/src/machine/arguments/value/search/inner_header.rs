//! The header of a parameter inside a value's text, which shows that the value quotes a call or that
//! its end is missing.

use jail_match::is_reserved;

use super::{EndSearch, ValuePlace, last};
use crate::{
    cursor::{TextCursor, Undecided},
    machine::{
        arguments::{
            parameters::header::HeaderStep,
            tag::{TagTexts, longest},
        },
        call_sink::CallSink,
    },
    typing::declares,
};

/// The header of a parameter inside the value's text.
#[derive(Clone, Copy)]
pub(super) struct InnerHeader {
    pub(super) len: usize,
    /// Whether the header lacks a tag.
    torn: bool,
}

impl EndSearch {
    /// Returns the parameter's header at the start of `text`. The header of a declared parameter may
    /// lack a tag.
    pub(super) fn parameter(
        &mut self,
        place: ValuePlace<'_>,
        text: &str,
        out: &CallSink<'_>,
    ) -> Result<Option<InnerHeader>, Undecided> {
        let ValuePlace { spec, tool, .. } = place;
        let Some((opener, len)) = last(longest(text, spec.openers()), out)? else {
            return Ok(None);
        };
        self.header.begin(spec, opener);
        let mut cursor = TextCursor::new(&text[len..]);
        match self.header.feed(spec, out.calls.options.limits.name, &mut cursor) {
            HeaderStep::Value(_) => Ok(Some(InnerHeader { len: len + cursor.at, torn: false })),
            HeaderStep::More if out.calls.ended => Ok(None),
            HeaderStep::More => Err(Undecided),
            HeaderStep::Again | HeaderStep::Bad => {
                let is_known = |key: &str| declares(&out.calls.tools, tool, key);
                let torn = self.header.is_torn(spec, cursor.rest(), is_known);
                let torn = last(torn.map(|torn| torn.then_some(())), out)?;
                Ok(torn.map(|()| InnerHeader { len: len + cursor.at, torn: true }))
            }
        }
    }

    /// Counts the parameter's opener at the start of `rest`, if it is part of a quotation: inside
    /// a quoted call, or where the family writes openers if its name is new.
    pub(super) fn open_parameter(
        &mut self,
        place: ValuePlace<'_>,
        (at, rest): (usize, &str),
        opener: InnerHeader,
    ) {
        let ValuePlace { spec, value, .. } = place;
        if !self.is_in_quoted_call() {
            let is_new = opener.torn || !place.given.has(self.header.key());
            if !is_new || !spec.headers.may_begin(self.line_start) {
                return;
            }
            self.hold(at);
        }
        // A parameter that is quoted as plain text is not closed by a marker token.
        let typed = !rest.starts_with(is_reserved);
        let mut ends = value.ends.iter().flat_map(TagTexts::texts);
        if !typed || ends.any(|end| !end.starts_with(is_reserved)) {
            self.depth += 1;
        }
    }
}
