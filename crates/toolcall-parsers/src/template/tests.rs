//! Tests of parsing and printing templates.

use alloc::{boxed::Box, string::ToString, vec, vec::Vec};

use super::{Dialect, Hole, Part, Template};

fn literal(text: &str) -> Part {
    Part::Literal(text.into())
}

#[test]
fn literals_holes_and_groups_are_parsed_in_order() {
    let template = Template::parse(r#"<a b="{name}">\n{?x{arguments:python}}{{\\\t}}"#).unwrap();
    let group = vec![literal("x"), Part::Hole(Hole::Arguments(Dialect::Python))];
    let expected = [
        literal("<a b=\""),
        Part::Hole(Hole::Name),
        literal("\">\n"),
        Part::Group(group),
        literal("{\\\t}"),
    ];
    assert_eq!(template.parts, expected);
    assert_eq!(template.holes().count(), 2);
}

#[test]
fn id_hole_contains_a_template() {
    let template = Template::parse("{id:{?functions.}{name}{?:{index}}}<x>").unwrap();
    let id = vec![
        Part::Group(vec![literal("functions.")]),
        Part::Hole(Hole::Name),
        Part::Group(vec![literal(":"), Part::Hole(Hole::Index(0))]),
    ];
    let hole = Hole::Id(Some(Box::new(Template { parts: id })));
    assert_eq!(template.parts, [Part::Hole(hole), literal("<x>")]);
}

#[test]
fn printed_template_parses_to_the_same_template() {
    for text in [
        "",
        "plain } text".replace('}', "}}").as_str(),
        r#"{{"tool_call": {object}}}"#,
        r"[\n{calls:,\n}\n]",
        r"{?a{?\}{{b}}{name}{?[ID]{id}}{?[ARGS]}{arguments}",
        "{id:{?f.}{name}{?:{index:1}}}|{label}{object:literal}",
        r"{name=python}{raw:code}",
        r"<{name:python}>{parameters:\{,\}}</x>",
        "{key}={value:trim}:{type}:{string}",
        "{role} {channel} {recipient} {note} {text}",
        "{name:declared}{arguments} {elements} {call}",
    ] {
        let template = Template::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(template.to_string(), text);
        assert_eq!(Template::parse(&template.to_string()).unwrap(), template, "{text}");
    }
}

#[test]
fn malformed_template_is_refused_with_place_and_expectation() {
    let rows: [(&str, usize, &str, &str); 24] = [
        ("<x>{nmae}", 4, "a hole (nearest: name, ", "`nmae`"),
        ("<x>{}", 4, "a hole's name", "`}`"),
        ("<x>{Name}", 4, "a hole's name", "`N`"),
        ("<x>{name", 8, "`}` to end the hole", "the end"),
        ("<x>}", 3, "a literal", "`}`"),
        (r"<\x>", 2, "`n`, `t`", "`x`"),
        (r"<\", 2, "`n`, `t`", "the end"),
        ("a{?}", 3, "something in the group", "`}`"),
        ("a{?b", 4, "`}` to end the group", "the end"),
        ("{?a{?b{?c}}}", 6, "groups nested at most 2 deep", "a deeper group"),
        ("{?a{?b}}{?c{?d}}{?e{?f}}{?g{?h}}{?i}", 32, "at most 8 groups", "one more"),
        ("{name}{id}", 6, "a literal between", "`{id}` directly after `{name}`"),
        ("{name}{?:}{id}", 10, "a literal between", "`{id}` directly after `{name}`"),
        ("{name}{?{id}x}", 8, "a literal between", "`{id}` directly after `{name}`"),
        ("{arguments}{name}", 11, "a literal between", "`{name}` directly after `{arguments}`"),
        ("{key}{value}", 5, "a literal between", "`{value}` directly after `{key}`"),
        ("{calls:}", 7, "a separator", "`}`"),
        ("{raw}", 1, "`{raw:KEY}`", "`{raw}`"),
        ("{object:yaml}", 8, "a dialect (nearest: ", "`yaml`"),
        ("{value:trin}", 7, "a value's option (nearest: trim)", "`trin`"),
        ("{index:x}", 7, "a number", "`x`"),
        ("{name:a b}", 6, "a name without blanks", "` `"),
        ("{type=x}", 5, "`}` or `:`", "`=`"),
        ("{id:{id:{name}}}", 8, "`}`: an id cannot contain another", "`{`"),
    ];
    for (text, at, expected, found) in rows {
        let error = Template::parse(text).unwrap_err();
        assert!(error.expected().starts_with(expected), "{text}: {error}");
        assert_eq!((error.at(), error.found()), (at, found), "{text}: {error}");
    }
}

#[test]
fn implied_name_and_raw_argument_may_be_adjacent() {
    let template = Template::parse("<|python_tag|>{name=python}{raw:code}").unwrap();
    let holes: Vec<_> = template.holes().cloned().collect();
    assert_eq!(holes, [Hole::NameMeant("python".into()), Hole::Raw("code".into())]);
}
