//! The reader of cases from JSON Lines. Every fault is an error that names its line and field.

use core::fmt;
use std::collections::{BTreeMap, HashSet};

use super::case::{
    Arguments, CaseFinish, CaseKind, CaseStart, CaseTokens, CaseWhitespace, Expect, ExpectedCall,
    Incomplete, OPTIONS, VectorCase,
};
use crate::json::{self, JsonValue};

/// An error: a line is not a case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaseError {
    /// The number of the line, from 1.
    pub line: usize,
    /// The path of the field, or empty if the fault concerns the whole line.
    pub field: String,
    /// The expected and the actual value.
    pub problem: String,
}

impl fmt::Display for CaseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: ", self.line)?;
        if !self.field.is_empty() {
            write!(f, "`{}`: ", self.field)?;
        }
        f.write_str(&self.problem)
    }
}

impl core::error::Error for CaseError {}

/// Reads the cases of a JSON Lines text. Blank lines are skipped.
///
/// # Errors
/// Returns the first line that is not a case, has a field this format does not know, or repeats an
/// id.
pub fn read_cases(text: &str) -> Result<Vec<VectorCase>, CaseError> {
    let mut ids = HashSet::new();
    let mut cases = Vec::new();
    for (line, text) in (1..).zip(text.split('\n')) {
        if text.trim().is_empty() {
            continue;
        }
        let case = case(text).map_err(|fault| fault.on(line))?;
        if !ids.insert(case.id.clone()) {
            return Err(fault("id", format!("{:?} was used before", case.id)).on(line));
        }
        cases.push(case);
    }
    Ok(cases)
}

struct Fault {
    field: String,
    problem: String,
}

type Read<T> = Result<T, Fault>;

impl Fault {
    fn on(self, line: usize) -> CaseError {
        CaseError { line, field: self.field, problem: self.problem }
    }
}

fn fault(field: impl Into<String>, problem: impl Into<String>) -> Fault {
    Fault { field: field.into(), problem: problem.into() }
}

/// The fields of one object, which are taken out one by one. Fields left at the end are unknown.
struct Fields<'t> {
    path: String,
    fields: Vec<(String, &'t str)>,
}

impl<'t> Fields<'t> {
    fn new(path: impl Into<String>, text: &'t str) -> Read<Self> {
        let path = path.into();
        let fields = json::members(text)
            .map_err(|error| fault(&path, format!("expected a JSON object: {error}")))?;
        let fields = Self { path, fields };
        let mut seen = HashSet::new();
        match fields.fields.iter().find(|(key, _)| !seen.insert(key.as_str())) {
            Some((key, _)) => Err(fault(fields.name(key), "is there twice")),
            None => Ok(fields),
        }
    }

