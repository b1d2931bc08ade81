//! Tests of different forms of parameters: attributes, pairs, types on the wire, CDATA, white
//! space, spellings.

use super::*;
use crate::{
    family::{Types, Undeclared},
    template::Template,
};

fn pairs() -> Form {
    let parameters = ["<arg_key>{key}</arg_key>\n<arg_value>{value}</arg_value>\n"];
    form("<tool_call>{name}\n{parameters}</tool_call>", &parameters, &[])
}

fn glm() -> Family {
    Family::new(&pairs(), &["</tool_call>"], &["<|user|>"], &["<tool_call>"])
}

fn dsml() -> Family {
    let parameter =
        "<｜DSML｜parameter name=\"{key}\" string=\"{string}\">{value}</｜DSML｜parameter>\n";
    let call = "<｜DSML｜invoke name=\"{name}\">\n{parameters}</｜DSML｜invoke>";
    let form = Form { types: Types::Wire, ..form(call, &[parameter], &[]) };
    Family::new(&form, &["</｜DSML｜invoke>"], &["</｜DSML｜tool_calls>"], &["<｜DSML｜invoke"])
}

#[test]
fn names_and_values_are_read_as_tag_pairs() {
    let pair = |key: &str, value: &str| {
        format!("<arg_key>{key}</arg_key>\n<arg_value>{value}</arg_value>\n")
    };
    let mut family = glm();
    for (tool, text, expected) in [
        ("g", pair(" a b ", " v "), "{\"a b\": \" v \"}."),
        ("g", pair("a>b", "</arg_key>"), "{\"a>b\": \"</arg_key>\"}."),
        ("g", pair("\"a\"", "v\n"), "{\"\\\"a\\\"\": \"v\\n\"}."),
        ("f", pair("n", "1") + &pair("s", "1") + "<", "{\"n\": 1, \"s\": \"1\"}."),
        (
            "g",
            format!("<arg_key>x</arg_key>{}!", pair("y", "1")),
            " malformed|<arg_key>y</arg_key>\n<arg_value>1</arg_value>\n!",
        ),
        ("g", "<arg_key><arg_key></tool_call>".into(), " malformed|</tool_call>"),
        ("g", "<arg_key>x</arg_key></tool_call>".into(), " malformed|</tool_call>"),
        ("g", "<arg_key>x</arg_key><arg_value>a</arg_v".into(), "{\"x\": \"a incomplete"),
    ] {
        family.check(tool, &text, expected);
    }
}

#[test]
fn missing_value_end_keeps_the_next_pair_and_the_end_of_the_call() {
    let mut family = glm();
    for (text, expected) in [
        (
            "<arg_key>s</arg_key>\n<arg_value>Oslo\n<arg_key>t</arg_key>\n<arg_value>B</arg_value>\n<",
            "{\"s\": \"Oslo\\n<arg_key>t</arg_key>\\n<arg_value>B</arg_value>\\n< malformed|",
        ),
        (
            "<arg_key>n</arg_key><arg_value>1<arg_key>s</arg_key><arg_value>v</arg_value>!",
            "{\"n\": 1{missing_closer 0}, \"s\": \"v\"}|!",
        ),
        (
            "<arg_key>s</arg_key><arg_value>1<arg_key>zz</arg_key> is a tag</arg_value>!",
            "{\"s\": \"1<arg_key>zz</arg_key> is a tag\"}|!",
        ),
        (
            "<arg_key>s</arg_key><arg_value>1<arg_key>t</arg_key> is lost</arg_value>!",
            "{\"s\": \"1<arg_key>t</arg_key> is lost</arg_value>! malformed|",
        ),
        ("<arg_key>s</arg_key><arg_value>v</tool_call>", "{\"s\": \"v\"}."),
        (
            "<arg_key>s</arg_key><arg_value>v\n</tool_call><|user|>",
            "{\"s\": \"v\"{missing_closer 0}}|</tool_call><|user|>",
        ),
        (
            "<arg_key>s</arg_key><arg_value>v</tool_call> x</arg_value>!",
            "{\"s\": \"v</tool_call> x\"}|!",
        ),
    ] {
        family.check("f", text, expected);
    }
}

#[test]
fn string_attribute_decides_the_type_of_a_value() {
    let mut family = dsml();
    for (attributes, value, expected) in [
        ("name=\"n\" string=\"true\"", "42", "{\"n\": \"42\"}."),
        ("name=\"s\" string=\"false\"", "42", "{\"s\": 42}."),
        ("string='false' x='<' name = 'q' ", " [1] ", "{\"q\": [1]}."),
        ("name=q string=false", "1", "{\"q\": 1}."),
        ("name=\"q\" string=\"false\"", "no", "{\"q\": \"no\"{mistyped 0}}."),
        ("name=\"n\"", "42", "{\"n\": 42}."),
        ("name=\"q\"", "42", "{\"q\": 42}."),
        ("name=\"&quot;&amp;lt;\"", "\n", "{\"\\\"&lt;\": \"\\n\"}."),
    ] {
        let text = format!("<｜DSML｜parameter {attributes}>{value}</｜DSML｜parameter>");
        family.check("f", &text, expected);
    }
    let maybe = "<｜DSML｜parameter name=\"n\" string=\"maybe\">42";
    family.check("f", maybe, " malformed|maybe\">42");
}

