//! Reading back what was written, before it goes out.

use alloc::sync::Arc;

use jail_match::End;

use super::{
    Call,
    error::{EncodeErrorKind, Fault},
    value::read_object,
};
use crate::{
    event::Outcome,
    grammar::Grammar,
    parser::{Parser, parse},
    tools::Tools,
};

/// Parses `wire`, which must give `calls` and nothing else.
pub(super) fn verify(
    grammar: &Grammar,
    wire: &str,
    calls: &[Call<'_>],
    tools: &Tools,
) -> Result<(), (usize, Fault)> {
    let no_table = |_| (0, Fault::new(EncodeErrorKind::Grammar, "its markers make no table"));
    let parser = Parser::builder(Arc::new(grammar.clone())).tools(tools.clone());
    let parser = parser.build().map_err(no_table)?;
    let over = |_| (0, Fault::new(EncodeErrorKind::NotReadBack, "it is too long to be read back"));
    let message = parse(&parser, wire, End::Stop).map_err(over)?;
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