    fn name(&self, key: &str) -> String {
        if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) }
    }

    /// Returns the text of a field's value. `null` counts as a missing field.
    fn take(&mut self, key: &str) -> Option<&'t str> {
        let position = self.fields.iter().position(|(name, _)| name == key)?;
        Some(self.fields.swap_remove(position).1).filter(|&raw| raw != "null")
    }

    fn need(&mut self, key: &str) -> Read<&'t str> {
        self.take(key).ok_or_else(|| fault(self.name(key), "is missing"))
    }

    fn string(&mut self, key: &str) -> Read<Option<String>> {
        let Some(raw) = self.take(key) else { return Ok(None) };
        match json::parse(raw) {
            Ok(JsonValue::String(text)) => Ok(Some(text)),
            _ => Err(fault(self.name(key), format!("expected a string, found {raw}"))),
        }
    }

    fn need_string(&mut self, key: &str) -> Read<String> {
        self.string(key)?.ok_or_else(|| fault(self.name(key), "is missing"))
    }

    fn one_of<T: Copy>(&mut self, key: &str, known: &[(&str, T)]) -> Read<Option<T>> {
        let Some(word) = self.string(key)? else { return Ok(None) };
        let found = known.iter().find(|(name, _)| *name == word);
        found.map(|(_, value)| Some(*value)).ok_or_else(|| {
            let names: Vec<_> = known.iter().map(|(name, _)| *name).collect();
            fault(self.name(key), format!("expected one of {names:?}, found {word:?}"))
        })
    }

    fn elements(&mut self, key: &str) -> Read<Vec<&'t str>> {
        let Some(raw) = self.take(key) else { return Ok(Vec::new()) };
        json::elements(raw)
            .map_err(|error| fault(self.name(key), format!("expected an array: {error}")))
    }

    /// Reads a list of pairs.
    fn pairs(&mut self, key: &str) -> Read<Option<Vec<(JsonValue, JsonValue)>>> {
        if !self.fields.iter().any(|(name, raw)| name == key && *raw != "null") {
            return Ok(None);
        }
        let pair = |raw| match json::elements(raw).as_deref() {
            Ok([one, other]) => json::parse(one).ok().zip(json::parse(other).ok()),
            _ => None,
        };
        let pairs = self.elements(key)?.into_iter().map(|raw| {
            pair(raw).ok_or_else(|| fault(self.name(key), format!("expected pairs, found {raw}")))
        });
        pairs.collect::<Read<_>>().map(Some)
    }

    fn object(&mut self, key: &str) -> Read<JsonValue> {
        let raw = self.need(key)?;
        json::parse_object(raw).map_err(|error| fault(self.name(key), error.to_string()))
    }

    /// Returns an error if an unknown field is left.
    fn end(self) -> Read<()> {
        match self.fields.first() {
            Some((key, _)) => Err(fault(self.name(key), "is no field of this format")),
            None => Ok(()),
        }
    }
}

fn case(text: &str) -> Read<VectorCase> {
    let mut fields = Fields::new("", text)?;
    let kinds =
        [("tools", CaseKind::Tools), ("reasoning", CaseKind::Reasoning), ("both", CaseKind::Both)];
    let policies = [
        ("verbatim", CaseWhitespace::Verbatim),
        ("framing", CaseWhitespace::Framing),
        ("trim", CaseWhitespace::Trim),
    ];
    let starts = [("reasoning", CaseStart::Reasoning), ("content", CaseStart::Content)];
    let finishes = [("stop", CaseFinish::Stop), ("length", CaseFinish::Length)];
    let id = fields.need_string("id")?;
    if id.is_empty() {
        return Err(fault("id", "is empty"));
    }
    let tokens = tokens(&mut fields)?;
    let case = VectorCase {
        id,
        kind: fields.one_of("kind", &kinds)?.ok_or_else(|| fault("kind", "is missing"))?,
        family: fields.need_string("family")?,
        whitespace: fields.one_of("whitespace", &policies)?.unwrap_or_default(),
        tools: tools(fields.take("tools"))?,
        start: fields.one_of("start", &starts)?.unwrap_or_default(),
        finish: fields.one_of("finish", &finishes)?.unwrap_or_default(),
        options: options(fields.take("options"))?,
        wire: wire_of(&mut fields, tokens.as_deref())?,
        tokens,
        expect: expect(fields.need("expect")?)?,
        note: fields.string("note")?.unwrap_or_default(),
        policy: fields.string("policy")?.unwrap_or_default(),
        disputed: fields.string("disputed")?.unwrap_or_default(),
    };
    fields.end()?;
    Ok(case)
}

/// Returns the wire: a text, or the pieces of one.
fn wire_of(fields: &mut Fields<'_>, tokens: Option<&CaseTokens>) -> Read<String> {
    match (fields.string("wire")?, tokens) {
        (Some(wire), None) => Ok(wire),
        (None, Some(tokens)) => Ok(tokens.pieces.iter().map(|(text, _)| text.as_str()).collect()),
        (None, None) => Err(fault("wire", "is missing")),
        (Some(_), Some(_)) => Err(fault("wire", "expected `wire` or `pieces`, found both")),
    }
}

