//! Tagged calls, row by row, at every cut.

mod variations;

use alloc::{format, string::String, vec::Vec};

use serde_json::{Value, json};

use crate::{
    CallLimits, End, Event, Grammar, LimitError, Options, Outcome, Parser, Repair, Tools,
    Whitespace, grammar,
};

/// Pushes `parts` and renders all events, adjacent ones coalesced: text as it is, a call as
/// `[name arguments outcome]`, a diagnostic as `{kind bytes}`.
fn render<'t>(parser: &Parser, parts: impl IntoIterator<Item = &'t str>, end: End) -> String {
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
    let run = |parser: &mut Parser, sink: &mut dyn crate::Sink| -> Result<(), LimitError> {
        parts.into_iter().try_for_each(|part| parser.push(part, sink))?;
        parser.finish(end, sink)
    };
    run(&mut parser, &mut sink).expect("no limit has the error policy");
    seen
}

/// Checks a wire whole, scalar by scalar and at every two-way split.
fn check(parser: &Parser, wire: &str, expected: &str) {
    assert_eq!(render(parser, [wire], End::Stop), expected, "whole: {wire:?}");
    let scalars: Vec<&str> = wire.split_inclusive(|_: char| true).collect();
    assert_eq!(render(parser, scalars, End::Stop), expected, "by scalars: {wire:?}");
    for (cut, _) in wire.char_indices().skip(1) {
        let (head, tail) = wire.split_at(cut);
        assert_eq!(render(parser, [head, tail], End::Stop), expected, "{head:?} + {tail:?}");
    }
}

fn tools() -> Tools {
    let schema = json!({"properties": {
        "s": {"type": "string"}, "t": {"type": "string"}, "n": {"type": "integer"},
        "x": {"type": "number"}, "b": {"type": "boolean"}, "o": {"type": "object"},
        "l": {"type": "array"}, "u": {"type": ["integer", "string", "null"]},
    }});
    Tools::new([("f", schema), ("g", Value::Null)])
}

fn parser(family: &str, options: Options) -> Parser {
    let grammar = grammar(family).expect("a registered family");
    let builder = Parser::builder(grammar).tools(tools()).options(options);
    builder.whitespace(Whitespace::Verbatim).build().expect("a sound table")
}

fn check_all(family: &str, options: Options, rows: &[(&str, &str)]) {
    let parser = parser(family, options);
    for (wire, expected) in rows {
        check(&parser, wire, expected);
    }
}

#[test]
fn calls_and_values_of_every_type() {
    check_all(
        "qwen3_coder",
        Options::default(),
        &[
            (
                "a <tool_call>\n<function=f>\n<parameter=s>\n\"q\" \\ \u{1}é\n</parameter>\n\
                 </function>\n</tool_call> b",
                "a [f {\"s\": \"\\\"q\\\" \\\\ \\u0001é\"}] b",
            ),
            (
                "<tool_call><function=f><parameter=n> 7 </parameter><parameter=x>1e3</parameter>\
                 <parameter=b>True</parameter><parameter=o>{\"k\": [1.50]}</parameter>\
                 <parameter=l>\n[null]\n</parameter><parameter=u>12</parameter></function></tool_call>",
                "[f {\"n\": 7, \"x\": 1e3, \"b\": true, \"o\": {\"k\": [1.50]}, \"l\": [null], \"u\": 12}]",
            ),
            (
                "<tool_call><function=f><parameter=n>seven</parameter><parameter=q>7</parameter>\
                 </function></tool_call>",
                "[f {\"n\": \"seven\"{mistyped 0}, \"q\": \"7\"}]",
            ),
            (
                "<tool_call><function=g></function><function=f><parameter=s></parameter>\
                 </function></tool_call>",
                "[g {}][f {\"s\": \"\"}]",
            ),
            (
                "<tool_call><function = \"f\" ><parameter = 's' >v</parameter></function></tool_call>",
                "<tool_call><function = \"f\" ><parameter = 's' >v</parameter></function></tool_call>",
            ),
            (
                "<tool_call><function=\"f\"><parameter='a b'>v</parameter></function></tool_call>",
                "[f {\"a b\": \"v\"}]",
            ),
            (
                "<tool_call><function=g><parameter=p>1</parameter><parameter=p>2</parameter>\
                 </function></tool_call>",
                "[g {\"p\": \"1\", \"p\": \"2\"}]",
            ),
        ],
    );
}

#[test]
fn exactly_one_newline_goes_at_each_edge() {
    let rows = [
        ("\nv\n", "v"),
        ("v", "v"),
        ("\n", ""),
        ("\n\n", ""),
        ("\n\n\n", "\\n"),
        ("\n\n v \n\n", "\\n v \\n"),
        ("a\n\nb", "a\\n\\nb"),
        ("\n</b>\n<", "</b>\\n<"),
    ];
    let parser = parser("qwen3_coder", Options::default());
    for (value, expected) in rows {
        let wire = format!(
            "<tool_call><function=g><parameter=p>{value}</parameter></function></tool_call>"
        );
        check(&parser, &wire, &format!("[g {{\"p\": \"{expected}\"}}]"));
    }
}

