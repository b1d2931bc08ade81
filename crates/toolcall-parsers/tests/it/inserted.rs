//! Tests of text between parameters and after the last one: the call is complete, and the text is
//! reported.

use stream_laws::{
    Cut, CutPlan, RecordedEvent, RunRecord, check_chunk_invariance, is_complete, json, run,
};
use toolcall_parsers::{EncodeCall, Family, Tools, Whitespace, encode, grammars};

use crate::support::{
    ParserMachine,
    families::{literals, sorted, ways},
};

const TEXTS: [&str; 2] = [" and so on ", "\nAs you asked, a < b & c:\n"];

const CALLS: [EncodeCall<'_>; 2] = [
    EncodeCall::new("weigh", r#"{"crate": "B7", "grams": 250}"#),
    EncodeCall::new("weigh", r#"{"grams": 250, "crate": "B7"}"#),
];

fn tools() -> Tools {
    let properties = serde_json::json!({"crate": {"type": "string"}, "grams": {"type": "integer"}});
    Tools::new([("weigh", serde_json::json!({"type": "object", "properties": properties}))])
}

/// Returns the arguments of the complete calls.
fn complete(record: &RunRecord) -> Vec<String> {
    let (mut found, mut arguments) = (Vec::new(), String::new());
    for event in &record.events {
        match event {
            RecordedEvent::CallStart { .. } => arguments.clear(),
            RecordedEvent::CallArguments { fragment, .. } => arguments.push_str(fragment),
            RecordedEvent::CallEnd { outcome, .. } if is_complete(outcome) => {
                found.push(arguments.clone());
            }
            RecordedEvent::CallEnd { .. } | RecordedEvent::Text { .. } => {}
        }
    }
    found
}

/// Returns the tags that end a parameter or an element of the call.
fn ends_of_values(family: &Family) -> Vec<String> {
    let parameters = family.forms.iter().flat_map(|form| &form.parameters);
    let last = |template| literals(template).pop().map(|end| String::from(end.trim()));
    let mut ends: Vec<String> = parameters.filter_map(last).collect();
    for template in family.forms.iter().flat_map(|form| &form.elements) {
        let end = literals(template).swap_remove(2);
        ends.extend(["crate", "grams"].map(|key| format!("{end}{key}>")));
    }
    sorted(ends)
}

#[test]
fn text_after_a_parameter_is_reported_and_the_call_is_complete() {
    let (mut broken, mut checked) = (Vec::new(), 0);
    for grammar in grammars() {
        let grammar = grammar.for_tools(&tools());
        let ends = ends_of_values(grammar.family());
        let machine = ParserMachine::with_tools(&grammar, tools(), Whitespace::Framing);
        let calls = CALLS.map(|call| [call]);
        let ways = ways(&grammar);
        let wires =
            ways.iter().flat_map(|way| calls.iter().map(move |it| encode(way, it, &tools())));
        for wire in wires.flatten() {
            for (at, end) in ends.iter().flat_map(|end| wire.match_indices(end.as_str())) {
                for text in TEXTS {
                    let (head, tail) = wire.split_at(at + end.len());
                    let wire = format!("{head}{text}{tail}");
                    checked += 1;
                    let record = run(&machine, &wire, Cut::Whole);
                    let whole = complete(&record)
                        .iter()
                        .any(|arguments| json::parse(arguments) == json::parse(CALLS[0].arguments));
                    let noise = record.diagnostics.iter().any(|it| it.kind == "noise");
                    let same = check_chunk_invariance(&machine, &wire, CutPlan::standard(7));
                    if !whole || !noise || same.is_err() {
                        broken.push(format!("{}: {wire:?} {:?}", grammar.name(), same.err()));
                    }
                }
            }
        }
    }
    assert!(broken.is_empty(), "{} broken\n{}", broken.len(), broken.join("\n"));
    assert!(checked > 100, "only {checked} wires");
}
