//! Search for the end of an element that contains a string: the first end tag that a legal
//! continuation follows.
//!
//! ```text
//! ~<text>a~</text>b~</text>~</invoke>                 the first end tag is data: text follows it
//! ~<text>~<text>a~</text>~</invoke> b~</text>..       a quoted element is opened and closed
//! ```

use super::{
    Elements, ElementsState,
    element::ElementKind,
    spec::{ElementSpec, TagAt},
};
use crate::{
    cursor::{Progress, Undecided},
    limits::{MAX_LOOKAHEAD, MAX_TAG_NAME},
    machine::{
        arguments::closing::{Closing, after_end},
        call_sink::CallSink,
    },
    typing::TypeSet,
};

/// A search in the held text, which begins with a tag.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ElementSearch {
    /// Number of bytes of the held text that were examined.
    looked: usize,
    /// Number of elements with the same name that are open in the held text.
    depth: usize,
    /// The last end tag, if only text followed it.
    text_after: Option<(usize, usize)>,
    /// The first end tag with text and then a legal continuation after it. Used if no better one is
    /// found.
    second_choice: Option<(usize, usize)>,
    /// Whether the text contains the opener of a call. Then no other markup may end the element.
    quotes_call: bool,
    /// Whether the whole end of a call was found before any opener of a call.
    call_ended: bool,
    /// Whether an own end tag was found with other text after it.
    ended_once: bool,
    /// Whether held text was emitted because it exceeded the limit.
    released: bool,
}

impl Elements {
    /// Returns whether the innermost element contains a string, in which tags may be data.
    pub(super) fn may_quote(&self, at: u64, out: &CallSink<'_>) -> bool {
        let [_, .., element] = self.open.as_slice() else { return false };
        let string = element.types.is_some_and(TypeSet::only_string);
        string
            && matches!(element.kind, ElementKind::Leaf | ElementKind::String)
            && at >= self.searched_to
            && out.calls.may_search(0)
    }

    /// Returns whether text is held until an element's end is found.
    pub(crate) fn is_searching(&self) -> bool {
        self.state == ElementsState::Search
    }

    /// Holds the text from the cursor on until the element's end is found.
    pub(super) fn begin_search(&mut self) {
        (self.search, self.state) = (ElementSearch::default(), ElementsState::Search);
    }

    /// Searches the held text after the cursor for the element's end.
    pub(super) fn search(
        &mut self,
        spec: &ElementSpec,
        out: &mut CallSink<'_>,
    ) -> Option<Progress> {
        let mut search = self.search;
        out.calls.count_known(search.looked);
        let held = out.cursor.rest();
        let found = self.own_end(spec, &mut search, held, out.calls.ended);
        self.search = search;
        if let Some((at, len)) = found {
            return self.end_search((at, len), out);
        }
        let most = out.calls.options.limits.value.min(MAX_LOOKAHEAD);
        if held.len() > most {
            // The text is the element's, whatever follows.
            let free = self.search.looked;
            self.push(&held[..free], out);
            out.cursor.advance(free);
            self.search = ElementSearch { looked: 0, released: true, ..self.search };
            (self.search.text_after, self.search.second_choice) = (None, None);
        }
        if !out.calls.ended {
            return Some(Progress::More);
        }
        if out.calls.cut {
            self.push(out.cursor.rest(), out);
            out.cursor.at = out.cursor.text.len();
            self.state = ElementsState::Text;
            return Some(Progress::More);
        }
        out.calls.count_search(held.len());
        let ElementSearch { released, call_ended, second_choice, ended_once, quotes_call, .. } =
            self.search;
        match second_choice {
            Some(end) if !released => self.end_search(end, out),
            _ if (call_ended || ended_once && !quotes_call) && !released => {
                self.searched_to = out.stream_offset(out.cursor.at + held.len());
                self.state = ElementsState::Text;
                None
            }
            _ => {
                self.push(out.cursor.rest(), out);
                out.cursor.at = out.cursor.text.len();
                (self.tag_bytes, self.state) = (0, ElementsState::Text);
                Some(Progress::Bad)
            }
        }
    }

    /// Ends the innermost element at the tag of `len` bytes at index `at` of the held text.
    fn end_search(
        &mut self,
        (at, len): (usize, usize),
        out: &mut CallSink<'_>,
    ) -> Option<Progress> {
        self.push(&out.cursor.rest()[..at], out);
        out.cursor.advance(at + len);
        self.close_element(out.cursor.at, out);
        None
    }

