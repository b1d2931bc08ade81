//! Response templates made of pieces, and wires made of theirs: what is refused says so, what is not
//! keeps the laws at every cut.

#![no_main]

use guard_laws::GuardMachine;
use libfuzzer_sys::fuzz_target;
use llm_stream_guard::{
    End, Guard, Profile,
    response_templates::{Object, Template, Value},
};
use stream_laws::{CutPlan, check_chunk_invariance, check_total};

const LITERALS: [&str; 8] = ["<a>", "</a>", "<a>b", "<", "\n", "é", "{", "ab"];
const PATTERNS: [&str; 16] = [
    "\\s*<a>", "<a>\\s*", "<(?P<n>\\w+)>", "(?=<a>)", "</a>|$", "<a>(?:b)?", "(?!b)<", "^",
    "[^<]*<", "a.*?b", "\\ba\\b", "(?i)AB", "(?=[\\s\\S]*?</a>)", "(?:ab|a)+", "\\Z", "(?<=<)a",
];
const CONTENTS: [&str; 4] = ["text", "json", "kv-lines", "int"];
const PIECES: [&str; 16] = [
    "<a>", "</a>", "<a>b", "<", ">", "\n", " ", "é", "{\"name\": \"f\", \"arguments\": {}}", "[]",
    "1", "k: v", "ab", "aB", "\"", "b",
];

fuzz_target!(|data: &[u8]| {
    let mut bytes = data.iter().copied();
    let mut take = || usize::from(bytes.next().unwrap_or(0));
    let mut fields = Object::default();
    for name in ["thinking", "tool_calls", "content"] {
        let mut field = Object::default();
        for side in ["open", "close"] {
            match take() % 3 {
                0 => {}
                1 => field.set(side, LITERALS[take() % LITERALS.len()].into()),
                _ => {
                    let pattern = PATTERNS[take() % PATTERNS.len()];
                    field.set(format!("{side}_pattern"), pattern.into());
                }
            }
        }
        let kind = take();
        field.set("content", CONTENTS[kind % CONTENTS.len()].into());
        field.set("repeats", Value::Bool(kind & 4 != 0));
        if kind & 8 != 0 {
            field.set("transform", "{content}".into());
        }
        fields.set(name, Value::Object(field));
    }
    let seed = take() as u64;
    let mut template = Object::default();
    template.set("start_anchor", "<a>".into());
    template.set("fields", Value::Object(fields));
    let Ok(template) = Template::from_value(&Value::Object(template)) else { return };
    let wire: String = bytes.map(|byte| PIECES[usize::from(byte) % PIECES.len()]).collect();
    let guard = Guard::builder(&Profile::named("own")).response_template(template).build();
    let machine = GuardMachine::new(guard.expect("nothing else is asked"), End::Stop);
    check_chunk_invariance(&machine, &wire, CutPlan::quick(seed)).unwrap();
    check_total(&machine, &wire, CutPlan::quick(seed)).unwrap();
});
