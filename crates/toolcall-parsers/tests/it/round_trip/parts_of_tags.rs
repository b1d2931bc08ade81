//! Tests that a part of a tag inside a value is data.

use serde_json::json;
use toolcall_parsers::{EncodeCall, Grammar, Tools, encode, grammars};

use crate::support::families::{sorted, texts};

/// Parts that a value cannot contain, and the reason.
const EXCEPTIONS: &[(&str, &str, &str)] = &[
    ("minimax_m3", "]<]minimax[>[<invoke", "it begins a tag, whatever follows"),
    ("muse_glimmer", "</atem:function_calls>", "it is a tag by itself"),
];

/// Returns words of the family's literals, and tags without their first or last character.
fn parts(grammar: &Grammar) -> Vec<String> {
    let whole = texts(grammar.family());
    let mut found = Vec::new();
    for text in &whole {
        let words: Vec<&str> = text.split_ascii_whitespace().collect();
        let tags = text.split_inclusive('>').flat_map(|tag| {
            let (mut head, mut tail) = (tag.chars(), tag.chars());
            let _ = (head.next_back(), tail.next());
            [head.as_str(), tail.as_str()]
        });
        let single = if words.len() > 1 { &words[..] } else { &[] };
        found.extend(single.iter().copied().chain(tags).map(|part| part.trim().to_owned()));
    }
    // A word that is also a tag is not a part.
    found.retain(|part| part.len() > 1 && !whole.iter().any(|text| text.trim() == part));
    sorted(found)
}

#[test]
fn partial_tags_in_a_value_are_data() {
    let tools = json!([{"type": "function", "function": {"name": "note", "parameters": {
        "type": "object", "properties": {"text": {"type": "string"}}}}}]);
    let tools = Tools::from_json(&tools).expect("tools");
    let (mut tried, mut lost) = (0, Vec::new());
    for grammar in grammars() {
        for part in parts(&grammar) {
            let arguments = json!({"text": format!("a {part} b {part}{part} c")}).to_string();
            tried += 1;
            let Err(error) = encode(&grammar, &[EncodeCall::new("note", &arguments)], &tools)
            else {
                continue;
            };
            let known =
                |(family, of, _): &(&str, &str, &str)| *family == grammar.name() && *of == part;
            if !EXCEPTIONS.iter().any(known) {
                lost.push(format!("{} {part:?}: {error}", grammar.name()));
            }
        }
    }
    assert!(lost.is_empty(), "{} of {tried} lost\n{}", lost.len(), lost.join("\n"));
    assert!(tried > 1000, "{tried}");
}
