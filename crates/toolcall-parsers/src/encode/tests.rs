//! Tests of the encoder. Each row has templates, calls, and the wire or the error.

use alloc::{
    string::{String, ToString},
    vec,
    vec::Vec,
};

use serde_json::json;

use super::{encode, encode_form};
use crate::{
    encode::{EncodeCall, EncodeErrorKind as Kind},
    family::{
        At, CommitOn, Escapes, Family, Form, KeyOrder, KeyRole, Keys, Messages, NamedKeys, Route,
        RouteTo, Spacing, Types, Undeclared, WhitespaceRule, Words, WrittenIds,
    },
    template::Template,
    tools::Tools,
};

mod refused;
mod written;

/// The templates of a section, of calls, and of parameters or elements.
type Templates<'t> = (&'t str, &'t [&'t str], &'t [&'t str]);
type Options = fn(&mut Family);

/// The family, compiled.
fn grammar(family: Family) -> crate::Grammar {
    crate::Grammar::new(family).expect("a sound family")
}

fn parse(templates: &[&str]) -> Vec<Template> {
    templates.iter().map(|text| Template::parse(text).expect("a sound template")).collect()
}

fn strings(texts: &[&str]) -> Vec<String> {
    texts.iter().map(ToString::to_string).collect()
}

fn form((section, calls, inner): Templates<'_>) -> Form {
    Form {
        sections: parse(&[section]),
        calls: parse(calls),
        parameters: parse(inner),
        elements: parse(inner),
        between: strings(&["\n"]),
        commit_on: None,
        at: At::Anywhere,
        call_alone: Some(CommitOn::Marker),
        spellings: Vec::new(),
        keys: Keys::Named(NamedKeys {
            name: strings(&["name"]),
            arguments: strings(&["arguments", "parameters"]),
            id: strings(&["id"]),
            wrapper: Vec::new(),
            list: Vec::new(),
            answer: Vec::new(),
            order: [KeyRole::Id, KeyRole::Name, KeyRole::Arguments],
        }),
        types: Types::Schema,
        undeclared: None,
        quote: Vec::new(),
        whitespace: Default::default(),
        newlines: Default::default(),
        in_reasoning: Default::default(),
        no_call: Vec::new(),
    }
}

fn family(templates: Templates<'_>, options: Options) -> Family {
    let mut family =
        Family { name: "test".into(), forms: vec![form(templates)], ..Family::default() };
    options(&mut family);
    family
}

/// Returns tools. `f` has arguments of all types.
fn tools() -> Tools {
    let properties = json!({
        "s": {"type": "string"}, "n": {"type": "integer"}, "b": {"type": "boolean"},
        "o": {"type": "object"}, "l": {"type": "array"}, "z": {"type": ["string", "null"]},
        "m": {"type": ["integer", "string"]},
    });
    let f = json!({"type": "object", "properties": properties});
    Tools::new([("f", f), ("g", json!({})), ("h", json!({})), ("py", json!({}))])
}

const fn plain(_: &mut Family) {}

fn named(family: &mut Family) -> &mut NamedKeys {
    match &mut family.forms[0].keys {
        Keys::Named(keys) => keys,
        Keys::NameIsKey => unreachable!("tests change named keys only"),
    }
}
