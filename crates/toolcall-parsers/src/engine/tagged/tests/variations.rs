//! What families vary: quotes, attributes, CDATA, sections, pairs, suffixes.

use super::*;

#[test]
fn names_stand_in_quotes_or_not() {
    let row = |head: &str, key: &str| {
        format!("<function_calls>{head}{key}v</parameter></invoke></function_calls>")
    };
    let parser = parser("claude_invoke", Options::default());
    for (head, key) in [
        ("<invoke name=\"g\">", "<parameter name=\"a>b\">"),
        ("<invoke name = 'g' >", "<parameter\nname='a>b'>"),
        ("<invokename=g>", "<parameter name = \"a>b\" >"),
    ] {
        check(&parser, &row(head, key), "[g {\"a>b\": \"v\"}]");
    }
    let wire = row("<invoke name=\"g h\">", "<parameter name=x>");
    check(&parser, &wire, &wire);
    check(&parser, "see <invoke name=\"unknown\">", "see <invoke name=\"unknown\">");
}

#[test]
fn the_wire_may_say_what_is_a_string() {
    let call = |body: &str| {
        format!(
            "<｜DSML｜tool_calls>\n<｜DSML｜invoke name=\"f\">\n{body}\n</｜DSML｜invoke>\n</｜DSML｜tool_calls>"
        )
    };
    let parameter = |attributes: &str, value: &str| {
        call(&format!("<｜DSML｜parameter name={attributes}>{value}</｜DSML｜parameter>"))
    };
    let rows = [
        (parameter("\"n\" string=\"true\"", "42"), "[f {\"n\": \"42\"}]"),
        (parameter("\"s\" string=\"false\"", "42"), "[f {\"s\": 42}]"),
        (parameter("\"q\" string = 'false' ", " [1] "), "[f {\"q\": [1]}]"),
        (parameter("\"q\" string=\"false\"", "no"), "[f {\"q\": \"no\"{mistyped 0}}]"),
        (parameter("\"n\"", "42"), "[f {\"n\": 42}]"),
        (parameter("\"q\"", "42"), "[f {\"q\": 42}]"),
        (parameter("\"n\" string=\"maybe\"", "42"), "[f  malformed]{skipped 32}"),
        (call("{\"s\": [1, 2.0]}"), "[f {\"s\": [1, 2.0]}]"),
        (call("{\"s\": 1} x"), "[f {\"s\": 1} malformed]{skipped 2}"),
        ("<｜DSML｜invoke name=\"f\"/>!".into(), "[f {}]!"),
        (
            "<｜DSML｜tool_calls><｜DSML｜invoke name=\"f\" /></｜DSML｜tool_calls>!".into(),
            "[f {}]!",
        ),
    ];
    let parser = parser("deepseek_v4", Options::default());
    for (wire, expected) in rows {
        check(&parser, &wire, expected);
    }
}

#[test]
fn cdata_hides_tags_and_keeps_its_blanks() {
    let rows = [
        ("<![CDATA[ <a> </param> ]]>", " <a> </param> "),
        (" <![CDATA[x]]> ", "x"),
        ("<![CDATA[a]]]]><![CDATA[>b]]>", "a]]>b"),
        ("<![CDATA[]]>", ""),
        (" x ", "x"),
        (" a <![CDATA[b]]> ", "a <![CDATA[b]]>"),
        ("<![CDAT", "<![CDAT"),
    ];
    let parser = parser("minicpm5", Options::default());
    for (value, expected) in rows {
        let wire = format!("<function name=\"g\"><param name=\"p\">{value}</param></function>");
        check(&parser, &wire, &format!("[g {{\"p\": \"{expected}\"}}]"));
    }
    let wire = "<functionname=\"g\"><arguments><paramname=\"p\">v</param></arguments></function>";
    check(&parser, wire, "[g {\"p\": \"v\"}]");
}

#[test]
fn other_entries_of_a_section_are_skipped() {
    let entry = |word: &str| {
        format!(
            "<｜tool_call_begin｜>{word}<｜tool_sep｜><steptml:invoke name=\"g\"></steptml:invoke><｜tool_call_end｜>"
        )
    };
    let (open, close) = ("<｜tool_calls_begin｜>", "<｜tool_calls_end｜>");
    let dropped = "{pseudo_call 0}{skipped 64}";
    let rows = [
        (
            format!("{open}{}{close}", entry("memory") + &entry("function")),
            format!("{dropped}[g {{}}]"),
        ),
        (
            format!("{open}{}{close}!", entry("function") + &entry("memory")),
            format!("[g {{}}]{dropped}!"),
        ),
        (entry("function") + "!", "[g {}]!".into()),
    ];
    let parser = parser("step3", Options::default());
    for (wire, expected) in rows {
        check(&parser, &wire, &expected);
    }
}

