//! Reading of a tagged value, and finding its end.
//!
//! ```text
//! Oslo</parameter>                         Text, then Search: the end tag is certain
//! <![CDATA[a</p>]]></param>                Quoted: the inner tag is data
//! Oslo\n<parameter=days>3</parameter>      Header: the first value's end is missing
//! ```
//!
//! A string is emitted while it arrives, and so is an object or a list that begins as JSON. Held
//! text:
//!
//! - a possible start of a tag,
//! - white space that may be trimmed,
//! - a possible header of the next parameter,
//! - text whose type is undecided.

mod continuation;
pub(crate) mod ending;
mod find;
mod json_stream;
pub(crate) mod mode;
mod search;
mod shield;
mod waiting;
mod write;

use alloc::string::String;

use self::{
    ending::Ending, find::FoundTag, json_stream::JsonStream, mode::TextMode, search::EndSearch,
    shield::Shield,
};
use super::{
    parameters::{
        given::GivenNames,
        header::{HeaderStep, ParameterHeader},
        spec::{ParameterSpec, ValueSpec},
    },
    tag::{TagTexts, longest},
};
use crate::{cursor::Undecided, machine::call_sink::CallSink, texts::TextMatch, typing::declares};

/// The position in a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Phase {
    #[default]
    Text,
    /// Inside the pair of quotes with this number, where other tags are data.
    Quoted(usize),
    /// In a possible header of the next parameter.
    Header,
    /// In held text that is searched for the value's end. The cursor is at its first tag.
    Search,
}

/// The result of reading a value's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fed {
    /// The value continues. Text after the cursor is offered again.
    More,
    /// The value's end tag was read.
    Own,
    /// The next parameter's header was read, which ends the value. [`Value::next`] has the header,
    /// and this is the node of the next value.
    Header(usize),
    /// The end of the call is after the cursor.
    Call,
    /// A part of a parameter's header is after the cursor. The value's end is missing, and possibly
    /// more.
    Torn,
    /// The message ended before the value's end, and nothing shows where the value ends.
    Lost,
}

/// The context of a value: its family, its specification and its tool.
#[derive(Debug, Clone, Copy)]
pub(super) struct ValuePlace<'a> {
    pub(super) spec: &'a ParameterSpec,
    pub(super) value: &'a ValueSpec,
    pub(super) tool: &'a str,
    /// The names of the call's parameters so far, with the value's own.
    pub(super) given: &'a GivenNames,
}

/// A reader of tagged values, in any number of chunks.
#[derive(Debug, Clone, Default)]
pub(super) struct Value {
    mode: TextMode,
    phase: Phase,
    key: String,
    /// Whether this is the first parameter of the call that is emitted.
    first: bool,
    /// Whether only trimmed white space was read.
    blank: bool,
    /// Whether a newline was removed at the start, so that one is removed at the end.
    newline_dropped: bool,
    /// Whether the header lacks a tag. Then the first end tag ends the value.
    lacks_tag: bool,
    /// Whether quoted text (CDATA) may begin here.
    quote_here: bool,
    line_start: bool,
    /// White space at the end, which is removed if the value ends here.
    edge: String,
    /// Length of the whitespace run at the end.
    run: usize,
    /// Text of a possible header. It is part of the value if the header is not completed.
    pending: String,
    /// Text whose type is not decided, or the undecided end of JSON that is emitted.
    collected: String,
    json: JsonStream,
    /// Whether the value ends with the text of an end tag of the call.
    ends_in_end: bool,
    /// Number of bytes examined after the call's end tag inside the value, or 0.
    looked: usize,
    search: EndSearch,
    /// Tracks whether the position is inside a string, if the value may be JSON.
    shield: Shield,
    /// The stream offset up to which a search found no end of the value.
    searched_to: u64,
    /// Whether the value was written as JSON, but its text was not JSON.
    mended: bool,
    /// Whether the value begins as an object or a list, but is none or exceeds its limit.
    unmendable: bool,
    dropped: u64,
    next: ParameterHeader,
}

impl Value {
    #[inline]
    pub(super) fn held(&self) -> usize {
        self.edge.len() + self.pending.len() + self.collected.len()
    }

    /// Returns whether a part of the value was emitted, or the value is dropped.
    pub(super) fn is_begun(&self) -> bool {
        matches!(self.mode, TextMode::String | TextMode::Drop) || self.json.is_emitting()
    }

    /// Holds the value until it is complete.
    pub(super) fn hold(&mut self) {
        self.json = JsonStream::default();
    }

