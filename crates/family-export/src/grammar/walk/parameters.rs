//! Arguments as tagged values, with a template for each parameter.

use std::sync::Arc;

use toolcall_parsers::{
    family::Words,
    template::{Dialect, Hole, Part, Template},
};

use super::{CallOf, Cursor, Walk};
use crate::{
    ExportError,
    grammar::{
        class::CharClass,
        ir::Node,
        members::{list, repeated, share},
        shape::Shape,
        text::{Between, CDATA, CDATA_END, Kind, Marked},
        values::{Style, Syntax},
    },
    limits::MAX_KEY_CHARS,
};

/// A parameter: its name, or none if any name is allowed, and its kind if the wire states it.
struct Parameter<'p> {
    key: Option<&'p str>,
    kind: Option<Kind>,
    leaves: &'p [Shape],
}

impl Walk<'_, '_> {
    pub(super) fn parameters(
        &mut self,
        call: &CallOf,
        separator: &str,
    ) -> Result<Node, ExportError> {
        let separator = Node::Text(separator.to_owned());
        let separator = if separator.is_empty() { Node::default() } else { separator };
        if let Some(rest) = &call.arguments.rest {
            let parameter = self.parameter(None, rest)?;
            let parameter = share(parameter, &mut self.values.rules);
            return Ok(repeated(parameter, &separator, (0, None)));
        }
        let mut parts = Vec::new();
        for member in &call.arguments.members {
            let parameter = self.parameter(Some(&member.key), &member.shape)?;
            parts.push((parameter, member.is_required));
        }
        Ok(list(parts, &separator, &mut self.values.rules))
    }

    /// Returns a parameter in each template of the form.
    fn parameter(&mut self, key: Option<&str>, shape: &Shape) -> Result<Node, ExportError> {
        let templates = &self.form.parameters;
        let mut ways = Vec::new();
        for template in templates {
            let has = |wanted: &Hole| template.holes().any(|hole| hole == wanted);
            if has(&Hole::Type) || has(&Hole::StringFlag) {
                let kinds = self.values.kinds(shape);
                let groups = if has(&Hole::Type) { kinds } else { by_flag(kinds) };
                for (kind, leaves) in groups {
                    let parameter = Parameter { key, kind: Some(kind), leaves: &leaves };
                    ways.push(self.written(template, &parameter)?);
                }
                continue;
            }
            let leaves = self.values.leaves(shape);
            ways.push(self.written(template, &Parameter { key, kind: None, leaves: &leaves })?);
        }
        match ways.is_empty() {
            true => Err(ExportError::new("its form has no template of a parameter")),
            false => Ok(Node::choice(ways)),
        }
    }

    fn written(
        &mut self,
        template: &Template,
        parameter: &Parameter<'_>,
    ) -> Result<Node, ExportError> {
        let mut style = self.between_tags();
        let (mut nodes, mut before) = (Vec::new(), "");
        let keyed = match parameter.key {
            Some(key) => template.with_word(&Hole::Key, key),
            None if template.holes().filter(|hole| **hole == Hole::Key).count() > 1 => {
                return Err(ExportError::new(
                    "a parameter ends with its own name, so that no grammar expresses undeclared ones",
                ));
            }
            None => template.clone(),
        };
        let mut cursor = Cursor::new(&keyed.parts);
        while let Some(part) = cursor.next() {
            let skipped = core::mem::take(&mut cursor.skipped);
            nodes.push(match part {
                Part::Literal(text) => {
                    before = text.get(skipped..).unwrap_or_default();
                    self.literal(before)
                }
                Part::Hole(Hole::Key) => any_key(),
                Part::Hole(Hole::Type) => {
                    Node::Text(parameter.kind.map_or("", Kind::name).to_owned())
                }
                Part::Hole(Hole::StringFlag) => {
                    let is = parameter.kind == Some(Kind::String);
                    Node::Text(is.to_string())
                }
                Part::Hole(Hole::Value(_)) => {
                    let marked = match parameter.kind {
                        None => Marked::No,
                        Some(Kind::String) => Marked::String,
                        Some(_) => Marked::Other,
                    };
                    let end = cursor.end_of_value();
                    let in_cdata = before.ends_with(CDATA);
                    if in_cdata {
                        style.not = Arc::from([&style.not[..], &[CDATA_END.to_owned()]].concat());
                    }
                    let how = Between { style: &style, marked, end, in_cdata };
                    self.values.between(parameter.leaves, &how)
                }
                _ => return Err(ExportError::new("its parameters have other parts than values")),
            });
        }
        Ok(Node::seq(nodes))
    }

    /// Returns the way in which values between tags are written: as text without tags of the
    /// family.
    pub(super) fn between_tags(&self) -> Style {
        let words = self.family.write.words;
        let mut style = self.style(Dialect::Json);
        if words == Words::Repr {
            style.syntax = Syntax::Python;
        }
        let has_cdata = self.form.parameters.iter().any(|template| {
            let cdata = |part: &Part| matches!(part, Part::Literal(text) if text.contains(CDATA));
            template.parts.iter().any(cdata)
        });
        style.not = self.not.clone();
        if has_cdata {
            style.not = Arc::from([&self.not[..], &[CDATA.to_owned()]].concat());
        }
        style.python_words = words != Words::Json;
        style
    }
}

/// Returns the kinds in two groups: strings and others.
fn by_flag(kinds: Vec<(Kind, Vec<Shape>)>) -> Vec<(Kind, Vec<Shape>)> {
    let (strings, others): (Vec<_>, Vec<_>) =
        kinds.into_iter().partition(|(kind, _)| *kind == Kind::String);
    let mut groups = strings;
    if let Some(&(first, _)) = others.first() {
        groups.push((first, others.into_iter().flat_map(|(_, leaves)| leaves).collect()));
    }
    groups
}

/// Returns a name of a parameter that no schema declares.
fn any_key() -> Node {
    let first = Node::Char(CharClass::from_ranges(&[('a', 'z'), ('A', 'Z'), ('_', '_')]));
    let rest = CharClass::from_ranges(&[('a', 'z'), ('A', 'Z'), ('0', '9'), ('_', '_')]);
    first.then(Node::Repeat(Box::new(Node::Char(rest)), 0, Some(MAX_KEY_CHARS)))
}
