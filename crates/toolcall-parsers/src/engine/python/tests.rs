//! Rows of wire text and what a parser makes of it, the same at every cut.

mod harness;

use alloc::{
    format,
    string::{String, ToString},
    vec,
    vec::Vec,
};

use serde_json::Value;
use stream_laws::{Cut, Work, check_bounded, check_linear};

use self::harness::{Law, builder, check, check_rows, check_values, line, parser};
use crate::{
    Repair,
    grammar::{Grammar, PythonQuotes, PythonShape, Shape},
    options::{CallLimits, Options},
    tools::Tools,
};

#[test]
fn scalars_become_json() {
    check_values(
        &parser("pythonic"),
        &[
            ("'x'", r#""x""#),
            (r#""it's""#, r#""it's""#),
            (r#"'say "hi"'"#, r#""say \"hi\"""#),
            ("''", r#""""#),
            ("''''''", r#""""#),
            ("'''a'b''c\nd'''", r#""a'b''c\nd""#),
            (r#""""a"b""""#, r#""a\"b""#),
            (r"'a\n\t\\\'\x41\u00e9\101\d\ud83e\udd80'", r#""a\n\t\\'AéA\\d🦀""#),
            (r"'C:\users'", r#""C:\\users""#),
            ("'a\\\nb'", r#""ab""#),
            (r"r'a\n\''", r#""a\\n\\'""#),
            (r"u'x'", r#""x""#),
            ("f'{{x}}'", r#""{x}""#),
            (r"'a' 'b' r'\c'", r#""ab\\c""#),
            ("'a\nb\u{1}'", r#""a\nb\u0001""#),
            ("'São 東京 ☀'", r#""São 東京 ☀""#),
            ("'x] ) , y=1 ['", r#""x] ) , y=1 [""#),
            ("-5", "-5"),
            ("+2", "2"),
            ("1_000", "1000"),
            ("007", "7"),
            ("0x1f", "31"),
            (".5", "0.5"),
            ("1.", "1.0"),
            ("-1.5E+3", "-1.5E+3"),
            ("123456789012345678901234567890", "123456789012345678901234567890"),
            ("True", "true"),
            ("False", "false"),
            ("None", "null"),
            ("true", "true"),
            ("null", "null"),
            ("(3)", "3"),
            ("('a' \n 'b')", r#""ab""#),
            ("(None)", "null"),
        ],
    );
}

#[test]
fn containers_become_arrays_and_objects() {
    check_values(
        &parser("pythonic"),
        &[
            ("[]", "[]"),
            ("{}", "{}"),
            ("()", "[]"),
            ("(800, 600)", "[800, 600]"),
            ("(1,)", "[1]"),
            ("((1, 2), (3,))", "[[1, 2], [3]]"),
            ("([1], 2)", "[[1], 2]"),
            ("{'urgent', 'bug'}", r#"["urgent", "bug"]"#),
            ("{1}", "[1]"),
            ("{(1, 2)}", "[[1, 2]]"),
            ("{'a': 1, \"b\" : {'c': (True, [])},}", r#"{"a": 1, "b": {"c": [true, []]}}"#),
            ("{1: 'x', None: 2, True: 3}", r#"{"1": "x", "null": 2, "true": 3}"#),
            ("{'a' 'b': 1}", r#"{"ab": 1}"#),
            ("[{'n': 1, 'sub': [{'x': 'y'}]}, {}]", r#"[{"n": 1, "sub": [{"x": "y"}]}, {}]"#),
            ("[[], [[]], {'x': {}}]", r#"[[], [[]], {"x": {}}]"#),
        ],
    );
}

#[test]
fn lists_of_calls_stand_anywhere_in_text() {
    check_rows(
        &parser("pythonic"),
        &[
            ("[ping()] Done.", "«ping{}» Done."),
            ("Well: [ping( ) , a.b-c(from=1,)\n]", "Well: «ping{}»«a.b-c{\"from\": 1}»"),
            ("[a() b()]", "«a{}»«b{}»"),
            ("[a(), ]", "«a{}»"),
            ("[[[[[[[[[[[[[[[[[[[[a()]", "[[[[[[[[[[[[[[[[[[[«a{}»"),
            ("[[a(x='y')]]", "[«a{\"x\": \"y\"}»]"),
            ("[über(straße='ß')]", "«über{\"straße\": \"ß\"}»"),
            ("[a()<|eot_id|>", "«a{}» #skipped:10"),
        ],
    );
}

#[test]
fn text_that_only_looks_like_calls_stays() {
    let machine = parser("pythonic");
    for wire in [
        "See [1] and [link](x) for ideas.",
        "[1, 2, 3]",
        "[]",
        "[ ]",
        "[see 1]",
        "[see(1)]",
        "[f(x)]",
        "[f(x=y)]",
        "[f(x==1)]",
        "[f(a=bar(1))]",
        "[f(a=[bar(1)])]",
        "[f(a=-x)]",
        "[f(a=...)]",
        "[f(a=nan)]",
        "[f(a=b'x')]",
        "[f(a=True or False)]",
        "[f(a=[)]",
        "[f (a=1)]",
        "[f.(a=1)]",
        "[1f(a=1)]",
        "[f(1a=1)]",
        "[ünï cödé",
        "[f(",
        "[f(a=",
        "[f(a=[",
        "[f(a=True",
    ] {
        check(&machine, wire, wire);
    }
}

#[test]
fn calls_that_break_or_are_cut_say_so() {
    check_rows(
        &parser("pythonic"),
        &[
            ("[f(a=1+2)] Done.", "«f{\"a\":  malformed» Done. #skipped:4"),
            ("[f(a=1, 2)] Done.", "«f{\"a\": 1 malformed» Done. #skipped:3"),
            ("[f(a='it's')]\nok", "«f{\"a\": \"it\" malformed»\nok #skipped:4"),
            ("[f(a='it's\nok", "«f{\"a\": \"it\" malformed»\nok #skipped:1"),
            ("[f(a=1, b=nan)]", "«f{\"a\": 1, \"b\":  malformed» #inexpressible #skipped:2"),
            ("[f(a=2j)]", "«f{\"a\":  malformed» #inexpressible #skipped:2"),
            (
                "[f(a='x', b=f'{y}')]",
                "«f{\"a\": \"x\", \"b\": \" malformed» #inexpressible #skipped:6",
            ),
            ("[f(a=([1]))]", "«f{\"a\": [[1] malformed» #inexpressible #skipped:3"),
            ("[f(a=[True, x.y])]", "«f{\"a\": [true malformed» #skipped:6"),
            ("[f(), g(x)]", "«f{}» #skipped:5"),
            ("[f(), 1]", "«f{}» #skipped:2"),
            ("[f(), g(x=", "«f{}» #skipped:4"),
            ("[f(a='Bre", "«f{\"a\": \"Bre incomplete»"),
            ("[f(a='Bre\\u00", "«f{\"a\": \"Bre incomplete»"),
            ("[f(a='x', b", "«f{\"a\": \"x\" incomplete»"),
            ("[f(a=12", "«f{\"a\":  incomplete»"),
            ("[f(a={'k'", "«f{\"a\":  incomplete»"),
            ("[f(a={'k':", "«f{\"a\": {\"k\":  incomplete»"),
        ],
    );
}

#[test]
fn cut_calls_are_closed_on_request() {
    let options = Options { repair: Repair::Close, ..Options::default() };
    let machine = Law(builder("pythonic").options(options.clone()).build().expect("sound"));
    check_rows(
        &machine,
        &[
            ("[f(a='Bre", "«f{\"a\": \"Bre\"} repaired»"),
            ("[f(a='Bre\\u00", "«f{\"a\": \"Bre\"} repaired»"),
            ("[f(a=[1, {'k': ['x', ", "«f{\"a\": [1, {\"k\": [\"x\"]}]} repaired»"),
            ("[f(a={'k': 1, 'l", "«f{\"a\": {\"k\": 1, \"l\": null}} repaired»"),
            ("[f(a=12", "«f{\"a\": 12} repaired»"),
            ("[f(a=1, b=", "«f{\"a\": 1, \"b\": null} repaired»"),
            ("[f(a=1, b=Tru", "«f{\"a\": 1, \"b\":  incomplete»"),
            ("[f(a=1, ", "«f{\"a\": 1} repaired»"),
            ("[f(a={'k'", "«f{\"a\":  incomplete»"),
        ],
    );
    let machine = Law(builder("sarashina").options(options).build().expect("sound"));
    check_rows(
        &machine,
        &[
            ("<|tool_calls|>[{'name': 'f', ", "«f{} repaired»"),
            ("<|tool_calls|>[{'name': 'f', 'arguments': {'a': ['b", "«f{\"a\": [\"b\"]} repaired»"),
        ],
    );
}

#[test]
fn unmarked_lists_call_declared_tools_only() {
    let tools = Tools::new([("ping", Value::Null)]);
    let machine = Law(builder("pythonic").tools(tools.clone()).build().expect("sound"));
    check_rows(
        &machine,
        &[
            ("[note(a=1)] [ping(a=1), other()]", "[note(a=1)] «ping{\"a\": 1}»«other{}»"),
            ("[note()]", "[note()]"),
        ],
    );
    let machine = Law(builder("lfm2").tools(tools).build().expect("sound"));
    let wire = "<|tool_call_start|>[note(a=1)]<|tool_call_end|>";
    check(&machine, wire, "«note{\"a\": 1}»");
}

#[test]
fn markers_around_calls_are_markup() {
    check_rows(
        &parser("lfm2"),
        &[
            ("<|tool_call_start|> [f()] <|tool_call_end|>", "«f{}»"),
            ("<|tool_call_start|>f(a=1)<|tool_call_end|>", "«f{\"a\": 1}»"),
            ("<|tool_call_start|>[{\"name\": \"f\"}]<|tool_call_end|>", "«f{}»"),
            ("<|tool_call_start|>[]<|tool_call_end|>", " #empty_list"),
            ("<|tool_call_start|>[f()] so", "«f{}» so #missing_closer"),
            ("<|tool_call_start|>[f()", "«f{}»"),
            ("<|tool_call_start|>[f(", " #cut_opener:22"),
            (
                "<|tool_call_start|>[f(a=1 2)]<|tool_call_end|>!",
                "«f{\"a\":  malformed»! #skipped:3",
            ),
            ("<|tool_call_start|>hm<|tool_call_end|>", "<|tool_call_start|>hm<|tool_call_end|>"),
        ],
    );
    check_rows(
        &parser("llama4_pythonic"),
        &[
            ("<|python_start|>[f()]<|python_end|>", "«f{}»"),
            ("[f()]<|python_end|>", "«f{}»"),
            ("<|python_start|>[f()] so", "«f{}» so"),
        ],
    );
    check_rows(
        &parser("olmo3"),
        &[
            (
                "Hm.\n<function_calls>\nf(a='b\nc')\n\ng(d=nil)\n</function_calls>\nDone.",
                "Hm.\n«f{\"a\": \"b\\nc\"}»«g{\"d\": null}»\nDone.",
            ),
            ("<function_calls>[f(), g()]</function_calls>", "«f{}»«g{}»"),
            ("<function_calls>\n</function_calls>", " #empty_list"),
            ("<function_calls>f()\ng(x)\nh()</function_calls>", "«f{}» #skipped:8"),
        ],
    );
}

#[test]
fn nested_quotes_belong_to_the_string_where_tolerated() {
    check_rows(
        &parser("lfm2"),
        &[
            (
                "<|tool_call_start|>[f(a='sed -n '1,9p' f', b='it's')]<|tool_call_end|>",
                "«f{\"a\": \"sed -n '1,9p' f\", \"b\": \"it's\"}»",
            ),
            (
                "<|tool_call_start|>[f(a=\"say \"hi\" \n now\" \n )]<|tool_call_end|>",
                "«f{\"a\": \"say \\\"hi\\\" \\n now\"}»",
            ),
            (
                "<|tool_call_start|>[f(a={'k' : ['x' ]})]<|tool_call_end|>",
                "«f{\"a\": {\"k\": [\"x\"]}}»",
            ),
        ],
    );
}

#[test]
fn dicts_hold_name_and_arguments() {
    check_rows(
        &parser("sarashina"),
        &[
            (
                "<|tool_calls|>[{'name': 'f', 'arguments': {'a': (1, True)}}, {'name': 'g'}]",
                "«f{\"a\": [1, true]}»«g{}»",
            ),
            (
                "[{\"id\": 'c1', 'x': [1, {}], 'arguments': {'a': 'b'}, 'name': 'f'}] ok",
                "«f{\"a\": \"b\"}» ok",
            ),
            ("[{'name': 'f', 'arguments': None}]", "«f{}»"),
            (
                "[{'name': 'f', 'arguments': {'a': 1}, 'parameters': {}}]",
                "«f{\"a\": 1}» #second_arguments",
            ),
            ("<|tool_calls|>{'name': 'f', 'arguments': {}}", "«f{}»"),
            ("<|tool_calls|>[{'name': 'f', 'arguments': {'a': 'b", "«f{\"a\": \"b incomplete»"),
            (
                "<|tool_calls|>[{'name': 'f', 'arguments': {'a'}}] x",
                "«f{\"a\" malformed» x #skipped:3",
            ),
            ("<|tool_calls|>[{'name': 'f', 'arguments': [1]}]", "«f malformed» #skipped:5"),
            ("[{'name': 'f', 'arguments': [1]}]", "[{'name': 'f', 'arguments': [1]}]"),
            ("[{'name': 'f'", "[{'name': 'f'"),
            ("[{'a': 1}]", "[{'a': 1}]"),
            ("[{'name': [", "[{'name': ["),
            ("[1, 2, 3]", "[1, 2, 3]"),
            ("Hm. [{'name': 'f'}]", "Hm. [{'name': 'f'}]"),
        ],
    );
}

#[test]
fn limits_fall_on_the_same_byte_at_every_cut() {
    let machine = |family: &str, name| {
        let limits = CallLimits { name, early_arguments: 16, ..CallLimits::default() };
        let options = Options { limits, ..Options::default() };
        Law(builder(family).options(options).build().expect("sound"))
    };
    check_rows(
        &machine("pythonic", 8),
        &[
            ("[a2345678()]", "«a2345678{}»"),
            ("[a23456789()]", "[a23456789()]"),
            ("[a234567ß()]", "[a234567ß()]"),
            ("[f(a=1, b23456789=1)]", "«f{\"a\": 1 malformed» #skipped:5"),
            ("[f(a=12345678)]", "«f{\"a\": 12345678}»"),
            ("[f(a=123456789)]", "«f{\"a\":  malformed» #skipped:3"),
            ("[f(a={'123456': 1})]", "«f{\"a\": {\"123456\": 1}}»"),
            ("[f(a={'longer than a key', 'b'})]", "«f{\"a\": [\"longer than a key\", \"b\"]}»"),
            (
                "[f(a={'longer than a key': 1})]",
                "«f{\"a\": [\"longer than a key\" malformed» #skipped:6",
            ),
            ("[f(a=('longer than ' 'a key'))]", "«f{\"a\": \"longer than a key\"}»"),
            (
                "[f(a=('longer than a key', 1))]",
                "«f{\"a\": \"longer than a key\" malformed» #inexpressible #skipped:6",
            ),
        ],
    );
    check_rows(
        &machine("sarashina", 9),
        &[
            ("[{'arguments': {'a': 'bcdefg'}, 'name': 'f'}]", "«f{\"a\": \"bcdefg\"}»"),
            (
                "[{'arguments': {'a': 'bcdefghijk'}, 'name': 'f'}]",
                "[{'arguments': {'a': 'bcdefghijk'}, 'name': 'f'}]",
            ),
        ],
    );
    let blanks = "                    ";
    let wire = format!("<|tool_call_start|>[f(a='b'{blanks})]<|tool_call_end|>");
    check(&machine("lfm2", 8), &wire, "«f{\"a\": \"b\"}»");
}

#[test]
fn nesting_ends_at_128_levels() {
    let wire = |levels: usize| format!("[f(a=1, b={}{})]", "[".repeat(levels), "]".repeat(levels));
    let outcome = |wire: &str| {
        let record = stream_laws::run(&parser("pythonic"), wire, Cut::EachScalar);
        line(&record).contains("malformed")
    };
    assert!(!outcome(&wire(127)));
    assert!(outcome(&wire(128)));
}

/// A text of about the length asked for.
type Input = fn(usize) -> String;

#[test]
fn work_is_linear_and_memory_bounded() {
    let inputs: &[(&str, Input)] = &[
        ("pythonic", |n| format!("[f(a='{}')]", "x".repeat(n))),
        ("pythonic", |n| format!("[f(a='{}')]", "\\u0041".repeat(n / 6))),
        ("pythonic", |n| format!("[f(a=1,{}b=2)]", " ".repeat(n))),
        ("pythonic", |n| format!("[f(a=[{}])]", "1".repeat(900) + &",12345".repeat(n / 6))),
        ("pythonic", |n| format!("[f(a=[{}])]", "{'k'},(1),".repeat(n / 10))),
        ("pythonic", |n| format!("[f(a=f'{}')]", "{{".repeat(n / 2))),
        ("pythonic", |n| "[f(x, ".repeat(n / 6)),
        ("pythonic", |n| format!("[f(a=1+{}", "x".repeat(n))),
        ("lfm2", |n| format!("<|tool_call_start|>[f(a='{}')]", "' ".repeat(n / 2))),
        ("lfm2", |n| format!("<|tool_call_start|>[f(a='{}", "'     ".repeat(n / 6))),
        ("sarashina", |n| format!("[{{'name': 'f', 'x': '{}'}}]", "y".repeat(n.min(9000)))),
    ];
    for (family, input) in inputs {
        // Random pieces differ in size from length to length, and small ones cost more a byte.
        let bounds = Work { per_byte: 16, growth_percent: 400, ..Work::default() };
        check_linear(&parser(family), input, bounds).unwrap();
    }
    let head = ["<|tool_call_start|>[f(a='"];
    let chunks = head.into_iter().chain(core::iter::repeat_n("x' \\u00e9", 20_000));
    check_bounded(&parser("lfm2"), chunks, 2048).unwrap();
}

#[test]
fn long_strings_stream_as_slices_of_the_chunk() {
    let mut parser = parser("pythonic").0;
    let mut nothing = |_: crate::Event<'_>| {};
    parser.push("[f(a='", &mut nothing).expect("no limit is an error");
    let chunk = "a piece of a long string".to_string();
    let range = chunk.as_bytes().as_ptr_range();
    let mut fragments = Vec::new();
    let mut sink = |event: crate::Event<'_>| {
        if let crate::Event::CallArguments { fragment, .. } = event {
            fragments.push(range.contains(&fragment.as_ptr()) && fragment == chunk);
        }
    };
    parser.push(&chunk, &mut sink).expect("no limit is an error");
    assert_eq!(fragments, vec![true]);
    assert_eq!(parser.held().bytes, 0);
}

#[test]
fn shapes_load_from_text() {
    let family = crate::grammar("lfm2").expect("registered");
    let text = serde_json::to_string(&*family).expect("plain data");
    assert_eq!(serde_json::from_str::<Grammar>(&text).expect("plain data"), *family);
    let shape: PythonShape = serde_json::from_str(r#"{"container": "list"}"#).expect("defaults");
    assert_eq!(shape.quotes, PythonQuotes::Strict);
    assert!(serde_json::from_str::<Shape>(r#"{"python": {"container": "list", "x": 1}}"#).is_err());
}
