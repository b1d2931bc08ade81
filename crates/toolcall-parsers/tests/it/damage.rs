//! Clean arguments (L13) on damaged wires: whatever is missing, doubled or out of order, no complete
//! call has markup of the family, or another call, in its arguments.

use std::collections::BTreeSet;

use stream_laws::{COMPLETE, Cut, Event, json, json::Value, run, vector::Case};
use toolcall_parsers::{EncodeCall, Grammar, Tools, Whitespace, encode, grammars};

use crate::support::{
    ParserMachine,
    families::{sorted, texts, ways},
    vectors_if_any,
};

/// How a wire is damaged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    /// One piece is missing.
    Missing,
    /// Two markers are.
    MissingTwo,
    /// One piece stands twice.
    Twice,
    /// Two pieces changed places.
    Swapped,
}

/// Families of Python's calls, where no tool is declared.
const UNDECLARED: &[&str] = &[
    "granite_pythonic, undeclared",
    "lfm2, undeclared",
    "llama4_pythonic, undeclared",
    "olmo3, undeclared",
    "pythonic, undeclared",
];

/// Where a wire cannot be told from one whose values hold markup: the families, the damages, why.
const EXCEPTIONS: &[(&[&str], &[Kind], &str)] = &[
    (
        &["harn_text"],
        &[Kind::Missing, Kind::Swapped],
        "in quotes all is data up to a quote that may end the string, be it another call's; so is a \
         bare value up to a brace",
    ),
    (
        UNDECLARED,
        &[Kind::Missing, Kind::Swapped],
        "in quotes all is data, but the head of a call of a declared tool with a quote of that kind",
    ),
    (
        &["beam"],
        &[Kind::MissingTwo],
        "behind the end of a message a value may go on with anything but the head of a call",
    ),
    (
        &["kimi_k3"],
        &[Kind::MissingTwo],
        "the token behind a header's attributes stands behind other words, too, which are data",
    ),
    (
        &["minicpm5"],
        &[Kind::MissingTwo],
        "a tag around all parameters is text where none opened it",
    ),
    (&["functiongemma/parallel"], &[Kind::MissingTwo], "in quotes of the family's own, too"),
    (
        &["qwen3_coder/undeclared-parameter"],
        &[Kind::Missing, Kind::MissingTwo],
        "a header ends a value if the tool declares its parameter",
    ),
];

/// Two calls that have no word in common.
const CALLS: [EncodeCall<'_>; 2] = [
    EncodeCall::new("weigh", r#"{"crate": "B7", "grams": 250}"#),
    EncodeCall::new("ring_bell", r#"{"word": "ding dong", "times": {"most": [3]}}"#),
];

/// The words of each of the calls.
const WORDS: [&[&str]; 2] = [
    &["weigh", "crate", "B7", "grams", "250"],
    &["ring_bell", "word", "ding", "dong", "times", "most"],
];

const BEHIND: &str = "\nAll done.";

fn tools() -> Tools {
    let tool = |name: &str, properties| {
        serde_json::json!({"type": "function", "function": {"name": name, "parameters": {
            "type": "object", "properties": properties}}})
    };
    let string = serde_json::json!({"type": "string"});
    let tools = serde_json::json!([
        tool("weigh", serde_json::json!({"crate": string, "grams": {"type": "integer"}})),
        tool("ring_bell", serde_json::json!({"word": string, "times": {"type": "object"}})),
    ]);
    Tools::from_json(&tools).expect("tools")
}

/// The pieces of the family's templates that stand or fall as a whole, and what encloses its strings.
fn markup(grammar: &Grammar) -> Vec<String> {
    let family = grammar.family();
    let whole = texts(family);
    let mut markup: Vec<String> = grammar.openers().map(String::from).collect();
    for text in &whole {
        let mut rest = text.as_str();
        loop {
            let ends = |at: &usize| rest[at + 1..].trim_ascii_start().starts_with('<');
            let end = rest.match_indices('>').map(|(at, _)| at).find(ends);
            let (piece, tail) = end.map_or((rest, ""), |at| rest.split_at(at + 1));
            // A quote before a tag is an attribute's.
            markup.push(piece.trim().trim_start_matches('"').to_owned());
            if tail.is_empty() {
                break;
            }
            rest = tail;
        }
    }
    markup.extend(family.forms.iter().flat_map(|form| form.quote.iter().cloned()));
    let punctuation = |c: char| c.is_ascii_punctuation();
    let attribute = |marker: &str| marker.ends_with('"') && !marker.trim().starts_with(punctuation);
    markup.retain(|it| it.len() > 2 && it.contains(punctuation) && !attribute(it));
    sorted(markup)
}

/// `wire` in pieces: markers, punctuation, and what stands between.
fn pieces<'w>(wire: &'w str, markup: &[String]) -> Vec<&'w str> {
    let (mut pieces, mut from, mut at) = (Vec::new(), 0, 0);
    while at < wire.len() {
        let rest = &wire[at..];
        let longest = markup
            .iter()
            .filter(|marker| rest.starts_with(marker.as_str()))
            .max_by_key(|m| m.len());
        let scalar = rest.chars().next().expect("not at the end");
        let len = match longest {
            Some(marker) => marker.len(),
            None if "{}[]()<>\"'`,:=".contains(scalar) => 1,
            None => 0,
        };
        if len == 0 {
            at += scalar.len_utf8();
            continue;
        }
        pieces.extend([&wire[from..at], &wire[at..at + len]]);
        at += len;
        from = at;
    }
    pieces.push(&wire[from..]);
    pieces.retain(|piece| !piece.is_empty());
    pieces
}

