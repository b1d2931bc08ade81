//! Every registered profile: the laws over its vectors' wires and over inputs made to hurt; and
//! what only a guard does.

mod choice;
mod inputs;
mod laws;
// The command's adapter: one guard, one way to record it.
#[allow(unreachable_pub)]
#[path = "../../../llm-stream-guard-cli/src/machine.rs"]
mod machine;
mod nonempty;
mod stop;
