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
    search::{MissingEnd, SearchResult},
    waiting::{self, Waited},
};
use crate::{
    cursor::Undecided,
    limits::MAX_CALL_HEAD,
    machine::{
        arguments::{
            parameters::spec::ValueSpec,
            tag::{TagTexts, longest},
        },
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
    /// The start of the value is undecided: the tag before it may be repeated, or quotes may begin.
    Opening,
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
    /// A tag, but searching for the value's end would take too long.
    Lost,
}

impl Value {
    /// Searches the held text after the cursor for the value's end.
    pub(super) fn search(&mut self, place: ValuePlace<'_>, out: &mut CallSink<'_>) -> Option<Fed> {
        let (text, edges) = (out.cursor.rest(), place.value.edges);
        match self.search.feed(place, text, out) {
            SearchResult::Undecided { free } => {
                self.push(edges, &text[..free], out);
                out.cursor.advance(free);
                self.search.drop_front(free);
                Some(Fed::More)
            }
            SearchResult::End { at, len } => {
                self.push(edges, &text[..at], out);
                out.cursor.advance(at + len);
                Some(Fed::Own)
            }
            SearchResult::Missing(MissingEnd::Elsewhere { free }, looked) => {
                self.searched_to = out.stream_offset(out.cursor.at + looked);
                self.push(edges, &text[..free], out);
                out.cursor.advance(free);
                out.calls.count_search(looked);
                self.phase = Phase::Text;
                None
            }
            SearchResult::Missing(MissingEnd::Cut, _) => {
                self.push(edges, &text[..cut_tag_at(place, text)], out);
                out.cursor.at = out.cursor.text.len();
                self.phase = Phase::Text;
                Some(Fed::More)
            }
            SearchResult::Missing(MissingEnd::Unknown, _) => {
                self.push(edges, text, out);
                self.phase = Phase::Text;
                Some(Self::lose_end(out))
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
        let at_start = self.blank && at == from
            || first && self.quote_here && text[from..at].trim_ascii().is_empty();
        match spec.value_tags.match_at(rest) {
            TextMatch::None => return FoundTag::Nothing,
            // The text is shorter than every possible tag.
            TextMatch::Begun if at_start => return FoundTag::Opening,
            TextMatch::Begun => return FoundTag::Undecided,
            TextMatch::Perhaps => {}
        }
        if at_start {
            match self.opening(value, rest, at == from) {
                Err(Undecided) => return FoundTag::Opening,
                Ok(Some(found)) => return found,
                Ok(None) => {}
            }
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

impl Value {
    /// Returns a repetition of the tag before the value, or the start of quoted text, at the start
    /// of `rest`. `repeats` states whether a repetition may be here.
    fn opening(
        &self,
        value: &ValueSpec,
        rest: &str,
        repeats: bool,
    ) -> Result<Option<FoundTag>, Undecided> {
        if repeats
            && self.blank
            && !self.lacks_tag
            && let Some((_, len)) = longest(rest, &value.again)?
        {
            return Ok(Some(FoundTag::Again(len)));
        }
        if self.quote_here {
            for (n, (open, _)) in value.quotes.iter().enumerate() {
                if let Some((_, len)) = longest(rest, core::slice::from_ref(open))? {
                    return Ok(Some(FoundTag::Quote(n, len)));
                }
            }
        }
        Ok(None)
    }
}

/// Returns the index of the tag in which `text` was cut, or its length.
fn cut_tag_at(ValuePlace { spec, value, .. }: ValuePlace<'_>, text: &str) -> usize {
    let tags = value.ends.iter().chain(&spec.ends).chain(&spec.parts).chain(spec.openers());
    let heads = spec.heads.iter().filter_map(|head| head.opener());
    let texts = tags.chain(heads).flat_map(TagTexts::texts);
    let from = text.len().saturating_sub(MAX_CALL_HEAD);
    let bytes = text.as_bytes();
    let is_piece = |&at: &usize| {
        text.is_char_boundary(at)
            && texts
                .clone()
                .any(|tag| tag.len() > bytes.len() - at && tag.as_bytes().starts_with(&bytes[at..]))
    };
    (from..text.len()).find(is_piece).unwrap_or(text.len())
}
