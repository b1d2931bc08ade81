//! Tests of calls that the encoder refuses.

use super::*;

const TAGGED: Templates<'_> =
    ("<c>{call}</c>", &["<f={name}>\n{parameters}</f>"], &["<p={key}>\n{value}\n</p>\n"]);
const REPEATED: Templates<'_> =
    ("{call}", &["<{name}>\n{parameters}</{name}>"], &["<{key}>{value}</{key}>\n"]);
const NAMED: Templates<'_> = ("{call}", &["<f>{name}<a>{arguments}</f>"], &[]);
const PYTHON: Templates<'_> = ("[{calls:, }]", &["{name}({arguments:python})"], &[]);
const BARE: Templates<'_> = ("{call}", &["{name}({arguments:python})"], &[]);
const OBJECT: Templates<'_> = ("{call}", &["<c>{object}"], &[]);
const LITERAL: Templates<'_> = ("{call}", &["<c>{name}{arguments:literal}"], &[]);
const CLOSED: Templates<'_> = ("{call}", &["<c>{name}{arguments:literal}</c>"], &[]);
const ID: Templates<'_> = ("{call}", &["<c>{id:{?f.}{name}{?:{index}}}<a>{arguments}"], &[]);
const RAW: Templates<'_> = ("{call}", &["<c>{name=f}{raw:code}</c>"], &[]);
const TREE: Templates<'_> = (
    "]<calls>{call}]</calls>",
    &["]<c n=\"{name}\">{elements}]</c>"],
    &["]<{key}>{value}]</{key}>"],
);

fn quotes(family: &mut Family) {
    family.forms[0].quote = strings(&["<q>"]);
    family.forms[0].types = Types::Wire;
}

fn special(family: &mut Family) {
    family.special_tokens = true;
}

#[test]
fn inexpressible_values_are_refused_with_their_place() {
    let f = |arguments| EncodeCall::new("f", arguments);
    let named = |name| EncodeCall::new(name, "{}");
    let rows: &[(Templates<'_>, Options, EncodeCall<'_>, Kind, Option<usize>)] = &[
        (OBJECT, plain, f("[1]"), Kind::Arguments, Some(0)),
        (OBJECT, plain, named(""), Kind::Name, None),
        (OBJECT, plain, f("{}").with_id(""), Kind::Id, None),
        (OBJECT, |f| f.forms[0].keys = Keys::NameIsKey, f("{}").with_id("1"), Kind::Id, None),
        (OBJECT, |f| super::named(f).name.clear(), f("{}"), Kind::Grammar, None),
        (OBJECT, |f| f.forms.clear(), f("{}"), Kind::Grammar, None),
        (OBJECT, |f| f.forms[0].calls.clear(), f("{}"), Kind::Grammar, None),
        (NAMED, plain, f("{}").with_id("1"), Kind::Id, None),
        (NAMED, plain, named("f g"), Kind::Name, Some(1)),
        (NAMED, plain, named("f{"), Kind::Name, Some(1)),
        (NAMED, plain, named("f\""), Kind::Name, Some(1)),
        (NAMED, plain, named(" f"), Kind::Name, Some(0)),
        (PYTHON, plain, named("1f"), Kind::Name, Some(0)),
        (PYTHON, plain, named("f."), Kind::Name, Some(1)),
        (PYTHON, plain, f("{\"a b\": 1}"), Kind::Key, Some(1)),
        (PYTHON, plain, f("{\"a\": 1, \"a\": 2}"), Kind::Key, None),
        (BARE, plain, named("éf"), Kind::Name, Some(0)),
        (ID, plain, f("{}").with_id("g:0"), Kind::Id, None),
        (ID, plain, f("{}").with_id("f:x"), Kind::Id, None),
        (LITERAL, quotes, f("{\"s\": \"ab<q>\"}"), Kind::Value, Some(2)),
        (LITERAL, quotes, f("{\"a:<q>\": 1}"), Kind::Key, Some(2)),
        (CLOSED, quotes, f("{\"s\": \"ab<q>\"}"), Kind::Value, Some(2)),
        (CLOSED, quotes, f("{\"a:</c><c>\": 1}"), Kind::Key, Some(2)),
        (LITERAL, |f| f.forms[0].quote = strings(&["<q>"]), f("{\"n\": \"7\"}"), Kind::Value, None),
        (RAW, plain, named("g"), Kind::Grammar, None),
        (RAW, plain, f("{\"code\": 1}"), Kind::Arguments, None),
        (RAW, plain, f("{\"other\": \"\"}"), Kind::Key, None),
        (RAW, plain, f("{\"code\": \"x</c>\"}"), Kind::Value, Some(1)),
        (
            RAW,
            |f| f.end_of_turn = strings(&["<e>"]),
            f("{\"code\": \"<e>\"}"),
            Kind::Value,
            Some(0),
        ),
        (("{call}", &["<f={name}/>"], &[]), plain, f("{\"s\": \"\"}"), Kind::Arguments, None),
        (TAGGED, plain, f("{\"a>\": \"\"}"), Kind::Key, Some(1)),
        (TAGGED, plain, f("{\"\": \"\"}"), Kind::Key, Some(0)),
        (TAGGED, plain, f("{\"'a'\": \"\"}"), Kind::Key, Some(0)),
        (TAGGED, plain, f("{\"s\": 1}"), Kind::Value, None),
        (TAGGED, plain, f("{\"n\": \"7\"}"), Kind::Value, None),
        (TAGGED, plain, f("{\"m\": \"7\"}"), Kind::Value, None),
        (TAGGED, plain, f("{\"other\": true}"), Kind::Value, None),
        (TAGGED, plain, f("{\"s\": \"ab</p>\"}"), Kind::Value, Some(2)),
        (TAGGED, plain, f("{\"s\": \"a\\n<p=n>\"}"), Kind::Value, Some(2)),
        (TAGGED, special, f("{\"s\": \"a <p=n>\"}"), Kind::Value, Some(2)),
        (TAGGED, plain, f("{\"s\": \"\", \"s\": \"\"}"), Kind::Key, None),
        (REPEATED, plain, f("{\"s\": \"a\\n<n>\\n\"}"), Kind::Value, Some(2)),
        (
            ("{call}", &["<f={name}>{parameters}</f>"], &["<p={key}>{value:trim}</p>"]),
            plain,
            f("{\"s\": \" x\"}"),
            Kind::Value,
            None,
        ),
        (TREE, plain, f("{\"a>\": \"\"}"), Kind::Key, None),
        (TREE, plain, f("{\"/a\": \"\"}"), Kind::Key, None),
        (TREE, plain, f("{\"s\": \"\", \"c\": \"\"}"), Kind::Key, None),
        (TREE, plain, f("{\"s\": \"a]</s>\"}"), Kind::Value, Some(1)),
        (TREE, plain, f("{\"n\": \"7\"}"), Kind::Value, None),
        (TREE, plain, f("{\"q\": {\"a\": \"\", \"a\": \"\"}}"), Kind::Key, None),
        (TREE, plain, f("{\"q\": {\"item\": \"\"}}"), Kind::Value, None),
    ];
    for (templates, options, call, kind, at) in rows {
        let family = grammar(family(*templates, *options));
        let error = encode(&family, &[*call], &tools()).expect_err(&alloc::format!("{call:?}"));
        assert_eq!((error.kind(), error.at()), (*kind, *at), "{call:?}: {error}");
    }
}

