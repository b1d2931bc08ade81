//! Text made of one family's markup and of pieces of calls: cut every way, its parser must keep
//! the laws.

#![no_main]

use guard_laws::GuardMachine;
use libfuzzer_sys::fuzz_target;
use llm_stream_guard::{End, Guard, Profile, toolcall_parsers::grammars};
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

fuzz_target!(|data: &[u8]| {
    let Some((&first, rest)) = data.split_first() else { return };
    let Some(grammar) = grammars().nth(usize::from(first) % grammars().count()) else { return };
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
