//! Search for a value's end: the first own end tag that a legal continuation follows.
//!
//! ```text
//! a</parameter>b</parameter></function>      the first end tag is data: text follows it
//! <function=f>\n<parameter=k>v</parameter>   a quoted call: its parameters are opened and closed
//! a</function></tool_call> b</parameter>     the end of a call is data while the value is open
//! ```
//!
//! The search has no limit, but held text has one. Text is held from the first tag on that would
//! count if the value's end were missing. Beyond the limit it is emitted as the value's text, and
//! the search goes on with the same counts. If the message ends without an end, see [`MissingEnd`].

mod inner_header;

use alloc::vec::Vec;
use core::mem;

use super::{
    TextMode, ValuePlace,
    continuation::{
        continues, ends_by_token, ends_call, goes_on, inner_tags, last, next_call_follows,
        parameter_follows,
    },
    ending,
    shield::Shield,
};
use crate::{
    cursor::Undecided,
    limits::{MAX_LOOKAHEAD, MAX_QUOTED_CALLS},
    machine::{
        arguments::{parameters::header::ParameterHeader, tag::longest},
        call_sink::CallSink,
    },
    options::Tolerance,
};

/// The result of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SearchResult {
    /// More text is needed. The first `free` bytes certainly belong to the value.
    Undecided { free: usize },
    /// The value's end tag of length `len` is at index `at`.
    End { at: usize, len: usize },
    /// The first `looked` bytes do not contain the value's end.
    Missing(MissingEnd, usize),
}

/// The place of a value's end whose own end tag is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MissingEnd {
    /// Other markup shows where the value ends. The first `free` bytes certainly belong to it.
    Elsewhere { free: usize },
    /// The message was cut inside the value.
    Cut,
    /// Everything up to the end of the message may belong to the value, so the call is malformed.
    Unknown,
}

/// The decision of a walk over the held text.
enum Walked {
    End { at: usize, len: usize },
    Elsewhere,
}

/// A search in the text of a value, from its first tag on.
#[derive(Debug, Clone, Default)]
pub(super) struct EndSearch {
    /// Number of bytes of the held text that were examined.
    looked: usize,
    /// Number of quoted parameters that are open.
    depth: usize,
    /// The quoted calls that are open, as the depth at their heads.
    quoted: Vec<usize>,
    /// Number of open quoted calls beyond [`MAX_QUOTED_CALLS`].
    quoted_more: usize,
    /// Whether the head of a call was found. Then no other markup may end the value.
    quotes_call: bool,
    /// The index from which text is held.
    held_from: Option<usize>,
    /// Whether held text was emitted because it exceeded the limit.
    released: bool,
    /// The last end tag, if only text followed it.
    text_after: Option<(usize, usize)>,
    /// The first end tag with text and then a legal continuation after it. Used if no better one is
    /// found.
    second_choice: Option<(usize, usize)>,
    /// The first end tag that ends the value unless a better one is found: it is inside a quoted
    /// call, or the head of another call follows it.
    doubtful: Option<(usize, usize)>,
    /// Whether there are several such end tags, so that none counts.
    doubted_twice: bool,
    /// Whether the whole end of a call was found outside of quoted calls.
    call_ended: bool,
    /// Whether a parameter followed the end of a quoted one.
    goes_on: bool,
    /// Whether the position is at the start of a line.
    line_start: bool,
    shield: Shield,
    /// Whether the value must be JSON. Then tags after its last bracket are not data.
    json: bool,
    header: ParameterHeader,
}

impl EndSearch {
    /// Starts a search. `shield` has read the value's text so far, `mode` is its conversion, and
    /// `line_start` states whether the text begins a line.
    pub(super) fn begin(&mut self, shield: Shield, mode: TextMode, line_start: bool) {
        let (mut quoted, header) = (mem::take(&mut self.quoted), mem::take(&mut self.header));
        quoted.clear();
        let json = mode.is_only_json();
        *self = Self { quoted, header, shield, line_start, json, ..Self::default() };
    }

    /// Forgets the first `len` bytes of the held text, which were emitted.
    pub(super) fn drop_front(&mut self, len: usize) {
        self.looked -= len;
        self.held_from = self.held_from.map(|from| from.saturating_sub(len));
        for found in [&mut self.text_after, &mut self.second_choice, &mut self.doubtful] {
            *found = found.and_then(|(at, end)| Some((at.checked_sub(len)?, end)));
        }
    }

