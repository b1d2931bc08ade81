//! What each family's parser looks at, holds and reports, as it was when last agreed to: of its
//! vectors, of these cut short anywhere, without any one scalar and with what does not belong there,
//! and of its markup in any order.
//!
//! `UPDATE=1 cargo test -p toolcall-parsers --test it kept` writes the file; its difference is what a
//! change does to parsers that no other test looks at so closely.

use std::path::Path;

use serde_json::json;
use stream_laws::{
    Cut, Random,
    kept::{Figures, as_kept},
};
use toolcall_parsers::{Grammar, Tools, Whitespace, grammar, grammars};

use crate::{
    small_scope::alphabet,
    support::{ParserMachine, inputs::Inputs, vectors_if_any},
};

/// Scalars of a vector that are damaged, at most, evenly spread.
const DAMAGES: usize = 64;

/// What is put in where it does not belong: brackets, and whitespace up to and past what is waited
/// for behind a call.
const PUT_IN: [&str; 4] =
    ["}", "}}]", "                                ", "\n                                "];

/// Places of a vector at which that is done, at most.
const PLACES: usize = 12;

/// Wires of random markup, and tokens in each.
const SOUPS: (usize, usize) = (60, 16);

/// The lines of one family.
fn lines(family: &Grammar) -> String {
    let [mut good, mut cut, mut mended, mut damaged, mut soups] =
        [(); 5].map(|()| Figures::default());
    for case in vectors_if_any(family.name()) {
        let Ok(grammar) = grammar(&case.family) else { continue };
        let machine = ParserMachine::of_case(&grammar, &case);
        let mending = machine.mending();
        let wire = case.wire.as_str();
        both(&mut good, &machine, wire);
        both(&mut mended, &mending, wire);
        let scalars: Vec<(usize, char)> = wire.char_indices().collect();
        for &(at, scalar) in scalars.iter().step_by(scalars.len().div_ceil(DAMAGES).max(1)) {
            cut.add_run(&machine, &wire[..at], Cut::Whole);
            mended.add_run(&mending, &wire[..at], Cut::Whole);
            let without = [&wire[..at], &wire[at + scalar.len_utf8()..]].concat();
            damaged.add_run(&machine, &without, Cut::Whole);
        }
        for &(at, _) in scalars.iter().step_by(scalars.len().div_ceil(PLACES).max(1)) {
            for more in PUT_IN {
                let with = [&wire[..at], more, &wire[at..]].concat();
                damaged.add_run(&machine, &with, Cut::Whole);
            }
        }
    }
    let tool = json!({"properties": {"f": {"type": "integer"}, "name": {"type": "string"}}});
    let tools = Tools::new([("f", tool.clone()), ("name", tool)]);
    let machine = ParserMachine::new(family.clone(), Whitespace::Framing);
    let with_tools = ParserMachine::with_tools(family, tools, Whitespace::Trim);
    Inputs::of(family).edges.iter().for_each(|wire| both(&mut soups, &machine, wire));
    let (alphabet, mut random) = (alphabet(family), Random::new(7));
    for _ in 0..SOUPS.0 {
        let mut token = || alphabet[random.below(alphabet.len())].as_str();
        let wire: String = (0..SOUPS.1).map(|_| token()).collect();
        both(&mut soups, &machine, &wire);
        both(&mut soups, &with_tools, &wire);
    }
    let all = [("good", good), ("cut", cut), ("mended", mended), ("damaged", damaged)];
    let all = all.into_iter().chain([("soups", soups)]);
    all.map(|(what, figures)| figures.line(&format!("{}\t{what}", family.name()))).collect()
}

/// Adds what a wire comes to whole and scalar by scalar.
fn both(figures: &mut Figures, machine: &ParserMachine, wire: &str) {
    for cut in [Cut::EachScalar, Cut::Whole] {
        figures.add_run(machine, wire, cut);
    }
}

#[test]
fn work_held_text_and_reports_are_as_kept() {
    let told: String = grammars().map(|grammar| lines(&grammar)).collect();
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/kept.tsv");
    as_kept(&file, &told).unwrap_or_else(|it| panic!("{it}"));
}