    /// Returns whether the emitted part of the value is not JSON, or not all of it.
    pub(super) fn is_broken(&self) -> bool {
        self.json.fault().is_some() || self.json.is_open()
    }

    /// Returns whether the complete value was mended.
    pub(super) fn is_mended(&self) -> bool {
        self.mended
    }

    /// Returns whether the complete value begins as an object or a list, but is none.
    pub(super) fn is_unmendable(&self) -> bool {
        self.unmendable
    }

    /// Returns the length of the next parameter's header so far.
    pub(super) fn pending_len(&self) -> usize {
        self.pending.len()
    }

    /// Returns the length of an incomplete header.
    pub(super) fn faulty_header_len(&self) -> u64 {
        if self.phase == Phase::Header { self.pending.len() as u64 } else { 0 }
    }

    /// Returns whether the last value ends with the text of an end tag of the call. If the call's
    /// end is missing, the model may have exchanged the two tags.
    pub(super) fn ends_in_end(&self) -> bool {
        self.ends_in_end
    }

    /// Returns whether text is held until the value's end is found.
    pub(super) fn is_searching(&self) -> bool {
        self.phase == Phase::Search
    }

    /// Returns whether the call's end tag and text after it are after the cursor.
    pub(super) fn waits(&self) -> bool {
        self.looked > 0
    }

    /// Returns the header of the next parameter, which ended the value.
    pub(super) fn next(&mut self) -> &mut ParameterHeader {
        &mut self.next
    }

    /// Starts the value of `key`. `first` is set for the first value of the call.
    pub(super) fn begin(&mut self, key: &str, mode: TextMode, first: bool, out: &mut CallSink<'_>) {
        self.key.clear();
        self.key.push_str(key);
        (self.mode, self.phase, self.first) = (mode, Phase::Text, first);
        (self.blank, self.newline_dropped, self.quote_here) = (true, false, true);
        (self.ends_in_end, self.looked, self.lacks_tag) = (false, 0, false);
        (self.line_start, self.run, self.dropped) = (true, 0, 0);
        self.edge.clear();
        self.pending.clear();
        self.collected.clear();
        (self.searched_to, self.mended, self.unmendable) = (0, false, false);
        self.json = JsonStream::new(mode);
        self.shield = if mode.is_json() { Shield::of_json() } else { Shield::default() };
        if mode == TextMode::String {
            self.open_string(out);
        }
    }

    /// Records that the value's header lacks a tag.
    pub(super) fn lacks_tag(&mut self) {
        self.lacks_tag = true;
    }

    pub(super) fn feed(&mut self, place: ValuePlace<'_>, out: &mut CallSink<'_>) -> Fed {
        loop {
            let fed = match self.phase {
                Phase::Text => self.text(place, out),
                Phase::Quoted(n) => self.quoted(&place.value.quotes[n].1, out),
                Phase::Header => self.header(place, out),
                Phase::Search => self.search(place, out),
            };
            if let Some(fed) = fed {
                return fed;
            }
        }
    }

