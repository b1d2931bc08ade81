//! The table of damaged calls in `docs/families.md`.

use stream_laws::{Cut, RecordedEvent, RunRecord, check_page_part, is_complete, json, run};
use toolcall_parsers::{EncodeCall, Grammar, Tools, Whitespace, encode, families, grammar};

use crate::support::{ParserMachine, families::end_tags};

const NAME: &str = "weigh";
const ARGUMENTS: &str = "{\"crate\": \"B7\", \"grams\": 250}";

/// The kinds of damage, each with the heading of its column.
const DAMAGES: [(&str, Damage); 9] = [
    ("cut", |wire, _| Some(head(wire, wire.len() * 2 / 3).to_owned())),
    ("no end", |wire, ends| last_end(wire, ends).map(|(at, _)| wire[..at].trim_end().to_owned())),
    ("no inner end", |wire, ends| {
        without(wire, ends.iter().find_map(|end| wire.find(end).map(|at| (at, end.len()))))
    }),
    ("no `}`", |wire, _| without(wire, wire.rfind('}').map(|at| (at, 1)))),
    ("`}` twice", |wire, _| wire.rfind('}').map(|at| format!("{}}}{}", &wire[..at], &wire[at..]))),
    ("end twice", |wire, ends| {
        last_end(wire, ends).map(|(at, len)| format!("{wire}{}", &wire[at..at + len]))
    }),
    ("`'` for `\"`", |wire, _| wire.contains('"').then(|| wire.replace('"', "'"))),
    ("comma after", |wire, _| {
        wire.find("250").map(|at| format!("{},{}", &wire[..at + 3], &wire[at + 3..]))
    }),
    ("in a line", |wire, _| Some(format!("Now {wire}"))),
];

type Damage = fn(&str, &[String]) -> Option<String>;

fn head(wire: &str, to: usize) -> &str {
    &wire[..(0..=to).rev().find(|&at| wire.is_char_boundary(at)).unwrap_or(0)]
}

fn last_end(wire: &str, ends: &[String]) -> Option<(usize, usize)> {
    ends.iter().filter_map(|end| Some((wire.rfind(end)?, end.len()))).max()
}

fn without(wire: &str, place: Option<(usize, usize)>) -> Option<String> {
    let (at, len) = place?;
    Some(wire[..at].to_owned() + &wire[at + len..])
}

/// Returns the outcome of a damaged call in one word.
fn outcome(grammar: &Grammar, tools: &Tools, wire: &str) -> &'static str {
    let machine = ParserMachine::with_tools(grammar, tools.clone(), Whitespace::Framing);
    let record: RunRecord = run(&machine, wire, Cut::Whole).coalesced().expect("no empty text");
    let (mut arguments, mut found) = (String::new(), "text");
    for event in &record.events {
        match event {
            RecordedEvent::CallArguments { fragment, .. } => arguments.clone_from(fragment),
            RecordedEvent::CallEnd { outcome, .. } if is_complete(outcome) => {
                let same = json::parse(&arguments) == json::parse(ARGUMENTS);
                found = if same { "**call**" } else { "other" };
            }
            RecordedEvent::CallEnd { .. } => found = "part",
            RecordedEvent::CallStart { .. } | RecordedEvent::Text { .. } => {}
        }
    }
    found
}

/// Returns the outcomes of all damages in a family, as the cells of a row.
fn cells(name: &str) -> Option<String> {
    let grammar = grammar(name).expect("a registered family");
    let tools = serde_json::json!([{"type": "function", "function": {"name": NAME, "parameters": {
        "type": "object",
        "properties": {"crate": {"type": "string"}, "grams": {"type": "integer"}},
    }}}]);
    let tools = Tools::from_json(&tools).expect("tools");
    let wire = encode(&grammar, &[EncodeCall::new(NAME, ARGUMENTS)], &tools).ok()?;
    let ends = end_tags(grammar.family());
    let cells = DAMAGES.iter().map(|(_, damage)| match damage(&wire, &ends) {
        Some(damaged) if damaged != wire => outcome(&grammar, &tools, &damaged),
        _ => "",
    });
    let cells: Vec<&str> = cells.collect();
    Some(cells.join(" | "))
}

/// Returns the table: a row for each group of families with the same outcomes, the largest first.
fn table() -> String {
    let mut groups: Vec<(String, Vec<&str>)> = Vec::new();
    for name in families().map(|summary| summary.name) {
        let Some(cells) = cells(name) else { continue };
        match groups.iter_mut().find(|(known, _)| *known == cells) {
            Some((_, names)) => names.push(name),
            None => groups.push((cells, vec![name])),
        }
    }
    groups.sort_by_key(|(_, names)| core::cmp::Reverse(names.len()));
    let heads: Vec<&str> = DAMAGES.iter().map(|(head, _)| *head).collect();
    let rule = "|---".repeat(heads.len());
    let mut table = format!("| {} | families |\n{rule}|---|\n", heads.join(" | "));
    for (cells, names) in groups {
        table += &format!("| {cells} | {} |\n", names.join(" "));
    }
    table
}

#[test]
fn page_shows_what_the_parser_makes_of_damage() {
    check_page_part(env!("CARGO_MANIFEST_DIR"), "families.md", "damaged calls", &table());
}
