//! What the encoder writes: as templates write it, or refused with a reason, and always read
//! back.

#[expect(dead_code, reason = "shared with the tests of the parsers, which use all of it")]
#[path = "../support/mod.rs"]
mod support;

mod any_calls;
mod canonical;
mod refused;

use std::sync::Arc;

use stream_laws::{Call, CutPlan, Violation, check_round_trip};
use support::ParserMachine;
use toolcall_parsers::{EncodeCall, Grammar, Tools, Whitespace};

/// Checks that `wire` gives `calls`, under some cuts.
pub(crate) fn reads_back(
    grammar: &Arc<Grammar>,
    tools: &Tools,
    calls: &[EncodeCall<'_>],
    wire: &str,
    plan: CutPlan,
) -> Result<(), Violation> {
    let machine = ParserMachine::with_tools(grammar, tools.clone(), Whitespace::Verbatim);
    let expected: Vec<_> =
        calls.iter().map(|call| Call { name: call.name, arguments: call.arguments }).collect();
    check_round_trip(&machine, wire, &expected, plan)
}
