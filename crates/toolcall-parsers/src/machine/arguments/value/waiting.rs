//! The call's end tag inside a value, with text after it. It ends the call unless the value's own
//! end tag follows.
//!
//! ```text
//! <arg_value>see </tool_call> there</arg_value>     data
//! <arg_value>sunny</tool_call>That is all.          the end
//! ```

use super::{ValuePlace, ending};
use crate::{
    cursor::{TextCursor, Undecided, filled},
    limits::MAX_TEXT_AFTER_END,
    machine::arguments::{
        parameters::header::{HeaderStep, ParameterHeader},
        tag::longest,
    },
    tools::Tools,
    typing::declares,
};

/// The result of examining the text after the call's end tag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Waited {
    Undecided,
    /// The text up to this index, including the end tag, is data.
    Data(usize),
    /// The call ended, because another one begins.
    Call,
    /// Another parameter of the call follows, so an unknown amount of text is missing.
    Torn,
}

/// Examines `text`, which begins with the call's end tag. The first `looked` bytes were examined
/// before.
pub(super) fn examine(
    place: ValuePlace<'_>,
    text: &str,
    looked: &mut usize,
    (tools, limits): (&Tools, crate::CallLimits),
) -> Waited {
    let ValuePlace { spec, value, tool, .. } = place;
    let most = limits.value.min(MAX_TEXT_AFTER_END);
    while let Some(hit) = spec.value_tags.find(&text.as_bytes()[*looked..]) {
        let at = *looked + hit;
        if at >= most {
            break;
        }
        let rest = &text[at..];
        let begins = ending::begins_call(spec, ending::NextOpener::Present, rest, tools);
        match (longest(rest, &value.ends), begins) {
            (Ok(Some(_)), _) => return Waited::Data(at),
            (_, Ok(true)) => return Waited::Call,
            (Err(Undecided), _) | (_, Err(Undecided)) => {
                *looked = at;
                return Waited::Undecided;
            }
            (Ok(None), Ok(false)) => {}
        }
        let line_start = text.as_bytes().get(at.wrapping_sub(1)) == Some(&b'\n');
        if spec.headers.may_begin(line_start) {
            let mut header = ParameterHeader::default();
            match longest(rest, spec.openers()) {
                Ok(None) => {}
                Ok(Some((opener, len))) => {
                    header.begin(spec, opener);
                    let step = header.feed(spec, limits.name, &mut TextCursor::new(&rest[len..]));
                    if matches!(step, HeaderStep::Value(_)) && declares(tools, tool, header.key()) {
                        return Waited::Torn;
                    }
                    if step == HeaderStep::More {
                        *looked = at;
                        return Waited::Undecided;
                    }
                }
                Err(Undecided) => {
                    *looked = at;
                    return Waited::Undecided;
                }
            }
        }
        *looked = at + rest.chars().next().map_or(1, char::len_utf8);
    }
    filled(text, most).map_or_else(
        || {
            *looked = text.len();
            Waited::Undecided
        },
        Waited::Data,
    )
}
