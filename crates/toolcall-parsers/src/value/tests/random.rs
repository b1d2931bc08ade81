//! Tests with random texts: no panics, equal results at every cut, and valid JSON.

use alloc::{format, string::String, vec, vec::Vec};

use serde_json::{Value, json};

use super::harness::{Case, Random};
use crate::{
    CallLimits,
    limits::MAX_LOOKAHEAD,
    value::{Syntax, ValueKind},
};

const TOKENS: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    "(",
    ")",
    ",",
    ":",
    "=",
    "\"",
    "'",
    "`",
    "\\",
    "\\n",
    "\\u00e9",
    "\\ud83e",
    "'''",
    "a",
    "key",
    "true",
    "None",
    "nil",
    "1",
    "-2.5",
    "0x",
    "e",
    " ",
    "\n",
    "é",
    "🦀",
    "f'",
    "b",
    "nan",
    "<q>",
    "<",
    "</call>",
    "<end>",
    "/*",
    "*/",
    "//",
    "{\"a\":",
    "{'a': ",
    "a=",
    "\"x\"",
    "'y'",
    "[1, ",
    "\u{1}",
    "longer than a name",
    "<q>text<q>",
    "}</call>",
    "{k:",
    "{}",
];

fn texts(list: &[&str]) -> Vec<String> {
    list.iter().map(|&text| text.into()).collect()
}

fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for kind in [ValueKind::Value, ValueKind::Arguments, ValueKind::Keywords] {
        for syntax in [Syntax::Json, Syntax::Lenient, Syntax::Python, Syntax::Literal] {
            cases.push(Case::new(kind, syntax));
        }
        let own = Case {
            quotes: texts(&["<q>"]),
            ends: texts(&["</call>"]),
            follows: texts(&["<end>"]),
            ..Case::new(kind, Syntax::Literal)
        };
        let limits = CallLimits { name: 6, value: 9, ..CallLimits::default() };
        let schema = json!({"properties": {
            "a": {"type": "string"}, "key": {"type": "integer"}, "k": {"items": {"type": "array"}},
        }});
        cases.push(Case { limits, ..own.clone() });
        cases.push(Case { schema: Some(schema), ..own.clone() });
        cases.push(Case { schema: Some(Value::Null), limits, ..own });
        let limits = CallLimits { name: 3, ..CallLimits::default() };
        cases.push(Case { limits, ..Case::new(kind, Syntax::Python) });
    }
    cases
}

/// Returns the JSON of a complete or completed value.
fn whole(read: &str) -> Option<String> {
    let notes = [" #Tolerated", " #Mistyped", " #MissingEnd"];
    let cut = notes.iter().filter_map(|note| read.find(note)).min();
    if let Some((json, _)) = read.rsplit_once(" .") {
        return Some(json[..cut.unwrap_or(json.len()).min(json.len())].into());
    }
    let (json, closing) = read.rsplit_once(" ?")?;
    let json = &json[..cut.unwrap_or(json.len()).min(json.len())];
    (!closing.is_empty()).then(|| [json, closing].concat())
}

#[test]
fn random_texts_read_the_same_at_every_cut_and_give_json() {
    let heads = ["", "{", "[", "a=", "{k:", "{\"a\": "];
    let mut faults = Vec::new();
    for (n, case) in cases().iter().enumerate() {
        let mut random = Random(n as u64);
        for _ in 0..400 {
            let mut wire = String::from(heads[random.below(heads.len())]);
            for _ in 0..random.below(9) {
                wire += TOKENS[random.below(TOKENS.len())];
            }
            case.check_cuts(&wire);
            let read = case.read([wire.as_str()]);
            if let Some(json) = whole(&read) {
                let parsed = serde_json::from_str::<serde::de::IgnoredAny>(&json);
                if parsed.is_err() {
                    faults.push(format!("{:?} {:?} {wire:?}: {read}", case.kind, case.syntax));
                }
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn held_text_is_bounded() {
    let rows = [
        (ValueKind::Keywords, Syntax::Python, "a='", "x' \\u00e9"),
        (ValueKind::Keywords, Syntax::Python, "a=[", "{'k'},(1),"),
        (ValueKind::Keywords, Syntax::Python, "a='", "' "),
        (ValueKind::Keywords, Syntax::Python, "a=f'", "{{"),
        (ValueKind::Keywords, Syntax::Python, "a=1,", "      "),
        (ValueKind::Arguments, Syntax::Literal, "{a:<q>", "}} <q"),
        (ValueKind::Arguments, Syntax::Literal, "{a:", "word  "),
        (ValueKind::Arguments, Syntax::Lenient, "{a:'", "\\n\" "),
        (ValueKind::Arguments, Syntax::Json, "\"{\\\"a\\\": \\\"", "\\\\n\\\\\\\" é"),
    ];
    for (kind, syntax, head, part) in rows {
        let case =
            Case { quotes: texts(&["<q>"]), ends: texts(&["</call>"]), ..Case::new(kind, syntax) };
        let case = if syntax == Syntax::Literal {
            case
        } else {
            Case { quotes: vec![], ends: vec![], ..case }
        };
        let dialect = case.dialect();
        let mut reader = crate::value::ValueReader::new(kind);
        let mut tail = String::from(head);
        for _ in 0..20_000 {
            tail += part;
            loop {
                match reader.feed(&dialect, &tail, &mut |_| {}) {
                    crate::value::Scanned::Noted { used, .. } => drop(tail.drain(..used)),
                    crate::value::Scanned::More { used } => {
                        tail.drain(..used);
                        break;
                    }
                    other => panic!("{other:?}: {head} {part}"),
                }
            }
            let searched = if syntax == Syntax::Literal { MAX_LOOKAHEAD } else { 0 };
            assert!(
                reader.held() + tail.len() < 1300 + searched,
                "{head} {part}: {}",
                reader.held()
            );
        }
    }
}
