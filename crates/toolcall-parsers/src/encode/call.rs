//! Filling of a template: literals are written unchanged, holes are filled from a call.

use alloc::{
    borrow::ToOwned,
    string::{String, ToString as _},
    vec,
    vec::Vec,
};
use core::fmt::Write;

use super::{
    CallToWrite, Failed,
    elements::ElementWriter,
    header::{self, HeaderPlace},
    json::Json,
    literal::{CallEnd, Quoted, Script},
    python::{self, Python},
    tags::{Rest, find, tag},
    value,
};
use crate::{
    encode::{
        EncodeErrorKind,
        error::EncodeFault,
        input::{JsonNode, Members},
    },
    family::{Family, Form, KeyRole, Keys, WrittenIds},
    machine::arguments::parameters::spec::ParameterSpec,
    template::{Dialect, Hole, Part, Template},
    tools::Tools,
    typing::Path,
};

/// The writer of the wire text.
pub(super) struct Writer<'w> {
    pub(super) family: &'w Family,
    pub(super) form: &'w Form,
    pub(super) section: &'w Template,
    /// The readers' specifications of the form's parameters.
    pub(super) specs: &'w [&'w ParameterSpec],
    /// The texts that would end a call inside a string.
    pub(super) call_end: CallEnd<'w>,
    pub(super) tools: &'w Tools,
    pub(super) markup: Markup,
    /// The number of call templates that are skipped.
    pub(super) from: usize,
    /// The offset of the block in `out`.
    pub(super) begun: usize,
    /// The index of the call being written.
    pub(super) at: usize,
    pub(super) out: String,
}

/// Policy for the family's markup inside values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Markup {
    /// Markup is written, because the parser may recognise it as data.
    Written,
    /// Markup is refused, with its position in the value.
    Refused,
}

/// The values for the holes of a template.
#[derive(Clone, Copy)]
pub(super) struct Scope<'s> {
    pub(super) call: &'s CallToWrite<'s>,
    /// The calls of a section. Empty inside a call.
    pub(super) all: &'s [CallToWrite<'s>],
    /// A parameter's name and value, and its template.
    pub(super) parameter: Option<(&'s str, &'s JsonNode<'s>, &'s Template)>,
}

