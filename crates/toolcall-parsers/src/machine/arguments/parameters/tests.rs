//! Tests of tagged parameters: each row is read at every cut.

mod forms;

use alloc::{format, string::String};

use serde_json::{Value, json};

use super::{HeadersIn, ParameterSpec, Parameters};
use crate::{
    CallLimits, Options, Repair, Tools,
    cursor::Progress,
    family::Form,
    machine::{
        arguments::{
            CallEnds, Cut,
            harness::{self, ReaderUnderTest, call_sink, form, run, scalars},
        },
        call_sink::CallSink,
        plan::Plan,
    },
};

struct Family {
    spec: ParameterSpec,
    reader: Parameters,
    options: Options,
}

impl ReaderUnderTest for Family {
    fn begin(&mut self, tool: &str) {
        self.reader.begin(tool);
    }
    fn feed(&mut self, out: &mut CallSink<'_>) -> Progress {
        self.reader.feed(&self.spec, out)
    }
    fn finish(&mut self, repair: Repair, out: &mut CallSink<'_>) -> Cut {
        debug_assert_eq!(repair, out.calls.options.repair);
        self.reader.finish(&self.spec, jail_match::End::Stop, out)
    }
    fn close(&mut self, out: &mut CallSink<'_>) {
        self.reader.close(out);
    }
    fn held(&self) -> usize {
        self.reader.held()
    }
}

impl Family {
    /// Creates a family from a form, and the ends and openers of its calls.
    fn new(form: &Form, call: &[&str], section: &[&str], openers: &[&str]) -> Self {
        let list = |texts: &[&str]| texts.iter().map(|&text| text.into()).collect();
        let (call, section, openers) = (list(call), list(section), list(openers));
        let turn = list(&["!", "oops"]);
        let ends = CallEnds { call, section, openers, turn, ..CallEnds::default() };
        let spec = ParameterSpec::compile(form, ends, HeadersIn::Lines).expect("a form");
        Self { spec, reader: Parameters::default(), options: Options::default() }
    }

    fn check(&mut self, tool: &str, text: &str, expected: &str) {
        let options = self.options.clone();
        harness::check(self, (tool, &tools()), &options, text, expected);
    }
}

fn tools() -> Tools {
    let schema = json!({"properties": {
        "s": {"type": "string"}, "t": {"type": "string"}, "n": {"type": "integer"},
        "x": {"type": "number"}, "b": {"type": "boolean"}, "o": {"type": "object"},
        "l": {"type": "array"}, "u": {"type": ["integer", "string", "null"]},
        "z": {"type": ["string", "null"]},
    }});
    Tools::new([("f", schema), ("g", Value::Null)])
}

fn qwen() -> Family {
    let parameters = ["<parameter={key}>\n{value}\n</parameter>\n"];
    Family::new(
        &form("<function={name}>\n{parameters}</function>", &parameters, &[]),
        &["</function>"],
        &["</tool_call>"],
        &["<tool_call>", "<function="],
    )
}

#[test]
fn parameter_values_of_every_type_are_read() {
    let mut family = qwen();
    for (text, expected) in [
        (
            "\n<parameter=s>\n\"q\" \\ \u{1}é\n</parameter>\n</function>",
            "{\"s\": \"\\\"q\\\" \\\\ \\u0001é\"}|</function>",
        ),
        (
            "<parameter=n> 7 </parameter><parameter=x>1e3</parameter><parameter=b>True</parameter>\
             <parameter=o>{\"k\": [1.50]}</parameter><parameter=l>\n[null]\n</parameter>\
             <parameter=u>12</parameter></function>",
            "{\"n\": 7, \"x\": 1e3, \"b\": true, \"o\": {\"k\": [1.50]}, \"l\": [null], \"u\": 12}|</function>",
        ),
        (
            "<parameter=n>seven</parameter><parameter=q>7</parameter></",
            "{\"n\": \"seven\"{mistyped 0}, \"q\": \"7\"}|</",
        ),
        ("<parameter=n>+007</parameter></", "{\"n\": 7}|</"),
        ("</function>", "{}|</function>"),
        ("<parameter=s></parameter>!", "{\"s\": \"\"}|!"),
        ("<parameter='a b'>v</parameter>!", "{\"a b\": \"v\"}|!"),
        (
            "<parameter=s>1</parameter><parameter=s>2</parameter>!",
            "{\"s\": \"1\"{duplicate_parameter 1}}|!",
        ),
        ("{\"s\": 1}", "{}|{\"s\": 1}"),
    ] {
        family.check("f", text, expected);
    }
}

