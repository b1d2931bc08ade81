//! The end of a value whose own end is missing: the end of its call, the head of another call, a
//! part of a parameter's header.

use crate::{
    cursor::{Undecided, after_blanks, blanks, first_found},
    limits::MAX_BLANKS,
    machine::arguments::{
        parameters::spec::ParameterSpec,
        tag::{TagTexts, longest},
    },
    texts::Stands,
    tools::Tools,
};

/// Markup in a value that no value contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    /// The end of the call, or another call.
    Call,
    /// A part of a parameter's header.
    Torn,
    /// The end of the call, of this length with blanks after it, and the value's own end up to this
    /// index: a tag in the text, or tags that changed places.
    Both(usize, usize),
    /// The end of the call, of this length, followed by text.
    Followed(usize),
}

/// Returns such markup at the start of `text`, in a value that one of `own` ends.
pub(super) fn at(
    spec: &ParameterSpec,
    own: &[TagTexts],
    text: &str,
    tools: &Tools,
) -> Result<Option<Ending>, Undecided> {
    first_found([
        end_tag(spec, own, text, tools),
        begins_call(spec, NextOpener::There, text, tools).map(|is| is.then_some(Ending::Call)),
        is_middle(spec, text).map(|is| is.then_some(Ending::Torn)),
    ])
}

/// Returns the effect of an end of the call on the value.
fn end_tag(
    spec: &ParameterSpec,
    own: &[TagTexts],
    text: &str,
    tools: &Tools,
) -> Result<Option<Ending>, Undecided> {
    let Some((n, len)) = longest(text, &spec.ends)? else { return Ok(None) };
    let rest = &text[len..];
    // The opener of the next call after an end may be missing, too.
    let next = rest.trim_ascii_start();
    if ends_call(spec, n, rest, tools)? || begins_call(spec, NextOpener::Lost, next, tools)? {
        return Ok(Some(Ending::Call));
    }
    let end = len + blanks(rest).min(MAX_BLANKS);
    let both = longest(&text[end..], own)?.map(|(_, own)| Ending::Both(end, end + own));
    Ok(Some(both.unwrap_or(Ending::Followed(len))))
}

/// Whether the text after the end with number `n` inside a value makes it the end of the call.
/// After the end of a message, only the end of the stream does that a value could not contain, too.
fn ends_call(spec: &ParameterSpec, n: usize, rest: &str, tools: &Tools) -> Result<bool, Undecided> {
    let Some(rest) = after_blanks(rest) else { return Ok(false) };
    if rest.is_empty() {
        return Err(Undecided);
    }
    let followers = if n == 0 { &spec.followers[..] } else { &spec.followers[..1] };
    Ok(longest(rest, followers)?.is_some() || begins_call(spec, NextOpener::There, rest, tools)?)
}

/// Whether `text` begins with the tags between a key and its value.
fn is_middle(spec: &ParameterSpec, text: &str) -> Result<bool, Undecided> {
    for (close, open) in spec.middles() {
        let Some((_, len)) = longest(text, core::slice::from_ref(close))? else { continue };
        let blank = blanks(&text[len..]);
        let certain = open.is_empty();
        if certain || blank <= MAX_BLANKS && longest(&text[len + blank..], open)?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether the tags before the tool's name are present.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum NextOpener {
    There,
    Lost,
}

/// Whether `text` begins with the head of another call.
pub(super) fn begins_call(
    spec: &ParameterSpec,
    opener: NextOpener,
    text: &str,
    tools: &Tools,
) -> Result<bool, Undecided> {
    let heads = spec.heads.iter().filter_map(|head| match opener {
        NextOpener::There => Some((head, 0)),
        NextOpener::Lost => Some((head, head.name_at()?)),
    });
    let looks = heads.map(|(head, lost)| Ok(head.begins(lost, spec, text, tools)?.then_some(())));
    Ok(first_found(looks)?.is_some())
}

/// Whether `tail`, left after the cursor inside a value, is the call's end with a possible start of
/// the text after it.
pub(crate) fn tail_ends_call(spec: &ParameterSpec, tail: &str, tools: &Tools) -> bool {
    let mut rests = ends(spec).filter_map(|(n, end)| Some((n, tail.strip_prefix(end)?)));
    rests.any(|(n, rest)| ends_call(spec, n, rest, tools) == Err(Undecided))
}

/// Returns the position in a value's text of markup that would end it in place of its end tag.
pub(crate) fn call_end(spec: &ParameterSpec, text: &str, tools: &Tools) -> Option<usize> {
    let mut from = 0;
    while let Some(hit) = spec.stops.find(&text.as_bytes()[from..]) {
        let at = from + hit;
        let begins = spec.stops.at(&text[at..]) != Stands::None;
        let found = if begins { self::at(spec, &[], &text[at..], tools) } else { Ok(None) };
        if let Ok(Some(Ending::Call | Ending::Torn)) = found {
            return Some(at);
        }
        from = at + text[at..].chars().next().map_or(1, char::len_utf8);
    }
    None
}

/// The ends of the call in all their spellings, with their numbers.
fn ends(spec: &ParameterSpec) -> impl Iterator<Item = (usize, &str)> {
    spec.ends.iter().enumerate().flat_map(|(n, tag)| tag.texts().map(move |text| (n, text)))
}
