//! Tests of reading family files.

use alloc::{
    string::{String, ToString},
    vec,
    vec::Vec,
};

use serde_json::{Value, json};

use super::{
    At, CommitOn, Erase, Escapes, Family, FamilyFile, Form, KeyRole, Keys, NamedKeys, NewlineRule,
    RouteTo, Spacing, Suffix, Undeclared, Words, Write, WrittenIds, merge, reasoning, resolve,
    with_variant,
};
use crate::template::Template;

fn family(text: &str) -> Family {
    Family::from_toml("x", text).unwrap_or_else(|error| panic!("{error}"))
}

fn templates(texts: &[&str]) -> Vec<Template> {
    texts.iter().map(|text| Template::parse(text).unwrap()).collect()
}

#[test]
fn missing_family_fields_have_their_defaults() {
    let calls = templates(&["<x>{object}</x>"]);
    let form = Form { calls, ..Form::default() };
    assert_eq!(form.sections, templates(&["{call}"]));
    let expected = Family { name: "x".into(), forms: vec![form], ..Family::default() };
    assert_eq!(family("calls.call = '<x>{object}</x>'"), expected);
    assert_eq!(family("").forms, [], "a family that only reasons");
}

#[test]
fn every_field_of_a_file_is_read() {
    let read = family(
        r#"
about = "A"
source = "B"
models = ["a-*"]
names = { vllm = ["a"] }
end_of_turn = "<end>"
erase = ["<a>", { text = "b", at = "after_call", once = true, newlines = "all" }]
special_tokens = true
suffix = "learnt"
reasoning = "qwen3"
write = { json = "compact", words = "python", keys = "sorted", escapes = "ascii", ids = "counted", form = 2 }
[messages]
header = '<|h|>{role}{? to={recipient}}'
body = '<|body|>'
routes = [{ recipient = ['f.{name}', 'g'], is = "call" }, { channel = "c", body = "<|body|>", is = "reasoning" }]
[[calls]]
call = '<x>{object}</x>'
[[calls]]
section = ['<s>{calls:\n}</s>', '{call}']
call = ['<f={name}>{parameters}</f>', '<g={name}>{elements}</g>']
parameter = '<p={key}>\n{value}\n</p>'
element = '<{key}>{value}</{key}>'
between = ["", ";"]
commit_on = "declared_name"
at = "line"
call_alone = "declared_name"
spellings = { '<s' = ['<S\\'], '<s>' = '<t>' }
keys = { arguments = "a", name = ["n", "m"], id = [], wrapper = "w" }
types = "wire"
undeclared = "text"
quote = '<q>'
whitespace = "exact"
newlines = "all"
in_reasoning = "end"
no_call = ["none"]
[[variant]]
models = ["b-*"]
"#,
    );
    assert_eq!((read.about.as_str(), read.source.as_str()), ("A", "B"));
    assert!(read.special_tokens && read.suffix == Suffix::Learnt);
    let erase = |text: &str, at, once, newlines| Erase { text: text.into(), at, once, newlines };
    let erased =
        [erase("<a>", At::Anywhere, false, (0, 0)), erase("b", At::AfterCall, true, (64, 64))];
    assert_eq!((read.end_of_turn, read.erase), (vec!["<end>".to_string()], erased.to_vec()));
    let Write { json, words, escapes, ids, form, .. } = read.write;
    assert_eq!((escapes, ids), (Escapes::Ascii, WrittenIds::Counted));
    assert_eq!((json, words, form), (Spacing::Compact, Words::Python, 1));
    let messages = read.messages.unwrap();
    let is: Vec<_> =
        messages.routes.iter().map(|route| (route.recipient.len(), route.is)).collect();
    assert_eq!(is, [(2, RouteTo::Call), (0, RouteTo::Reasoning)]);
    let form = &read.forms[1];
    assert_eq!(form.sections, templates(&[r"<s>{calls:\n}</s>", "{call}"]));
    assert_eq!((form.between.join("|").as_str(), form.quote.join("|").as_str()), ("|;", "<q>"));
    assert_eq!((form.commit_on, form.at), (Some(CommitOn::DeclaredName), At::Line));
    assert_eq!((form.undeclared, form.newlines), (Some(Undeclared::Text), NewlineRule::All));
    let spellings: Vec<_> =
        form.spellings.iter().map(|(text, others)| (text.as_str(), others[0].as_str())).collect();
    assert_eq!(spellings, [("<s>", "<t>"), ("<s", r"<S\")], "longest first, escapes undone");
    let keys = NamedKeys {
        name: vec!["n".into(), "m".into()],
        arguments: vec!["a".into()],
        id: vec![],
        wrapper: vec!["w".into()],
        order: [KeyRole::Arguments, KeyRole::Name, KeyRole::Id],
        ..NamedKeys::default()
    };
    assert_eq!(form.keys, Keys::Named(keys), "all three named: the order of the file");
}

/// Invalid files, with the line, the field and the start of the error text.
#[rustfmt::skip]
const FAULTY: &[(&str, usize, &str, &str)] = &[
    ("about = ", 1, "", "string values must be quoted"),
    ("about = 'x'\nabuot = 'x'", 2, "abuot", "unknown field `abuot`; nearest: `about`"),
    ("name = 'x'", 1, "name", "remove this field: the file name"),
    ("special_tokens = 1", 1, "special_tokens", "expected `true` or `false`, found `1`"),
    ("end_of_turn = ['a',\n '']", 2, "end_of_turn[1]", "expected a text that is not empty"),
    ("erase = [{ at = 'lead' }]", 1, "erase[0]", "`text` is missing"),
    ("[calls]\nat = 'lead'", 1, "calls", "`call` is missing"),
    ("[calls]\ncall = '{object}'\nat = 'leed'", 3, "calls.at", "unknown word `leed`; nearest: `lead`"),
    ("[calls]\ncall = []", 2, "calls.call", "expected at least one entry"),
    ("[calls]\ncall = '<{nmae}>'", 2, "calls.call", "template, byte 2: expected a hole"),
    ("[[calls]]\ncall = '<{object}>'\n[[calls]]\ncall = '<{object}>'\nsection = ['{calls}',\n '<{calls]']",
        6, "calls[1].section[1]", "template, byte 7: expected `}` to end the hole, found `]`"),
    ("[calls]\ncall = '<{object}>'\nsection = '<{calls}{?{calls}}>'", 3, "calls.section", "template, byte 10"),
    ("[calls]\ncall = '<{object}>'\nsection = '<x>'", 3, "calls.section", "expected exactly one of `{calls}`"),
    ("[calls]\ncall = '<{object}>'\nsection = '{?<{call}>}'", 3, "calls.section", "expected exactly one of `{calls}`"),
    ("[calls]\ncall = '<{object}>'\nsection = '<{call}>{object}'", 3, "calls.section", "`{object}` is not allowed here"),
    ("[calls]\ncall = '<{arguments}>'", 2, "calls.call", "expected the name once, found it 0 times"),
    ("[calls]\ncall = '<{arguments}={name}>'", 2, "calls.call", "the name must precede the arguments"),
    ("[calls]\ncall = '<{name}>{object}'", 2, "calls.call", "expected the name once, found it 2 times"),
    ("[calls]\ncall = ['<{object}>', '<{name}>{arguments}{?x{raw:y}}']", 2, "calls.call[1]", "expected the arguments only once"),
    ("[calls]\ncall = '<{object}>|{text}'", 2, "calls.call", "`{text}` is not allowed here"),
    ("[calls]\ncall = '{name=f}{raw:x}'", 2, "calls.call", "`{raw}` needs a literal before it"),
    ("[calls]\ncall = '<{name}>{parameters}'", 1, "calls", "`parameter` is missing: a call has `{parameters}`"),
    ("[calls]\ncall = '<{object}>'\nparameter = '{key}={value};'", 3, "calls.parameter", "no call has `{parameters}`"),
    ("[calls]\ncall = '<{name}>{parameters}'\nparameter = '{key}={value}'", 3, "calls.parameter", "expected literals before and after"),
    ("[calls]\ncall = '<{name}>{parameters}'\nparameter = ['{value}={key};']", 3, "calls.parameter[0]", "expected `{key}` and then"),
    ("[calls]\ncall = '<{name}{parameters}'\nparameter = '{key}={value};'", 2, "calls.call", "the end of `{name}` is unknown"),
    ("[calls]\ncall = '<{name}>{elements}'\nelement = '{key}={value}{string};'", 3, "calls.element", "template, byte 13"),
    ("[calls]\ncall = '<{object}>'\nspellings = { '<' = ['{name}'] }", 3, "calls.spellings.\"<\"[0]", "expected a literal without holes"),
    ("[calls]\ncall = '<{object}>'\nkeys = { nam = 'x' }", 3, "calls.keys.nam", "unknown field `nam`; nearest: `name`"),
    ("[calls]\ncall = '<{object}>'\nkeys = 'name'", 3, "calls.keys", "unknown word `name`; nearest: `name_is_key`"),
    ("[calls]\ncall = '<{object}>'\nkeys.order = ['name', 'name', 'id']", 3, "calls.keys.order", "expected `name`, `arguments` and `id`"),
    ("write.form = 2\n[calls]\ncall = '<{object}>'", 1, "write.form", "expected a number from 1 to 1"),
    ("[messages]\nbody = ['<b>']", 1, "messages", "`header` is missing"),
    ("[messages]\nheader = '<|h|>{name}'\nbody = ['<b>']", 2, "messages.header", "`{name}` is not allowed here"),
    ("[messages]\nheader = '<|h|>'\nbody = ['<b>']\nroutes = [{ body = '<c>', is = 'call' }]",
        4, "messages.routes[0].body", "\"<c>\" is not one of `messages.body`"),
    ("[messages]\nheader = '<h>{role}'\nbody = ['<b>']", 2, "messages.header", "expected a special token at the start"),
    ("[messages]\nheader = '{role}<|b|>'\nbody = ['<b>']", 2, "messages.header", "expected a special token at the start"),
    ("[messages]\nheader = '<|h|>{role}{? as {channel}}'\nbody = ['<b>']", 2, "messages.header",
        "\" as \" cannot be distinguished from the words before it"),
    ("[messages]\nheader = '<|h|>{role}'\nbody = ['text']", 3, "messages.body[0]", "expected a special token, or"),
    ("[messages]\nheader = '<|h|>{role}'\nbody = ['\\n']", 3, "messages.body[0]", "\"\\\\n\" has a backslash"),
    ("[messages]\nheader = '<|h|>{role}'\nbody = [':']\nend = [';']", 4, "messages.end[0]", "expected a special token"),
    ("[messages]\nheader = '<|h|>{role}'\nbody = [':']\nchannels = ['a']", 4, "messages.channels",
        "`channels` needs special tokens"),
    ("erase = ['x\\n']", 1, "erase[0]", "\"x\\\\n\" has a backslash"),
    ("end_of_turn = '\\t'", 1, "end_of_turn", "\"\\\\t\" has a backslash"),
    ("like = 'nobody'", 1, "like", "no family is called `nobody`"),
];

#[test]
fn malformed_family_file_is_refused_with_line_and_field() {
    for (text, line, field, problem) in FAULTY {
        let error = Family::from_toml("bad", text).expect_err(text);
        assert_eq!((error.line(), error.field()), (Some(*line), *field), "{text}: {error}");
        let colon = if field.is_empty() { "" } else { "`: " };
        let tick = if field.is_empty() { "" } else { "`" };
        let begins = alloc::format!("bad.toml:{line}: {tick}{field}{colon}{problem}");
        assert!(error.to_string().starts_with(&begins), "{error}\nis not\n{begins}");
    }
}

fn files() -> Value {
    json!({
        "a": {"about": "A", "names": {"vllm": ["a"]}, "erase": ["x", "y"],
            "reasoning": {"block": "<r>{text}</r>", "names": {"vllm": ["a"]}},
            "calls": {"call": "<{object}>", "keys": {"id": "i"}, "at": "lead"}},
        "b": {"about": "B", "like": "a", "erase": ["z"],
            "calls": {"between": "", "keys": {"name": "n"}}},
        "c": {"about": "C", "like": "b", "reasoning": {"starts": "open"}},
        "d": {"like": "c"}, "e": {"like": "d"},
        "f": {"like": "g"}, "g": {"like": "f"},
        "h": {"reasoning": "a"}, "i": {"like": "h"},
        "j": {"like": "h", "reasoning": {"block": "<j>{text}</j>"}},
    })
}

fn lookup(name: &str) -> Option<Value> {
    files().get(name).cloned()
}

fn resolved(name: &str) -> Result<Value, String> {
    resolve(name, &lookup(name).unwrap(), lookup).map_err(|error| error.to_string())
}

#[test]
fn derived_family_inherits_unset_fields() {
    let reasoning = json!({"block": "<r>{text}</r>"});
    let calls = json!({"call": "<{object}>", "keys": {"name": "n"}, "at": "lead", "between": ""});
    let b = json!({"about": "B", "erase": ["z"], "calls": calls, "reasoning": reasoning});
    assert_eq!(resolved("b").unwrap(), b);
    assert_eq!(resolved("c").unwrap()["calls"], calls, "two files away");
    let forms = json!({"calls": [{"call": "x{object}"}]});
    assert_eq!(merge(&b, &forms)["calls"], forms["calls"], "forms are replaced whole");
}

#[test]
fn cycles_and_long_chains_are_refused() {
    assert!(resolved("d").is_ok(), "three files away");
    assert_eq!(
        resolved("e").unwrap_err(),
        "`like`: a chain of more than 3 files: e -> d -> c -> b -> a"
    );
    assert_eq!(resolved("f").unwrap_err(), "`like`: a cycle: f -> g -> f");
}

#[test]
fn reasoning_section_is_inherited_with_the_name_of_its_file() {
    let of = |name: &str| reasoning(name, &lookup(name).unwrap(), lookup).unwrap().unwrap();
    let a = lookup("a").unwrap()["reasoning"].clone();
    for name in ["a", "b", "h", "i"] {
        assert_eq!(of(name), ("a".to_string(), a.clone()), "{name}");
    }
    assert_eq!(of("c"), ("c".into(), json!({"block": "<r>{text}</r>", "starts": "open"})));
    assert_eq!(of("j"), ("j".into(), json!({"block": "<j>{text}</j>"})));
}

#[test]
fn variant_replaces_only_the_fields_it_sets() {
    let file = json!({"about": "A", "write": {"json": "compact"}, "variant": [1]});
    let variant = json!({"models": ["x"], "write": {"form": 2}});
    let expected = json!({"about": "A", "write": {"json": "compact", "form": 2}});
    assert_eq!(with_variant(&file, &variant), expected);
}

#[test]
fn every_family_file_is_read() {
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/../../families");
    let Ok(entries) = std::fs::read_dir(directory) else { return };
    let paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    let read = |name: &str| {
        let text = std::fs::read_to_string(alloc::format!("{directory}/{name}.toml")).ok()?;
        Some(FamilyFile::parse(name, &text).unwrap_or_else(|error| panic!("{error}")))
    };
    for path in paths.iter().filter(|path| path.extension().is_some_and(|it| it == "toml")) {
        let name = path.file_stem().unwrap().to_str().unwrap();
        let file = read(name).unwrap();
        let lookup = |name: &str| read(name).map(|file| file.value().clone());
        let family = resolve(name, file.value(), lookup)
            .and_then(|resolved| Family::from_value(&resolved))
            .map_err(|error| file.error(error));
        assert!(family.is_ok(), "{}", family.unwrap_err());
    }
}

#[test]
fn list_of_over_1000_entries_is_refused() {
    let text = |n: usize| alloc::format!("end_of_turn = [{}]", "'<|e|>',".repeat(n));
    assert!(Family::from_toml("long", &text(1000)).is_ok());
    let error = Family::from_toml("long", &text(1001)).unwrap_err();
    assert_eq!((error.line(), error.field()), (Some(1), "end_of_turn"));
    assert_eq!(error.problem(), "a list has at most 1000 entries");
}

#[test]
fn error_of_a_family_that_does_not_compile_names_the_field() {
    let text = "[calls]\ncall = '<x={name}>{parameters}</x>'\nparameter = '{key}: {value}\\n'";
    let family = Family::from_toml("lines", text).unwrap();
    let error = crate::Grammar::new(family).unwrap_err();
    assert_eq!(error.field(), "calls.parameter");
    assert_eq!(error.to_string(), "`calls.parameter`: a hole without a tag before it");
}