/// The complete calls of `wire`.
fn calls(machine: &ParserMachine, wire: &str) -> Vec<(String, Value)> {
    let (mut found, mut name, mut arguments) = (Vec::new(), String::new(), String::new());
    for event in run(machine, wire, Cut::Whole).events {
        match event {
            Event::CallStart { name: called, .. } => {
                name = called;
                arguments.clear();
            }
            Event::CallArguments { fragment, .. } => arguments.push_str(&fragment),
            Event::CallEnd { outcome, .. } if outcome == COMPLETE => {
                found.push((name.clone(), json::parse(&arguments).expect("one object")));
            }
            Event::CallEnd { .. } | Event::Text { .. } => {}
        }
    }
    found
}

/// All strings and keys of `value`.
fn strings(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(elements) => elements.iter().flat_map(strings).collect(),
        Value::Object(members) => members
            .iter()
            .flat_map(|(key, value)| [vec![key.as_str()], strings(value)].concat())
            .collect(),
        _ => Vec::new(),
    }
}

/// What a complete call has in its arguments that is not its own.
fn foreign((name, arguments): &(String, Value), markup: &[String]) -> Option<String> {
    let told = strings(arguments).join("\0");
    let known = WORDS.iter().any(|words| words[0] == name);
    let other = WORDS.iter().filter(|words| known && words[0] != name);
    let others = other.copied().flatten().copied();
    let mut texts = markup.iter().map(String::as_str).chain(others);
    texts.find(|text| told.contains(text)).map(String::from)
}

/// `pieces` without one piece or two markers, with one of them twice, and with two swapped.
fn damages(pieces: &[&str], markup: &[String]) -> Vec<(Kind, String)> {
    let mut found = Vec::new();
    let but = |left: &[usize]| -> String {
        let rest = pieces.iter().enumerate().filter(|(n, _)| !left.contains(n));
        rest.map(|(_, piece)| *piece).collect()
    };
    let mut before = Vec::new();
    for (n, &piece) in pieces.iter().enumerate() {
        found.push((Kind::Missing, but(&[n])));
        found.push((Kind::Twice, pieces[..=n].concat() + &pieces[n..].concat()));
        if n > 0 {
            let mut swapped = pieces.to_vec();
            swapped.swap(n - 1, n);
            found.push((Kind::Swapped, swapped.concat()));
        }
        if markup.iter().any(|marker| marker == piece) {
            found.extend(before.iter().map(|&m| (Kind::MissingTwo, but(&[m, n]))));
            before.push(n);
        }
    }
    found
}

/// The calls as the family writes them, in each of its ways, alone and both.
fn wires(grammar: &Grammar, tools: &Tools) -> BTreeSet<String> {
    let mut wires = BTreeSet::new();
    for way in ways(grammar).iter().chain([grammar]) {
        for calls in [&CALLS[..], &CALLS[..1]] {
            wires.extend(encode(way, calls, tools).map(|wire| wire + BEHIND));
        }
    }
    wires
}