    fn text(&mut self, place: ValuePlace<'_>, out: &mut CallSink<'_>) -> Option<Fed> {
        let text = out.cursor.text;
        let (mut from, mut shield, mut shielded) = (out.cursor.at, self.shield, out.cursor.at);
        while let Some(hit) = place.spec.value_tags.find(&text.as_bytes()[from..]) {
            let at = from + hit;
            let first = from == out.cursor.at;
            shield.feed(&text[shielded..at]);
            shielded = at;
            let mut found = self.find(place, text, (out.cursor.at, at), first, &out.calls.tools);
            let opens =
                matches!(found, FoundTag::Again(_) | FoundTag::Quote(..) | FoundTag::Opening);
            let searches = !opens && out.stream_offset(at) >= self.searched_to && !self.lacks_tag;
            if searches {
                found = match found {
                    FoundTag::Nothing if !self.begins_tag(place, &text[at..]) => FoundTag::Nothing,
                    FoundTag::Own(_) if self.mode.is_only_json() && shield.is_closed() => found,
                    _ if shield.is_up() => FoundTag::Nothing,
                    _ if !out.calls.may_search(at) => FoundTag::Lost,
                    _ => FoundTag::Tag,
                };
            }
            if let FoundTag::Nothing = found {
                from = at + text[at..].chars().next().map_or(1, char::len_utf8);
                continue;
            }
            self.push(place.value.edges, &text[out.cursor.at..at], out);
            out.cursor.at = at;
            match found {
                FoundTag::Tag => {
                    self.search.begin(self.shield, self.mode, self.line_start);
                    self.phase = Phase::Search;
                    return None;
                }
                FoundTag::Lost => return Some(Self::lose_end(out)),
                FoundTag::Nothing => {}
                FoundTag::Undecided | FoundTag::Opening => return Some(Fed::More),
                FoundTag::Ending(Ending::Call) => return Some(Fed::Call),
                FoundTag::Ending(Ending::Torn) => return Some(Fed::Torn),
                FoundTag::Own(len) => {
                    out.cursor.advance(len);
                    return Some(Fed::Own);
                }
                FoundTag::Ending(Ending::Both(end, len)) => {
                    self.push(place.value.edges, &text[at..at + end], out);
                    out.cursor.advance(len);
                    self.ends_in_end = true;
                    return Some(Fed::Own);
                }
                FoundTag::Ending(Ending::Followed(len)) => {
                    return self.followed(place, len, out);
                }
                FoundTag::Again(len) => {
                    out.cursor.advance(len);
                    return None;
                }
                FoundTag::Quote(n, len) => {
                    out.cursor.advance(len);
                    self.blank = false;
                    self.edge.clear();
                    self.phase = Phase::Quoted(n);
                    return None;
                }
                FoundTag::Header(opener, len) => {
                    out.cursor.advance(len);
                    self.pending.push_str(&text[at..at + len]);
                    self.next.begin(place.spec, opener);
                    self.phase = Phase::Header;
                    return None;
                }
            }
        }
        self.push(place.value.edges, &text[out.cursor.at..], out);
        out.cursor.at = text.len();
        Some(Fed::More)
    }

    /// Returns whether a tag of the family, or the start of one, is at the start of `text`.
    fn begins_tag(&self, place: ValuePlace<'_>, text: &str) -> bool {
        place.spec.value_tags.match_at(text) != TextMatch::None
    }

    /// Reads the rest of the message, because the value's end cannot be found.
    fn lose_end(out: &mut CallSink<'_>) -> Fed {
        out.cursor.at = out.cursor.text.len();
        Fed::Lost
    }

    fn quoted(&mut self, close: &TagTexts, out: &mut CallSink<'_>) -> Option<Fed> {
        let text = out.cursor.text;
        let first = close.texts().next().and_then(|text| text.bytes().next()).unwrap_or(b']');
        let mut from = out.cursor.at;
        while let Some(hit) = memchr::memchr(first, &text.as_bytes()[from..]) {
            let at = from + hit;
            match longest(&text[at..], core::slice::from_ref(close)) {
                Ok(None) => from = at + text[at..].chars().next().map_or(1, char::len_utf8),
                found => {
                    self.put(&text[out.cursor.at..at], out);
                    out.cursor.at = at;
                    let Ok(Some((_, len))) = found else { return Some(Fed::More) };
                    out.cursor.advance(len);
                    (self.phase, self.quote_here, self.run) = (Phase::Text, true, 0);
                    self.line_start = false;
                    return None;
                }
            }
        }
        self.put(&text[out.cursor.at..], out);
        out.cursor.at = text.len();
        Some(Fed::More)
    }

    fn header(&mut self, place: ValuePlace<'_>, out: &mut CallSink<'_>) -> Option<Fed> {
        let from = out.cursor.at;
        let step = self.next.feed(place.spec, out.calls.options.limits.name, &mut out.cursor);
        self.pending.push_str(&out.cursor.text[from..out.cursor.at]);
        match step {
            HeaderStep::Value(node) if declares(&out.calls.tools, place.tool, self.next.key()) => {
                // A parameter that was given already is no reason to end a value here.
                let given = place.given.has(self.next.key());
                return Some(if given { Fed::Torn } else { Fed::Header(node) });
            }
            HeaderStep::More => return Some(Fed::More),
            _ => {}
        }
        if step == HeaderStep::Bad {
            let is_known = |key: &str| declares(&out.calls.tools, place.tool, key);
            match self.next.is_torn(place.spec, out.cursor.rest(), is_known) {
                Err(Undecided) => return Some(Fed::More),
                Ok(true) => return Some(Fed::Torn),
                Ok(false) if place.spec.opens_by_token => return Some(Fed::Torn),
                Ok(false) => {}
            }
        }
        // The text is not a header, so it belongs to the value.
        self.phase = Phase::Text;
        let mut pending = core::mem::take(&mut self.pending);
        self.push(place.value.edges, &pending, out);
        pending.clear();
        self.pending = pending;
        None
    }
}
