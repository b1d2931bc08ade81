//! Tests of calls that the encoder writes.

use super::*;

const F: EncodeCall<'_> = EncodeCall::new("f", r#"{"s":"x","n":3}"#);
const G: EncodeCall<'_> = EncodeCall::new("g", "{}");
const TAGS: &[&str] = &["<p={key}>\n{value}\n</p>\n"];

type Row<'r> = (&'r str, Templates<'r>, Options, &'r [EncodeCall<'r>], &'r str);

fn check(rows: &[Row<'_>]) {
    for (about, templates, options, calls, wire) in rows {
        let written = encode(&grammar(family(*templates, *options)), calls, &tools());
        assert_eq!(written.as_deref(), Ok(*wire), "{about}");
    }
}

/// Adds messages whose recipient is the tool's name.
fn messages(family: &mut Family) {
    let template = |text| Template::parse(text).expect("a sound template");
    family.messages = Some(Messages {
        header: template("<|s|>{role}{? to={recipient}}"),
        body: strings(&["<|m|>"]),
        end: strings(&["<|e|>"]),
        channels: Vec::new(),
        routes: vec![Route {
            recipient: vec![template("{name}")],
            channel: None,
            body: None,
            is: RouteTo::Call,
        }],
    });
    family.forms[0].between = strings(&[""]);
}

#[test]
fn sections_and_separators_are_written() {
    check(&[
        ("no calls", ("<s>{calls}</s>", &["{object}"], &[]), plain, &[], ""),
        (
            "a section for each call",
            ("<s>{call}</s>", &["<f={name}>{arguments}"], &[]),
            plain,
            &[F, G],
            "<s><f=f>{\"s\": \"x\", \"n\": 3}</s>\n<s><f=g>{}</s>",
        ),
        (
            "a section for all",
            ("<s>[{calls:, }]</s>", &["{object}"], &[]),
            |f| f.forms[0].keys = Keys::NameIsKey,
            &[G, EncodeCall::new("h", "{}")],
            r#"<s>[{"g": {}}, {"h": {}}]</s>"#,
        ),
        (
            "blocks joined by what the family has first",
            ("{call}", &["{name}\n{arguments}"], &[]),
            |f| f.forms[0].between = strings(&[">>>", ","]),
            &[G, G],
            "g\n{}>>>g\n{}",
        ),
        (
            "a name in the section is its call's",
            ("<|s|>model to={name}<|m|>{call}<|e|>", &["<f {name}>{arguments}</f>"], &[]),
            messages,
            &[G],
            "<|s|>model to=g<|m|><f g>{}</f><|e|>",
        ),
        (
            "a call that is a message",
            ("{call}", &["<|s|>model to={name}<|m|>{arguments}<|e|>"], &[]),
            messages,
            &[G, G],
            "<|s|>model to=g<|m|>{}<|e|><|s|>model to=g<|m|>{}<|e|>",
        ),
    ]);
}

#[test]
fn names_and_ids_are_written() {
    let kimi = ("{call}", &["<c>{id:{?fs.}{name}{?:{index}}}<a>{arguments}"][..], &[][..]);
    let python = ("{call}", &["<f>{name}<a>{arguments}", "<x>{name=py}{raw:code}"][..], &[][..]);
    let code = EncodeCall::new("py", r#"{"code":"1\n2"}"#);
    let mistral = ("{call}", &["[C]{name}{?[ID]{id}}{?[A]}{arguments}"][..], &[][..]);
    check(&[
        ("the index is counted", kimi, plain, &[G, G], "<c>fs.g:0<a>{}\n<c>fs.g:1<a>{}"),
        ("a given id stands as it is", kimi, plain, &[G.with_id("g:7")], "<c>g:7<a>{}"),
        ("a group without a value is left out", mistral, plain, &[G], "[C]g[A]{}"),
        ("a group with one is not", mistral, plain, &[G.with_id("1")], "[C]g[ID]1[A]{}"),
        (
            "an id is made",
            ("{call}", &["<i>{id}<n>{name}</n>"], &[]),
            plain,
            &[G],
            "<i>call_0<n>g</n>",
        ),
        (
            "a label is the name",
            ("{call}", &["<t: {label}>\n{name} {arguments}"], &[]),
            plain,
            &[G],
            "<t: g>\ng {}",
        ),
        (
            "an index from one",
            ("{call}", &["<c n=\"{index:1}\" t=\"{name}\">"], &[]),
            plain,
            &[G],
            "<c n=\"1\" t=\"g\">",
        ),
        ("the template of a name before others", python, plain, &[code], "<x>1\n2"),
        (
            "any other if it cannot hold the arguments",
            python,
            plain,
            &[EncodeCall::new("py", "{}")],
            "<f>py<a>{}",
        ),
        (
            "a name on the wire",
            ("{call}", &["{name:py}\n{raw:code}", "{name}\n{arguments}"], &[]),
            |f| f.forms[0].whitespace = WhitespaceRule::Exact,
            &[code],
            "py\n1\n2",
        ),
    ]);
}

#[test]
fn objects_are_written_in_every_dialect() {
    let object = ("{call}", &["{object}"][..], &[][..]);
    let nested = EncodeCall::new("f", r#"{"b":[1,{"d":null,"c":true}],"a":{}}"#);
    let keyword = ("[{calls:, }]", &["{name}({arguments:python})"][..], &[][..]);
    let literal = ("{call}", &["<c>{name}{arguments:literal}"][..], &[][..]);
    let quotes: Options = |f| f.forms[0].quote = strings(&["<q>"]);
    let mixed = EncodeCall::new("f", r#"{"s":"it's","b":true,"l":["a",2]}"#);
    check(&[
        (
            "an id first",
            object,
            plain,
            &[G.with_id("1")],
            r#"{"id": "1", "name": "g", "arguments": {}}"#,
        ),
        (
            "keys in the family's order",
            object,
            |f| named(f).order = [KeyRole::Arguments, KeyRole::Name, KeyRole::Id],
            &[G.with_id("1")],
            r#"{"arguments": {}, "name": "g", "id": "1"}"#,
        ),
        (
            "the name as the key",
            object,
            |f| f.forms[0].keys = Keys::NameIsKey,
            &[G],
            r#"{"g": {}}"#,
        ),
        (
            "braces in literals",
            ("{call}", &[r#"{{"call": {object}}}"#, "{object}"], &[]),
            |f| named(f).wrapper = strings(&["call"]),
            &[G],
            r#"{"call": {"name": "g", "arguments": {}}}"#,
        ),
        (
            "compact",
            ("{call}", &["<c>{name}\n{arguments}"], &[]),
            |f| f.write.json = Spacing::Compact,
            &[nested],
            "<c>f\n{\"b\":[1,{\"d\":null,\"c\":true}],\"a\":{}}",
        ),
        (
            "nothing but ASCII",
            object,
            |f| f.write.escapes = Escapes::Ascii,
            &[EncodeCall::new("f", r#"{"é":"a\n😀"}"#)],
            r#"{"name": "f", "arguments": {"\u00e9": "a\n\ud83d\ude00"}}"#,
        ),
        (
            "ids that count calls",
            object,
            |f| f.write.ids = WrittenIds::Counted,
            &[G.with_id("a"), G],
            "{\"id\": \"a\", \"name\": \"g\", \"arguments\": {}}\n\
             {\"id\": \"1\", \"name\": \"g\", \"arguments\": {}}",
        ),
        (
            "indented from where it begins",
            ("[\n    {calls:,\n    }\n]", &["{object}"], &[]),
            |f| f.write.json = Spacing::Indented,
            &[EncodeCall::new("f", r#"{"l":[1],"o":{}}"#), G],
            "[\n    {\n        \"name\": \"f\",\n        \"arguments\": {\n            \"l\": [\n                1\n            ],\n            \"o\": {}\n        }\n    },\n    {\n        \"name\": \"g\",\n        \"arguments\": {}\n    }\n]",
        ),
        (
            "sorted keys, nested too",
            ("{call}", &["<c>{name}\n{arguments}"], &[]),
            |f| f.write.keys = KeyOrder::Sorted,
            &[nested],
            "<c>f\n{\"a\": {}, \"b\": [1, {\"c\": true, \"d\": null}]}",
        ),
        (
            "keyword arguments",
            keyword,
            plain,
            &[mixed, G],
            r#"[f(s="it's", b=True, l=['a', 2]), g()]"#,
        ),
        (
            "a dict",
            ("[{calls}]", &["{object:python}"], &[]),
            plain,
            &[EncodeCall::new("f", r#"{"z":null}"#)],
            "[{'name': 'f', 'arguments': {'z': None}}]",
        ),
        (
            "quotes of strings only",
            literal,
            |f| {
                f.forms[0].quote = strings(&["<q>"]);
                f.forms[0].types = Types::Wire;
            },
            &[mixed],
            "<c>f{s:<q>it's<q>,b:true,l:[<q>a<q>,2]}",
        ),
        (
            "quotes of all scalars",
            literal,
            |f| {
                f.forms[0].quote = strings(&["<q>"]);
                f.forms[0].undeclared = Some(Undeclared::Json);
                f.write.words = Words::Python;
            },
            &[mixed],
            "<c>f{s:<q>it's<q>,b:<q>True<q>,l:[<q>a<q>,<q>2<q>]}",
        ),
        (
            "keys that need quotes",
            literal,
            quotes,
            &[EncodeCall::new("f", r#"{"a:b":"x"}"#)],
            "<c>f{<q>a:b<q>:<q>x<q>}",
        ),
        (
            "a script's object",
            ("{call}", &["<c>{name}({arguments:literal})"], &[]),
            plain,
            &[mixed, G],
            "<c>f({ s: \"it's\", b: true, l: [\"a\", 2] })\n<c>g()",
        ),
    ]);
}

#[test]
fn parameters_and_elements_are_written() {
    let tagged = ("{call}", &["<f={name}>\n{parameters}</f>"][..], TAGS);
    let flag = &["<p n=\"{key}\" s=\"{string}\">{value}</p>"][..];
    let cdata = &["<p n=\"{key}\">{value:trim}</p>", "<p n=\"{key}\"><![CDATA[{value}]]></p>"][..];
    let tree =
        ("{call}", &["]<c n=\"{name}\">{elements}]</c>"][..], &["]<{key}>{value}]</{key}>"][..]);
    check(&[
        ("a parameter each", tagged, plain, &[F], "<f=f>\n<p=s>\nx\n</p>\n<p=n>\n3\n</p>\n</f>"),
        ("no parameters", tagged, plain, &[G], "<f=g>\n</f>"),
        (
            "a separator",
            ("{call}", &["<f={name}>{parameters:; }</f>"], &["<p={key}>{value}</p>"]),
            plain,
            &[F],
            "<f=f><p=s>x</p>; <p=n>3</p></f>",
        ),
        (
            "words of the family, but not inside JSON",
            tagged,
            |f| f.write.words = Words::Python,
            &[EncodeCall::new("f", r#"{"b":true,"l":[true],"s":"true"}"#)],
            "<f=f>\n<p=b>\nTrue\n</p>\n<p=l>\n[true]\n</p>\n<p=s>\ntrue\n</p>\n</f>",
        ),
        (
            "objects as Python prints them",
            tagged,
            |f| f.write.words = Words::Repr,
            &[EncodeCall::new("f", r#"{"b":true,"l":["x",null],"s":"true"}"#)],
            "<f=f>\n<p=b>\nTrue\n</p>\n<p=l>\n['x', None]\n</p>\n<p=s>\ntrue\n</p>\n</f>",
        ),
        (
            "words that the schema admits",
            tagged,
            |f| f.write.words = Words::Python,
            &[EncodeCall::new("f", r#"{"z":null}"#)],
            "<f=f>\n<p=z>\nNone\n</p>\n</f>",
        ),
        (
            "whether it is a string",
            ("{call}", &["<f={name}>{parameters}</f>"], flag),
            |f| f.forms[0].types = Types::Wire,
            &[EncodeCall::new("f", r#"{"s":"7","u":7}"#)],
            "<f=f><p n=\"s\" s=\"true\">7</p><p n=\"u\" s=\"false\">7</p></f>",
        ),
        (
            "a type",
            (
                "{call}",
                &["<f={name}>{parameters}</f>"],
                &["<p n=\"{key}\" t=\"{type}\">{value}</p>"],
            ),
            |f| f.forms[0].types = Types::Wire,
            &[EncodeCall::new("f", r#"{"s":"7","u":[7],"v":null}"#)],
            "<f=f><p n=\"s\" t=\"string\">7</p><p n=\"u\" t=\"array\">[7]</p><p n=\"v\" t=\"null\">null</p></f>",
        ),
        (
            "a quote in an attribute",
            ("{call}", &["<f={name}>{parameters}</f>"], flag),
            |f| f.forms[0].types = Types::Wire,
            &[EncodeCall::new("f", r#"{"a\"&b&amp;":""}"#)],
            "<f=f><p n=\"a&quot;&b&amp;amp;\" s=\"true\"></p></f>",
        ),
        (
            "character data",
            ("{call}", &["<f={name}>{parameters}</f>"], cdata),
            plain,
            &[EncodeCall::new("f", r#"{"s":" x","u":"</p>]]>","v":"plain"}"#)],
            "<f=f><p n=\"s\"><![CDATA[ x]]></p><p n=\"u\"><![CDATA[</p>]]]]><![CDATA[>]]></p><p n=\"v\">plain</p></f>",
        ),
        (
            "a newline of the value's own beside one that may be the template's",
            (
                "{call}",
                &["<f={name}>{parameters}</f>"],
                &["<p={key}>{value}</p>", "<p={key}>\n{value}\n</p>"],
            ),
            plain,
            &[EncodeCall::new("f", r#"{"s":"x","u":"x\n"}"#)],
            "<f=f><p=s>x</p><p=u>x\n</p></f>",
        ),
        (
            "elements, and an item each in lists",
            tree,
            plain,
            &[EncodeCall::new("f", r#"{"o":{"a":"x"},"l":["y",{"k":"z"}]}"#)],
            "]<c n=\"f\">]<o>]<a>x]</a>]</o>]<l>]<item>y]</item>]<item>]<k>z]</k>]</item>]</l>]</c>",
        ),
        (
            "empty elements where the schema says what they are",
            tree,
            plain,
            &[EncodeCall::new("f", r#"{"o":{},"l":[],"s":""}"#)],
            "]<c n=\"f\">]<o>]</o>]<l>]</l>]<s>]</s>]</c>",
        ),
    ]);
}

#[test]
fn encoder_tries_the_configured_form_first() {
    let mut family = family(("{call}", &["<c>{object}</c>"], &[]), plain);
    family.forms.push(form(("{call}", &["[C]{name}[A]{arguments}"], &[])));
    family.write.form = 1;
    let family = grammar(family);
    assert_eq!(encode(&family, &[G], &tools()).as_deref(), Ok("[C]g[A]{}"));
    let first = r#"<c>{"name": "g", "arguments": {}}</c>"#;
    assert_eq!(encode_form(&family, 0, &[G], &tools()).as_deref(), Ok(first));
    let other = r#"<c>{"id": "1", "name": "g", "arguments": {}}</c>"#;
    assert_eq!(encode(&family, &[G.with_id("1")], &tools()).as_deref(), Ok(other));
}