impl<'w> Writer<'w> {
    /// Writes a section with its calls.
    pub(super) fn block(&mut self, calls: &[CallToWrite<'_>]) -> Result<(), Failed> {
        let [first, ..] = calls else { return Ok(()) };
        (self.begun, self.at) = (self.out.len(), first.index);
        let scope = Scope { call: first, all: calls, parameter: None };
        let section = self.section;
        self.walk(Rest { parts: &section.parts, around: None }, &scope)
            .map_err(|fault| (self.at, fault))
    }

    /// Writes a call with the first template that can express it. Templates for a fixed name are
    /// tried before templates for any name.
    fn call(&mut self, call: &CallToWrite<'_>, around: &Rest<'_>) -> Result<(), EncodeFault> {
        self.at = call.index;
        let fixed = |template: &Template| {
            template.holes().find_map(|hole| match hole {
                Hole::NameIs(word) | Hole::NameMeant(word) => Some(word == call.name),
                _ => None,
            })
        };
        let form = self.form;
        let own = form.calls.iter().filter(|template| fixed(template) == Some(true));
        let any = form.calls.iter().filter(|template| fixed(template).is_none());
        self.first_of(own.chain(any).skip(self.from), |writer, template| {
            writer.has_places(template, call)?;
            let scope = Scope { call, all: &[], parameter: None };
            writer.walk(Rest { parts: &template.parts, around: Some(around) }, &scope)
        })
    }

    /// Checks that the template has holes for the call's id and arguments.
    fn has_places(&self, template: &Template, call: &CallToWrite<'_>) -> Result<(), EncodeFault> {
        let keeps_id = |hole: &Hole| match (hole, &self.form.keys) {
            (Hole::Id(_), _) => true,
            (Hole::Object(_), Keys::Named(keys)) => !keys.id.is_empty(),
            _ => false,
        };
        let mut all = self.section.holes().chain(template.holes());
        if call.id.is_some() && !all.any(keeps_id) {
            let why = "the family's syntax has no place for ids";
            return Err(EncodeFault::new(EncodeErrorKind::Id, why));
        }
        let mut holds = template.holes();
        let holds = holds.any(Hole::holds_arguments);
        if !holds && !call.arguments.is_empty() {
            let why = "the syntax is for calls without arguments";
            return Err(EncodeFault::new(EncodeErrorKind::Arguments, why));
        }
        Ok(())
    }

    /// Writes with the first template that does not fail. Otherwise returns the first fault.
    pub(super) fn first_of<'t>(
        &mut self,
        templates: impl Iterator<Item = &'t Template>,
        mut write: impl FnMut(&mut Self, &'t Template) -> Result<(), EncodeFault>,
    ) -> Result<(), EncodeFault> {
        let begun = self.out.len();
        let mut first = None;
        for template in templates {
            match write(self, template) {
                Ok(()) => return Ok(()),
                Err(fault) => first = first.or(Some(fault)),
            }
            self.out.truncate(begun);
        }
        let why = "the form has no template for it";
        Err(first.unwrap_or_else(|| EncodeFault::new(EncodeErrorKind::Grammar, why)))
    }

    /// Writes the parts of a template.
    pub(super) fn walk(&mut self, rest: Rest<'_>, scope: &Scope<'_>) -> Result<(), EncodeFault> {
        let mut parts = rest.parts;
        while let Some((part, following)) = parts.split_first() {
            parts = following;
            let rest = Rest { parts, around: rest.around };
            match part {
                Part::Literal(text) => self.out.push_str(text),
                Part::Hole(hole) => self.hole(hole, &rest, scope)?,
                Part::Group(parts) if has_values(parts, scope) => {
                    self.walk(Rest { parts, around: Some(&rest) }, scope)?;
                }
                Part::Group(_) => {}
            }
        }
        Ok(())
    }

    fn hole(&mut self, hole: &Hole, rest: &Rest<'_>, scope: &Scope<'_>) -> Result<(), EncodeFault> {
        let call = scope.call;
        match hole {
            Hole::Calls { separator } => {
                for (i, call) in scope.all.iter().enumerate() {
                    self.out.push_str(if i > 0 { separator } else { "" });
                    self.call(call, rest)?;
                }
            }
            Hole::Call => self.call(call, rest)?,
            Hole::Name | Hole::NameIs(_) | Hole::NameDeclared | Hole::Label => {
                let name = header::name(call, &self.place(rest, &rest.next()))?.into_owned();
                self.out.push_str(&name);
            }
            // The name is not on the wire.
            Hole::NameMeant(_) => {}
            Hole::Id(template) => self.id(template.as_deref(), rest, scope)?,
            Hole::Index(from) => {
                // Writing to a string cannot fail.
                let _ = write!(self.out, "{}", call.index.saturating_add(*from as usize));
            }
            Hole::Object(dialect) => {
                self.dialect(*dialect, call, self.call_object(call)?)?;
            }
            Hole::Arguments(dialect) => {
                self.dialect(*dialect, call, call.arguments.clone())?;
            }
            Hole::Raw(key) => self.raw(key, call, rest)?,
            Hole::Parameters { separator } => self.parameters(call, separator)?,
            Hole::Elements => ElementWriter::write(self, call)?,
            _ => match (hole, scope.parameter) {
                (Hole::Key, Some((key, ..))) => {
                    let key = header::key(key, &self.place(rest, &rest.next()))?.into_owned();
                    self.out.push_str(&key);
                }
                (Hole::KeyMeant(word), Some((key, ..))) if word == key => {}
                (Hole::KeyMeant(_), Some((key, ..))) => {
                    let why = "the template is for another parameter";
                    return Err(EncodeFault::new(EncodeErrorKind::Key, why).for_key(key));
                }
                (Hole::Value(trim), Some(parameter)) => self.value(call, parameter, *trim, rest)?,
                (Hole::Type, Some((_, value, _))) => self.out.push_str(value.kind()),
                (Hole::StringFlag, Some((_, JsonNode::String(_), _))) => self.out.push_str("true"),
                (Hole::StringFlag, Some(_)) => self.out.push_str("false"),
                _ => {
                    let why = "the template has a hole without a value";
                    return Err(EncodeFault::new(EncodeErrorKind::Grammar, why));
                }
            },
        }
        Ok(())
    }

    fn place<'p>(&'p self, rest: &Rest<'_>, next: &'p [&'p str]) -> HeaderPlace<'p> {
        let hole = rest.parts.iter().find_map(|part| match part {
            Part::Hole(hole) => Some(hole),
            _ => None,
        });
        let applied = match hole {
            Some(Hole::Arguments(Dialect::Literal)) => self.form.quote.is_empty(),
            hole => hole == Some(&Hole::Arguments(Dialect::Python)),
        };
        HeaderPlace { before: &self.out, begun: self.begun, next, applied }
    }

    /// Writes the given id. Without one, writes a generated id, because the template requires one.
    fn id(
        &mut self,
        template: Option<&Template>,
        rest: &Rest<'_>,
        scope: &Scope<'_>,
    ) -> Result<(), EncodeFault> {
        let call = scope.call;
        let id = match (call.id, template) {
            (Some(id), Some(template)) if !header::id_fits(&template.parts, id, call.name) => {
                return Err(EncodeFault::new(EncodeErrorKind::Id, "an id must contain the name"));
            }
            (Some(id), _) => id.to_owned(),
            (None, Some(template)) => {
                return self.walk(Rest { parts: &template.parts, around: Some(rest) }, scope);
            }
            (None, None) => header::made_id(call.index),
        };
        header::id(&id, &self.place(rest, &rest.next()))?;
        self.out.push_str(&id);
        Ok(())
    }

    /// Returns the call object of a call.
    fn call_object<'c>(&self, call: &CallToWrite<'c>) -> Result<Members<'c>, EncodeFault> {
        let arguments = JsonNode::Object(call.arguments.clone());
        let Keys::Named(keys) = &self.form.keys else {
            return Ok(vec![(call.name.to_owned(), arguments)]);
        };
        let no_key =
            || EncodeFault::new(EncodeErrorKind::Grammar, "the family has no key for a part of it");
        let mut members = Vec::new();
        for role in keys.order {
            let (keys, value) = match (role, call.id) {
                (KeyRole::Name, _) => (&keys.name, JsonNode::String(call.name.to_owned())),
                (KeyRole::Arguments, _) => (&keys.arguments, arguments.clone()),
                (KeyRole::Id, Some(id)) => (&keys.id, JsonNode::String(id.to_owned())),
                (KeyRole::Id, None) => match self.family.write.ids {
                    WrittenIds::Given => continue,
                    WrittenIds::Counted => (&keys.id, JsonNode::String(call.index.to_string())),
                },
            };
            members.push((keys.first().ok_or_else(no_key)?.clone(), value));
        }
        Ok(members)
    }

