//! Element trees, scalar by scalar and at every cut.

use alloc::{format, string::String};

use serde_json::{Value, json};

use crate::{CallLimits, Event, Options, Outcome, Parser, Repair, Tools, Whitespace, grammar};

/// Pushes `parts` and renders all events: text as it is, a call as `[name arguments outcome]`, a
/// diagnostic as `{kind bytes}`.
fn render<'t>(parser: &Parser, parts: impl IntoIterator<Item = &'t str>) -> String {
    let mut parser = parser.clone();
    let mut seen = String::new();
    let mut sink = |event: Event<'_>| match event {
        Event::Content(text) | Event::Reasoning(text) => seen.push_str(text),
        Event::CallStart { name, .. } => seen.push_str(&format!("[{name} ")),
        Event::CallArguments { fragment, .. } => seen.push_str(fragment),
        Event::CallEnd { outcome: Outcome::Complete, .. } => seen.push(']'),
        Event::CallEnd { outcome, .. } => seen.push_str(&format!(" {}]", outcome.name())),
        Event::Diagnostic(d) => seen.push_str(&format!("{{{} {}}}", d.kind.name(), d.bytes)),
        _ => {}
    };
    for part in parts {
        parser.push(part, &mut sink).expect("no limit has the error policy");
    }
    parser.finish(crate::End::Stop, &mut sink).expect("no limit has the error policy");
    seen
}

/// Checks a wire, in which `~` is the token, whole, scalar by scalar and at every two-way split.
fn check(parser: &Parser, wire: &str, expected: &str) {
    let wire = &wire.replace('~', "]<]minimax[>[");
    let expected = &expected.replace('~', "]<]minimax[>[");
    assert_eq!(render(parser, [wire.as_str()]), *expected, "whole: {wire:?}");
    let scalars = wire.split_inclusive(|_: char| true);
    assert_eq!(render(parser, scalars), *expected, "by scalars: {wire:?}");
    for (cut, _) in wire.char_indices().skip(1) {
        let (head, tail) = wire.split_at(cut);
        assert_eq!(render(parser, [head, tail]), *expected, "{head:?} + {tail:?}");
    }
}

fn check_all(parser: &Parser, rows: &[(&str, &str)]) {
    for (wire, expected) in rows {
        check(parser, wire, expected);
    }
}

/// Checks the arguments of a call.
fn check_arguments(parser: &Parser, rows: &[(&str, &str)]) {
    for (elements, expected) in rows {
        let wire = format!("~<tool_call>~<invoke name=\"f\">{elements}~</invoke>~</tool_call>");
        check(parser, &wire, &format!("[f {{{expected}}}]"));
    }
}

fn parser(options: Options) -> Parser {
    let schema = json!({"properties": {
        "s": {"type": "string"}, "n": {"type": "integer"}, "x": {"description": "any"},
        "l": {"type": "array", "items": {"type": "integer"}},
        "o": {"$ref": "#/$defs/o"},
        "t": {"type": "array", "prefixItems": [{"type": "string"}], "items": {"type": "number"}},
    }, "$defs": {"o": {"type": "object", "properties": {
        "n": {"type": "integer"}, "s": {"type": "string"}, "o": {"$ref": "#/$defs/o"},
    }}}});
    let tools = Tools::new([("f", schema), ("g", Value::Null)]);
    let builder = Parser::builder(grammar("minimax_m3").expect("registered")).tools(tools);
    builder.options(options).whitespace(Whitespace::Verbatim).build().expect("a sound table")
}

#[test]
fn the_schema_says_what_elements_are() {
    check_arguments(
        &parser(Options::default()),
        &[
            ("", ""),
            ("~<s>a \"b\" </s> <~</s>~<n> 7 ~</n>", "\"s\": \"a \\\"b\\\" </s> <\", \"n\": 7"),
            ("~<s>~</s>~<x>42~</x>", "\"s\": \"\", \"x\": \"42\""),
            ("~<n>seven~</n>", "\"n\": \"seven\"{mistyped 0}"),
            ("~<l>\n~<a>1~</a>\n~<b>2~</b>\n~</l>", "\"l\": [1, 2]"),
            ("~<l>~</l>~<o> ~</o>~<l>[1]~</l>", "\"l\": [], \"o\": {}, \"l\": [1]"),
            ("~<o>~<n>1~</n>~<s>1~</s>~</o>", "\"o\": {\"n\": 1, \"s\": \"1\"}"),
            ("~<o>~<o>~<item>1~</item>~</o>~</o>", "\"o\": {\"o\": {\"item\": \"1\"}}"),
            ("~<t>~<i>1~</i>~<i>2~</i>~</t>", "\"t\": [\"1\", 2]"),
            ("~<s>~<item>x~</item>~</s>", "\"s\": [{mistyped 0}\"x\"]"),
            ("~<l>x~<a>1~</a>yz~</l>", "\"l\": [1]{noise 3}"),
            ("~ <s >a~ </ s>", "\"s\": \"a\""),
        ],
    );
}

