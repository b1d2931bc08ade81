//! Tests of objects with bare keys: quotes of a family and of scripts, bare scalars, missing ends.

use alloc::{
    format,
    string::{String, ToString},
    vec,
};

use serde_json::json;

use super::harness::Case;
use crate::{
    CallLimits,
    value::{Syntax, ValueKind, ValueReader},
};

fn literal(quote: &str) -> Case {
    let quotes = vec![quote.to_string()];
    Case { quotes, ..Case::new(ValueKind::Arguments, Syntax::Literal) }
}

fn gemma() -> Case {
    literal("<|\"|>")
}

fn script() -> Case {
    Case::new(ValueKind::Arguments, Syntax::Literal)
}

/// Checks rows whose wire is one complete value.
fn check_whole(case: &Case, rows: &[(&str, &str)]) {
    for (wire, json) in rows {
        case.check(wire, &format!("{json} .{}", wire.len()));
    }
}

#[test]
fn literal_values_are_read() {
    check_whole(
        &gemma(),
        &[
            (
                "{s:<|\"|>x \"y\" \\ <tool_call|> é,}<|\"|>,n:-7}",
                "{\"s\": \"x \\\"y\\\" \\\\ <tool_call|> é,}\", \"n\": -7}",
            ),
            ("{}", "{}"),
            (
                "{o:{},l:[],t:<|\"|><|\"|>,e:,p:{q:[[1],{r:true}]}}",
                "{\"o\": {}, \"l\": [], \"t\": \"\", \"e\": \"\", \"p\": {\"q\": [[1], {\"r\": true}]}}",
            ),
            (
                "{a:nil,b:none,c:null,d:nothing,e:nilly,f:tru,g:false,h:True,i:None,j:undefined}",
                "{\"a\": null, \"b\": null, \"c\": null, \"d\": \"nothing\", \"e\": \"nilly\", \
                 \"f\": \"tru\", \"g\": false, \"h\": true, \"i\": null, \"j\": null}",
            ),
            (
                "{a:1.50,b:1e3,c:007,d:1.,e:-,f:2 eggs,g:3 ,h:12-3,i:10.1.0.9}",
                "{\"a\": 1.50, \"b\": 1e3, \"c\": \"007\", \"d\": \"1.\", \"e\": \"-\", \
                 \"f\": \"2 eggs\", \"g\": 3, \"h\": \"12-3\", \"i\": \"10.1.0.9\"}",
            ),
            (
                "{ <|\"|>a b<|\"|> : 1 ,\n c d : [ 1 , two words ,] , }",
                "{\"a b\": 1, \"c d\": [1, \"two words\"]}",
            ),
            ("{n:<|\"|>5<|\"|>,s:5}", "{\"n\": \"5\", \"s\": 5}"),
            (
                "{a:[\"x\",\"y\\n\"],b:forgot it<|\"|>,c:7<|\"|>}",
                "{\"a\": [\"x\", \"y\\n\"], \"b\": \"forgot it\", \"c\": \"7\"}",
            ),
            ("{a:1,a:2}", "{\"a\": 1, \"a\": 2}"),
            // Strings in ordinary quotes may contain commas, brackets and inner quotes.
            ("{q:\"keep, more\",n:1}", "{\"q\": \"keep, more\", \"n\": 1}"),
            ("{q:\"a , old: b\"}", "{\"q\": \"a , old: b\"}"),
            ("{pattern:'abc'}", "{\"pattern\": \"abc\"}"),
            ("{\"a\":1,'b':2}", "{\"a\": 1, \"b\": 2}"),
            ("{cmd:'sed -n '1,9p' f'}", "{\"cmd\": \"sed -n '1,9p' f\"}"),
        ],
    );
}