#[test]
fn values_with_tags_that_do_not_end_them_are_written() {
    for value in [
        "x <p=a>",
        "</f> </c>",
        "</f>\n<f=g>",
        "a</p>b",
        "<p=k>v</p></f></c> x",
        "</f>",
        "</f> x",
        "</c>",
        "<p=",
        "\n",
        "\n\n\n",
        "</p",
    ] {
        let arguments = json!({"s": value}).to_string();
        let wire =
            encode(&grammar(family(TAGGED, plain)), &[EncodeCall::new("f", &arguments)], &tools());
        assert!(wire.is_ok(), "{value:?}: {wire:?}");
    }
}

#[test]
fn call_end_tags_inside_quotes_are_written() {
    for (arguments, written) in [
        (json!({"</c>": null}), "<c>f{<q></c><q>:null}</c>"),
        (json!({"a</c>": "</c>"}), "<c>f{<q>a</c><q>:<q></c><q>}</c>"),
        (json!({"s": {"k": "}}</c>"}}), "<c>f{s:{k:<q>}}</c><q>}}</c>"),
    ] {
        let arguments = arguments.to_string();
        let call = EncodeCall::new("f", &arguments);
        let wire = encode(&grammar(family(CLOSED, quotes)), &[call], &tools());
        assert_eq!(wire.as_deref(), Ok(written));
    }
}

#[test]
fn word_between_calls_is_written_and_read_back() {
    let words = ("<s>{calls: and }</s>", &["{object}"][..], &[][..]);
    let family = grammar(family(words, plain));
    let calls = ["f", "g"].map(|name| EncodeCall::new(name, "{}"));
    assert_eq!(
        encode(&family, &calls, &tools()).as_deref(),
        Ok("<s>{\"name\": \"f\", \"arguments\": {}} and {\"name\": \"g\", \"arguments\": {}}</s>")
    );
}

#[test]
fn message_header_parts_in_call_templates_are_refused() {
    for section in ["<s>{role}<b>{call}", "<s>{note}<b>{call}"] {
        let family = grammar(family((section, &["<c>{name}<a>{arguments}"], &[]), plain));
        let error = encode(&family, &[EncodeCall::new("g", "{}")], &tools());
        assert_eq!(error.map_err(|error| error.kind()), Err(Kind::Grammar));
    }
}

#[test]
fn encode_error_names_the_faulty_call() {
    let calls = ["{}", "{\"s\": \"x</p>\"}"].map(|arguments| EncodeCall::new("f", arguments));
    let error = encode(&grammar(family(TAGGED, plain)), &calls, &tools()).expect_err("an end tag");
    assert_eq!((error.call(), error.key()), (1, Some("s")));
    assert_eq!(
        error.to_string(),
        "test: call 1 (\"f\"): cannot write the value of argument \"s\", byte 1: \
         it contains the tags that would end it"
    );
}
