//! The errors of the reference implementation: kind, field, key and place of each fault.

use response_templates::{ErrorKind, ResponseTemplate};

/// The place of an error: field, key, and offset in the text at the key.
type Place = (&'static str, &'static str, Option<usize>);

fn refuses(template: &str, kind: ErrorKind, place: Place) {
    let Err(error) = ResponseTemplate::from_json(template) else {
        panic!("{template} is accepted")
    };
    let field = error.field.as_deref().unwrap_or_default();
    assert_eq!((error.kind, (field, error.key.as_str(), error.at)), (kind, place), "{template}");
    let said = error.to_string();
    assert!(said.contains(place.0) && said.contains(place.1), "{said}");
    if let Some(at) = place.2 {
        assert!(said.ends_with(&format!("{at})")), "{said}");
    }
}

#[test]
fn templates_that_the_reference_refuses_are_refused() {
    use ErrorKind as E;
    let cases: [(&str, E, Place); 27] = [
        ("{\"fields\": {]", E::NotJson, ("", "", Some(12))),
        ("[]", E::NotAnObject, ("", "", None)),
        (r#"{"version": 2, "fields": {"x": {}}}"#, E::Version, ("", "version", None)),
        (r#"{"version": "1", "fields": {"x": {}}}"#, E::Version, ("", "version", None)),
        (r#"{"start": "A", "fields": {"x": {}}}"#, E::TopKey, ("", "start", None)),
        (r#"{"defaults": [], "fields": {"x": {}}}"#, E::DefaultsType, ("", "defaults", None)),
        (r#"{"start_anchor": "A"}"#, E::Fields, ("", "fields", None)),
        (r#"{"start_anchor": "A", "fields": {}}"#, E::Fields, ("", "fields", None)),
        (r#"{"start_anchor": "A", "fields": []}"#, E::Fields, ("", "fields", None)),
        (r#"{"start_anchor": "A", "fields": {"x": "y"}}"#, E::FieldType, ("x", "", None)),
        (r#"{"fields": {"x": {}}}"#, E::NoAnchor, ("", "start_anchor", None)),
        (
            r#"{"start_anchor": "", "fields": {"x": {}}}"#,
            E::EmptyLiteral,
            ("", "start_anchor", None),
        ),
        (r#"{"start_anchor": [], "fields": {"x": {}}}"#, E::EmptyList, ("", "start_anchor", None)),
        (
            r#"{"start_anchor": ["A", ""], "fields": {"x": {}}}"#,
            E::EmptyLiteral,
            ("", "start_anchor.1", None),
        ),
        (
            r#"{"start_anchor": ["A", 1], "fields": {"x": {}}}"#,
            E::LiteralType,
            ("", "start_anchor.1", None),
        ),
        (r#"{"start_anchor": 1, "fields": {"x": {}}}"#, E::LiteralKind, ("", "start_anchor", None)),
        (
            r#"{"start_anchor": "A", "start_anchor_pattern": "A", "fields": {"x": {}}}"#,
            E::LiteralAndPattern,
            ("", "start_anchor", None),
        ),
        (
            r#"{"start_anchor_pattern": "é(", "fields": {"x": {}}}"#,
            E::Regex,
            ("", "start_anchor_pattern", Some(1)),
        ),
        (
            r#"{"start_anchor": "A", "fields": {"x": {}, "y": {"close": "B"}}}"#,
            E::TwoLeftovers,
            ("y", "open", None),
        ),
        (
            r#"{"start_anchor": "A", "fields": {"x": {"open": "B", "role": 1}}}"#,
            E::FieldKey,
            ("x", "role", None),
        ),
        (
            r#"{"start_anchor": "A", "fields": {"x": {"content": "yaml"}}}"#,
            E::ContentName,
            ("x", "content", None),
        ),
        (
            r#"{"start_anchor": "A", "fields": {"x": {"content": 1}}}"#,
            E::ContentName,
            ("x", "content", None),
        ),
        (
            r#"{"start_anchor": "A", "fields": {"x": {"join": 1, "repeats": true}}}"#,
            E::JoinType,
            ("x", "join", None),
        ),
        (
            r#"{"start_anchor": "A", "fields": {"x": {"join": ","}}}"#,
            E::JoinWithoutRepeats,
            ("x", "join", None),
        ),
        (
            r#"{"start_anchor": "A", "fields": {"x": {"transform_each": 1, "transform": {}}}}"#,
            E::EachType,
            ("x", "transform_each", None),
        ),
        (
            r#"{"start_anchor": "A", "fields": {"x": {"transform_each": true}}}"#,
            E::EachWithoutTransform,
            ("x", "transform_each", None),
        ),
        (
            r#"{"start_anchor": "A", "fields": {"x": {"content_args": 1}}}"#,
            E::ContentArgs,
            ("x", "content_args", None),
        ),
    ];
    for (template, kind, place) in cases {
        refuses(template, kind, place);
    }
}

#[test]
fn boundary_and_placeholder_errors_have_a_place() {
    use ErrorKind as E;
    let mixed = r#""open": "B", "transform": {"f": ["é{content}"]}"#;
    let undefined = r#""open": "B", "transform": {"function": {"name": "{name}"}}"#;
    let groups = r#""open_pattern": "é<(?P<n>a)""#;
    let of_closer = r#""open": "B", "close_pattern": "(?P<n>a)""#;
    for (keys, kind, key, at) in [
        (r#""open": "B", "open_pattern": "B""#, E::LiteralAndPattern, "open", None),
        (r#""close": "B", "close_pattern": "B""#, E::LiteralAndPattern, "close", None),
        (r#""close": """#, E::EmptyLiteral, "close", None),
        (r#""open": []"#, E::EmptyList, "open", None),
        (r#""open": ["B", null]"#, E::LiteralType, "open.1", None),
        (r#""close": {}"#, E::LiteralKind, "close", None),
        (r#""open_pattern": "a[""#, E::Regex, "open_pattern", Some(1)),
        (r#""close_pattern": 1"#, E::Regex, "close_pattern", None),
        (mixed, E::MixedPlaceholder, "transform.f.0", Some(1)),
        (undefined, E::UndefinedPlaceholder, "transform.function.name", None),
        (r#""transform": ["{content.a}"]"#, E::PlaceholderPath, "transform.0", None),
        (groups, E::GroupsNoTransform, "open_pattern", Some(5)),
        (of_closer, E::GroupsNoTransform, "close_pattern", Some(3)),
    ] {
        let template = format!(r#"{{"start_anchor": "A", "fields": {{"x": {{{keys}}}}}}}"#);
        refuses(&template, kind, ("x", key, at));
    }
}

/// Tests templates that the reference loads, and that fail there when a message is read.
#[test]
fn errors_that_the_reference_raises_when_parsing_are_refused_at_load() {
    use ErrorKind as E;
    let tags = |args: &str| format!(r#""content": "xml-inline", "content_args": {{{args}}}"#);
    let lines = |args: &str| format!(r#""content": "kv-lines", "content_args": {{{args}}}"#);
    let delims = r#""content": "json", "content_args": {"string_delims": [["a", "b"], ["c"]]}"#;
    for (keys, kind, key, at) in [
        (tags(""), E::NoTagPattern, "content_args.tag_pattern", None),
        (tags(r#""tag_pattern": "<a>""#), E::TagPatternKey, "content_args.tag_pattern", None),
        (tags(r#""tag_pattern": "(?P<key>a""#), E::Regex, "content_args.tag_pattern", Some(0)),
        (tags(r#""tag_pattern": 1"#), E::Regex, "content_args.tag_pattern", None),
        (
            lines(r#""value_parser": {"name": "yaml"}"#),
            E::ValueParserName,
            "content_args.value_parser.name",
            None,
        ),
        (
            lines(r#""value_parser": {"name": "kv-lines", "args": {"kv_sep": ""}}"#),
            E::EmptyKvSep,
            "content_args.value_parser.args.kv_sep",
            None,
        ),
        (lines(r#""line_sep": """#), E::EmptyLineSep, "content_args.line_sep", None),
        (lines(r#""kv_sep": """#), E::EmptyKvSep, "content_args.kv_sep", None),
        (lines(r#""kv_sep": 1"#), E::ContentArgs, "content_args.kv_sep", None),
        (delims.to_owned(), E::ContentArgs, "content_args.string_delims.1", None),
        (r#""content": "int", "repeats": 1, "join": ",""#.to_owned(), E::JoinNotText, "join", None),
    ] {
        assert!(kind.is_late() || kind == E::Regex, "{kind:?}");
        let template = format!(r#"{{"start_anchor": "A", "fields": {{"x": {{{keys}}}}}}}"#);
        refuses(&template, kind, ("x", key, at));
    }
    let added =
        r#"{"start_anchor": "A", "defaults": {"x": 1}, "fields": {"x": {"repeats": true}}}"#;
    refuses(added, E::DefaultNotAddable, ("x", "defaults", None));
}

/// Tests templates that the reference accepts although some look wrong.
#[test]
fn templates_that_the_reference_accepts_are_accepted() {
    for (top, keys) in [
        (r#""version": 1.0"#, ""),
        (r#""version": true"#, ""),
        (r#""defaults": {}"#, r#""repeats": "yes", "optional": 0"#),
        (r#""defaults": {}"#, r#""content_args": {"unknown": 1}"#),
        (r#""defaults": {}"#, r#""transform": null, "join": null"#),
        (r#""defaults": {}"#, r#""transform": [false, "{}", "{ n }", "{a-b}"]"#),
        // The language allows groups of a closer, but they have no value.
        (r#""defaults": {}"#, r#""close_pattern": "(?P<n>a)", "transform": "{n}""#),
    ] {
        let template = format!(r#"{{"start_anchor": "A", {top}, "fields": {{"x": {{{keys}}}}}}}"#);
        let loaded = ResponseTemplate::from_json(&template);
        assert!(loaded.is_ok(), "{template}: {loaded:?}");
    }
}
