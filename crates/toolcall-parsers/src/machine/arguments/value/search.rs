//! The search for a value's own end: the first end tag that a legal continuation follows.
//!
//! ```text
//! a</parameter>b</parameter></function>         the first end tag is data: text follows it
//! <parameter=k>v</parameter> c</parameter>...   a quoted parameter is opened and closed
//! a</function></tool_call> b</parameter>...     the end of a call is data while the value is open
//! ```
//!
//! The text is held from its first tag on. A value without such an end is read by the rules for
//! missing end tags.

#![expect(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "places in a text in memory, and lengths of what was found there"
)]

use super::{Mode, Place, shield::Shield};
use crate::{
    cursor::{Cursor, MAX_LOOKAHEAD, Undecided, blanks, filled},
    machine::{
        arguments::{
            BLANKS,
            parameters::header::{Header, Step},
            tag::{Tag, longest},
        },
        output::Output,
    },
    typing::declares,
};

/// The result of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Found {
    /// More text is needed.
    Undecided,
    /// The value's end tag, this long, is at this index.
    End { at: usize, len: usize },
    /// The first bytes, this many, hold no end.
    Nothing { looked: usize },
}

/// A search in progress, from the first tag of the held text on.
#[derive(Debug, Clone, Default)]
pub(super) struct Search {
    /// Bytes of the held text that were looked at.
    looked: usize,
    /// Parameters that opened in the held text and did not end.
    depth: usize,
    shield: Shield,
    /// The value is JSON, where tags outside of strings are no data.
    json: bool,
    header: Header,
}

impl Search {
    /// Starts a search; `shield` has read the value's text so far, which `mode` types.
    pub(super) fn begin(&mut self, shield: Shield, mode: Mode) {
        (self.looked, self.depth, self.shield) = (0, 0, shield);
        self.json = mode.is_only_json();
    }

    /// Searches on in `text`, which begins at the start of the held text.
    pub(super) fn feed(&mut self, place: Place<'_>, text: &str, out: &mut Output<'_>) -> Found {
        out.calls.pass_over(self.looked);
        let most = out.calls.options.limits.value.min(MAX_LOOKAHEAD);
        let full = filled(text, most);
        let text = &text[..full.unwrap_or(text.len())];
        match self.walk(place, text, out) {
            Ok(Some((at, len))) => Found::End { at, len },
            Err(Undecided) if full.is_none() && !out.calls.ended => Found::Undecided,
            Ok(None) | Err(Undecided) => Found::Nothing { looked: text.len().max(1) },
        }
    }

    fn walk(
        &mut self,
        place: Place<'_>,
        text: &str,
        out: &Output<'_>,
    ) -> Result<Option<(usize, usize)>, Undecided> {
        let Place { spec, value, .. } = place;
        while let Some(hit) = spec.stops.find(&text.as_bytes()[self.looked..]) {
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
                    }
                    len = end;
                } else if self.json && last(longest(rest, &spec.ends), out)?.is_some() {
                    return Ok(None);
                } else if let Some(end) = last(self.parameter(place, rest, out), out)? {
                    if self.json {
                        return Ok(None);
                    }
                    self.depth += 1;
                    len = end;
                }
            }
            self.shield.feed(&text[at..at + len]);
            self.looked = at + len;
        }
        self.shield.feed(&text[self.looked..]);
        self.looked = text.len();
        Err(Undecided)
    }

    /// The length of a parameter's header at the head of `text`: a whole one, or one of a declared
    /// parameter that lost a tag.
    pub(super) fn parameter(
        &mut self,
        Place { spec, tool, .. }: Place<'_>,
        text: &str,
        out: &Output<'_>,
    ) -> Result<Option<usize>, Undecided> {
        let Some((opener, len)) = longest(text, spec.openers())? else { return Ok(None) };
        self.header.begin(spec, opener);
        let mut cursor = Cursor::new(&text[len..]);
        match self.header.feed(spec, out.calls.options.limits.name, &mut cursor) {
            Step::Value(_) => Ok(Some(len + cursor.at)),
            Step::More => Err(Undecided),
            Step::Again | Step::Bad => {
                let is_known = |key: &str| declares(&out.calls.tools, tool, key);
                let torn = self.header.is_torn(spec, cursor.rest(), is_known)?;
                Ok(torn.then_some(len + cursor.at))
            }
        }
    }
}

/// The answer to a look; at the end of the stream what is not decided is not there.
fn last<T>(look: Result<Option<T>, Undecided>, out: &Output<'_>) -> Result<Option<T>, Undecided> {
    if out.calls.ended { Ok(look.unwrap_or(None)) } else { look }
}

/// Whether `rest`, the text after an end tag, goes on as a call does: with a parameter, an end of
/// the call that the section's end or another call follows, or the end of the section. The end tag
/// may be there twice. `before` is the text before it.
fn continues(
    Place { spec, value, .. }: Place<'_>,
    before: &str,
    rest: &str,
    ended: bool,
) -> Result<bool, Undecided> {
    let mut rest = rest;
    if blanks(rest) > BLANKS {
        return Ok(true);
    }
    match longest(&rest[blanks(rest)..], &value.ends) {
        Ok(Some((_, len))) => rest = &rest[blanks(rest) + len..],
        Err(Undecided) if !ended => return Err(Undecided),
        Ok(None) | Err(Undecided) => {}
    }
    if blanks(rest) > BLANKS {
        return Ok(true);
    }
    rest = &rest[blanks(rest)..];
    if rest.is_empty() {
        // Where the two end tags changed places, the call's end is not data.
        let ends = spec.ends.iter().flat_map(Tag::texts);
        let swapped = || ends.clone().any(|end| before.trim_ascii_end().ends_with(end));
        return if ended { Ok(!swapped()) } else { Err(Undecided) };
    }
    let begins = |tags: &[Tag], rest: &str| match longest(rest, tags) {
        Err(Undecided) if ended => Ok(false),
        found => Ok(found?.is_some()),
    };
    if begins(spec.openers(), rest)? || begins(&spec.separators, rest)? || begins(&spec.turn, rest)?
    {
        return Ok(true);
    }
    let end = match longest(rest, &spec.ends) {
        Err(Undecided) if ended => None,
        found => found?,
    };
    let Some((_, len)) = end else { return Ok(false) };
    if !spec.inner.texts().any(|inner| *inner == rest[..len]) {
        return Ok(true);
    }
    let rest = &rest[len..];
    if blanks(rest) > BLANKS {
        return Ok(true);
    }
    let rest = &rest[blanks(rest)..];
    if rest.is_empty() {
        return if ended { Ok(true) } else { Err(Undecided) };
    }
    Ok(begins(&spec.followers, rest)? || begins(&spec.turn, rest)?)
}
