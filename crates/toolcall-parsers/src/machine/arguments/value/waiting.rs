//! An end of the call inside a value, followed by text: it is the end if the value's own end does
//! not follow.
//!
//! ```text
//! <arg_value>see </tool_call> there</arg_value>     data
//! <arg_value>sunny</tool_call>That is all.          the end
//! ```

use super::{ValuePlace, ending};
use crate::{
    cursor::{Cursor, Undecided, filled},
    limits::MAX_WAIT,
    machine::arguments::{
        parameters::header::{HeaderStep, ParameterHeader},
        tag::longest,
    },
    tools::Tools,
    typing::declares,
};

/// The evidence in the text after an end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Waited {
    Undecided,
    /// The end is data, with all up to this index.
    Data(usize),
    /// The call ended there: another one begins.
    Call,
    /// Another parameter of the call follows: the extent of the loss is unknown.
    Torn,
}

/// Looks at `text`, from an end of the call on, of which `looked` bytes were seen.
pub(super) fn look(
    place: ValuePlace<'_>,
    text: &str,
    looked: &mut usize,
    (tools, limits): (&Tools, crate::CallLimits),
) -> Waited {
    let ValuePlace { spec, value, tool } = place;
    let most = limits.value.min(MAX_WAIT);
    while let Some(hit) = spec.stops.find(&text.as_bytes()[*looked..]) {
        let at = *looked + hit;
        if at >= most {
            break;
        }
        let rest = &text[at..];
        let begins = ending::begins_call(spec, ending::NextOpener::There, rest, tools);
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
                    let step = header.feed(spec, limits.name, &mut Cursor::new(&rest[len..]));
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
