//! Families written as response templates read the families' own vectors.

use std::fs;

use guard_laws::GuardMachine;
use llm_stream_guard::{End, Guard, Profile, Tools};
use llm_stream_guard_cli::families::export;
use serde_json::json;
use stream_laws::{
    COMPLETE, Cut, Event,
    json::parse_object,
    run,
    vector::{Case, read_cases},
};

use toolcall_parsers::{EncodeCall, encode_form};

use crate::support::{root, run as run_command};

/// The names and arguments of complete calls.
fn calls(events: &[Event]) -> Vec<(String, String)> {
    let mut calls: Vec<(String, String, bool)> = Vec::new();
    for event in events {
        match event {
            Event::CallStart { name, .. } => calls.push((name.clone(), String::new(), false)),
            Event::CallArguments { index, fragment } => calls[*index as usize].1.push_str(fragment),
            Event::CallEnd { index, outcome } => calls[*index as usize].2 = outcome == COMPLETE,
            Event::Text { .. } => {}
        }
    }
    calls.into_iter().filter(|call| call.2).map(|(name, text, _)| (name, text)).collect()
}

/// Whether the template reads the calls that the case expects.
fn agrees(profile: &Profile, case: &Case) -> bool {
    let mut builder = Guard::builder(profile);
    if let Some(tools) = &case.tools {
        let tools = serde_json::from_str(tools).expect("JSON");
        builder = builder.tools(Tools::from_json(&tools).expect("tools"));
    }
    let guard = builder.build().expect("an exported template is good");
    let machine = GuardMachine::new(guard, End::Stop);
    let got = calls(&run(&machine, &case.wire, Cut::Whole).events);
    got.len() == case.expect.calls.len()
        && got.iter().zip(&case.expect.calls).all(|((name, text), call)| {
            *name == call.name && parse_object(text).is_ok_and(|it| it == call.arguments)
        })
}

/// The profile that reads by the template of a family, if there is one.
fn exported(name: &str) -> Option<Profile> {
    let template = export(&Profile::tools(name), "<bot>").ok()?.template.to_string();
    Some(Profile::from_response_template(&template).unwrap_or_else(|it| panic!("{name}: {it}")))
}

#[test]
fn exported_templates_read_what_their_families_write() {
    let schema = json!({"properties": {"to": {"type": "string"}, "n": {"type": "integer"}}});
    let tools = Tools::new([("wave", schema.clone()), ("nod", schema)]);
    let one = EncodeCall::new("wave", r#"{"to": "Ida, \u00e9", "n": 3}"#);
    let two = EncodeCall::new("nod", r#"{"to": "two\nlines"}"#);
    let (mut read, mut wrong) = (0, Vec::new());
    for grammar in toolcall_parsers::grammars() {
        let Some(profile) = exported(grammar.name()) else { continue };
        for written in [&[one][..], &[one, two]] {
            let form = grammar.family().write.form;
            let Ok(wire) = encode_form(&grammar, form, written, &tools) else { continue };
            // A second way to write a parameter, which the template does not have.
            if wire.contains("<![CDATA[") {
                continue;
            }
            let guard = Guard::builder(&profile).tools(tools.clone()).build().expect("a guard");
            let machine = GuardMachine::new(guard, End::Stop);
            let got = calls(&run(&machine, &wire, Cut::EachScalar).events);
            let same = got.len() == written.len()
                && got.iter().zip(written).all(|((name, text), call)| {
                    name == call.name && parse_object(text) == parse_object(call.arguments)
                });
            if !same {
                wrong.push(format!("{}: {wire:?} is {got:?}", grammar.name()));
            }
            read += 1;
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(read >= 60, "{read} wires");
}

/// What templates cannot say (missing markers, text behind a fault, other forms than the one that
/// is written) makes up the rest.
#[test]
fn exported_templates_read_most_vectors_of_their_families() {
    let (mut all, mut good) = (0, 0);
    for grammar in toolcall_parsers::grammars() {
        let path = root().join(format!("vectors/tools/{}.jsonl", grammar.name()));
        let (Some(profile), Ok(text)) = (exported(grammar.name()), fs::read_to_string(path)) else {
            continue;
        };
        for case in read_cases(&text).expect("vectors") {
            all += 1;
            good += usize::from(agrees(&profile, &case));
        }
    }
    assert!(all > 500 && good * 10 > all * 7, "{good} of {all}");
}

#[test]
fn a_family_is_written_as_a_template_and_what_is_lost_is_said() {
    let anchor = "<|im_start|>assistant\n";
    let output = run_command(&["families", "--export", "qwen3", "--anchor", anchor]);
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    let (text, notes) = (text(output.stdout), text(output.stderr));
    let profile = Profile::from_response_template(&text).expect("a template");
    assert!(Guard::builder(&profile).build().is_ok());
    assert!(notes.contains("not in the template: markers that are missing"), "{notes}");
}

#[test]
fn what_cannot_be_a_template_says_why() {
    let refused = |name: &str| export(&Profile::tools(name), "<bot>").expect_err(name);
    assert_eq!(refused("harmony"), "it writes messages with headers");
    assert_eq!(refused("pythonic"), "its arguments are not JSON or tags");
    assert_eq!(refused("llama3_json"), "its calls begin or end without a marker");
}