#[test]
fn names_and_values_may_come_as_pairs() {
    let pair = |key: &str, value: &str| {
        format!("<arg_key>{key}</arg_key>\n<arg_value>{value}</arg_value>\n")
    };
    let (key, end) = ("<arg_key>", "</tool_call>");
    let rows = [
        (format!("<tool_call>\n g \n{}{end}", pair(" a b ", " v ")), "[g {\"a b\": \" v \"}]"),
        (
            format!("<tool_call>g{}{end}", pair("a>b", "</arg_key>")),
            "[g {\"a>b\": \"</arg_key>\"}]",
        ),
        (
            format!("<tool_call>f{}{}{end}", pair("n", "1"), pair("s", "1")),
            "[f {\"n\": 1, \"s\": \"1\"}]",
        ),
        (format!("<tool_call>g{end}<tool_call>g\n{end}"), "[g {}][g {}]"),
        (format!("<tool_call> <tool_call>g{end}"), "[g {}]"),
        (
            format!("<tool_call>g{key}x</arg_key>{}{end}", pair("y", "1")),
            "[g {noise 1}{\"y\": \"1\"}]",
        ),
        (
            format!("<tool_call>g{}<tool_call>g{end}", pair("y", "1")),
            "[g {\"y\": \"1\"{missing_closer 0}}][g {}]",
        ),
        (format!("<tool_call>g{key}{key}{end}!"), "[g  malformed]{skipped 9}!"),
        ("Write <tool_call> in docs.".into(), "Write <tool_call> in docs."),
        ("<tool_call>g".into(), "{cut_opener 12}"),
        (
            "<tool_call>g<arg_key>x</arg_key><arg_value>a</arg_v".into(),
            "[g {\"x\": \"a incomplete]",
        ),
    ];
    let parser = parser("glm47", Options::default());
    for (wire, expected) in rows {
        check(&parser, &wire, expected);
    }
}

#[test]
fn the_first_of_repeated_parameters_counts_where_the_family_says_so() {
    let wire = "<tool_call>g<arg_key>a</arg_key><arg_value>1</arg_value><arg_key>a</arg_key>\
                <arg_value>second</arg_value><arg_key>b</arg_key><arg_value>3</arg_value></tool_call>";
    let expected = "[g {\"a\": \"1\"{duplicate_parameter 6}, \"b\": \"3\"}]";
    check(&parser("poolside_v1", Options::default()), wire, expected);
    let object = "<tool_call>{\"name\": \"g\", \"arguments\": {\"a\": 1}}</tool_call>";
    check(&parser("poolside_v1", Options::default()), object, "[g {\"a\": 1}]");
}

#[test]
fn a_checkpoint_may_have_a_suffix_on_every_tag() {
    let grammar = grammar("hy_v3").unwrap();
    let parser = Parser::new((*grammar).clone().with_token_suffix(":x1").into()).unwrap();
    let wire = "<tool_calls:x1>\n<tool_call:x1>g<tool_sep:x1>\n<arg_key:x1>k</arg_key:x1>\n\
                <arg_value:x1>v</arg_value></arg_value:x1>\n</tool_call:x1>\n</tool_calls:x1>";
    check(&parser, wire, "[g {\"k\": \"v</arg_value>\"}]");
}

#[test]
fn all_blanks_go_at_the_edges_where_the_family_says_so() {
    let long = " ".repeat(3000);
    let rows = [
        (" a  b \n", "a  b"),
        ("\n\t ", ""),
        ("a\n\nb", "a\\n\\nb"),
        // More than is ever held is data.
        (&format!("a{long}"), &format!("a{long}")),
        (&format!("{long}a"), "a"),
    ];
    let parser = parser("dots", Options::default());
    for (value, expected) in rows {
        let wire = format!(
            "<dots_function_call><invoke name=g><parameter name=p>{value}</parameter></invoke></dots_function_call>"
        );
        let expected = format!("[g {{\"p\": \"{expected}\"}}]");
        assert_eq!(render(&parser, [wire.as_str()], End::Stop), expected);
        let scalars = wire.split_inclusive(|_: char| true);
        assert_eq!(render(&parser, scalars, End::Stop), expected);
    }
}
