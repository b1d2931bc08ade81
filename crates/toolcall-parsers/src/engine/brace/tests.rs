//! Brace calls, scalar by scalar and at every cut.

use alloc::{
    format,
    string::{String, ToString},
};

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

/// Checks each wire whole, scalar by scalar and at every two-way split.
fn check_all(parser: &Parser, rows: &[(&str, &str)]) {
    for (wire, expected) in rows {
        assert_eq!(render(parser, [*wire]), *expected, "whole: {wire:?}");
        let scalars = wire.split_inclusive(|_: char| true);
        assert_eq!(render(parser, scalars), *expected, "by scalars: {wire:?}");
        for (cut, _) in wire.char_indices().skip(1) {
            let (head, tail) = wire.split_at(cut);
            assert_eq!(render(parser, [head, tail]), *expected, "{head:?} + {tail:?}");
        }
    }
}

fn parser(family: &str, options: Options) -> Parser {
    let schema = json!({"properties": {
        "s": {"type": "string"}, "n": {"type": "integer"}, "b": {"type": "boolean"},
        "l": {"type": "array", "items": {"type": "string"}},
        "o": {"type": "object", "properties": {"n": {"type": "integer"}, "s": {"type": "string"}}},
        "m": {"type": ["integer", "null"]},
    }});
    let tools = Tools::new([("f", schema), ("g", Value::Null)]);
    let builder = Parser::builder(grammar(family).expect("registered")).tools(tools);
    builder.options(options).whitespace(Whitespace::Verbatim).build().expect("a sound table")
}

fn gemma(options: Options) -> Parser {
    parser("gemma4", options)
}

#[test]
fn values_are_what_the_wire_says() {
    check_all(
        &gemma(Options::default()),
        &[
            (
                "a <|tool_call>call:f{s:<|\"|>x \"y\" \\ <tool_call|> é,}<|\"|>,n:-7}<tool_call|> b",
                "a [f {\"s\": \"x \\\"y\\\" \\\\ <tool_call|> é,}\", \"n\": -7}] b",
            ),
            ("<|tool_call>call:g{}<tool_call|>", "[g {}]"),
            (
                "<|tool_call>call:g{o:{},l:[],t:<|\"|><|\"|>,e:,p:{q:[[1],{r:true}]}}<tool_call|>",
                "[g {\"o\": {}, \"l\": [], \"t\": \"\", \"e\": \"\", \"p\": {\"q\": [[1], {\"r\": true}]}}]",
            ),
            (
                "<|tool_call>call:g{a:nil,b:none,c:null,d:nothing,e:nilly,f:tru,g:false}<tool_call|>",
                "[g {\"a\": null, \"b\": null, \"c\": null, \"d\": \"nothing\", \"e\": \"nilly\", \
                 \"f\": \"tru\", \"g\": false}]",
            ),
            (
                "<|tool_call>call:g{a:1.50,b:1e3,c:007,d:1.,e:-,f:2 eggs,g:3 ,h:12-3,i:10.1.0.9}<tool_call|>",
                "[g {\"a\": 1.50, \"b\": 1e3, \"c\": \"007\", \"d\": \"1.\", \"e\": \"-\", \
                 \"f\": \"2 eggs\", \"g\": 3, \"h\": \"12-3\", \"i\": \"10.1.0.9\"}]",
            ),
            (
                "<|tool_call> call: g { <|\"|>a b<|\"|> : 1 ,\n c d : [ 1 , two words ,] , } <tool_call|>",
                "[g {\"a b\": 1, \"c d\": [1, \"two words\"]}]",
            ),
            // What a schema says does not count here.
            ("<|tool_call>call:f{n:<|\"|>5<|\"|>,s:5}<tool_call|>", "[f {\"n\": \"5\", \"s\": 5}]"),
            // Quotes of JSON, and a forgotten opening quote.
            (
                "<|tool_call>call:g{a:[\"x\",\"y\\n\"],b:forgot it<|\"|>,c:7<|\"|>}<tool_call|>",
                "[g {\"a\": [\"x\", \"y\\n\"], \"b\": \"forgot it\", \"c\": \"7\"}]",
            ),
            (
                "<|tool_call>call:g{a:1,a:2}<tool_call|><|tool_call>call:g{}<tool_call|>",
                "[g {\"a\": 1, \"a\": 2}][g {}]",
            ),
        ],
    );
}

#[test]
fn what_is_no_call_is_text() {
    check_all(
        &gemma(Options::default()),
        &[
            ("<|tool_call>hello", "<|tool_call>hello"),
            ("<|tool_call>call:f(a=1)<tool_call|>", "<|tool_call>call:f(a=1)<tool_call|>"),
            ("<|tool_call>call:{a:1}", "<|tool_call>call:{a:1}"),
            ("<|tool_call>call:two words{", "<|tool_call>call:two words{"),
            (
                "a <|tool_call>call:no<|tool_call>call:g{}<tool_call|>",
                "a <|tool_call>call:no[g {}]",
            ),
            ("<|tool_call><|tool_call>call:g{}<tool_call|>", "[g {}]"),
        ],
    );
}

#[test]
fn an_end_may_be_missing_or_doubled() {
    check_all(
        &gemma(Options::default()),
        &[
            ("<|tool_call>call:g{a:1}", "[g {\"a\": 1}]"),
            ("<|tool_call>call:g{a:1}<tool_c", "[g {\"a\": 1}]<tool_c"),
            ("<|tool_call>call:g{}<turn|>", "[g {}]{missing_closer 0}"),
            ("<|tool_call>call:g{}<tool_call|><tool_call|>", "[g {}]"),
            ("<|tool_call>call:g{} and so on", "[g {}]{missing_closer 0} and so on"),
        ],
    );
}