    /// Continues the search in `text`, the held text from its start.
    pub(super) fn feed(
        &mut self,
        place: ValuePlace<'_>,
        text: &str,
        out: &mut CallSink<'_>,
    ) -> SearchResult {
        out.calls.count_known(self.looked);
        match self.walk(place, text, out) {
            Ok(Walked::End { at, len }) => return SearchResult::End { at, len },
            Ok(Walked::Elsewhere) => {
                let free = if self.released { self.looked } else { 0 };
                // The search stopped at this tag, whatever follows it in the chunk.
                return SearchResult::Missing(MissingEnd::Elsewhere { free }, self.looked + 1);
            }
            Err(Undecided) => {}
        }
        self.limit_held(out);
        if !out.calls.ended {
            return SearchResult::Undecided { free: self.held_from.unwrap_or(self.looked) };
        }
        // Only the start of a tag was found.
        let plain = self.held_from.is_none() && !self.quotes_call && !self.released;
        if out.calls.cut || plain {
            return SearchResult::Missing(MissingEnd::Cut, text.len());
        }
        let lenient = out.calls.options.tolerance == Tolerance::Lenient;
        match self.doubtful.or(self.second_choice) {
            _ if self.doubted_twice && !lenient => {
                SearchResult::Missing(MissingEnd::Unknown, text.len())
            }
            Some((at, len)) if !self.released => {
                out.calls.count_search(text.len());
                SearchResult::End { at, len }
            }
            _ if self.call_ended && !self.released || lenient => {
                SearchResult::Missing(MissingEnd::Elsewhere { free: 0 }, text.len().max(1))
            }
            _ => SearchResult::Missing(MissingEnd::Unknown, text.len()),
        }
    }

    /// Forgets the tags that would end the value if more text is held than the limit allows. It counts
    /// from the first of them to the next tag that is examined, so that it does not depend on the
    /// chunks.
    fn limit_held(&mut self, out: &CallSink<'_>) {
        let most = out.calls.options.limits.value.min(MAX_LOOKAHEAD);
        if self.held_from.is_some_and(|from| self.looked - from > most) {
            (self.doubtful, self.released) = (None, true);
            self.give_up_holding();
        }
    }

    /// Forgets all tags that would count if the value's end were missing.
    fn give_up_holding(&mut self) {
        (self.text_after, self.second_choice) = (None, None);
        self.held_from = self.doubtful.map(|(at, _)| at);
        self.call_ended = false;
    }

    /// Records an end tag that ends the value unless a better one is found.
    fn doubt(&mut self, end: (usize, usize)) {
        self.doubted_twice |= self.doubtful.is_some();
        if !self.released && self.doubtful.is_none() {
            self.doubtful = Some(end);
            self.held_from.get_or_insert(end.0);
        }
    }

    /// Holds the text from `at` on, unless a quoted call or released text rules out that other
    /// markup ends the value.
    fn hold(&mut self, at: usize) {
        if !self.quotes_call && !self.released {
            self.held_from.get_or_insert(at);
        }
    }

