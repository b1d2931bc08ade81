//! Files of families are read back when they are loaded: they complete their calls, or are refused.

use toolcall_parsers::{End, Family, Grammar, Message, Outcome, Parser, Tools, parse};

/// Brackets of tags, as a template writes them.
const BRACKETS: [[&str; 2]; 9] = [
    ["<", ">"],
    ["[", "]"],
    ["<|", "|>"],
    ["[[", "]]"],
    ["<%", "%>"],
    ["«", "»"],
    ["@@", "@@"],
    ["::", "::"],
    ["{{", "}}"],
];

const CALLS: [&str; 4] = [
    "(act){name}(args){parameters}(/act)",
    "(act){name}{parameters}(/act)",
    "(act {name})\\n{parameters}(/act)",
    "(act)\\n(tool){name}(/tool)\\n{parameters}(/act)",
];

const PARAMETERS: [&str; 6] = [
    "({key}){value}(;)",
    "({key}){value}(/{key})",
    "(p {key}){value}(/p)\\n",
    "(k){key}(/k)(v){value}(/v)",
    "(p={key})\\n{value}\\n(/p)\\n",
    "({key}={value})",
];

/// Returns the wire of a call whose templates are `call` and `parameter`.
fn wire(call: &str, parameter: &str, [open, close]: [&str; 2]) -> String {
    let filled = |key: &str, value: &str| parameter.replace("{key}", key).replace("{value}", value);
    let all = filled("city", "Paris") + &filled("street", "Rue A");
    let call = call.replace("{parameters}", &all).replace("{name}", "find");
    let bracket = |text: &str| text.replace("{{", "{").replace("}}", "}");
    call.replace("\\n", "\n").replace('(', &bracket(open)).replace(')', &bracket(close))
}

fn read(family: Family, wire: &str) -> Message {
    let property = serde_json::json!({"type": "string"});
    let schema = serde_json::json!({"properties": {"city": property, "street": property}});
    let grammar = Grammar::new(family).expect("the file was loaded");
    let parser = Parser::builder(grammar).tools(Tools::new([("find", schema)])).build();
    parse(&parser.expect("valid markers"), wire, End::Stop).expect("no limit")
}

#[test]
fn plausible_files_complete_their_calls_or_are_refused() {
    let (mut loaded, mut refused, mut wrong) = (0, 0, Vec::new());
    for [open, close] in BRACKETS {
        for call in CALLS {
            for parameter in PARAMETERS {
                let template = |text: &str| text.replace('(', open).replace(')', close);
                let file = format!(
                    "[calls]\ncall = '{}'\nparameter = '{}'\n",
                    template(call),
                    template(parameter)
                );
                let family = match Family::from_toml("act", &file) {
                    Ok(family) => family,
                    Err(error) => {
                        assert!(error.field().starts_with("calls"), "{error}");
                        refused += 1;
                        continue;
                    }
                };
                if Grammar::new(family.clone()).is_err() {
                    refused += 1;
                    continue;
                }
                loaded += 1;
                let wire = wire(call, parameter, [open, close]);
                let message = read(family, &format!("Hm. {wire} Done."));
                let call = message.calls.first();
                let complete = call.is_some_and(|call| {
                    call.name == "find"
                        && call.arguments == r#"{"city": "Paris", "street": "Rue A"}"#
                        && call.outcome == Some(Outcome::Complete)
                });
                if !complete || !message.content.ends_with("Done.") {
                    wrong.push(format!("{file}{wire:?}\n{message:?}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {loaded}\n{}", wrong.len(), wrong.join("\n"));
    println!("{loaded} loaded, {refused} refused");
    assert!(loaded >= 108, "only {loaded} of 216 files loaded");
}

#[test]
fn registered_families_can_be_proved() {
    for summary in toolcall_parsers::families() {
        let file = format!("like = \"{}\"\n", summary.name);
        let proved = Family::from_toml("copy", &file);
        assert!(proved.is_ok(), "{}: {}", summary.name, proved.unwrap_err());
    }
}

#[test]
fn separators_of_calls_need_no_brackets() {
    let file = "[calls]\nsection = '<tools>{calls:, }</tools>'\ncall = '{object}'\n";
    let family = Family::from_toml("listed", file).expect("a valid file");
    let wire = r#"<tools>{"name": "find", "arguments": {}}, {"name": "find", "arguments": {"city": "X"}}</tools> Done."#;
    let message = read(family, wire);
    assert_eq!((message.calls.len(), message.content.trim()), (2, "Done."));
    assert!(message.calls.iter().all(|call| call.outcome == Some(Outcome::Complete)));
    assert!(message.diagnostics.is_empty(), "{:?}", message.diagnostics);
}

#[test]
fn file_that_misreads_its_calls_is_refused_with_the_field() {
    // The end of a value begins the end of the call.
    let file = "[calls]\ncall = '<a>{name}<b>{parameters}<;/a>'\nparameter = '<{key}>{value}<;'\n";
    match Family::from_toml("torn", file) {
        Ok(family) => {
            let message = read(family, "<a>find<b><city>Paris<;<;/a>");
            assert_eq!(message.calls[0].outcome, Some(Outcome::Complete));
        }
        Err(error) => assert!(error.field().starts_with("calls."), "{error}"),
    }
}