#[test]
fn one_newline_is_removed_at_each_edge_of_a_value() {
    let mut family = qwen();
    for (value, expected) in [
        ("\nv\n", "v"),
        ("v", "v"),
        ("v\n", "v"),
        ("\nv", "v"),
        ("\n", ""),
        ("\n\n", ""),
        ("\n\n\n", "\\n"),
        ("\n\n v \n\n", "\\n v \\n"),
        ("a\n\nb", "a\\n\\nb"),
        ("\n</b>\n<", "</b>\\n<"),
    ] {
        let text = format!("<parameter=p>{value}</parameter>!");
        family.check("g", &text, &format!("{{\"p\": \"{expected}\"}}|!"));
    }
}

#[test]
fn tags_inside_a_parameter_value_are_data() {
    let mut family = qwen();
    for value in [
        "</param",
        "a </function> b",
        "</function>\n</tool",
        "</function>\n\n x </tool_call>",
        "<parameter=q>",
        "x <parameter=q>",
        "\n<parameter=q",
        "\n<parameter=<",
        "<tool_call>",
        "\n<parameter=a\nb>",
        "</tool_call>",
        "</think>",
        "<function=g>",
        "<<</<",
        "\n<parameter=>",
    ] {
        let text = format!("<parameter=p>\nx{value}\n</parameter>!");
        let expected = format!("{{\"p\": \"x{}\"}}|!", value.replace('\n', "\\n"));
        family.check("g", &text, &expected);
    }
    // A quoted parameter takes its end with it. Whose end is the only one is not certain.
    let text = "<parameter=s>\na\n<parameter=q>\nb\n</parameter>\n</parameter>!";
    family.check("f", text, "{\"s\": \"a\\n<parameter=q>\\nb\\n</parameter>\"}|!");
    let text = "<parameter=s>\na\n<parameter=q>\nb\n</parameter>!";
    family.check("f", text, "{\"s\": \"a\\n<parameter=q>\\nb\\n</parameter>! malformed|");
}

#[test]
fn missing_value_ends_are_repaired_and_reported_or_closed_by_the_end() {
    let mut family = qwen();
    for (text, expected) in [
        (
            "<parameter=p>\na\n<parameter=q>\nb\n</parameter></function>",
            "{\"p\": \"a\"{missing_closer 0}, \"q\": \"b\"}|</function>",
        ),
        (
            "<parameter=p>\na\n</function>\n</tool_call>!",
            "{\"p\": \"a\"{missing_closer 0}}|</function>\n</tool_call>!",
        ),
        (
            "<parameter=p>a</function><function=h>",
            "{\"p\": \"a\"{missing_closer 0}}|</function><function=h>",
        ),
        (
            "<parameter=p>a</tool_call>\n<tool_call>",
            "{\"p\": \"a\"{missing_closer 0}}|</tool_call>\n<tool_call>",
        ),
        ("<parameter=p>\na\n</function>\n", "{\"p\": \"a\"}."),
        ("<parameter=p>\na\n</function>\n</tool_", "{\"p\": \"a\"}."),
        ("<parameter=p>a</tool_call>", "{\"p\": \"a\"}."),
        ("<parameter=p>a</parameter>\n</tool_call>!", "{\"p\": \"a\"}|</tool_call>!"),
    ] {
        family.check("g", text, expected);
    }
}

#[test]
fn text_that_is_not_a_parameter_is_left_to_the_call_machine() {
    let mut family = qwen();
    for (text, expected) in [
        ("oops<p></function>", "{}|oops<p></function>"),
        ("<parameter=p>a</parameter>oops", "{\"p\": \"a\"}|oops"),
        ("<parameter=></parameter>", " malformed|></parameter>"),
        ("<parameter=a<b>", " malformed|<b>"),
        ("<parameter=p>a</parameter><parameter=<x", "{\"p\": \"a\" malformed|<x"),
    ] {
        family.check("g", text, expected);
    }
    let text = format!("<parameter={}>", "n".repeat(1025));
    assert!(
        run(&mut family, ("g", &tools()), &Options::default(), [text.as_str()])
            .seen
            .contains("malformed")
    );
}