#[test]
fn script_objects_are_read() {
    check_whole(
        &script(),
        &[
            ("{ crate: \"B7\", kilos: 12 }", "{\"crate\": \"B7\", \"kilos\": 12}"),
            ("{ text: \"say </tool_call> and } )\" }", "{\"text\": \"say </tool_call> and } )\"}"),
            (
                "{ text: \"räk 🥪\", b: \"\\u00e9\\u{1F96A}\\n\", größe: 1 }",
                "{\"text\": \"räk 🥪\", \"b\": \"é🥪\\n\", \"größe\": 1}",
            ),
            (
                "{ a: 'it\\'s', b: `two\nlines \\` $x`, \"c-d\": \"\\/\", 'e': \"\\q\" }",
                "{\"a\": \"it's\", \"b\": \"two\\nlines ` $x\", \"c-d\": \"/\", \"e\": \"\\\\q\"}",
            ),
            (
                "{ a: true, b: null, c: undefined, d: -1.5e3, e: [1, { f: [] }, ], g: {}, }",
                "{\"a\": true, \"b\": null, \"c\": null, \"d\": -1.5e3, \"e\": [1, {\"f\": []}], \
                 \"g\": {}}",
            ),
            ("null", "{}"),
        ][..5],
    );
    script().check_rows(&[
        ("null)", "{} .4"),
        ("{ text: \"a\", oops! })", "{\"text\": \"a\" !19 Syntax"),
        ("{ text: \"half a", "{\"text\": \"half a ?\"}"),
        ("{ text: \"a\", la", "{\"text\": \"a\" ?}"),
    ]);
    let call = Case { kind: ValueKind::Keywords, ..script() };
    call.check_rows(&[
        ("{ a: 1 })", "{\"a\": 1} .9"),
        (")", "{} .1"),
        ("a=plum, b=[1])", "{\"a\": \"plum\", \"b\": [1]} .14"),
    ]);
}

#[test]
fn malformed_literals_are_refused_at_the_faulty_byte() {
    gemma().check_rows(&[
        ("(a=1)", " !0 Syntax"),
        ("{a:<|\"|>x<|\"|> y}", "{\"a\": \"x\" !15 Syntax"),
        ("{a:[1}", "{\"a\": [1 !5 Syntax"),
        ("{a,b:1}", "{ !2 Syntax"),
        ("{:1}", "{ !1 Syntax"),
        ("{a:1]", "{\"a\": 1 !4 Syntax"),
    ]);
}

#[test]
fn truncated_values_report_how_to_close_them() {
    gemma().check_rows(&[
        ("{", "{ ?}"),
        ("{ke", "{ ?}"),
        ("{k:", "{ ?}"),
        ("{k:12", "{ ?}"),
        ("{k:wor", "{\"k\": \"wor ?\"}"),
        ("{k:wor ", "{\"k\": \"wor ?\"}"),
        ("{k:<|\"|>ab<|", "{\"k\": \"ab ?\"}"),
        ("{k:[1,{a:2,b", "{\"k\": [1, {\"a\": 2 ?}]}"),
        ("{k:<|\"|>ab<|\"|>,", "{\"k\": \"ab\" ?}"),
    ]);
}

fn typed(limits: CallLimits) -> Case {
    let schema = json!({"properties": {
        "s": {"type": "string"}, "n": {"type": "integer"}, "b": {"type": "boolean"},
        "l": {"type": "array", "items": {"type": "string"}},
        "o": {"type": "object", "properties": {"n": {"type": "integer"}, "s": {"type": "string"}}},
        "m": {"type": ["integer", "null"]},
    }});
    Case { schema: Some(schema), limits, ..literal("<escape>") }
}

fn check_typed(limits: CallLimits, rows: &[(&str, &str)]) {
    for (arguments, expected) in rows {
        let wire = format!("{{{}}}", arguments.replace('~', "<escape>"));
        let (json, notes) = expected.split_once(" #").unwrap_or((expected, ""));
        let notes = if notes.is_empty() { String::new() } else { format!(" #{notes}") };
        typed(limits).check(&wire, &format!("{{{json}}}{notes} .{}", wire.len()));
    }
}