    /// Returns the index and length of the tag that ends the innermost element, if that is certain.
    fn own_end(
        &self,
        spec: &ElementSpec,
        search: &mut ElementSearch,
        held: &str,
        ended: bool,
    ) -> Option<(usize, usize)> {
        let first = spec.token.as_bytes().first().copied().unwrap_or(b'<');
        let own = self.tags_from_top();
        while let Some(hit) = memchr::memchr(first, &held.as_bytes()[search.looked..]) {
            let at = search.looked + hit;
            search.looked = at;
            let tag = match spec.tag(&held[at..]) {
                Err(Undecided) if ended => None,
                Err(Undecided) => return None,
                Ok(tag) => tag,
            };
            let mut len = held[at..].chars().next().map_or(1, char::len_utf8);
            if spec.is_broken(&held[at..]) {
                search.looked = at + len;
                continue;
            }
            if let Err(Undecided) = search.weigh(spec, &held[at..], ended) {
                return None;
            }
            // Text after a parameter is skipped, so an end tag before such text also counts.
            if let Some(text) = search.text_after.filter(|_| self.open.len() == 2) {
                match self.goes_on(spec, &held[at..], ended) {
                    Err(Undecided) => return None,
                    Ok(true) if search.second_choice.is_none() => search.second_choice = Some(text),
                    Ok(_) => {}
                }
            }
            if let Some((name, end)) = tag {
                let close = name.strip_prefix('/').map(str::trim_ascii);
                if name == own {
                    search.depth += 1;
                    len = end;
                } else if close == Some(own) && search.depth > 0 {
                    search.depth -= 1;
                    len = end;
                } else if close == Some(own) {
                    match self.continues(spec, &held[at + end..], ended) {
                        Err(Undecided) => return None,
                        Ok(true) => return Some((at, end)),
                        Ok(false) => {
                            (search.text_after, len) = (Some((at, end)), end);
                            search.ended_once = true;
                        }
                    }
                }
            }
            search.looked = at + len;
        }
        search.looked = held.len();
        None
    }

    /// Returns whether `rest`, the text after an element's end tag, is a legal continuation of the
    /// call:
    ///
    /// - another element,
    /// - the end of the outer element,
    /// - the call's end, followed by the section's end or another call.
    fn continues(&self, spec: &ElementSpec, rest: &str, ended: bool) -> Result<bool, Undecided> {
        // Models sometimes repeat the end tag.
        let again = |rest: &str| match spec.tag(rest) {
            Err(Undecided) if !ended => Err(Undecided),
            Ok(Some((name, len)))
                if name.strip_prefix('/').map(str::trim_ascii) == Some(self.tags_from_top()) =>
            {
                Ok(Some(len))
            }
            Ok(_) | Err(Undecided) => Ok(None),
        };
        match after_end(rest, again)? {
            None => Ok(true),
            Some("") if ended => Ok(true),
            Some("") => Err(Undecided),
            Some(rest) => self.goes_on(spec, rest, ended),
        }
    }

    /// Returns whether `rest` begins with a text that may follow the innermost element.
    fn goes_on(&self, spec: &ElementSpec, rest: &str, ended: bool) -> Result<bool, Undecided> {
        let (inner, turn) = (&spec.inner, spec.turn.as_slice());
        let followers = &[spec.ends.as_slice(), spec.openers.as_slice()];
        let ends = if self.open.len() == 2 { spec.ends.as_slice() } else { &[] };
        let closing = Closing { ends, inner, followers, turn, ended };
        if closing.is_at(rest)? {
            return Ok(true);
        }
        match spec.tag(rest) {
            Err(Undecided) if ended => Ok(false),
            Err(Undecided) => Err(Undecided),
            Ok(None) => Ok(false),
            Ok(Some((name, _))) => match name.strip_prefix('/') {
                Some(name) => {
                    let tag = self.tags_around();
                    Ok(!tag.is_empty() && tag == name.trim_ascii())
                }
                None => Ok(!closing.begins(&spec.openers, rest)?),
            },
        }
    }
}

impl ElementSearch {
    /// Records the opener or the end of a call at the start of `rest`.
    fn weigh(&mut self, spec: &ElementSpec, rest: &str, ended: bool) -> Result<(), Undecided> {
        let followers = &[spec.ends.as_slice(), spec.openers.as_slice()];
        let closing = Closing { ends: &spec.ends, inner: &spec.inner, followers, turn: &[], ended };
        if closing.begins(&spec.openers, rest)? {
            self.quotes_call = true;
        } else if !self.quotes_call && closing.is_at(rest)? {
            self.call_ended = true;
        }
        Ok(())
    }
}

impl ElementSpec {
    /// Returns whether `text` begins with a tag without a name, which does not occur in text.
    fn is_broken(&self, text: &str) -> bool {
        let TagAt::Yes(len) = self.tag_at(text) else { return false };
        let rest = text[len..].strip_prefix('/').unwrap_or(&text[len..]);
        rest.starts_with(|c: char| !c.is_alphanumeric() && c != '_')
    }

    /// Returns the name and the length of an element's tag at the start of `text`. The name of an
    /// end tag begins with a slash.
    fn tag<'t>(&self, text: &'t str) -> Result<Option<(&'t str, usize)>, Undecided> {
        let from = match self.tag_at(text) {
            TagAt::Yes(len) => len,
            TagAt::No => return Ok(None),
            TagAt::Undecided => return Err(Undecided),
        };
        let rest = &text[from..];
        // A longer text is no name, and is not searched further.
        let mut near = rest.bytes().take(MAX_TAG_NAME.saturating_add(1));
        match near.position(|byte| matches!(byte, b'<' | b'>' | b'\n' | b'"' | b'=')) {
            None if rest.len() <= MAX_TAG_NAME => Err(Undecided),
            Some(end) if rest[end..].starts_with('>') => {
                Ok(Some((rest[..end].trim_ascii(), from + end + 1)))
            }
            _ => Ok(None),
        }
    }
}