#[test]
fn tags_inside_a_value_are_data() {
    let rows = [
        "</param",
        "a </function> b",
        "</function>\n</tool",
        "</function>\n\n x </tool_call>",
        "<parameter=q>",
        "x <parameter=q>",
        "\\n<parameter=q",
        "\\n<parameter=<",
        "<tool_call>",
        "\\n<parameter=a\\nb>",
        "</tool_call>",
        "</think>",
        "<function=g>",
        "<<</<",
        "\\n<parameter=>",
    ];
    let parser = parser("qwen3_coder", Options::default());
    for value in rows {
        let text = value.replace("\\n", "\n");
        let wire = format!(
            "<tool_call><function=g><parameter=p>\nx{text}\n</parameter></function></tool_call>"
        );
        let expected = format!("[g {{\"p\": \"x{}\"}}]", text.replace('\n', "\\n"));
        check(&parser, &wire, &expected);
    }
}

#[test]
fn missing_tags_are_made_up_for() {
    check_all(
        "qwen3_coder",
        Options::default(),
        &[
            (
                "<tool_call><function=g><parameter=p>\na\n<parameter=q>\nb\n</parameter></function></tool_call>",
                "[g {\"p\": \"a\"{missing_closer 0}, \"q\": \"b\"}]",
            ),
            (
                "<tool_call><function=g><parameter=p>\na\n</function>\n</tool_call>!",
                "[g {\"p\": \"a\"{missing_closer 0}}]!",
            ),
            (
                "<tool_call><function=g><parameter=p>\na\n</function>\n",
                "[g {\"p\": \"a\"{missing_closer 0}}]",
            ),
            (
                "<tool_call><function=g><parameter=p>\na\n</function>\n</tool_",
                "[g {\"p\": \"a\"{missing_closer 0}}]",
            ),
            (
                "<tool_call><function=g><parameter=p>a</parameter>\n</tool_call>!",
                "[g {\"p\": \"a\"{missing_closer 0}}]!",
            ),
            (
                "<tool_call><function=g><parameter=p>a</parameter>\n<function=g></function></tool_call>!",
                "[g {\"p\": \"a\"{missing_closer 0}}][g {}]!",
            ),
            (
                "<tool_call><function=g></function>\n<tool_call><function=g></function></tool_call>",
                "[g {}]{missing_closer 0}[g {}]",
            ),
            ("<tool_call>\n<function=g></function> text", "[g {}]{missing_closer 0}text"),
            ("<tool_call><tool_call>\n<function=g></function></tool_call>", "[g {}]"),
            ("<function=g></function>\n</tool_call>!", "[g {}]\n!"),
            (
                "<function=g><parameter=p>a</parameter></tool_call>!",
                "[g {\"p\": \"a\"{missing_closer 0}}]!",
            ),
        ],
    );
}

#[test]
fn what_is_no_call_is_text() {
    let long = format!("<tool_call><function={}>", "n".repeat(1100));
    let mut rows: Vec<(&str, &str)> = [
        "<tool_call> is a tag",
        "<tool_call>{\"name\": 1}",
        "<tool_call><function>",
        "<function=>",
        "<tool_call><function=a b>",
        "<function=unknown></function>",
        "<<tool_call>x",
        "<function=g",
        "<tool_call><parameter=p>",
        "</tool_call></function>",
        &long,
    ]
    .map(|text| (text, text))
    .to_vec();
    rows.push(("<tool_call>\n<functio", "{cut_opener 20}"));
    rows.push(("<tool_call>\n</tool_call>!", "{empty_list 0}!"));
    check_all("qwen3_coder", Options::default(), &rows);
}

#[test]
fn what_breaks_behind_the_header_is_malformed_and_skipped() {
    check_all(
        "qwen3_coder",
        Options::default(),
        &[
            (
                "<tool_call><function=g>oops<p></function></tool_call>!",
                "[g  malformed]{skipped 7}!",
            ),
            (
                "<tool_call><function=g><parameter=p>a</parameter>oops</tool_call>!",
                "[g {\"p\": \"a\" malformed]{skipped 4}!",
            ),
            (
                "<tool_call><function=g><parameter=></parameter><tool_call><function=g></function></tool_call>",
                "[g  malformed]{skipped 13}{missing_closer 0}[g {}]",
            ),
            ("<tool_call><function=g>oops", "[g  malformed]{skipped 4}"),
            (
                "<tool_call><function=g></function><function=a b></function></tool_call>!",
                "[g {}]{skipped 2}!",
            ),
            ("<tool_call><function=g></function><functio", "[g {}]<functio"),
            ("<tool_call><function=g></function><function=ab", "[g {}]{skipped 12}"),
        ],
    );
}

