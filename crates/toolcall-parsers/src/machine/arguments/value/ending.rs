//! The end of a value whose own end tag is missing.
//!
//! ```text
//! Oslo</function></tool_call>             the end of the call
//! Oslo<tool_call>ring<arg_key>            the head of another call
//! Oslo</arg_key><arg_value>               a part of a parameter's header
//! ```

use crate::{
    cursor::{Undecided, after_blanks, blanks, first_found},
    limits::MAX_BLANKS,
    machine::arguments::{
        parameters::{call_heads::CallHead, spec::ParameterSpec},
        tag::{TagTexts, longest},
    },
    texts::TextMatch,
    tools::Tools,
};

/// Markup that shows that a value has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    /// The end of the call, or another call.
    Call,
    /// An inner part of a parameter's header.
    Torn,
    /// The end of the call, followed by the value's end tag. The indexes are those of the two ends.
    /// The first tag is data, or the tags were exchanged.
    Both(usize, usize),
    /// The end of the call with this length, followed by text.
    Followed(usize),
}

/// Returns the markup at the start of `text`. `own` are the value's end tags.
pub(super) fn ending_at(
    spec: &ParameterSpec,
    own: &[TagTexts],
    text: &str,
    tools: &Tools,
) -> Result<Option<Ending>, Undecided> {
    first_found([
        end_tag(spec, own, text, tools),
        begins_call(spec, NextOpener::Present, text, tools).map(|is| is.then_some(Ending::Call)),
        begins_with_inner_tags(spec, text).map(|is| is.then_some(Ending::Torn)),
    ])
}

/// Returns the effect of the call's end tag at the start of `text`.
fn end_tag(
    spec: &ParameterSpec,
    own: &[TagTexts],
    text: &str,
    tools: &Tools,
) -> Result<Option<Ending>, Undecided> {
    let Some((n, len)) = longest(text, &spec.ends)? else { return Ok(None) };
    let rest = &text[len..];
    // The tags before the name of the next call may be missing.
    let next = rest.trim_ascii_start();
    if ends_call(spec, n, rest, tools)? || begins_call(spec, NextOpener::Missing, next, tools)? {
        return Ok(Some(Ending::Call));
    }
    let end = len + blanks(rest).min(MAX_BLANKS);
    let both = longest(&text[end..], own)?.map(|(_, own)| Ending::Both(end, end + own));
    Ok(Some(both.unwrap_or(Ending::Followed(len))))
}

/// Returns whether `rest`, the text after end tag number `n` inside a value, shows that the call
/// ended. After the end of a message (`n` = 1), only an opener or the head of another call shows
/// it.
fn ends_call(spec: &ParameterSpec, n: usize, rest: &str, tools: &Tools) -> Result<bool, Undecided> {
    let Some(rest) = after_blanks(rest) else { return Ok(false) };
    if rest.is_empty() {
        return Err(Undecided);
    }
    let followers = if n == 0 { &spec.followers[..] } else { &spec.followers[..1] };
    Ok(longest(rest, followers)?.is_some() || begins_call(spec, NextOpener::Present, rest, tools)?)
}

/// Returns whether `text` begins with the tags between a key and its value.
pub(super) fn begins_with_inner_tags(spec: &ParameterSpec, text: &str) -> Result<bool, Undecided> {
    for (close, open) in spec.inner_tags() {
        let Some((_, len)) = longest(text, core::slice::from_ref(close))? else { continue };
        let blank = blanks(&text[len..]);
        let certain = open.is_empty();
        if certain || blank <= MAX_BLANKS && longest(&text[len + blank..], open)?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns whether `text` begins with the head of a call of any tool.
pub(crate) fn begins_head(
    spec: &ParameterSpec,
    text: &str,
    tools: &Tools,
) -> Result<bool, Undecided> {
    begins_with_one(&spec.heads, spec, text, tools)
}

/// Returns whether `text`, a part of a value, begins with the head of a call of any tool, although a
/// token may be missing before it.
pub(super) fn quotes_head(
    spec: &ParameterSpec,
    text: &str,
    tools: &Tools,
) -> Result<bool, Undecided> {
    Ok(begins_with_one(&spec.heads, spec, text, tools)?
        || begins_with_one(&spec.typed_heads, spec, text, tools)?)
}

fn begins_with_one(
    heads: &[CallHead],
    spec: &ParameterSpec,
    text: &str,
    tools: &Tools,
) -> Result<bool, Undecided> {
    // Each head begins with a tag that has a meaning in a value.
    if !spec.value_tags.may_begin(text) {
        return Ok(false);
    }
    let looks = heads.iter().map(|head| Ok(head.is_at(spec, text, tools)?.then_some(())));
    Ok(first_found(looks)?.is_some())
}

/// Whether the tags before the tool's name are present.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum NextOpener {
    Present,
    Missing,
}

/// Returns whether `text` begins with the head of another call.
pub(super) fn begins_call(
    spec: &ParameterSpec,
    opener: NextOpener,
    text: &str,
    tools: &Tools,
) -> Result<bool, Undecided> {
    let heads = spec.heads.iter().filter_map(|head| match opener {
        NextOpener::Present => Some((head, 0)),
        NextOpener::Missing => Some((head, head.name_at()?)),
    });
    let looks =
        heads.map(|(head, missing)| Ok(head.begins(missing, spec, text, tools)?.then_some(())));
    Ok(first_found(looks)?.is_some())
}

/// Returns whether `tail`, the unread text at the end of the stream, is the call's end, perhaps
/// with the start of a text that may follow it.
pub(crate) fn tail_ends_call(spec: &ParameterSpec, tail: &str, tools: &Tools) -> bool {
    let mut rests = ends(spec).filter_map(|(n, end)| Some((n, tail.strip_prefix(end)?)));
    rests.any(|(n, rest)| ends_call(spec, n, rest, tools) == Err(Undecided))
}

/// Returns the position of markup in `text` that would end a value with this text too early.
pub(crate) fn call_end(spec: &ParameterSpec, text: &str, tools: &Tools) -> Option<usize> {
    let mut from = 0;
    while let Some(hit) = spec.value_tags.find(&text.as_bytes()[from..]) {
        let at = from + hit;
        let begins = spec.value_tags.match_at(&text[at..]) != TextMatch::None;
        let found = if begins { ending_at(spec, &[], &text[at..], tools) } else { Ok(None) };
        if let Ok(Some(Ending::Call | Ending::Torn)) = found {
            return Some(at);
        }
        from = at + text[at..].chars().next().map_or(1, char::len_utf8);
    }
    None
}

/// Returns all spellings of the call's ends, with the number of the end.
fn ends(spec: &ParameterSpec) -> impl Iterator<Item = (usize, &str)> {
    spec.ends.iter().enumerate().flat_map(|(n, tag)| tag.texts().map(move |text| (n, text)))
}