/// Returns the tokens of a case that has `pieces`.
fn tokens(fields: &mut Fields<'_>) -> Read<Option<Box<CaseTokens>>> {
    let Some(pieces) = fields.pairs("pieces")? else {
        return match fields.take("marker_tokens").or(fields.take("roles")) {
            Some(_) => Err(fault("pieces", "is missing")),
            None => Ok(None),
        };
    };
    let flags = [json::parse("0"), json::parse("1")].map(|flag| flag.unwrap_or(JsonValue::Null));
    let piece = |(text, marker): (JsonValue, JsonValue)| match (text, marker) {
        (JsonValue::String(text), flag) if flags.contains(&flag) => Ok((text, flag == flags[1])),
        (_, found) => Err(fault("pieces", format!("expected a text and 0 or 1, found {found:?}"))),
    };
    let role = |(role, text): (JsonValue, JsonValue)| match (role, text) {
        (JsonValue::String(role), JsonValue::String(text)) => Ok((role, text)),
        (_, found) => Err(fault("roles", format!("expected a role and a text, found {found:?}"))),
    };
    let roles = fields.pairs("roles")?;
    let marker_tokens = fields.elements("marker_tokens")?.into_iter();
    let marker_tokens = marker_tokens.map(|raw| match json::parse(raw) {
        Ok(JsonValue::String(text)) => Ok(text),
        _ => Err(fault("marker_tokens", format!("expected strings, found {raw}"))),
    });
    Ok(Some(Box::new(CaseTokens {
        pieces: pieces.into_iter().map(piece).collect::<Read<_>>()?,
        marker_tokens: marker_tokens.collect::<Read<_>>()?,
        roles: roles.map(|roles| roles.into_iter().map(role).collect()).transpose()?,
    })))
}

fn tools(raw: Option<&str>) -> Read<Option<String>> {
    let Some(raw) = raw else { return Ok(None) };
    let tools = json::elements(raw)
        .map_err(|error| fault("tools", format!("expected an array: {error}")))?;
    for (number, tool) in tools.iter().enumerate() {
        json::parse_object(tool)
            .map_err(|error| fault(format!("tools[{number}]"), error.to_string()))?;
    }
    Ok(Some(raw.to_owned()))
}

fn options(raw: Option<&str>) -> Read<BTreeMap<String, JsonValue>> {
    let Some(raw) = raw else { return Ok(BTreeMap::new()) };
    let fields = Fields::new("options", raw)?;
    if let Some((key, _)) = fields.fields.iter().find(|(key, _)| !OPTIONS.contains(&key.as_str())) {
        return Err(fault(fields.name(key), format!("is no option; known are {OPTIONS:?}")));
    }
    match json::parse_object(raw) {
        Ok(JsonValue::Object(options)) => Ok(options),
        _ => Err(fault("options", "expected an object")),
    }
}

fn expect(raw: &str) -> Read<Expect> {
    let mut fields = Fields::new("expect", raw)?;
    let content = fields.string("content")?.unwrap_or_default();
    let reasoning = fields.string("reasoning")?.unwrap_or_default();
    let mut calls = Vec::new();
    for (number, call) in fields.elements("calls")?.into_iter().enumerate() {
        let mut fields = Fields::new(format!("expect.calls[{number}]"), call)?;
        calls.push(ExpectedCall {
            name: fields.need_string("name")?,
            arguments: fields.object("arguments")?,
            id: fields.string("id")?,
        });
        fields.end()?;
    }
    let incomplete = fields.take("incomplete").map(incomplete).transpose()?;
    fields.end()?;
    Ok(Expect { content, reasoning, calls, incomplete })
}

fn incomplete(raw: &str) -> Read<Incomplete> {
    let mut fields = Fields::new("expect.incomplete", raw)?;
    let name = fields.need_string("name")?;
    let prefix = fields.string("arguments_prefix")?;
    let so_far = fields.take("arguments_so_far");
    let arguments = match (prefix, so_far) {
        (None, None) => Arguments::Any,
        (Some(prefix), None) => Arguments::Prefix(prefix),
        (None, Some(raw)) => Arguments::SoFar(
            json::parse_object(raw)
                .map_err(|error| fault("expect.incomplete.arguments_so_far", error.to_string()))?,
        ),
        (Some(_), Some(_)) => {
            let problem = "expected `arguments_prefix` or `arguments_so_far`, found both";
            return Err(fault("expect.incomplete", problem));
        }
    };
    fields.end()?;
    Ok(Incomplete { name, arguments })
}
