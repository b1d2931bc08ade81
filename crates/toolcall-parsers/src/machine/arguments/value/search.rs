//! Search for a value's end: the first end tag that a legal continuation follows.
//!
//! ```text
//! a</parameter>b</parameter></function>         the first end tag is data: text follows it
//! <parameter=k>v</parameter> c</parameter>...   a quoted parameter is opened and closed
//! a</function></tool_call> b</parameter>...     the end of a call is data while the value is open
//! ```
//!
//! The text is held from its first tag on. If no end tag qualifies, an end tag counts if only text
//! is between it and a legal continuation. If there is none either, the rules for missing end tags
//! apply.

use jail_match::is_reserved;

use super::{TextMode, ValuePlace, shield::Shield};
use crate::{
    cursor::{TextCursor, Undecided, filled},
    limits::MAX_LOOKAHEAD,
    machine::{
        arguments::{
            closing::{Closing, after_end},
            parameters::header::{HeaderStep, ParameterHeader},
            tag::{TagTexts, longest},
        },
        call_sink::CallSink,
    },
    typing::declares,
};

/// The result of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SearchResult {
    /// More text is needed to decide.
    Undecided,
    /// The value's end tag of length `len` is at index `at`.
    End { at: usize, len: usize },
    /// The first `looked` bytes do not contain the end.
    Nothing { looked: usize },
}

/// A search in the held text, which begins with a tag.
#[derive(Debug, Clone, Default)]
pub(super) struct EndSearch {
    /// Number of bytes of the held text that were examined.
    looked: usize,
    /// Number of parameters that are open in the held text.
    depth: usize,
    /// The last end tag, if only text followed it.
    text_after: Option<(usize, usize)>,
    /// The first end tag with text and then a legal continuation after it. Used if no better one is
    /// found.
    second_choice: Option<(usize, usize)>,
    shield: Shield,
    /// Whether the value must be JSON. Then tags outside of strings are not data.
    json: bool,
    header: ParameterHeader,
}

impl EndSearch {
    /// Starts a search. `shield` has read the value's text so far, and `mode` is its conversion.
    pub(super) fn begin(&mut self, shield: Shield, mode: TextMode) {
        (self.looked, self.depth, self.shield) = (0, 0, shield);
        (self.text_after, self.second_choice) = (None, None);
        self.json = mode.is_only_json();
    }

    /// Continues the search in `text`, the held text from its start.
    pub(super) fn feed(
        &mut self,
        place: ValuePlace<'_>,
        text: &str,
        out: &mut CallSink<'_>,
    ) -> SearchResult {
        out.calls.count_known(self.looked);
        let most = out.calls.options.limits.value.min(MAX_LOOKAHEAD);
        let full = filled(text, most);
        let text = &text[..full.unwrap_or(text.len())];
        match self.walk(place, text, out) {
            Ok(Some((at, len))) => SearchResult::End { at, len },
            Err(Undecided) if full.is_none() && !out.calls.ended => SearchResult::Undecided,
            Ok(None) | Err(Undecided) => match self.second_choice {
                Some((at, len)) => {
                    out.calls.count_search(text.len());
                    SearchResult::End { at, len }
                }
                None => SearchResult::Nothing { looked: text.len().max(1) },
            },
        }
    }