#[test]
fn without_a_schema_children_say_what_elements_are() {
    check_arguments(
        &parser(Options::default()),
        &[
            ("~<a>1~</a>~<a>2~</a>", "\"a\": \"1\", \"a\": \"2\""),
            ("~<a>~<b>~</b>~</a>", "\"a\": {\"b\": \"\"}"),
            ("~<a>~<item>1~</item>~<b>2~</b>~</a>", "\"a\": [\"1\", \"2\"]"),
            ("~<a>~<b>1~</b>~<item>2~</item>~</a>", "\"a\": {\"b\": \"1\", \"item\": \"2\"}"),
            (
                "~<a>~<b>1~</b>~<b>2~</b>~<b>3~</b>~<c>4~</c>~<b>5~</b>~</a>",
                "\"a\": {\"b\": [\"1\", \"2\", \"3\"], \"c\": \"4\", \"b\": \"5\"}",
            ),
            (
                "~<a>~<b>~<c>1~</c>~<c>2~</c>~</b>~<b>~<d>~</d>~</b>~</a>~<e>~</e>",
                "\"a\": {\"b\": [{\"c\": [\"1\", \"2\"]}, {\"d\": \"\"}]}, \"e\": \"\"",
            ),
            ("~<a>~<b>~<b>1~</b>~</b>~</a>", "\"a\": {\"b\": {\"b\": \"1\"}}"),
            ("~<a> x~<b>1~</b>\n y ~</a>", "\"a\": {\"b\": \"1\", \"$text\": \"x\\n y\"}"),
            (
                "~<a>x~<$text>1~</$text>~<$text$>2~</$text$>~</a>",
                "\"a\": {\"$text\": \"1\", \"$text$\": \"2\", \"$text$$\": \"x\"}",
            ),
            ("~<o>x~<n>1~</n>~</o>", "\"o\": {\"n\": 1, \"$text\": \"x\"}"),
            ("~<a>a~~<b>1~</b>~</a>", "\"a\": {\"b\": \"1\", \"$text\": \"a~\"}"),
        ],
    );
}

#[test]
fn ends_may_be_missing() {
    check_all(
        &parser(Options::default()),
        &[
            ("~<tool_call>~<invoke name='g'>~<a>1~</a>", "[g {\"a\": \"1\"{missing_closer 0}}]"),
            ("~<tool_call>~<invoke name=g>~<a>1~</a>~</in", "[g {\"a\": \"1\"{missing_closer 0}}]"),
            (
                "~<tool_call>~<invoke name=\"g\">~<invoke name=\"f\">~</tool_call> b",
                "[g {{missing_closer 0}}][f {{missing_closer 0}}] b",
            ),
            ("~<tool_call>~<invoke name=\"g\">~</invoke>\nb", "[g {}]{missing_closer 0}b"),
            ("~<invoke name=\"g\">~</invoke>~</tool_call> b", "[g {}] b"),
            (
                "~<tool_call>~<tool_call>~<invoke name=\"g\">~</invoke>~</invoke>~</tool_call>",
                "[g {}]",
            ),
            (
                "~<tool_call>~<invoke name=\"g\">~</invoke>~<tool_call>~<invoke name=\"f\">~</invoke>~</tool_call>",
                "[g {}][f {}]",
            ),
            ("~<tool_call>~</tool_call>", "{empty_list 0}"),
        ],
    );
}

