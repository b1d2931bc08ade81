//! Tests of the encoder: calls are written as in chat templates or refused with a reason, and
//! always read back.

mod any_calls;
mod canonical;
mod parts_of_tags;
mod refused;
mod shared_names;

use stream_laws::{CutPlan, EncodedCall, LawViolation, check_round_trip};
use toolcall_parsers::{EncodeCall, Grammar, Tools, Whitespace};

use crate::support::ParserMachine;

/// Checks that `wire` reads back as `calls` at the cuts of `plan`.
pub(crate) fn reads_back(
    grammar: &Grammar,
    tools: &Tools,
    calls: &[EncodeCall<'_>],
    wire: &str,
    plan: CutPlan,
) -> Result<(), LawViolation> {
    let machine = ParserMachine::with_tools(grammar, tools.clone(), Whitespace::Verbatim);
    let expected: Vec<_> = calls
        .iter()
        .map(|call| EncodedCall { name: call.name, arguments: call.arguments })
        .collect();
    check_round_trip(&machine, wire, &expected, plan)
}
