//! Errors of templates: each names the fault and its place.

use std::{fs, path::Path};

use response_templates::{ErrorKind, JsonTree, ResponseTemplate, ResponseTemplateError};

fn refused(text: &str) -> ResponseTemplateError {
    ResponseTemplate::from_json(text).expect_err("refused")
}

fn field(keys: &str) -> ResponseTemplateError {
    refused(&format!(r#"{{"start_anchor": "A", "fields": {{"x": {{{keys}}}}}}}"#))
}

#[test]
fn refused_template_vectors_fail_with_the_expected_kind() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../families/vectors/templates/invalid.jsonl");
    let lines = fs::read_to_string(path).expect("the vectors");
    let mut kinds = Vec::new();
    for line in lines.lines() {
        let case = JsonTree::from_json(line).expect("a case");
        let text = |key: &str| case.get(key).and_then(JsonTree::as_str).expect("a text");
        let result = ResponseTemplate::from_value(case.get("template").expect("a template"));
        match result {
            Ok(_) => assert_eq!(text("fails"), "none", "{line}"),
            Err(error) => {
                assert_eq!(error.kind.name(), text("kind"), "{line}");
                assert_eq!(
                    error.kind.is_late(),
                    text("fails") == "parse" && text("kind") != "regex"
                );
                kinds.push(error.kind);
            }
        }
    }
    assert!(kinds.len() > 30, "{kinds:?}");
}

#[test]
fn template_error_names_field_key_and_place() {
    let error = field(r#""open": "<x>", "close_pattern": "</x>\\p{L}""#);
    let said = "response template: field `x`: `close_pattern`: a property of characters is not \
                supported (at character 4)";
    assert_eq!(error.to_string(), said);
    let error = field(r#""content": "kv-lines", "content_args": {"value_parser": {"args": 1}}"#);
    assert_eq!(error.key, "content_args.value_parser.args");
    assert_eq!(error.field.as_deref(), Some("x"));
}

const REPEATED: &str = "repetitions of more than 256 characters";

#[test]
fn pattern_features_beyond_regular_expressions_are_refused_by_name() {
    let features = [
        (r"(a)\\1", "a back-reference"),
        ("(?P<n>a)(?P=n)", "a back-reference"),
        ("a++", "a possessive quantifier"),
        ("(?>a)", "an atomic group"),
        ("(?<=a)b", "a look-behind"),
        ("(?<!a)b", "a look-behind"),
        ("a(?!b)", "a negative look-ahead"),
        ("(?=a)a", "a look-ahead before the end of an alternative"),
        ("(?:a(?=b))*", "a look-ahead before the end of an alternative"),
        ("(?=a(?=b))", "a look-ahead before the end of an alternative"),
        ("(?:a|$)b", "`$` before the end of an alternative"),
        ("(a)(?(1)b|c)", "a conditional"),
        ("(?R)", "a recursion"),
        ("[[:alpha:]]", "a POSIX class"),
        ("(?:a){e<=1}", "approximate matching"),
        ("a{1,9999}", REPEATED),
        (".{1,1000}END", REPEATED),
        ("(?:(?:(?:a{1,9}b)+c){60})*", REPEATED),
        ("(?=(?P<n>a))", "a named group inside a look-ahead"),
        ("(?x)a", "a flag other than `i`, `m`, `s`, `u`"),
        ("a(?i)b", "a flag after the start of a pattern"),
        (r"\\p{L}", "a property of characters"),
        (r"\\X", "an escape beyond those of Python's `re`"),
    ];
    for (pattern, feature) in features {
        let error = field(&format!(r#""open_pattern": "{pattern}", "transform": "{{content}}""#));
        assert_eq!(error.kind, ErrorKind::Unsupported { feature }, "{pattern}");
    }
}

#[test]
fn nested_repetitions_of_an_empty_group_are_accepted() {
    let pattern = "a(?:(?:(?:(?:(?:){1000}){1000}){1000}){1000}){1000}";
    let fields = format!(r#"{{"x": {{"open_pattern": "{pattern}"}}}}"#);
    let loaded =
        ResponseTemplate::from_json(&format!(r#"{{"start_anchor": "A", "fields": {fields}}}"#));
    assert!(loaded.is_ok(), "{loaded:?}");
}

#[test]
fn other_json_files_are_refused_by_name() {
    let schema = r#"{"response_schema": {"x-regex": "(.*)", "type": "object"}}"#;
    assert_eq!(refused(schema).kind, ErrorKind::ResponseSchema);
    assert_eq!(refused(r#"{"x-regex": "(.*)"}"#).kind, ErrorKind::ResponseSchema);
    assert_eq!(refused(r#"{"tokenizer_class": "T"}"#).kind, ErrorKind::NoTemplate);
    let error = refused("{\"fields\": ");
    assert_eq!((error.kind, error.at), (ErrorKind::NotJson, Some(11)));
}

#[test]
fn template_is_read_from_a_file_member_or_a_string() {
    let template = r#"{"start_anchor": "A", "fields": {"content": {}}}"#;
    let file = format!(r#"{{"tokenizer_class": "T", "response_template": {template}}}"#);
    let string = JsonTree::String(template.to_owned()).to_string();
    let nested = format!(r#"{{"response_template": {string}}}"#);
    for text in [template, &file, &string, &nested] {
        let loaded =
            ResponseTemplate::from_json(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(loaded.fields().collect::<Vec<_>>(), ["content"]);
        assert!(!loaded.has_calls() && !loaded.has_reasoning());
    }
}
