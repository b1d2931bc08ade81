//! Response templates and texts made of pieces. A refused template has an error, and an accepted
//! one obeys the laws.

use guard_laws::GuardMachine;
use llm_stream_guard::{
    End, Guard, Profile,
    response_templates::{JsonObject, JsonTree, ResponseTemplate},
};

use crate::{
    input::{Input, halved},
    judge,
};

const LITERALS: [&str; 8] = ["<a>", "</a>", "<a>b", "<", "\n", "é", "{", "ab"];
/// A pattern that looks ahead without a limit. Text is read again for each region, so that its cost
/// is not checked.
const LOOKS_FAR: &str = "(?=[\\s\\S]*?</a>)";
/// The maximum number of characters of a text for such a pattern.
const FAR: usize = 128;
const PATTERNS: [&str; 20] = [
    "\\s*<a>",
    "<a>\\s*",
    "<(?P<n>\\w+)>",
    "(?=<a>)",
    "</a>|$",
    "<a>(?:b)?",
    "(?!b)<",
    "^",
    "[^<]*<",
    "a.*?b",
    "\\ba\\b",
    "(?i)AB",
    LOOKS_FAR,
    "(?:ab|a)+",
    "\\Z",
    "(?<=<)a",
    "(?<!a)b",
    "(a|b){2,5}",
    ".{0,40}<",
    "(?:a*)*b",
];
const CONTENTS: [&str; 5] = ["text", "json", "kv-lines", "int", "xml-inline"];
/// The arguments of all kinds of content. Each kind reads some of them.
const ARGUMENTS: &str = r#"{"tag_pattern": "<(?P<key>\\w+)>(?P<value>.*?)b", "unquoted_keys": true,
    "string_delims": [["é", "é"]]}"#;
const CALL: &str = r#"{"function": {"name": "f", "arguments": "{content}"}}"#;
const PIECES: [&str; 14] = [
    "<a>",
    "</a>",
    "<a>b",
    "é",
    "{\"name\": \"f\", \"arguments\": {}}",
    "[]",
    "k: v",
    "ab",
    "aB",
    "\n\n",
    "{\"name\": ",
    "{k:",
    ",",
    "\u{1F331}",
];

pub(crate) fn templates(data: &[u8]) {
    let mut input = Input::new(data, 24);
    let plan = input.cuts();
    let (mut fields, mut far, mut patterns) = (JsonObject::default(), false, 0);
    for name in ["thinking", "tool_calls", "content"] {
        let mut field = JsonObject::default();
        for side in ["open", "close"] {
            match input.below(3) {
                0 => {}
                1 => field.set(side, (*input.pick(&LITERALS)).into()),
                _ => {
                    let pattern = *input.pick(&PATTERNS);
                    far |= pattern == LOOKS_FAR;
                    patterns += 1;
                    field.set(format!("{side}_pattern"), pattern.into());
                }
            }
        }
        let content = *input.pick(&CONTENTS);
        field.set("content", content.into());
        if content == "xml-inline" || input.one_in(3) {
            field.set("content_args", JsonTree::from_json(ARGUMENTS).expect("JSON"));
        }
        field.set("repeats", JsonTree::Bool(input.one_in(2)));
        match input.below(4) {
            0 => field.set("transform", "{content}".into()),
            1 => field.set("transform", JsonTree::from_json(CALL).expect("JSON")),
            _ => {}
        }
        fields.set(name, JsonTree::Object(field));
    }
    let mut template = JsonObject::default();
    template.set("start_anchor", "<a>".into());
    template.set("fields", JsonTree::Object(fields));
    let Ok(template) = ResponseTemplate::from_value(&JsonTree::Object(template)) else { return };
    let mut wire = input.text(&halved(PIECES.map(String::from)));
    if far {
        wire = wire.chars().take(FAR).collect();
    }
    let profile = Profile { response_template: Some(template), ..Profile::named("own") };
    let guard = Guard::builder(&profile).build();
    let machine = GuardMachine::new(guard.expect("nothing else is asked"), End::Stop);
    judge::events(&machine, &wire, plan);
    if !far {
        // Each pattern that may begin at a place reads the text on its own.
        let looks = judge::LINEAR.looks * patterns.max(1);
        judge::cost(&machine, &wire, judge::Most { looks, ..judge::REWRITTEN });
    }
}