    fn walk(
        &mut self,
        place: ValuePlace<'_>,
        text: &str,
        out: &CallSink<'_>,
    ) -> Result<Option<(usize, usize)>, Undecided> {
        let ValuePlace { spec, value, .. } = place;
        while let Some(hit) = spec.value_tags.find(&text.as_bytes()[self.looked..]) {
            let at = self.looked + hit;
            self.shield.feed(&text[self.looked..at]);
            self.looked = at;
            let rest = &text[at..];
            let mut len = rest.chars().next().map_or(1, char::len_utf8);
            if !self.shield.is_up() {
                let own = last(longest(rest, &value.ends), out)?;
                if let Some((_, end)) = own {
                    if self.json {
                        return Ok(Some((at, end)));
                    } else if self.depth > 0 {
                        self.depth -= 1;
                    } else if continues(place, &text[..at], &rest[end..], out.calls.ended)? {
                        return Ok(Some((at, end)));
                    } else {
                        self.text_after = Some((at, end));
                    }
                    len = end;
                } else if self.json && last(longest(rest, &spec.ends), out)?.is_some() {
                    return Ok(None);
                } else {
                    self.weigh_text(place, rest, out)?;
                    if let Some(end) = last(self.parameter(place, rest, out), out)? {
                        if self.json {
                            return Ok(None);
                        }
                        // A parameter that is quoted as plain text is not closed by a marker token.
                        let typed = !rest.starts_with(is_reserved);
                        let mut ends = value.ends.iter().flat_map(TagTexts::texts);
                        if !typed || ends.any(|end| !end.starts_with(is_reserved)) {
                            self.depth += 1;
                        }
                        len = end;
                    }
                }
            }
            self.shield.feed(&text[at..at + len]);
            self.looked = at + len;
        }
        self.shield.feed(&text[self.looked..]);
        self.looked = text.len();
        Err(Undecided)
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
        if goes_on(place, rest, out.calls.ended)? {
            (self.text_after, self.second_choice) = (None, Some(end));
            return Ok(());
        }
        for tags in [&spec.parts, &spec.ends, &spec.followers] {
            if last(longest(rest, tags), out)?.is_some() {
                self.text_after = None;
            }
        }
        Ok(())
    }

    /// Returns the length of a parameter's header at the start of `text`. The header of a declared
    /// parameter may lack a tag.
    pub(super) fn parameter(
        &mut self,
        place: ValuePlace<'_>,
        text: &str,
        out: &CallSink<'_>,
    ) -> Result<Option<usize>, Undecided> {
        let ValuePlace { spec, tool, .. } = place;
        let Some((opener, len)) = longest(text, spec.openers())? else { return Ok(None) };
        self.header.begin(spec, opener);
        let mut cursor = TextCursor::new(&text[len..]);
        match self.header.feed(spec, out.calls.options.limits.name, &mut cursor) {
            HeaderStep::Value(_) => Ok(Some(len + cursor.at)),
            HeaderStep::More => Err(Undecided),
            HeaderStep::Again | HeaderStep::Bad => {
                let is_known = |key: &str| declares(&out.calls.tools, tool, key);
                let torn = self.header.is_torn(spec, cursor.rest(), is_known)?;
                Ok(torn.then_some(len + cursor.at))
            }
        }
    }
}

/// Returns `look`, but at the end of the stream treats an undecided result as not found.
fn last<T>(look: Result<Option<T>, Undecided>, out: &CallSink<'_>) -> Result<Option<T>, Undecided> {
    if out.calls.ended { Ok(look.unwrap_or(None)) } else { look }
}

/// Returns whether `rest`, the text after an end tag, is a legal continuation of the call:
///
/// - a parameter,
/// - the call's end, followed by the section's end or another call,
/// - the section's end.
///
/// A repetition of the end tag is skipped. `before` is the text before the end tag.
fn continues(
    place: ValuePlace<'_>,
    before: &str,
    rest: &str,
    ended: bool,
) -> Result<bool, Undecided> {
    let ValuePlace { spec, value, .. } = place;
    let again = |rest: &str| match longest(rest, &value.ends) {
        Err(Undecided) if !ended => Err(Undecided),
        found => Ok(found.unwrap_or(None).map(|(_, len)| len)),
    };
    match after_end(rest, again)? {
        None => Ok(true),
        Some("") => {
            // If the two end tags were exchanged, the call's end is not data.
            let ends = spec.ends.iter().flat_map(TagTexts::texts);
            let swapped = || ends.clone().any(|end| before.trim_ascii_end().ends_with(end));
            if ended { Ok(!swapped()) } else { Err(Undecided) }
        }
        Some(rest) => goes_on(place, rest, ended),
    }
}

/// Returns whether `rest` begins with a text that may follow a parameter.
fn goes_on(
    ValuePlace { spec, .. }: ValuePlace<'_>,
    rest: &str,
    ended: bool,
) -> Result<bool, Undecided> {
    let followers = &[spec.followers.as_slice()];
    let (inner, turn) = (&spec.inner, spec.turn.as_slice());
    let closing = Closing { ends: &spec.ends, inner, followers, turn, ended };
    Ok(closing.begins(spec.openers(), rest)?
        || closing.begins(&spec.separators, rest)?
        || closing.is_at(rest)?)
}
