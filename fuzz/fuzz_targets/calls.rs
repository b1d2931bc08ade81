//! Text made of one family's markup and of pieces of calls: cut every way, its parser must keep
//! the laws.

#![no_main]

use std::sync::LazyLock;

use guard_laws::GuardMachine;
use libfuzzer_sys::fuzz_target;
use llm_stream_guard::{End, Grammar, Guard, Profile, toolcall_parsers::grammars};
use stream_laws::{CutPlan, check_chunk_invariance, check_total};

const PIECES: [&str; 24] = [
    "{",
    "}",
    "[",
    "]",
    "(",
    ")",
    "<",
    ">",
    "/",
    "\"",
    "'",
    ":",
    ",",
    "=",
    "\\",
    "\n",
    " ",
    "é",
    "f",
    "1",
    "\"name\": \"f\"",
    "\"arguments\": {",
    "a=1",
    "null",
];

/// Compiled once: it is the texts that vary.
static GRAMMARS: LazyLock<Vec<Grammar>> = LazyLock::new(|| grammars().collect());

fuzz_target!(|data: &[u8]| {
    let Some((&first, rest)) = data.split_first() else { return };
    let grammar = &GRAMMARS[usize::from(first) % GRAMMARS.len()];
    let mut pieces: Vec<&str> = PIECES.to_vec();
    let mut literals = Vec::new();
    grammar.family().clone().each_literal(|literal| literals.push(literal.clone()));
    pieces.extend(grammar.openers().chain(grammar.removed()));
    pieces.extend(literals.iter().map(String::as_str));
    let text: String = rest.iter().map(|&byte| pieces[usize::from(byte) % pieces.len()]).collect();
    let guard = Guard::builder(&Profile::tools(grammar.name())).build();
    let machine = GuardMachine::new(guard.expect("registered families build"), End::Stop);
    let plan = CutPlan::quick(u64::from(first));
    check_chunk_invariance(&machine, &text, plan).unwrap();
    check_total(&machine, &text, plan).unwrap();
});