#[test]
fn what_is_no_call_is_text_and_a_fault_ends_one() {
    check_all(
        &parser(Options::default()),
        &[
            ("~<tool_call>x", "~<tool_call>x"),
            ("~<tool_call>~<invoke>", "~<tool_call>~<invoke>"),
            ("~<tool_call>~<call name=\"g\">", "~<tool_call>~<call name=\"g\">"),
            ("~<invoke id=\"g\">", "~<invoke id=\"g\">"),
            ("a ~ b ~<p>", "a ~ b ~<p>"),
            (
                "~<tool_call>~<invoke name=\"g\">~<a>1~</b>x~</invoke>~<invoke name=\"f\">~</invoke>~</tool_call>",
                "[g { malformed]{skipped 18}[f {}]",
            ),
            (
                "~<tool_call>~<invoke name=\"g\">~<a>1~</invoke>~<invoke name=\"f\">~</invoke>~</tool_call>b",
                "[g { malformed][f {}]b",
            ),
            (
                "~<tool_call>~<invoke name=\"f\">~<s>1~<n>2~</n>~</invoke>~</tool_call>",
                "[f {\"s\": \"1 malformed]{skipped 34}",
            ),
            (
                "~<tool_call>~<invoke name=\"f\">oops~<invoke name=\"g\">~</invoke>~</tool_call>",
                "[f { malformed]{skipped 4}[g {}]",
            ),
        ],
    );
}

#[test]
fn a_cut_call_is_incomplete_or_closed_on_request() {
    let rows = [
        ("", "{", "{}"),
        ("~<s", "{", "{}"),
        ("~<s>ab]<", "{\"s\": \"ab", "{\"s\": \"ab\"}"),
        ("~<x>ab", "{", "{}"),
        ("~<a>~<b>1~</b>~<b>2~</b", "{\"a\": {\"b\": [\"1\"", "{\"a\": {\"b\": [\"1\"]}}"),
        ("~<a>~<b>1~</b>", "{\"a\": {\"b\": \"1\"", "{\"a\": {\"b\": \"1\"}}"),
        ("~<n>1~</n>~<s", "{\"n\": 1", "{\"n\": 1}"),
    ];
    let repair = Options { repair: Repair::Close, ..Options::default() };
    for (elements, cut, closed) in rows {
        let wire = format!("~<tool_call>~<invoke name=\"f\">{elements}");
        check(&parser(Options::default()), &wire, &format!("[f {cut} incomplete]"));
        check(&parser(repair.clone()), &wire, &format!("[f {closed} repaired]"));
    }
}

#[test]
fn what_is_held_is_bounded() {
    let limits = CallLimits { value: 8, ..CallLimits::default() };
    check_arguments(
        &parser(Options { limits, ..Options::default() }),
        &[
            ("~<x>12345678~</x>", "\"x\": \"12345678\""),
            ("~<x>123456789~</x>", "\"x\": \"123456789\""),
            (
                "~<a>1~<b>~</b>2345678é1~</a>",
                "\"a\": {\"b\": \"\", \"$text\": \"12345678\"}{noise 3}",
            ),
            // Too long to wait for a second one.
            ("~<a>~<b>12~</b>~<b>3~</b>~</a>", "\"a\": {\"b\": \"12\", \"b\": \"3\"}"),
        ],
    );
}

#[test]
fn declared_strings_stream() {
    let mut parser = parser(Options::default());
    let mut seen = String::new();
    let mut sink = |event: Event<'_>| {
        if let Event::CallArguments { fragment, .. } = event {
            seen.push_str(fragment);
        }
    };
    let wire = "~<invoke name=\"f\">~<o>~<s>ab]<]mini".replace('~', "]<]minimax[>[");
    parser.push(&wire, &mut sink).expect("no limit");
    assert_eq!(seen, "{\"o\": {\"s\": \"ab");
}

#[test]
fn nesting_ends_at_a_limit() {
    let wire = |depth: usize| {
        let (open, close) = ("~<item>".repeat(depth - 1), "~</item>".repeat(depth - 1));
        let wire = format!("~<invoke name=\"g\">~<a>{open}x{close}~</a>~</invoke>");
        wire.replace('~', "]<]minimax[>[")
    };
    let parser = parser(Options::default());
    assert!(render(&parser, [wire(128).as_str()]).ends_with("]}]"));
    assert!(render(&parser, [wire(129).as_str()]).contains(" malformed]"));
}
