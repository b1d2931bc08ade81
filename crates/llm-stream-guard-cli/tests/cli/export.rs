//! Families written as response templates read the families' own vectors.

use std::fs;

use llm_stream_guard::{Guard, Profile, Tools};
use llm_stream_guard_cli::families::export;
use stream_laws::{
    COMPLETE, Cut, Event,
    json::parse_object,
    run,
    vector::{Case, read_cases},
};

use crate::support::root;

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
    let machine = guard_laws::GuardMachine::new(guard, llm_stream_guard::End::Stop);
    let got = calls(&run(&machine, &case.wire, Cut::Whole).events);
    got.len() == case.expect.calls.len()
        && got.iter().zip(&case.expect.calls).all(|((name, text), call)| {
            *name == call.name && parse_object(text).is_ok_and(|it| it == call.arguments)
        })
}

#[test]
fn exported_templates_read_what_their_families_write() {
    let (mut all, mut good, mut exported) = (0, 0, 0);
    for grammar in toolcall_parsers::grammars() {
        let profile = Profile::tools(grammar.name());
        let Ok(template) = export(&profile, "<bot>") else { continue };
        exported += 1;
        let own = Profile::from_response_template(&template.template.to_string())
            .unwrap_or_else(|error| panic!("{}: {error}", grammar.name()));
        let path = root().join(format!("vectors/tools/{}.jsonl", grammar.name()));
        let Ok(text) = fs::read_to_string(path) else { continue };
        let cases = read_cases(&text).expect("vectors");
        let (mut here, mut bad) = (0, Vec::new());
        for case in &cases {
            all += 1;
            if agrees(&own, case) { here += 1 } else { bad.push(case.id.as_str()) }
        }
        good += here;
        println!("{}: {here} of {}, not {bad:?}", grammar.name(), cases.len());
    }
    println!("{exported} families, {good} of {all}");
    assert!(exported > 20, "{exported}");
}
