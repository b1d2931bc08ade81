//! Tests of lists with a malformed object: the other objects are complete calls, at every cut.

use stream_laws::{
    Cut, CutPlan, RecordedEvent, RunRecord, check_chunk_invariance, is_complete, run,
};
use toolcall_parsers::{EncodeCall, Grammar, Tools, Whitespace, encode, grammars};

use crate::support::{ParserMachine, families::ways};

/// Three calls. The second one is damaged.
const CALLS: [EncodeCall<'_>; 3] = [
    EncodeCall::new("first", r#"{"a": "x]}, {"}"#),
    EncodeCall::new("middle", r#"{"b": [7, {"c": "y"}], "d": 4321}"#),
    EncodeCall::new("last", r#"{"e": ["}]", 2]}"#),
];

/// Pieces of the second call and their replacements. Each makes the call malformed.
const DAMAGES: [(&str, &str); 5] = [
    ("4321", ""),
    ("4321", "43 21"),
    ("[7, ", "[7 "),
    ("4321", "{\"f\" 1}"),
    ("\"d\": ", "\"d\" "),
];

/// Returns the names of the complete calls.
fn complete(record: &RunRecord) -> Vec<String> {
    let (mut found, mut name) = (Vec::new(), String::new());
    for event in &record.events {
        match event {
            RecordedEvent::CallStart { name: called, .. } => name.clone_from(called),
            RecordedEvent::CallEnd { outcome, .. } if is_complete(outcome) => {
                found.push(name.clone());
            }
            _ => {}
        }
    }
    found
}

/// Returns the wires in which the family writes the calls as one list of objects.
fn lists(grammar: &Grammar) -> Vec<String> {
    let wires =
        ways(grammar).into_iter().filter_map(|way| encode(&way, &CALLS, &Tools::none()).ok());
    let in_one = |wire: &String| {
        let objects: String = wire.split_ascii_whitespace().collect();
        let list = objects.find('[').zip(objects.find('{')).is_some_and(|(list, call)| list < call);
        list && objects.contains("}},{") && objects.contains("\"middle\"")
    };
    wires.filter(in_one).collect()
}

#[test]
fn siblings_of_a_malformed_object_are_complete_calls() {
    let (mut broken, mut families) = (Vec::new(), 0);
    for grammar in grammars() {
        let machine = ParserMachine::new(grammar.clone(), Whitespace::Framing);
        let lists = lists(&grammar);
        families += usize::from(!lists.is_empty());
        for wire in lists {
            for (piece, instead) in DAMAGES {
                let damaged = wire.replacen(piece, instead, 1);
                if damaged == wire || complete(&run(&machine, &wire, Cut::Whole)).len() < 3 {
                    continue;
                }
                let found = complete(&run(&machine, &damaged, Cut::Whole));
                if found != ["first", "last"] {
                    broken.push(format!("{}: {found:?} in {damaged:?}", grammar.name()));
                }
                let same = check_chunk_invariance(&machine, &damaged, CutPlan::standard(3));
                broken.extend(same.err().map(|it| format!("{}: {it}", grammar.name())));
            }
        }
    }
    assert!(broken.is_empty(), "{} broken\n{}", broken.len(), broken.join("\n"));
    assert!(families > 12, "only {families} families with lists");
}

#[test]
fn damaged_lists_are_chunk_invariant() {
    let mut broken = Vec::new();
    for grammar in grammars() {
        let machine = ParserMachine::new(grammar.clone(), Whitespace::Framing);
        for wire in lists(&grammar) {
            let from = wire.find("\"middle\"").expect("the call in the middle");
            for at in (from..wire.len()).filter(|&at| wire.is_char_boundary(at)) {
                let (head, tail) = wire.split_at(at);
                let mut rest = tail.chars();
                let next = rest.next().expect("not at the end");
                for instead in [String::new(), format!("{next}{next}"), "'".into(), "{".into()] {
                    let damaged = format!("{head}{instead}{}\nDone.", rest.as_str());
                    let plan = CutPlan { two_way_up_to: 0, three_way_up_to: 0, random: 4, seed: 9 };
                    let same = check_chunk_invariance(&machine, &damaged, plan);
                    broken.extend(same.err().map(|it| format!("{}: {it}", grammar.name())));
                }
            }
        }
    }
    assert!(broken.is_empty(), "{} broken\n{}", broken.len(), broken.join("\n"));
}