#[test]
fn declared_type_overrides_quotes_if_every_value_is_quoted() {
    check_typed(
        CallLimits::default(),
        &[
            ("s:~42~,n:~42~,b:~true~", "\"s\": \"42\", \"n\": 42, \"b\": true"),
            ("s:42,n:42 ,b:true", "\"s\": \"42\", \"n\": 42, \"b\": true"),
            ("n:~many~", "\"n\": \"many\" #Mistyped@23"),
            ("m:~null~,n:null", "\"m\": null, \"n\": \"null\" #Mistyped@30"),
            ("x:~42~,y:~[1, 2]~,z:~0042~", "\"x\": 42, \"y\": [1, 2], \"z\": \"0042\""),
            ("x: ~ 4 ~,y:~ four~,z:~~", "\"x\": 4, \"y\": \" four\", \"z\": \"\""),
            ("l:[~1~,2],x:[~1~,2]", "\"l\": [\"1\", \"2\"], \"x\": [1, 2]"),
            ("l:~[\"a\"]~", "\"l\": [\"a\"]"),
            ("o:{n:~1~,s:~1~,x:~1~}", "\"o\": {\"n\": 1, \"s\": \"1\", \"x\": 1}"),
            ("s:\"4, 2\",n:'7',x:\"8\"", "\"s\": \"4, 2\", \"n\": 7, \"x\": \"8\""),
            ("l:[~a~,],o:{}", "\"l\": [\"a\"], \"o\": {}"),
        ],
    );
    // A long value is a string, at every cut.
    check_typed(
        CallLimits { name: 4, value: 4, ..CallLimits::default() },
        &[
            ("n:~123~", "\"n\": 123"),
            ("x:~1234~,y:~12345~", "\"x\": 1234, \"y\": \"12345\""),
            ("x:12345", "\"x\": \"12345\""),
        ],
    );
}

#[test]
fn unclosed_string_is_ended_by_the_end_tag_of_its_call() {
    let case = Case {
        ends: vec!["<tool_call|>".to_string()],
        follows: vec!["<turn|>".to_string(), "<|tool_call>".to_string()],
        ..gemma()
    };
    case.check_rows(&[
        ("{c:<|\"|>x<|\"|><tool_call|>", "{\"c\": \"x\"} #MissingEnd@14 .14"),
        ("{c:[1,<|\"|>x<|\"|><tool_call|>", "{\"c\": [1, \"x\"]} #MissingEnd@17 .17"),
        ("{c:plum<tool_call|>", "{\"c\": \"plum\"} #MissingEnd@7 .7"),
        ("{c:\"plum\"<tool_call|>", "{\"c\": \"plum\"} #MissingEnd@9 .9"),
        ("{<tool_call|>", "{} #MissingEnd@1 .1"),
        ("{c:<|\"|>ls}<tool_call|>", "{\"c\": \"ls\"} .11"),
        ("{c:<|\"|>ls}<tool_call|> \n", "{\"c\": \"ls\"} .11"),
        ("{c:<|\"|>ls}<tool_call|>\n<turn|>", "{\"c\": \"ls\"} #MissingEnd@11 .11"),
        ("{c:<|\"|>ls}<tool_call|><|tool_call>call:g{}", "{\"c\": \"ls\"} #MissingEnd@11 .11"),
        ("{c:<|\"|>ls<tool_call|>", "{\"c\": \"ls\"} .10"),
        ("{c:<|\"|>}}}<tool_call|> x<|\"|>}", "{\"c\": \"}}}<tool_call|> x\"} .31"),
        ("{c:<|\"|>a}<tool_call|>b}<tool_call|>", "{\"c\": \"a\"} .10"),
        ("{c:<|\"|>a}<tool_call", "{\"c\": \"a ?\"}"),
        ("{c:<|\"|>a} b<|\"|>}", "{\"c\": \"a} b\"} .18"),
    ]);
}

#[test]
fn literal_strings_and_structure_stream() {
    let case = gemma();
    let mut reader = ValueReader::new(ValueKind::Arguments);
    let mut seen = String::new();
    let mut feed = |text: &str| {
        let out = &mut |text: &str| seen.push_str(text);
        let _ = reader.feed(&case.dialect(), text, out);
        reader.passes("plain text, and more") && !reader.passes("a <")
    };
    assert!(!feed("{a:[wo"));
    assert!(!feed("{a:[wo"));
    assert!(feed("rd s,{b:<|\"|>ab<|\"c"));
    assert_eq!(seen, "{\"a\": [\"word s\", {\"b\": \"ab<|\\\"c");
}