// Contract: S1.23.
#[test]
fn truncated_parameters_are_incomplete_or_closed_by_repair() {
    let rows = [
        ("", " incomplete", "{} repaired"),
        ("<parameter=s>ab", "{\"s\": \"ab incomplete", "{\"s\": \"ab\"} repaired"),
        ("<parameter=s>ab\n</para", "{\"s\": \"ab incomplete", "{\"s\": \"ab\"} repaired"),
        ("<parameter=n>1", " incomplete", "{} repaired"),
        (
            "<parameter=l>[1, {\"a\": \"b",
            "{\"l\": [1, {\"a\": \"b incomplete",
            "{\"l\": [1, {\"a\": \"b\"}]} repaired",
        ),
        ("<parameter=l>[1", " incomplete", "{\"l\": [1]} repaired"),
        ("<parameter=l>[1, -", "{\"l\": [1,  incomplete", "{\"l\": [1,  incomplete"),
        ("<parameter=l>[1, 2]", "{\"l\": [1, 2] incomplete", "{\"l\": [1, 2]} repaired"),
        ("<parameter=l>[1, 2]\n</param", "{\"l\": [1, 2] incomplete", "{\"l\": [1, 2]} repaired"),
        (
            "<parameter=l>[1, 2]]",
            "{\"l\": [1, 2]{skipped 1} malformed",
            "{\"l\": [1, 2]{skipped 1} malformed",
        ),
        ("<parameter=s>a</parameter><para", "{\"s\": \"a\" incomplete", "{\"s\": \"a\"} repaired"),
        (
            "<parameter=s>a</parameter><parameter=t",
            "{\"s\": \"a\" incomplete",
            "{\"s\": \"a\"} repaired",
        ),
        ("<parameter=s>a</parameter>\n", "{\"s\": \"a\"}.", "{\"s\": \"a\"}."),
        ("<parameter=s>a</parameter>\n</func", "{\"s\": \"a\"}|</func", "{\"s\": \"a\"}|</func"),
        ("<parameter=s>a</parameter>\n<", "{\"s\": \"a\"}.", "{\"s\": \"a\"}."),
    ];
    let mut repairing = qwen();
    repairing.options = Options { repair: Repair::Close, ..Options::default() };
    for (text, cut, repaired) in rows {
        qwen().check("f", text, cut);
        repairing.check("f", text, repaired);
    }
}

#[test]
fn container_over_its_limit_makes_the_call_malformed() {
    let mut family = qwen();
    family.options.limits = CallLimits { value: 8, ..CallLimits::default() };
    for (text, expected) in [
        ("<parameter=l>[1, 2]</parameter>!", "{\"l\": [1, 2]}|!"),
        ("<parameter=l>['1', 23]</parameter>!", " malformed|!"),
        ("<parameter=l>['1', 23,", " incomplete"),
        // Lists that begin as JSON within the limit are emitted while they arrive.
        ("<parameter=l>[1, 2, 3]</parameter>!", "{\"l\": [1, 2, 3]}|!"),
        ("<parameter=l>[1234567, 2]</parameter>!", " malformed|!"),
    ] {
        family.check("f", text, expected);
    }
}