#[test]
fn object_parameter_named_arguments_becomes_the_arguments() {
    let parameter = |key: &str, value: &str| {
        format!("<｜DSML｜parameter name=\"{key}\" string=\"false\">{value}</｜DSML｜parameter>")
    };
    let mut family = dsml();
    let object = parameter("arguments", " {\"s\": 1} ");
    let number = parameter("n", "1");
    for (tool, text, expected) in [
        ("f", object.clone(), "{\"s\": 1}."),
        ("f", format!("{object}{number}"), "{\"arguments\": {\"s\": 1}, \"n\": 1}."),
        ("f", format!("{number}{object}"), "{\"n\": 1, \"arguments\": {\"s\": 1}}."),
        ("f", parameter("input", "[1]"), "{\"input\": [1]}."),
        // Tool `g` declares no parameters.
        ("g", object, "{\"arguments\": {\"s\": 1}}."),
    ] {
        family.check(tool, &text, expected);
    }
}

#[test]
fn tags_are_read_with_and_without_the_space_of_the_template() {
    let parameter =
        "<｜DSML｜ parameter name=\"{key}\" string=\"{string}\">{value}</｜DSML｜ parameter>\n";
    let form = Form { types: Types::Wire, ..form("<x>{name}{parameters}</x>", &[parameter], &[]) };
    let mut family = Family::new(&form, &["</｜DSML｜ invoke>"], &[], &["<｜DSML｜ invoke"]);
    let text =
        "<｜DSML｜ parameter name=\"s\" string=\"true\">v</｜DSML｜parameter></｜DSML｜ invoke>";
    family.check("f", text, "{\"s\": \"v\"}|</｜DSML｜ invoke>");
}

#[test]
fn type_between_name_and_value_is_read() {
    let parameters =
        ["<k>{key}</k>\n<v>{value}</v>\n", "<k>{key}</k>\n<t>{type}</t>\n<v>{value}</v>\n"];
    let form = Form {
        undeclared: Some(Undeclared::Json),
        ..form("<c>{name}\n{parameters}</c>", &parameters, &[])
    };
    let mut family = Family::new(&form, &["</c>"], &[], &["<c>"]);
    for (text, expected) in [
        ("<k>q</k><v>1</v>", "{\"q\": 1}."),
        ("<k>q</k>\n<t>string</t>\n<v>1</v>", "{\"q\": \"1\"}."),
        ("<k>q</k><t>int</t><v>x</v>", "{\"q\": \"x\"{mistyped 0}}."),
        ("<k>n</k><t>string</t><v>1</v>", "{\"n\": 1}."),
        ("<k>q</k><t>int</t><k>n</k><v>1</v>", " malformed|<k>n</k><v>1</v>"),
        // Declared strings may be written as JSON.
        ("<k>s</k><v>\"0417\"</v>", "{\"s\": \"0417\"}."),
        ("<k>s</k><v>\"a\" b</v>", "{\"s\": \"\\\"a\\\" b\"}."),
        ("<k>s</k><v>a", "{\"s\": \"a incomplete"),
        ("<k>s</k><v>\"a", " incomplete"),
        ("<k>s</k><v></v>", "{\"s\": \"\"}."),
    ] {
        family.check("f", text, expected);
    }
}

#[test]
fn typed_token_tags_are_read_in_every_spelling() {
    let parameter =
        "<|open|>argument key=\"{key}\" type=\"{type}\"<|sep|>{value}<|close|>argument<|sep|>";
    let others = [("<|open|>", "<|open|> "), ("<|close|>", "<|close|> "), ("<|sep|>", " <|sep|>")];
    let form = Form {
        types: Types::Wire,
        spellings: others.map(|(text, other)| (text.into(), alloc::vec![other.into()])).to_vec(),
        ..form("<c>{name}{parameters}</c>", &[parameter], &[])
    };
    let mut family = Family::new(&form, &["<|close|>call<|sep|>"], &[], &["<|open|>call"]);
    for (text, expected) in [
        (
            "<|open|>argument key=\"n\" type=\"string\"<|sep|>1<|close|>argument<|sep|>",
            "{\"n\": \"1\"}.",
        ),
        (
            "<|open|> argument type='number' key='s' <|sep|>1<|close|> argument <|sep|>",
            "{\"s\": 1}.",
        ),
        (
            "<|open|>argument key=\"q\"<|sep|>1<|close|>argument<|sep|><|close|>call<|sep|>",
            "{\"q\": 1}|<|close|>call<|sep|>",
        ),
    ] {
        family.check("f", text, expected);
    }
}

