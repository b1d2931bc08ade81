//! Parsing of the written text, to check it before it is returned.

use super::{CallToWrite, Failed, mistyped};
use jail_match::End;

use crate::{
    compiled::Grammar,
    encode::{EncodeErrorKind, error::EncodeFault, input::read_object},
    event::{Message, Outcome},
    options::{LateIds, Options},
    parser::{Parser, parse},
    tools::Tools,
};

/// Returns the message that a parser of `grammar` reads from `wire`.
fn read_back(grammar: &Grammar, wire: &str, tools: &Tools) -> Result<Message, EncodeFault> {
    let fault = |why| EncodeFault::new(EncodeErrorKind::Grammar, why);
    let options = Options { late_ids: LateIds::Tell, ..Options::default() };
    let parser = Parser::builder(grammar.clone()).tools(tools.clone()).options(options).build();
    let parser = parser.map_err(|_| fault("its markers are invalid"))?;
    parse(&parser, wire, End::Stop).map_err(|_| fault("a limit was exceeded when it was read back"))
}

/// Checks that parsing `wire` gives `calls` and no other text.
pub(super) fn verify(
    grammar: &Grammar,
    wire: &str,
    calls: &[CallToWrite<'_>],
    tools: &Tools,
) -> Result<(), Failed> {
    let message = read_back(grammar, wire, tools).map_err(|fault| (0, fault))?;
    for call in calls {
        let fault = |kind, why| Err((call.index, EncodeFault::new(kind, why)));
        let Some(back) = message.calls.get(call.index) else {
            return match call.index {
                0 if !tools.admits(call.name) => {
                    fault(EncodeErrorKind::Name, "only declared tools are calls in this syntax")
                }
                0 => fault(EncodeErrorKind::NotReadBack, "it does not read back as a call"),
                _ => fault(EncodeErrorKind::Several, "it does not read back after the other calls"),
            };
        };
        if back.name != call.name {
            return fault(EncodeErrorKind::Name, "it reads back as another name");
        }
        if call.id.is_some_and(|id| id != back.id) {
            return fault(EncodeErrorKind::Id, "it reads back as another id");
        }
        let arguments = read_object(&back.arguments);
        let differs = arguments.as_ref() != Ok(&call.arguments);
        if differs || back.outcome != Some(Outcome::Complete) {
            let schema = tools.get(call.name).map(|tool| &tool.parameters);
            let back = arguments.as_ref().ok();
            let mistyped = schema.and_then(|schema| mistyped::fault(&call.arguments, back, schema));
            let why = match differs {
                true => "its arguments read back differently",
                false => "it does not read back as complete",
            };
            let differ = || EncodeFault::new(EncodeErrorKind::NotReadBack, why);
            return Err((call.index, mistyped.unwrap_or_else(differ)));
        }
    }
    let extra = message.calls.len() > calls.len() || !message.content.trim_ascii().is_empty();
    if extra || !message.reasoning.is_empty() {
        let why = "it reads back with additional text or calls";
        return Err((0, EncodeFault::new(EncodeErrorKind::NotReadBack, why)));
    }
    Ok(())
}
