//! Writing of arguments as element trees.
//!
//! ```text
//! {"city": "Oslo", "days": [1]}
//! ]<city>Oslo]</city>]<days>]<item>1]</item>]</days>
//! ```

use alloc::{format, string::String};

use super::{
    CallToWrite,
    call::{Markup, Scope, Writer},
    tags::{Rest, around, tag},
    typed::{self, Reading},
};
use crate::{
    encode::{EncodeErrorKind, error::EncodeFault, input::JsonNode},
    template::{Hole, Part, Template},
    typing::{Path, TypeSet, declared_at},
};

/// The name of an element that is an item of a list.
const ITEM: &str = "item";

/// A writer of a call's elements.
pub(super) struct ElementWriter<'e, 'w> {
    writer: &'e mut Writer<'w>,
    call: &'e CallToWrite<'e>,
    template: &'w Template,
    path: Path,
}

impl<'e, 'w> ElementWriter<'e, 'w> {
    pub(super) fn write(
        writer: &'e mut Writer<'w>,
        call: &'e CallToWrite<'e>,
    ) -> Result<(), EncodeFault> {
        let Some(template) = writer.form.elements.first() else {
            return Err(EncodeFault::new(
                EncodeErrorKind::Grammar,
                "the form has no template of an element",
            ));
        };
        let mut elements = Self { writer, call, template, path: Path::default() };
        for (key, value) in &call.arguments {
            elements.member(key, value).map_err(|fault| fault.for_key(key))?;
        }
        Ok(())
    }

    fn member(&mut self, key: &str, value: &JsonNode<'_>) -> Result<(), EncodeFault> {
        if self.is_markup(key) {
            return Err(EncodeFault::new(EncodeErrorKind::Key, "it cannot be the name of a tag"));
        }
        self.path.member(key);
        let written = self.element(key, value);
        self.path.pop();
        written
    }

    /// Returns whether a key cannot be the name of a tag, or its tag would be one of the call.
    fn is_markup(&self, key: &str) -> bool {
        let head = around(self.template, |hole| *hole == Hole::Key).0.trim_ascii_start();
        let word = key.split_ascii_whitespace().next().unwrap_or("");
        let own = |text: &str| {
            text.match_indices(head).any(|(at, _)| {
                let rest = text[at + head.len()..].strip_prefix(word);
                rest.is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
            })
        };
        let templates = self.writer.form.calls.iter().chain([self.writer.section]);
        let mut parts = templates.flat_map(|template| &template.parts);
        key.is_empty()
            || key.trim_ascii() != key
            || key.starts_with('/')
            || key.contains(|c: char| c.is_control() || c == '<' || c == '>')
            || parts.any(|part| matches!(part, Part::Literal(text) if own(text)))
    }

    /// Writes the element at the end of the path.
    fn element(&mut self, key: &str, node: &JsonNode<'_>) -> Result<(), EncodeFault> {
        let template = self.template;
        let value = |part: &Part| matches!(part, Part::Hole(Hole::Value(_)));
        let at = template.parts.iter().position(value).unwrap_or(template.parts.len());
        let (head, end) = template.parts.split_at(at);
        let scope = Scope { call: self.call, parameter: Some((key, node, template)), all: &[] };
        self.writer.walk(Rest { parts: head, around: None }, &scope)?;
        let begun = self.writer.out.len();
        let tool = self.writer.tools.get(self.call.name);
        let types = tool.and_then(|tool| declared_at(&tool.parameters, self.path.steps()));
        if let Err(fault) = self.inside(node, types) {
            // A value that elements cannot express may be written as JSON, if the schema excludes
            // strings.
            self.writer.out.truncate(begun);
            self.leaf(node, types).map_err(|_| fault)?;
        }
        self.writer.walk(Rest { parts: end.get(1..).unwrap_or(&[]), around: None }, &scope)
    }

    /// Writes the content of an element: inner elements or text.
    fn inside(&mut self, node: &JsonNode<'_>, types: Option<TypeSet>) -> Result<(), EncodeFault> {
        let no = |why| Err(EncodeFault::new(EncodeErrorKind::Value, why));
        // The schema decides whether inner elements are a list. Without a schema, the first one's
        // name does.
        let declared = types.unwrap_or(TypeSet::ALL);
        let either = declared.has(TypeSet::ARRAY) == declared.has(TypeSet::OBJECT);
        let list = |first: &str| if either { first == ITEM } else { declared.has(TypeSet::ARRAY) };
        match node {
            JsonNode::Object(members) if !members.is_empty() => {
                if members.first().is_some_and(|(first, _)| list(first)) {
                    return no("it would be read back as a list");
                }
                if members.iter().zip(members.iter().skip(1)).any(|(one, next)| one.0 == next.0) {
                    return no("repeated members would be read back as a list");
                }
                members.iter().try_for_each(|(key, value)| self.member(key, value))
            }
            JsonNode::Array(elements) if !elements.is_empty() => {
                if !list(ITEM) {
                    return no("it would be read back as an object");
                }
                for (n, element) in elements.iter().enumerate() {
                    self.path.element(n);
                    let written = self.element(ITEM, element);
                    self.path.pop();
                    written?;
                }
                Ok(())
            }
            _ => self.leaf(node, types),
        }
    }

    /// Writes the content of an element that has only text.
    fn leaf(&mut self, node: &JsonNode<'_>, types: Option<TypeSet>) -> Result<(), EncodeFault> {
        let reading = Reading::new(self.writer.form, types, None);
        let nothing = types.filter(|types| !types.has(TypeSet::STRING));
        let nothing = nothing.and_then(|types| match (types.has(TypeSet::ARRAY), types) {
            (true, _) => Some("[]"),
            (false, types) => types.has(TypeSet::OBJECT).then_some("{}"),
        });
        let empty = match node {
            JsonNode::Array(elements) if elements.is_empty() => Some("[]"),
            JsonNode::Object(members) if members.is_empty() => Some("{}"),
            _ => None,
        };
        if empty.is_some() && empty == nothing {
            return Ok(());
        }
        let text = typed::text(node, self.writer.family.write, |text| match nothing {
            Some(nothing) if text.trim_ascii().is_empty() => String::from(nothing),
            _ => reading.to_json(text),
        })?;
        let head = around(self.template, |hole| *hole == Hole::Key).0.trim_ascii_start();
        let found = [head, &format!("{}/", tag(head))].map(|tag| text.find(tag));
        if self.writer.markup == Markup::Refused
            && let Some(at) = found.into_iter().flatten().min()
        {
            let why = "it contains the start of a tag";
            return Err(EncodeFault::new(EncodeErrorKind::Value, why).at(at));
        }
        self.writer.out.push_str(&text);
        Ok(())
    }
}