#[test]
fn containers_that_begin_as_json_are_emitted_while_they_arrive() {
    for (text, expected) in [
        ("{\"a\"", " incomplete"),
        ("{\"a\":", "{\"o\": {\"a\": incomplete"),
        ("  { \"a\" : 1 } </parameter>!", "{\"o\": { \"a\" : 1 }}|!"),
        ("{\"a\": \"x\ty\\u00e9</b>", "{\"o\": {\"a\": \"x\\ty\\u00e9</b> incomplete"),
        ("{\"a\": \"</parameter>\"}</parameter>!", "{\"o\": {\"a\": \"</parameter>\"}}|!"),
        // These do not begin as JSON, so nothing is emitted before they are complete.
        ("{'a': 1", " incomplete"),
        ("{'a': 1}</parameter>!", "{\"o\": {\"a\": 1}{tolerated 0}}|!"),
        ("[{\"a\": 1}]</parameter>!", "{\"o\": \"[{\\\"a\\\": 1}]\"{mistyped 0}}|!"),
        ("{\"a:b\"", " incomplete"),
        ("{} {}</parameter>!", " malformed|!"),
        // A fault that cannot be mended makes the call malformed.
        ("{\"a\": True}</parameter>!", "{\"o\": {\"a\": true}{tolerated 0}}|!"),
        ("{\"a\": yes}</parameter>!", "{\"o\": {\"a\": {skipped 4} malformed|!"),
        ("{\"a\": 1}}</parameter>!", "{\"o\": {\"a\": 1}{skipped 1} malformed|!"),
        ("{\"a\": 1</parameter>!", "{\"o\": {\"a\": 1 malformed|!"),
        ("{\"a\": 1</function>", "{\"o\": {\"a\": 1 incomplete"),
    ] {
        qwen().check("f", &format!("<parameter=o>{text}"), expected);
    }
}

#[test]
fn containers_of_families_that_write_python_are_held() {
    let mut family = qwen();
    family.spec.python = true;
    family.check("f", "<parameter=o>{\"it's\": ", " incomplete");
    let text = "<parameter=o>{\"it's\": 'x', \"a\": True}</parameter>!";
    family.check("f", text, "{\"o\": {\"it's\": \"x\", \"a\": true}}|!");
}

#[test]
fn nullable_strings_stream_once_they_differ_from_null() {
    let mut family = qwen();
    for (text, expected) in [
        ("<parameter=z>nu", " incomplete"),
        ("<parameter=z>nul\n", " incomplete"),
        ("<parameter=z>nup", "{\"z\": \"nup incomplete"),
        ("<parameter=z>null</parameter>!", "{\"z\": null}|!"),
        ("<parameter=z>\nNone\n</parameter>!", "{\"z\": null}|!"),
        ("<parameter=z>nullable</parameter>!", "{\"z\": \"nullable\"}|!"),
        ("<parameter=z>nu</parameter>!", "{\"z\": \"nu\"}|!"),
        ("<parameter=z></parameter>!", "{\"z\": \"\"}|!"),
    ] {
        family.check("f", text, expected);
    }
}

// Contract: S1.62.
#[test]
fn long_strings_stream_and_hostile_values_cost_linear_work() {
    let mut family = qwen();
    let value = "0123456789abcde\n".repeat(4096);
    let wire = format!("<parameter=s>\n{value}\n</parameter>!");
    let read = run(&mut family, ("f", &tools()), &Options::default(), scalars(&wire));
    let expected = format!("{{\"s\": {}}}|!", serde_json::to_string(&value).unwrap());
    assert!(read.seen == expected && read.held < 32, "held {}", read.held);
    for hostile in
        ["<", "\n", "</function>\n ", "\n<parameter=k", "</parameter", " ", "</function>"]
    {
        let wire = format!("<parameter=s>{}", hostile.repeat(20_000 / hostile.len()));
        let read = run(&mut family, ("f", &tools()), &Options::default(), scalars(&wire));
        assert!(read.offered < 16 * wire.len(), "{hostile:?}: {} bytes", read.offered);
    }
}

#[test]
fn plain_text_inside_a_string_value_passes_unparsed() {
    let (mut family, mut seen) = (qwen(), String::new());
    let mut calls = crate::calls::Calls::new(tools(), Options::default());
    let mut sink = |event: crate::Event<'_>| {
        if let crate::Event::CallArguments { fragment, .. } = event {
            seen.push_str(fragment);
        }
    };
    let plan = Plan::default();
    calls.start("f", None, 0, &mut sink);
    family.reader.begin("f");
    assert!(!family.reader.passes(&family.spec, "plain"));
    family.feed(&mut call_sink(&plan, "<parameter=s>", &mut calls, &mut sink));
    for (text, passes) in [(" a b ", true), ("a\n", false), ("a<", false), ("\"", false)] {
        assert_eq!(family.reader.passes(&family.spec, text), passes, "{text:?}");
    }
    family.feed(&mut call_sink(&plan, "a\n", &mut calls, &mut sink));
    // A newline is held, because it precedes the next text.
    assert!(!family.reader.passes(&family.spec, "plain"));
}
