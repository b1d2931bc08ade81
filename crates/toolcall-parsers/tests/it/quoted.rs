//! Quoted markup (L15): a value that contains the family's own markup is read as one call with that
//! value.

use serde_json::json;
use stream_laws::{CutPlan, EncodedCall, check_quoted_markup};
use toolcall_parsers::{EncodeCall, Grammar, Tools, Whitespace, encode, grammars};

use crate::support::{
    ParserMachine,
    families::{end_tags, sorted, tags, texts},
};

/// Families that cannot write a call of [`NAME`], and the reason.
const OTHER_TOOLS: &[(&str, &str)] = &[];

/// Markup that cannot be distinguished from the end of the value: the family, the shape, and the
/// reason.
const EXCEPTIONS: &[(&str, Shape, &str)] = &[];

const NAME: &str = "save_page";

/// The kind of markup in a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// A complete block with a call of a declared tool.
    Block,
    /// A complete block with a call of an undeclared tool.
    Undeclared,
    /// A complete block whose call also quotes a block.
    Nested,
    /// One tag with text around it.
    Piece,
    /// All end tags of a call, with text around them.
    Ends,
}

fn tools() -> Tools {
    let object = |key: &str| json!({"type": "object", "properties": {key: {"type": "string"}}});
    Tools::new([(NAME, object("body")), ("drop_table", object("table"))])
}

/// Returns values that quote markup of the family.
fn values(grammar: &Grammar) -> Vec<(Shape, String)> {
    let family = grammar.family();
    let call = |name| EncodeCall::new(name, r#"{"table": "users"}"#);
    let object = json!({"type": "object", "properties": {"table": {"type": "string"}}});
    let both = Tools::new([("drop_table", object.clone()), ("unknown_tool", object)]);
    let block = |name| encode(grammar, &[call(name)], &both);
    let mut values = Vec::new();
    if let Ok(block) = block("drop_table") {
        values.push((Shape::Block, format!("Write this:\n{block}\nThat is all.")));
        values.push((Shape::Block, format!("as in {block} here")));
        let arguments = json!({"body": format!("first {block} second")}).to_string();
        if let Ok(outer) = encode(grammar, &[EncodeCall::new(NAME, &arguments)], &tools()) {
            values.push((Shape::Nested, format!("third {outer} fourth")));
        }
    }
    if let Ok(block) = block("unknown_tool") {
        values.push((Shape::Undeclared, format!("Never {block} again")));
    }
    let whole = texts(family);
    let mut pieces: Vec<String> = whole.iter().flat_map(|it| tags(it)).map(String::from).collect();
    pieces.extend(grammar.openers().map(String::from));
    pieces.extend(end_tags(family));
    pieces.retain(|piece| piece.len() > 2);
    for piece in sorted(pieces) {
        values.push((Shape::Piece, format!("see {piece} there")));
        values.push((Shape::Piece, format!("one\n{piece}\ntwo")));
    }
    let ends = end_tags(family).concat();
    values.push((Shape::Ends, format!("x{ends} y")));
    values
}

#[test]
fn call_whose_value_quotes_markup_keeps_the_value() {
    let only = std::env::var("FAMILY").ok();
    let (mut broken, mut excused, mut checked) = (Vec::new(), Vec::new(), 0);
    for grammar in grammars().filter(|it| only.as_deref().is_none_or(|only| only == it.name())) {
        if OTHER_TOOLS.iter().any(|(name, _)| *name == grammar.name()) {
            continue;
        }
        let machine = ParserMachine::with_tools(&grammar, tools(), Whitespace::Framing);
        for (shape, value) in values(&grammar) {
            let arguments = json!({"body": value}).to_string();
            let held = encode(&grammar, &[EncodeCall::new(NAME, &arguments)], &tools())
                .map_err(|error| error.to_string())
                .and_then(|wire| {
                    let call = EncodedCall { name: NAME, arguments: &arguments };
                    check_quoted_markup(&machine, &wire, call, CutPlan::quick(3))
                        .map_err(|violation| violation.to_string())
                });
            checked += 1;
            let Err(why) = held else { continue };
            let known =
                |(name, of, _): &&(&str, Shape, &str)| *name == grammar.name() && *of == shape;
            match EXCEPTIONS.iter().find(known) {
                Some(exception) => excused.push(exception),
                None => broken.push(format!("{}, {shape:?} {value:?}: {why}", grammar.name())),
            }
        }
    }
    assert!(broken.is_empty(), "{} broken\n{}", broken.len(), broken.join("\n"));
    assert!(only.is_some() || checked > 1_000, "only {checked} values");
    for exception in EXCEPTIONS.iter().filter(|_| only.is_none()) {
        assert!(excused.contains(&exception), "not so: {exception:?}");
    }
}