#[test]
fn cdata_hides_tags_and_keeps_its_whitespace() {
    let parameters = [
        "<param name=\"{key}\">{value:trim}</param>",
        "<param name=\"{key}\"><![CDATA[{value}]]></param>",
    ];
    let form = form("<function name=\"{name}\">{parameters}</function>", &parameters, &[]);
    let mut family = Family::new(&form, &["</function>", "</arguments>"], &[], &["<function"]);
    for (value, expected) in [
        ("<![CDATA[ <a> </param> ]]>", " <a> </param> "),
        (" <![CDATA[x]]> ", "x"),
        ("<![CDATA[a]]]]><![CDATA[>b]]>", "a]]>b"),
        ("<![CDATA[]]>", ""),
        (" x ", "x"),
        (" a <![CDATA[b]]> ", "a <![CDATA[b]]>"),
        ("<![CDAT", "<![CDAT"),
    ] {
        let text = format!("<paramname=\"p\">{value}</param></arguments>");
        family.check("g", &text, &format!("{{\"p\": \"{expected}\"}}|</arguments>"));
    }
}

#[test]
fn trimming_families_remove_all_whitespace_at_value_edges() {
    let form = form("<i>{name}{parameters}</i>", &["<p name=\"{key}\">{value:trim}</p>"], &[]);
    let mut family = Family::new(&form, &["</i>"], &[], &[]);
    let long = " ".repeat(3000);
    for (value, expected) in [
        (" a  b \n", "a  b"),
        ("\n\t ", ""),
        ("a\n\nb", "a\\n\\nb"),
        // White space over the limit of held text is data.
        (&format!("a{long}"), &format!("a{long}")),
        (&format!("{long}a"), "a"),
    ] {
        let text = format!("<p name=p>{value}</p>!");
        let expected = format!("{{\"p\": \"{expected}\"}}|!");
        for parts in [alloc::vec![text.as_str()], scalars(&text)] {
            let read = run(&mut family, ("g", &tools()), &Options::default(), parts);
            assert_eq!(read.seen, expected);
        }
    }
}

#[test]
fn first_of_repeated_parameters_is_kept() {
    let mut family = Family::new(&pairs(), &["</tool_call>"], &[], &[]);
    let pair =
        |key: &str, value: &str| format!("<arg_key>{key}</arg_key><arg_value>{value}</arg_value>");
    let text = pair("a", "1") + &pair("a", "second") + &pair("b", "3");
    family.check("g", &text, "{\"a\": \"1\"{duplicate_parameter 6}, \"b\": \"3\"}.");
}

#[test]
fn header_ends_a_value_inside_a_line_only_if_headers_may_begin_anywhere() {
    let mut family = qwen();
    let text = "<parameter=s>a<parameter=t>b</parameter>!";
    family.check("f", text, "{\"s\": \"a<parameter=t>b\"}|!");
    family.spec.headers = HeadersIn::Text;
    let text = "<parameter=s>a<parameter=t>b</parameter></function>";
    family.check("f", text, "{\"s\": \"a\"{missing_closer 0}, \"t\": \"b\"}|</function>");
}

#[test]
fn header_ends_an_unclosed_value_anywhere_if_templates_have_no_newlines() {
    let form = form("<c n={name}>{parameters}</c>", &["<p k={key}>{value}</p>"], &[]);
    let mut family = Family::new(&form, &["</c>"], &[], &["<c n="]);
    let text = "<p k=s>a<p k=t>b</p></c>";
    family.check("f", text, "{\"s\": \"a\"{missing_closer 0}, \"t\": \"b\"}|</c>");
    family.check("f", "<p k=s>a<p k=t>b</p></p></c>", "{\"s\": \"a<p k=t>b</p>\"}|</c>");
}

#[test]
fn malformed_or_indistinguishable_parameter_templates_are_refused() {
    for parameters in [
        &["<a>{key}</a>{value}</v><b><c>"][..],
        &["<a>{key}</a>{value}</v>", "<a>{key}</a>\n<b>{value}</v>"],
        &["{key}</a>{value}</v>"],
    ] {
        let form = form("<f={name}>{parameters}</f>", &[], &[]);
        let parsed = parameters.iter().map(|text| Template::parse(text));
        let Ok(parameters) = parsed.collect() else { continue };
        let form = Form { parameters, ..form };
        let spec = ParameterSpec::compile(&form, CallEnds::default(), HeadersIn::Lines);
        assert!(spec.is_err(), "{:?}", form.parameters);
    }
}