#[test]
fn a_fault_ends_the_call_and_the_next_one_counts() {
    check_all(
        &gemma(Options::default()),
        &[
            (
                "<|tool_call>call:g{a:<|\"|>x<|\"|> y}<tool_call|>b<|tool_call>call:g{}<tool_call|>",
                "[g {\"a\": \"x\" malformed]{skipped 2}b[g {}]",
            ),
            (
                "<|tool_call>call:g{a:[1}<|tool_call>call:g{}<tool_call|>",
                "[g {\"a\": [1 malformed]{skipped 1}[g {}]",
            ),
            ("<|tool_call>call:g{a,b:1}", "[g { malformed]{skipped 5}"),
            ("<|tool_call>call:g{:1}<tool_call|>", "[g { malformed]{skipped 3}"),
            ("<|tool_call>call:g{a:1]", "[g {\"a\": 1 malformed]{skipped 1}"),
        ],
    );
}

#[test]
fn a_cut_call_is_incomplete_or_closed_on_request() {
    let rows = [
        ("{", "{", "{}"),
        ("{ke", "{", "{}"),
        ("{k:", "{", "{}"),
        ("{k:12", "{", "{}"),
        ("{k:wor", "{\"k\": \"wor", "{\"k\": \"wor\"}"),
        ("{k:wor ", "{\"k\": \"wor", "{\"k\": \"wor\"}"),
        ("{k:<|\"|>ab<|", "{\"k\": \"ab", "{\"k\": \"ab\"}"),
        ("{k:[1,{a:2,b", "{\"k\": [1, {\"a\": 2", "{\"k\": [1, {\"a\": 2}]}"),
        ("{k:<|\"|>ab<|\"|>,", "{\"k\": \"ab\"", "{\"k\": \"ab\"}"),
    ];
    let repair = Options { repair: Repair::Close, ..Options::default() };
    let (off, close) = (gemma(Options::default()), gemma(repair));
    for (arguments, cut, closed) in rows {
        let wire = format!("<|tool_call>call:g{arguments}");
        check_all(&off, &[(&wire, &format!("[g {cut} incomplete]"))]);
        check_all(&close, &[(&wire, &format!("[g {closed} repaired]"))]);
    }
    check_all(&off, &[("<|tool_call>call:g", "{cut_opener 18}"), ("<|tool_ca", "<|tool_ca")]);
}

#[test]
fn a_declared_type_wins_where_every_value_is_quoted() {
    let check = |options| {
        move |rows: &[(&str, &str)]| {
            let parser = parser("functiongemma", options);
            for (arguments, expected) in rows {
                let arguments = arguments.replace('~', "<escape>");
                let wire = format!("<start_function_call>call:f{{{arguments}}}<end_function_call>");
                check_all(&parser, &[(&wire, &format!("[f {{{expected}}}]"))]);
            }
        }
    };
    check(Options::default())(&[
        ("s:~42~,n:~42~,b:~true~", "\"s\": \"42\", \"n\": 42, \"b\": true"),
        ("s:42,n:42 ,b:true", "\"s\": \"42\", \"n\": 42, \"b\": true"),
        ("n:~many~", "\"n\": \"many\"{mistyped 0}"),
        ("m:~null~,n:null", "\"m\": null, \"n\": \"null\"{mistyped 0}"),
        ("x:~42~,y:~[1, 2]~,z:~0042~", "\"x\": 42, \"y\": [1, 2], \"z\": \"0042\""),
        ("x: ~ 4 ~,y:~ four~,z:~~", "\"x\": 4, \"y\": \" four\", \"z\": \"\""),
        ("l:[~1~,2],x:[~1~,2]", "\"l\": [\"1\", \"2\"], \"x\": [1, 2]"),
        ("l:~[\"a\"]~", "\"l\": [\"a\"]"),
        ("o:{n:~1~,s:~1~,x:~1~}", "\"o\": {\"n\": 1, \"s\": \"1\", \"x\": 1}"),
        ("l:[~a~,],o:{}", "\"l\": [\"a\"], \"o\": {}"),
    ]);
    // A long value is a string, wherever it was cut.
    let options = |name, value| {
        let limits = CallLimits { name, value, ..CallLimits::default() };
        Options { limits, ..Options::default() }
    };
    check(options(4, 4))(&[
        ("n:~123~", "\"n\": 123"),
        ("x:~1234~,y:~12345~", "\"x\": 1234, \"y\": \"12345\""),
        ("x:12345", "\"x\": \"12345\""),
    ]);
}

#[test]
fn strings_and_structure_stream() {
    let mut parser = gemma(Options::default());
    let mut seen = String::new();
    let mut sink = |event: Event<'_>| {
        if let Event::CallArguments { fragment, .. } = event {
            seen.push_str(fragment);
        }
    };
    parser.push("<|tool_call>call:g{a:[wo", &mut sink).expect("no limit");
    parser.push("rd s,{b:<|\"|>ab<|\"c<", &mut sink).expect("no limit");
    assert_eq!(seen, "{\"a\": [\"word s\", {\"b\": \"ab<|\\\"c");
}

#[test]
fn nesting_ends_at_a_limit() {
    let wire = |depth: usize| {
        let (open, close) = ("[".repeat(depth - 1), "]".repeat(depth - 1));
        format!("<|tool_call>call:g{{a:{open}{close}}}<tool_call|>")
    };
    let parser = gemma(Options::default());
    assert!(render(&parser, [wire(128).as_str()]).ends_with("]}]"));
    let deeper = render(&parser, [wire(129).as_str()]);
    assert!(deeper.contains(" malformed]"), "{}", deeper.to_string());
}