    fn walk(
        &mut self,
        place: ValuePlace<'_>,
        text: &str,
        out: &CallSink<'_>,
    ) -> Result<Walked, Undecided> {
        let ValuePlace { spec, value, .. } = place;
        while let Some(hit) = spec.value_tags.find(&text.as_bytes()[self.looked..]) {
            let at = self.looked + hit;
            self.pass(&text[self.looked..at]);
            self.looked = at;
            self.limit_held(out);
            let rest = &text[at..];
            let mut len = rest.chars().next().map_or(1, char::len_utf8);
            if self.shield.is_up() {
                self.pass(&rest[..len]);
                self.looked = at + len;
                continue;
            }
            if !spec.value_tags.may_begin(rest) {
                self.weigh_text(place, rest, out)?;
                self.pass(&rest[..len]);
                self.looked = at + len;
                continue;
            }
            let quoting = self.depth > 0 || self.quotes_call;
            let whole_json = self.json && self.shield.is_closed() && !quoting;
            if let Some((_, end)) = last(longest(rest, &value.ends), out)? {
                if whole_json {
                    return Ok(Walked::End { at, len: end });
                } else if self.depth > 0 {
                    if ends_by_token(place, &rest[end..], &mut self.goes_on, out)? {
                        return Ok(Walked::End { at, len: end });
                    }
                    self.depth -= 1;
                } else if continues(place, &text[..at], &rest[end..], out)? {
                    if !self.is_in_quoted_call() {
                        return Ok(Walked::End { at, len: end });
                    }
                    self.doubt((at, end));
                } else if next_call_follows(place, &rest[end..], out)? {
                    self.doubt((at, end));
                } else if !self.is_in_quoted_call() && !self.released {
                    self.text_after = Some((at, end));
                    self.held_from.get_or_insert(at);
                }
                len = end;
            } else if whole_json && last(longest(rest, &spec.ends), out)?.is_some() {
                return Ok(Walked::Elsewhere);
            } else {
                self.weigh_text(place, rest, out)?;
                if last(
                    ending::quotes_head(spec, rest, &out.calls.tools).map(|is| is.then_some(())),
                    out,
                )?
                .is_some()
                {
                    if whole_json && self.shield.is_whole() {
                        return Ok(Walked::Elsewhere);
                    }
                    self.enter_quoted_call();
                } else if let Some(found) = self.parameter(place, rest, out)? {
                    if whole_json {
                        return Ok(Walked::Elsewhere);
                    }
                    self.open_parameter(place, (at, rest), found);
                    len = found.len;
                } else if let Some((_, end)) = last(longest(rest, &spec.ends), out)? {
                    if self.is_in_quoted_call() {
                        if !parameter_follows(place, &rest[end..], out)? {
                            self.leave_quoted_call();
                        }
                    } else {
                        let ends = ends_call(place, rest, out)?;
                        self.call_ended |= ends && !self.quotes_call && !self.released;
                        self.hold(at);
                    }
                    len = end;
                } else if last(inner_tags(spec, rest), out)?.is_some() {
                    self.hold(at);
                }
            }
            self.pass(&text[at..at + len]);
            self.looked = at + len;
        }
        self.pass(&text[self.looked..]);
        self.looked = text.len();
        Err(Undecided)
    }

    /// Reads text without a tag that counts.
    fn pass(&mut self, text: &str) {
        self.shield.feed(text);
        if let Some(last) = text.bytes().last() {
            self.line_start = last == b'\n';
        }
    }

    fn is_in_quoted_call(&self) -> bool {
        !self.quoted.is_empty()
    }

    /// Records the head of a quoted call. A head between two parameters of a quoted call ends it.
    fn enter_quoted_call(&mut self) {
        self.quotes_call = true;
        if !self.call_ended {
            self.give_up_holding();
        }
        if self.quoted.last() == Some(&self.depth) {
            return;
        }
        if self.quoted.len() < MAX_QUOTED_CALLS {
            self.quoted.push(self.depth);
        } else {
            self.quoted_more = self.quoted_more.saturating_add(1);
        }
    }

    /// Records the end tag of a call inside a quoted call. Inside one of its values it is data.
    fn leave_quoted_call(&mut self) {
        if self.quoted_more > 0 {
            self.quoted_more -= 1;
        } else if self.quoted.last().is_some_and(|&depth| self.depth <= depth) {
            self.quoted.pop();
        }
    }

    /// Decides whether an end tag with text after it may be used, by the tag at the start of
    /// `rest`.
    fn weigh_text(
        &mut self,
        place: ValuePlace<'_>,
        rest: &str,
        out: &CallSink<'_>,
    ) -> Result<(), Undecided> {
        let Some(end) = self.text_after.filter(|_| self.second_choice.is_none()) else {
            return Ok(());
        };
        let spec = place.spec;
        if !spec.value_tags.may_follow(rest) {
            return Ok(());
        }
        if goes_on(place, rest, out)? {
            self.text_after = None;
            if self.held_from.is_some() {
                self.second_choice = Some(end);
            }
            return Ok(());
        }
        for tags in [&spec.parts, &spec.ends, &spec.followers] {
            if last(longest(rest, tags), out)?.is_some() {
                self.text_after = None;
            }
        }
        Ok(())
    }
}
