//! The text after a tag inside a value, which shows whether the tag counts.
//!
//! ```text
//! 2</parameter></function></tool_call>     a legal continuation: the value ended
//! 2</parameter> is a tag</parameter>…      the first end tag is data
//! ```

use jail_match::is_reserved;

use super::{ValuePlace, ending};
use crate::{
    cursor::{Undecided, after_blanks, longest_prefix},
    machine::{
        arguments::{
            closing::{Closing, after_end},
            parameters::spec::ParameterSpec,
            tag::{TagTexts, longest},
        },
        call_sink::CallSink,
        plan::Plan,
    },
};

/// Returns `look`, but at the end of the stream treats an undecided result as not found.
pub(super) fn last<T>(
    look: Result<Option<T>, Undecided>,
    out: &CallSink<'_>,
) -> Result<Option<T>, Undecided> {
    if out.calls.ended { Ok(look.unwrap_or(None)) } else { look }
}

/// Returns whether `rest` begins with the tags between a key and its value.
pub(super) fn inner_tags(spec: &ParameterSpec, rest: &str) -> Result<Option<()>, Undecided> {
    Ok(ending::begins_with_inner_tags(spec, rest)?.then_some(()))
}

/// Returns whether `rest`, the text after an end tag, is a legal continuation of the call:
///
/// - a parameter,
/// - the call's end, followed by the section's end or another call,
/// - the section's end,
/// - the end of the turn or of the message,
/// - the tag before a value, which makes the call malformed.
///
/// A repetition of the end tag is skipped, unless it may be the call's end. `before` is the text
/// before the end tag.
pub(super) fn continues(
    place: ValuePlace<'_>,
    before: &str,
    rest: &str,
    out: &CallSink<'_>,
) -> Result<bool, Undecided> {
    let ValuePlace { spec, value, .. } = place;
    let ended = out.calls.ended;
    let mut ends = spec.ends.iter().flat_map(TagTexts::texts);
    let again = |rest: &str| match longest(rest, &value.ends) {
        Err(Undecided) if !ended => Err(Undecided),
        found => {
            let repeated = found.unwrap_or(None).map(|(_, len)| len);
            Ok(repeated.filter(|&len| !ends.clone().any(|end| end == &rest[..len])))
        }
    };
    match after_end(rest, again)? {
        None => Ok(true),
        Some("") => {
            // If the two end tags were exchanged, the call's end is not data.
            let mut swapped = || ends.any(|end| before.trim_ascii_end().ends_with(end));
            if ended { Ok(!swapped()) } else { Err(Undecided) }
        }
        Some(rest) if ended && may_go_on(place, rest) => Ok(true),
        Some(rest) => Ok(goes_on(place, rest, out)?
            || last(longest(rest, &value.again), out)?.is_some()
            || last(ends_message(out.plan, rest), out)?.is_some()),
    }
}

/// Returns whether `rest`, the text after the end tag of a quoted parameter, shows that the tag is the
/// value's: a token ends the call, and quoted markup has none. Only tags of the call's end may be
/// before it. `goes_on` records that a parameter followed such a tag: then that tag may have been the
/// value's, and no later one is certain.
pub(super) fn ends_by_token(
    place: ValuePlace<'_>,
    mut rest: &str,
    goes_on: &mut bool,
    out: &CallSink<'_>,
) -> Result<bool, Undecided> {
    let spec = place.spec;
    if spec.typed_heads.is_empty() || *goes_on {
        return Ok(false);
    }
    *goes_on = parameter_follows(place, rest, out)?;
    // The ends of the call, of its section and of the message.
    const ENDS: usize = 3;
    for _ in 0..ENDS {
        let Some(next) = after_blanks(rest) else { return Ok(false) };
        if next.is_empty() && !out.calls.ended {
            return Err(Undecided);
        }
        let Some((_, len)) = last(longest(next, &spec.ends), out)? else { return Ok(false) };
        if next.starts_with(is_reserved) {
            return Ok(true);
        }
        rest = &next[len..];
    }
    Ok(false)
}

/// Returns whether `rest`, the text after an end tag, begins with a parameter.
pub(super) fn parameter_follows(
    place: ValuePlace<'_>,
    rest: &str,
    out: &CallSink<'_>,
) -> Result<bool, Undecided> {
    match after_blanks(rest) {
        None => Ok(false),
        Some("") if !out.calls.ended => Err(Undecided),
        Some(rest) => closing(place, &[], out).begins(place.spec.openers(), rest),
    }
}

/// Returns whether `rest`, the text after an end tag, begins with the head of another call.
pub(super) fn next_call_follows(
    place: ValuePlace<'_>,
    rest: &str,
    out: &CallSink<'_>,
) -> Result<bool, Undecided> {
    let Some(rest) = after_blanks(rest) else { return Ok(false) };
    let head = ending::begins_head(place.spec, rest, &out.calls.tools).map(|is| is.then_some(()));
    Ok(last(head, out)?.is_some())
}

/// Returns whether `rest`, the last text of the message, is the start of a legal continuation.
fn may_go_on(ValuePlace { spec, .. }: ValuePlace<'_>, rest: &str) -> bool {
    let tags = spec.openers().iter().chain(&spec.ends).chain(spec.followers.iter());
    tags.flat_map(TagTexts::texts).any(|text| text.starts_with(rest))
}

/// Returns whether `rest` begins with a token that ends the turn or the message.
fn ends_message(plan: &Plan, rest: &str) -> Result<Option<usize>, Undecided> {
    longest_prefix(rest, plan.message_ends().iter().map(|text| &**text))
}

/// Returns whether `rest` begins with a text that may follow a parameter.
pub(super) fn goes_on(
    place: ValuePlace<'_>,
    rest: &str,
    out: &CallSink<'_>,
) -> Result<bool, Undecided> {
    let spec = place.spec;
    let closing = closing(place, &[], out);
    Ok(closing.begins(spec.openers(), rest)?
        || closing.begins(&spec.separators, rest)?
        || Closing { followers: &[&spec.followers], ..closing }.is_at(rest)?)
}

/// Returns whether `rest` begins with the whole rest of a call's end.
pub(super) fn ends_call(
    place: ValuePlace<'_>,
    rest: &str,
    out: &CallSink<'_>,
) -> Result<bool, Undecided> {
    let followers = &[place.spec.followers.as_slice()];
    Closing { turn: &[], ..closing(place, followers, out) }.is_at(rest)
}

fn closing<'a>(
    ValuePlace { spec, .. }: ValuePlace<'a>,
    followers: &'a [&'a [TagTexts]],
    out: &CallSink<'_>,
) -> Closing<'a> {
    let (inner, turn) = (&spec.inner, spec.turn.as_slice());
    Closing { ends: &spec.ends, inner, followers, turn, ended: out.calls.ended }
}
