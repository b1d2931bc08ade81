//! Reading back what was written, before it goes out.

use super::{Call, Failed};
use crate::{
    encode::{EncodeErrorKind, error::Fault, value::read_object},
    event::{Message, Outcome},
    family::Family,
    tools::Tools,
};

/// What a parser of the family makes of `wire`.
///
/// The place where the reader compiled from the same templates is to be asked: until then it says
/// nothing, and what the rules let through is returned.
#[expect(clippy::unnecessary_wraps, reason = "a reader says something, or that it cannot")]
fn read_back(_: &Family, _: &str, _: &Tools) -> Result<Option<Message>, Fault> {
    Ok(None)
}

/// Parses `wire`, which must give `calls` and nothing else.
pub(super) fn verify(
    family: &Family,
    wire: &str,
    calls: &[Call<'_>],
    tools: &Tools,
) -> Result<(), Failed> {
    let Some(message) = read_back(family, wire, tools).map_err(|fault| (0, fault))? else {
        return Ok(());
    };
    for call in calls {
        let fault = |kind, why| Err((call.index, Fault::new(kind, why)));
        let Some(back) = message.calls.get(call.index) else {
            return match call.index {
                0 if !tools.admits(call.name) => {
                    fault(EncodeErrorKind::Name, "only declared tools are calls in this syntax")
                }
                0 => fault(EncodeErrorKind::NotReadBack, "it reads as no call"),
                _ => fault(EncodeErrorKind::Several, "it does not read as one behind the others"),
            };
        };
        if back.name != call.name {
            return fault(EncodeErrorKind::Name, "it reads back as another");
        }
        if call.id.is_some_and(|id| id != back.id) {
            return fault(EncodeErrorKind::Id, "it reads back as another");
        }
        if back.outcome != Some(Outcome::Complete)
            || read_object(&back.arguments).as_ref() != Ok(&call.arguments)
        {
            return fault(EncodeErrorKind::NotReadBack, "its arguments read back as others");
        }
    }
    let extra = message.calls.len() > calls.len() || !message.content.trim_ascii().is_empty();
    if extra || !message.reasoning.is_empty() {
        let why = "more reads back than was written";
        return Err((0, Fault::new(EncodeErrorKind::NotReadBack, why)));
    }
    Ok(())
}
