//! Reading of a form of calls from a family's file.

use alloc::{string::String, vec::Vec};

use super::{
    At, CommitOn, Form, InReasoning, KeyRole, Keys, NamedKeys, NewlineRule, Types, Undeclared,
    WhitespaceRule,
    fields::{FamilyResult, FieldReader},
};
use crate::template::{Hole, Part, Template};

/// The keys of a form's table.
const KEYS: [&str; 18] = [
    "section",
    "call",
    "parameter",
    "element",
    "between",
    "commit_on",
    "at",
    "call_alone",
    "spellings",
    "keys",
    "types",
    "undeclared",
    "repeated",
    "quote",
    "whitespace",
    "newlines",
    "in_reasoning",
    "no_call",
];

const COMMIT_ON: [(&str, CommitOn); 2] =
    [("marker", CommitOn::Marker), ("declared_name", CommitOn::DeclaredName)];

impl Default for Form {
    /// Returns a form without templates of calls, and with a newline between blocks.
    fn default() -> Self {
        Self {
            sections: Vec::from([Template { parts: Vec::from([Part::Hole(Hole::Call)]) }]),
            calls: Vec::new(),
            parameters: Vec::new(),
            elements: Vec::new(),
            between: texts(&["\n"]),
            commit_on: None,
            at: At::default(),
            call_alone: Some(CommitOn::default()),
            spellings: Vec::new(),
            keys: Keys::default(),
            types: Types::default(),
            undeclared: None,
            quote: Vec::new(),
            whitespace: WhitespaceRule::default(),
            newlines: NewlineRule::default(),
            in_reasoning: InReasoning::default(),
            no_call: Vec::new(),
        }
    }
}

impl Default for Keys {
    fn default() -> Self {
        Self::Named(NamedKeys::default())
    }
}

impl Default for NamedKeys {
    /// Returns the keys of OpenAI's API, with `parameters` as another key of the arguments.
    fn default() -> Self {
        Self {
            name: texts(&["name"]),
            arguments: texts(&["arguments", "parameters"]),
            id: texts(&["id"]),
            wrapper: Vec::new(),
            list: Vec::new(),
            answer: Vec::new(),
            order: [KeyRole::Id, KeyRole::Name, KeyRole::Arguments],
        }
    }
}

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|&text| text.into()).collect()
}

/// Reads a form of calls in the syntax of another family.
pub(super) fn read_foreign(field: &FieldReader<'_>) -> FamilyResult<Form> {
    Ok(Form { commit_on: Some(CommitOn::Foreign), ..read(field)? })
}

pub(super) fn read(field: &FieldReader<'_>) -> FamilyResult<Form> {
    let fields = field.table(&KEYS)?;
    let base = Form::default();
    let templates = |field: FieldReader<'_>| field.some(FieldReader::template);
    let undeclared = [("text", Undeclared::Text), ("json", Undeclared::Json)];
    let in_reasoning = [
        ("literal", InReasoning::Literal),
        ("suspend", InReasoning::Suspend),
        ("end", InReasoning::End),
    ];
    Ok(Form {
        sections: fields.optional("section", templates)?.unwrap_or(base.sections),
        calls: templates(fields.required("call")?)?,
        parameters: fields.or_default("parameter", templates)?,
        elements: fields.or_default("element", templates)?,
        between: fields
            .optional("between", |field| field.some(FieldReader::text))?
            .unwrap_or(base.between),
        commit_on: fields.optional("commit_on", |field| field.word(&COMMIT_ON))?,
        at: fields
            .word("at", &[("anywhere", At::Anywhere), ("lead", At::Lead), ("line", At::Line)])?,
        call_alone: Some(fields.word("call_alone", &COMMIT_ON)?),
        spellings: fields.or_default("spellings", spellings)?,
        keys: fields.or_default("keys", keys)?,
        types: fields.word("types", &[("schema", Types::Schema), ("wire", Types::Wire)])?,
        undeclared: fields.optional("undeclared", |field| field.word(&undeclared))?,
        quote: fields.or_default("quote", |field| field.some(FieldReader::token))?,
        whitespace: fields.word(
            "whitespace",
            &[("free", WhitespaceRule::Free), ("exact", WhitespaceRule::Exact)],
        )?,
        newlines: fields
            .word("newlines", &[("none", NewlineRule::Text), ("all", NewlineRule::All)])?,
        in_reasoning: fields.word("in_reasoning", &in_reasoning)?,
        no_call: fields.or_default("no_call", |field| field.list(FieldReader::token))?,
    })
}

/// Reads texts of literals and their other spellings. The longest text comes first, because the
/// longest match counts.
fn spellings(field: FieldReader<'_>) -> FamilyResult<Vec<(String, Vec<String>)>> {
    let entries = field.entries()?;
    let mut spellings = entries
        .iter()
        .map(|(text, others)| Ok((others.literal_of(text)?, others.some(FieldReader::literal)?)))
        .collect::<FamilyResult<Vec<_>>>()?;
    spellings.sort_by(|(a, _): &(String, _), (b, _)| b.len().cmp(&a.len()).then(a.cmp(b)));
    Ok(spellings)
}

fn keys(field: FieldReader<'_>) -> FamilyResult<Keys> {
    if !field.is_table() {
        field.word(&[("name_is_key", ())])?;
        return Ok(Keys::NameIsKey);
    }
    let fields = field.table(&["name", "arguments", "id", "wrapper", "list", "answer", "order"])?;
    let base = NamedKeys::default();
    let some = |field: FieldReader<'_>| field.some(FieldReader::token);
    let list = |field: FieldReader<'_>| field.list(FieldReader::token);
    Ok(Keys::Named(NamedKeys {
        name: fields.optional("name", some)?.unwrap_or(base.name),
        arguments: fields.optional("arguments", some)?.unwrap_or(base.arguments),
        id: fields.optional("id", list)?.unwrap_or(base.id),
        wrapper: fields.or_default("wrapper", list)?,
        list: fields.or_default("list", list)?,
        answer: fields.or_default("answer", list)?,
        order: fields.optional("order", order)?.unwrap_or(base.order),
    }))
}

/// Reads the order in which keys are written. Each role must occur once.
fn order(field: FieldReader<'_>) -> FamilyResult<[KeyRole; 3]> {
    let words = [("name", KeyRole::Name), ("arguments", KeyRole::Arguments), ("id", KeyRole::Id)];
    let order = field.list(|item| item.word(&words))?;
    match <[KeyRole; 3]>::try_from(order) {
        Ok([a, b, c]) if a != b && b != c && a != c => Ok([a, b, c]),
        _ => Err(field.error("expected `name`, `arguments` and `id`, each once")),
    }
}
