//! Arguments as elements: a template repeated and nested.

use alloc::{format, string::String};

use super::{
    Call,
    call::{Scope, Writer},
    tags::{Rest, around, tag},
    typed::{self, Reading},
};
use crate::{
    encode::{
        EncodeErrorKind,
        error::Fault,
        value::{Members, Node},
    },
    template::{Hole, Part, Template},
    typing::{Path, Types, declared_at},
};

/// The element that is an item of a list.
const ITEM: &str = "item";

impl Writer<'_> {
    pub(super) fn elements(&mut self, call: &Call<'_>) -> Result<(), Fault> {
        let mut path = Path::default();
        for (key, value) in &call.arguments {
            self.member(call, &mut path, key, value).map_err(|fault| fault.of(key))?;
        }
        Ok(())
    }

    fn member(
        &mut self,
        call: &Call<'_>,
        path: &mut Path,
        key: &str,
        value: &Node<'_>,
    ) -> Result<(), Fault> {
        if self.is_markup(key) {
            return Err(Fault::new(EncodeErrorKind::Key, "a tag cannot be this"));
        }
        path.member(key);
        let written = self.element(call, path, key, value);
        path.pop();
        written
    }

    /// Whether a key is no tag, or one of the call's own.
    fn is_markup(&self, key: &str) -> bool {
        let odd = key.is_empty() || key.trim_ascii() != key || key.starts_with('/');
        let word = key.split_ascii_whitespace().next().unwrap_or("");
        let own = |template: &Template, head: &str| {
            template.parts.iter().any(|part| match part {
                Part::Literal(text) => text.match_indices(head).any(|(at, _)| {
                    let rest = text[at + head.len()..].strip_prefix(word);
                    rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric()))
                }),
                _ => false,
            })
        };
        odd || key.contains(|c: char| c.is_control() || c == '<' || c == '>')
            || self.form.elements.iter().any(|element| {
                let (head, _) = around(element, |hole| *hole == Hole::Key);
                own(self.section, head) || self.form.calls.iter().any(|call| own(call, head))
            })
    }

    /// An element, at the end of the path.
    fn element(
        &mut self,
        call: &Call<'_>,
        path: &mut Path,
        key: &str,
        node: &Node<'_>,
    ) -> Result<(), Fault> {
        let Some(template) = self.form.elements.first() else {
            return Err(Fault::new(EncodeErrorKind::Grammar, "there is no template of an element"));
        };
        let value = |part: &Part| matches!(part, Part::Hole(Hole::Value(_)));
        let at = template.parts.iter().position(value).unwrap_or(template.parts.len());
        let (head, end) = template.parts.split_at(at);
        let scope = Scope { call, parameter: Some((key, node, template)), all: &[] };
        self.walk(Rest { parts: head, around: None }, &scope)?;
        let begun = self.out.len();
        let types = self.tools.get(call.name);
        let types = types.and_then(|tool| declared_at(&tool.parameters, path.steps()));
        let nested = match node {
            Node::Object(members) if !members.is_empty() => self.object(call, path, members, types),
            Node::Array(elements) if !elements.is_empty() => {
                self.array(call, path, elements, types)
            }
            _ => self.leaf(node, types, template),
        };
        if let Err(fault) = nested {
            // What elements cannot hold may still be written as JSON, where the schema says that
            // the text is no string.
            self.out.truncate(begun);
            self.leaf(node, types, template).map_err(|_| fault)?;
        }
        self.walk(Rest { parts: end.get(1..).unwrap_or(&[]), around: None }, &scope)
    }

    fn object(
        &mut self,
        call: &Call<'_>,
        path: &mut Path,
        members: &Members<'_>,
        types: Option<Types>,
    ) -> Result<(), Fault> {
        let first = members.first().map_or("", |(key, _)| key);
        reads_as_list(first, types, "it would be read back as a list", false)?;
        for (i, (key, value)) in members.iter().enumerate() {
            if i > 0 && members[i - 1].0 == *key {
                let why = "repeated members would be read back as a list";
                return Err(Fault::new(EncodeErrorKind::Value, why));
            }
            self.member(call, path, key, value)?;
        }
        Ok(())
    }

    fn array(
        &mut self,
        call: &Call<'_>,
        path: &mut Path,
        elements: &[Node<'_>],
        types: Option<Types>,
    ) -> Result<(), Fault> {
        reads_as_list(ITEM, types, "it would be read back as an object", true)?;
        for (i, element) in elements.iter().enumerate() {
            path.element(i);
            let written = self.element(call, path, ITEM, element);
            path.pop();
            written?;
        }
        Ok(())
    }

    /// An element with text alone.
    fn leaf(
        &mut self,
        node: &Node<'_>,
        types: Option<Types>,
        template: &Template,
    ) -> Result<(), Fault> {
        let reading = Reading::of(self.form, types, None);
        let empty = match node {
            // Nothing in it is nothing to write.
            Node::Array(elements) if elements.is_empty() => Some("[]"),
            Node::Object(members) if members.is_empty() => Some("{}"),
            _ => None,
        };
        if empty.is_some_and(|empty| empty_reads(types) == Some(empty)) {
            return Ok(());
        }
        let text = typed::text(node, self.family.write, |text| {
            let blank = text.trim_ascii().is_empty();
            let empty = empty_reads(types).filter(|_| blank);
            empty.map_or_else(|| reading.read(text), String::from)
        })?;
        let (head, _) = around(template, |hole| *hole == Hole::Key);
        let closes = format!("{}/", tag(head));
        let found = [head, &closes].into_iter().filter(|tag| !tag.is_empty());
        if let Some(at) = found.filter_map(|tag| text.find(tag)).min() {
            let why = "it contains what begins a tag";
            return Err(Fault::new(EncodeErrorKind::Value, why).at(at));
        }
        self.out.push_str(&text);
        Ok(())
    }
}

/// What an element without text is, if its schema says that it is no string.
fn empty_reads(types: Option<Types>) -> Option<&'static str> {
    let types = types.filter(|types| !types.has(Types::STRING))?;
    match (types.has(Types::ARRAY), types.has(Types::OBJECT)) {
        (true, _) => Some("[]"),
        (false, true) => Some("{}"),
        (false, false) => None,
    }
}

/// Refuses elements that are read back as a list, or as an object, where they are the other: the
/// schema decides, else whether the first is an item.
fn reads_as_list(
    first: &str,
    types: Option<Types>,
    why: &'static str,
    wanted: bool,
) -> Result<(), Fault> {
    let types = types.unwrap_or(Types::ALL);
    let (list, object) = (types.has(Types::ARRAY), types.has(Types::OBJECT));
    let read = if list == object { first == ITEM } else { list };
    if read == wanted { Ok(()) } else { Err(Fault::new(EncodeErrorKind::Value, why)) }
}