    /// Writes an object in a dialect. In parentheses, Python has keyword arguments, and an empty
    /// object of a script is omitted.
    fn dialect(
        &mut self,
        dialect: Dialect,
        call: &CallToWrite<'_>,
        members: Members<'_>,
    ) -> Result<(), EncodeFault> {
        let applied = self.out.ends_with('(');
        let (path, out) = (&mut Path::default(), &mut self.out);
        let (form, write) = (self.form, self.family.write);
        match (dialect, form.quote.first()) {
            (Dialect::Python, _) if applied => return python::keywords(&members, out),
            (Dialect::Literal, None) if applied && members.is_empty() => return Ok(()),
            _ => {}
        }
        let node = &JsonNode::Object(members);
        match (dialect, form.quote.first()) {
            (Dialect::Json, _) => {
                let json = Json::at_end_of(out, write.json).escaping(write.escapes);
                value::write(&json, node, path, out)
            }
            (Dialect::Python, _) => value::write(&Python, node, path, out),
            (Dialect::Literal, None) => value::write(&Script, node, path, out),
            (Dialect::Literal, Some(quote)) => {
                let tool = self.tools.get(call.name);
                let (call_end, markup) = (self.call_end, self.markup);
                value::write(
                    &Quoted { call_end, markup, form, quote, write, tool },
                    node,
                    path,
                    out,
                )
            }
        }
    }

    /// Writes the single argument of a call unchanged.
    fn raw(
        &mut self,
        key: &str,
        call: &CallToWrite<'_>,
        rest: &Rest<'_>,
    ) -> Result<(), EncodeFault> {
        let [(name, JsonNode::String(text))] = &call.arguments[..] else {
            let why = "the syntax is for a single string argument";
            return Err(EncodeFault::new(EncodeErrorKind::Arguments, why));
        };
        if name != key {
            return Err(EncodeFault::new(
                EncodeErrorKind::Key,
                "the syntax is for another argument",
            )
            .for_key(name));
        }
        let between = self.form.between.iter().filter(|between| !between.trim_ascii().is_empty());
        let ends = self.family.end_of_turn.iter().chain(between).map(String::as_str);
        let next = rest.next();
        let ends = ends.chain(next.iter().map(|next| tag(next)));
        if let Some(at) = ends.filter_map(|end| find(text, end)).min() {
            let why = "it contains a text that would end it";
            return Err(EncodeFault::new(EncodeErrorKind::Value, why).for_key(name).at(at));
        }
        self.out.push_str(text);
        Ok(())
    }
}

/// Returns whether all holes of a group have values.
fn has_values(parts: &[Part], scope: &Scope<'_>) -> bool {
    parts.iter().all(|part| match part {
        Part::Hole(Hole::Id(None)) => scope.call.id.is_some(),
        Part::Hole(Hole::Channel | Hole::Recipient | Hole::Note | Hole::Text) => false,
        _ => true,
    })
}