#[test]
fn a_cut_call_is_complete_only_if_its_values_are() {
    let rows = [
        ("<tool_call><function=g>", "[g  incomplete]", "[g {} repaired]"),
        (
            "<tool_call><function=f><parameter=s>ab",
            "[f {\"s\": \"ab incomplete]",
            "[f {\"s\": \"ab\"} repaired]",
        ),
        (
            "<tool_call><function=f><parameter=s>ab\n</para",
            "[f {\"s\": \"ab incomplete]",
            "[f {\"s\": \"ab\"} repaired]",
        ),
        ("<tool_call><function=f><parameter=n>1", "[f  incomplete]", "[f {} repaired]"),
        (
            "<tool_call><function=f><parameter=l>[1, {\"a\": \"b",
            "[f  incomplete]",
            "[f {\"l\": [1, {\"a\": \"b\"}]} repaired]",
        ),
        (
            "<tool_call><function=f><parameter=s>a</parameter><para",
            "[f {\"s\": \"a\" incomplete]",
            "[f {\"s\": \"a\"} repaired]",
        ),
        (
            "<tool_call><function=f><parameter=s>a</parameter><parameter=t",
            "[f {\"s\": \"a\" incomplete]",
            "[f {\"s\": \"a\"} repaired]",
        ),
        (
            "<tool_call><function=f><parameter=s>a</parameter>\n",
            "[f {\"s\": \"a\"{missing_closer 0}}]",
            "[f {\"s\": \"a\"{missing_closer 0}}]",
        ),
        (
            "<tool_call><function=f><parameter=s>a</parameter>\n</func",
            "[f {\"s\": \"a\"{missing_closer 0}}]",
            "[f {\"s\": \"a\"{missing_closer 0}}]",
        ),
        ("<tool_call><function=f></function>", "[f {}]", "[f {}]"),
    ];
    let repairing = Options { repair: Repair::Close, ..Options::default() };
    let (plain, repairing) =
        (parser("qwen3_coder", Options::default()), parser("qwen3_coder", repairing));
    for (wire, cut, repaired) in rows {
        check(&plain, wire, cut);
        check(&repairing, wire, repaired);
    }
}

#[test]
fn a_value_beyond_its_limit_becomes_a_string() {
    let limits = CallLimits { value: 8, ..CallLimits::default() };
    let rows = [
        ("<function=f><parameter=l>[1, 2]</parameter></function>", "[f {\"l\": [1, 2]}]"),
        (
            "<function=f><parameter=l>[1, 2, 3]</parameter></function>",
            "[f {\"l\": \"[1, 2, 3]\"{mistyped 0}}]",
        ),
        ("<function=f><parameter=l>[1, 2, 3,", "[f {\"l\": \"[1, 2, 3, incomplete]"),
    ];
    check_all("qwen3_coder", Options { limits, ..Options::default() }, &rows);
}

#[test]
fn a_long_string_streams_without_being_held() {
    let mut parser = parser("qwen3_coder", Options::default());
    let value = "0123456789abcde\n".repeat(4096);
    let wire = format!("<function=f><parameter=s>\n{value}\n</parameter></function>");
    let (mut arguments, mut held) = (String::new(), 0);
    for byte in wire.split_inclusive(|_: char| true) {
        let mut sink = |event: Event<'_>| {
            if let Event::CallArguments { fragment, .. } = event {
                arguments.push_str(fragment);
            }
        };
        parser.push(byte, &mut sink).expect("no limit has the error policy");
        held = held.max(parser.buffered());
    }
    assert_eq!(
        arguments,
        serde_json::to_string(&json!({"s": value})).unwrap().replacen(':', ": ", 1)
    );
    assert!(held <= "<function=f>".len() + "</parameter>".len(), "held {held} bytes");
    let (work, bytes) = (parser.counters().examined, wire.len() as u64);
    assert!(work < 4 * bytes, "examined {work} for {bytes} bytes");
}

#[test]
fn hostile_values_cost_linear_work() {
    for hostile in ["<", "\n", "</function>\n ", "\n<parameter=k", "</parameter", " "] {
        let mut parser = parser("qwen3_coder", Options::default());
        let wire = format!("<function=f><parameter=s>{}", hostile.repeat(20_000 / hostile.len()));
        let mut sink = |_: Event<'_>| {};
        for byte in wire.split_inclusive(|_: char| true) {
            parser.push(byte, &mut sink).expect("no limit has the error policy");
        }
        let (work, bytes) = (parser.counters().examined, wire.len() as u64);
        assert!(work < 16 * bytes, "{hostile:?}: examined {work} for {bytes} bytes");
    }
}

#[test]
fn the_shape_is_data_that_can_be_loaded() {
    for family in ["qwen3_coder", "deepseek_v4", "step3", "glm47", "hy_v3", "minicpm5"] {
        let written = serde_json::to_string(&*grammar(family).unwrap()).unwrap();
        let read: Grammar = serde_json::from_str(&written).unwrap();
        assert_eq!(read, *grammar(family).unwrap());
    }
}