fn is_excused(names: &[&str], kind: Kind) -> bool {
    let one = |all: &&[&str]| names.iter().any(|name| all.contains(name));
    EXCEPTIONS.iter().any(|(all, kinds, _)| one(all) && kinds.contains(&kind))
}

/// What of a damaged wire came out as arguments of a complete call.
fn swallowed(machine: &ParserMachine, markup: &[String], wire: &str) -> Option<String> {
    calls(machine, wire).iter().find_map(|call| foreign(call, markup))
}

#[test]
fn no_complete_call_of_a_damaged_wire_holds_markup_or_another_call() {
    let only = std::env::var("FAMILY").ok();
    let (mut broken, mut excused) = (Vec::new(), BTreeSet::new());
    for grammar in grammars().filter(|it| only.as_deref().is_none_or(|only| only == it.name())) {
        let (name, markup) = (grammar.name(), markup(&grammar));
        for told in [tools(), Tools::none()] {
            let name = format!("{name}{}", if told.is_empty() { ", undeclared" } else { "" });
            let names = [name.as_str(), grammar.name()];
            let machine = ParserMachine::with_tools(&grammar, told, Whitespace::Framing);
            let wires = wires(&grammar, &tools());
            let damaged: BTreeSet<(Kind, String)> =
                wires.iter().flat_map(|wire| damages(&pieces(wire, &markup), &markup)).collect();
            for (kind, wire) in damaged {
                let Some(what) = swallowed(&machine, &markup, &wire) else { continue };
                if is_excused(&names, kind) {
                    excused.extend(names.map(|name| (name.to_owned(), kind)));
                } else {
                    broken.push(format!("{name}, {kind:?}: {what:?} in {wire:?}"));
                }
            }
        }
    }
    assert!(broken.is_empty(), "{} broken\n{}", broken.len(), broken.join("\n"));
    for (names, kinds, why) in EXCEPTIONS.iter().filter(|_| only.is_none()) {
        for name in names.iter().filter(|name| !name.contains('/')) {
            let seen = |&&kind: &&Kind| excused.contains(&((*name).to_owned(), kind));
            assert!(kinds.iter().all(|kind| seen(&kind)), "{name}: it is not so that {why}");
        }
    }
}

/// Declares every tool that is called, where one is declared.
fn declare_all(case: &mut Case) {
    let Some(tools) = &mut case.tools else { return };
    let mut list: Vec<serde_json::Value> = serde_json::from_str(tools).expect("a list");
    for call in &case.expect.calls {
        let named = |tool: &serde_json::Value| {
            let tool = tool.get("function").unwrap_or(tool);
            tool.get("name").and_then(|name| name.as_str()) == Some(&call.name)
        };
        if !list.iter().any(named) {
            list.push(serde_json::json!({"name": call.name, "parameters": {}}));
        }
    }
    *tools = serde_json::Value::from(list).to_string();
}

#[test]
fn no_complete_call_of_a_damaged_vector_holds_markup() {
    let mut broken = Vec::new();
    for grammar in grammars() {
        let markup = markup(&grammar);
        for mut case in vectors_if_any(grammar.name()) {
            declare_all(&mut case);
            let told = format!("{:?}", case.expect);
            let markup: Vec<String> =
                markup.iter().filter(|marker| !told.contains(marker.as_str())).cloned().collect();
            let machine = ParserMachine::of_case(&grammar, &case);
            // Of a wire that is damaged as it stands its vector tells all.
            let whole = run(&machine, &case.wire, Cut::Whole).diagnostics.is_empty();
            let parts = pieces(&case.wire, &markup);
            let twice = |two: &[&str]| two[0] == two[1] && markup.iter().any(|it| it == two[0]);
            if !whole
                || parts.windows(2).any(twice)
                || swallowed(&machine, &markup, &case.wire).is_some()
            {
                continue;
            }
            for (kind, wire) in damages(&parts, &markup) {
                let what = swallowed(&machine, &markup, &wire);
                if let Some(what) = what.filter(|_| !is_excused(&[&case.id, grammar.name()], kind))
                {
                    broken.push(format!("{}, {kind:?}: {what:?} in {wire:?}", case.id));
                }
            }
        }
    }
    assert!(broken.is_empty(), "{} broken\n{}", broken.len(), broken.join("\n"));
}
