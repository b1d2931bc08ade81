//! Classification of the tags inside a value.
//!
//! ```text
//! </parameter>       Own
//! <parameter=days>   Header
//! </function>        Ending
//! <b>                Nothing
//! ```

use super::{
    Fed, Phase, Value, ValuePlace,
    ending::{self, Ending},
    search,
    waiting::{self, Waited},
};
use crate::{
    cursor::Undecided,
    machine::{
        arguments::tag::{TagTexts, longest},
        call_sink::CallSink,
    },
    texts::TextMatch,
    tools::Tools,
};

/// The meaning of a byte that may begin a tag.
pub(super) enum FoundTag {
    Nothing,
    /// A tag that may end the value, or open a quoted parameter inside it.
    Tag,
    Undecided,
    /// The value's end tag, with its length.
    Own(usize),
    /// A repetition of the tag before the value, with its length.
    Again(usize),
    /// The start of quoted text: the number of the quotes, and the length of the tag.
    Quote(usize, usize),
    /// The opener of a parameter: its number and its length.
    Header(usize, usize),
    /// Other markup that ends the value.
    Ending(Ending),
}

impl Value {
    /// Searches the held text after the cursor for the value's end.
    pub(super) fn search(&mut self, place: ValuePlace<'_>, out: &mut CallSink<'_>) -> Option<Fed> {
        match self.search.feed(place, out.cursor.rest(), out) {
            search::SearchResult::Undecided => Some(Fed::More),
            search::SearchResult::End { at, len } => {
                self.push(place.value.edges, &out.cursor.rest()[..at], out);
                out.cursor.advance(at + len);
                Some(Fed::Own)
            }
            search::SearchResult::Nothing { looked } => {
                self.searched_to = out.stream_offset(out.cursor.at + looked);
                out.calls.count_search(looked);
                self.phase = Phase::Text;
                None
            }
        }
    }

    /// Handles the call's end tag, of `len` bytes, with text after it.
    pub(super) fn followed(
        &mut self,
        place: ValuePlace<'_>,
        len: usize,
        out: &mut CallSink<'_>,
    ) -> Option<Fed> {
        self.looked = self.looked.max(len);
        let limits = out.calls.options.limits;
        let room = limits.value.saturating_sub(self.collected.len());
        let limits = crate::CallLimits { value: room.max(len), ..limits };
        let calls = (&out.calls.tools, limits);
        let shown = waiting::examine(place, out.cursor.rest(), &mut self.looked, calls);
        if shown != Waited::Undecided {
            self.looked = 0;
        }
        match shown {
            Waited::Undecided => Some(Fed::More),
            Waited::Call => Some(Fed::Call),
            Waited::Torn => Some(Fed::Torn),
            Waited::Data(end) => {
                self.push(place.value.edges, &out.cursor.rest()[..end], out);
                out.cursor.advance(end);
                None
            }
        }
    }

    /// Classifies the text at `at`. The text from `from` on was not added to the value yet. `first`
    /// is set if no tag was examined between `from` and `at`.
    pub(super) fn find(
        &self,
        place: ValuePlace<'_>,
        text: &str,
        (from, at): (usize, usize),
        first: bool,
        tools: &Tools,
    ) -> FoundTag {
        let ValuePlace { spec, value, .. } = place;
        let rest = &text[at..];
        match spec.value_tags.match_at(rest) {
            TextMatch::None => return FoundTag::Nothing,
            // The text is shorter than every possible tag.
            TextMatch::Begun => return FoundTag::Undecided,
            TextMatch::Perhaps => {}
        }
        let mut undecided = false;
        let mut tag = |tags: &[TagTexts]| match longest(rest, tags) {
            Ok(found) => found,
            Err(Undecided) => {
                undecided = true;
                None
            }
        };
        if let Some((_, len)) = tag(&value.ends) {
            return FoundTag::Own(len);
        }
        if self.lacks_tag && tag(&value.again).is_some() {
            return FoundTag::Ending(Ending::Torn);
        }
        if self.blank
            && at == from
            && let Some((_, len)) = tag(&value.again)
        {
            return FoundTag::Again(len);
        }
        if first && self.quote_here && text[from..at].trim_ascii().is_empty() {
            for (n, (open, _)) in value.quotes.iter().enumerate() {
                if let Some((_, len)) = tag(core::slice::from_ref(open)) {
                    return FoundTag::Quote(n, len);
                }
            }
        }
        let line_start = if at > from { text.as_bytes()[at - 1] == b'\n' } else { self.line_start };
        if spec.headers.may_begin(line_start)
            && let Some((n, len)) = tag(spec.openers())
        {
            return FoundTag::Header(n, len);
        }
        match ending::ending_at(spec, &value.ends, rest, tools) {
            Ok(Some(ending)) => return FoundTag::Ending(ending),
            Ok(None) => {}
            Err(Undecided) => undecided = true,
        }
        if undecided { FoundTag::Undecided } else { FoundTag::Nothing }
    }
}
