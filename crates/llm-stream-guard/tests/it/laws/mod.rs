//! Every registered profile: the laws over its vectors' wires and over inputs made to hurt; and
//! what only a guard does.

mod broken_block;
mod choice;
mod cut;
mod cut_tokens;
mod damaged;
mod growth;
mod inputs;
mod inserted_tokens;
mod marker_tokens;
mod nonempty;
mod options;
mod panicking_sinks;
mod profiles;
mod remap;
mod roles;
mod stop;
mod tokens;
