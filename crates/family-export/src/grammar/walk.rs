//! The walk over a family's templates: calls of one tool, as the encoder writes them.
//!
//! ```text
//! template: <function={name}>\n{parameters}</function>
//! grammar:  "<function=f>\n" "<parameter=a>\n" text-up-to("\n</parameter>") "\n" "</function>"
//! ```

mod elements;
mod parameters;

use std::{collections::BTreeMap, sync::Arc};

use serde_json::Value;
use toolcall_parsers::{
    Family,
    family::{Form, KeyRole, Keys, Types, Words, WrittenIds},
    template::{Dialect, Hole, Part, Template},
};

use super::{
    class::CharClass,
    dfa::until,
    ir::Node,
    shape::{Object, Shape},
    values::{Style, Syntax, Values, is_identifier},
};
use crate::ExportError;
use crate::limits::{MAX_HEAD_BYTES, MAX_ID_CHARS};

/// A tool with the shape of its arguments.
#[derive(Debug, Clone)]
pub(super) struct CallOf {
    pub(super) name: String,
    pub(super) arguments: Object,
    /// The schemas that the arguments refer to.
    pub(super) definitions: Vec<Shape>,
}

/// A walk over the templates of a form.
pub(super) struct Walk<'w, 'n> {
    pub(super) family: &'w Family,
    pub(super) form: &'w Form,
    pub(super) values: Values<'n>,
    /// The family's markup, which free text must not contain.
    pub(super) not: Arc<[String]>,
    /// Texts that begin a call in Python. A parser takes such a text after `)` in a string for the
    /// next call, because the string's closing quote may be missing.
    pub(super) heads: Arc<[String]>,
    /// The number of blanks at the start of the current line.
    pub(super) margin: usize,
    /// Whether the text so far ends with an opening parenthesis.
    pub(super) is_applied: bool,
    /// The rules of elements, by tool and definition.
    pub(super) elements: BTreeMap<(usize, usize), usize>,
}

/// Returns the texts that begin calls of these tools, or only the parenthesis if there are too
/// many.
pub(super) fn heads(tools: &[CallOf]) -> Arc<[String]> {
    let length: usize = tools.iter().map(|tool| tool.name.len()).sum();
    if length > MAX_HEAD_BYTES {
        return Arc::from(["(".to_owned()]);
    }
    let ways = [')', ',', ' '];
    tools.iter().flat_map(|tool| ways.map(|before| format!("{before}{}(", tool.name))).collect()
}

/// The parts of a template from one on, without the first bytes of the first literal.
pub(super) struct Cursor<'t> {
    parts: &'t [Part],
    skipped: usize,
}

impl<'t> Cursor<'t> {
    pub(super) fn new(parts: &'t [Part]) -> Self {
        Self { parts, skipped: 0 }
    }

    fn next(&mut self) -> Option<&'t Part> {
        let (part, rest) = self.parts.split_first()?;
        self.parts = rest;
        Some(part)
    }

    /// Takes the white space and the tag that follow a value.
    pub(super) fn end_of_value(&mut self) -> &'t str {
        let Some(Part::Literal(text)) = self.parts.first() else { return "" };
        let blanks = text.len().saturating_sub(text.trim_ascii_start().len());
        let tag = text.get(blanks..).unwrap_or_default();
        let space = tag.find(|c: char| c.is_ascii_whitespace());
        let seam = tag.find("><").map(|at| at.saturating_add(1));
        let length = [space, seam].into_iter().flatten().min().unwrap_or(tag.len());
        self.skipped = blanks.saturating_add(length);
        text.get(..self.skipped).unwrap_or_default()
    }
}

impl Walk<'_, '_> {
    /// Returns a call of the tool in the first template that can express it. If that template
    /// encloses values in tags, templates with JSON are added for values that tags cannot enclose.
    pub(super) fn call(&mut self, call: &CallOf) -> Result<Node, ExportError> {
        let fixed = |template: &&Template| {
            template.holes().find_map(|hole| match hole {
                Hole::NameIs(word) | Hole::NameMeant(word) => Some(*word == call.name),
                _ => None,
            })
        };
        let own = self.form.calls.iter().filter(|template| fixed(template) == Some(true));
        let any = self.form.calls.iter().filter(|template| fixed(template).is_none());
        let (mut fault, mut ways) = (None, Vec::new());
        let begun = (self.margin, self.is_applied);
        for template in own.chain(any) {
            let is_needed = has_parameters(self.form) && holds_json(template);
            if !ways.is_empty() && !is_needed {
                continue;
            }
            (self.margin, self.is_applied) = begun;
            match self.parts(&template.parts, call) {
                Ok(node) => ways.push(node),
                Err(error) => fault = fault.or(Some(error)),
            }
        }
        match (ways.is_empty(), fault) {
            (false, _) => Ok(Node::choice(ways)),
            (true, Some(fault)) => Err(fault),
            (true, None) => Err(ExportError::new("its form has no template of a call")),
        }
    }

    /// Returns the parts of a call's template.
    pub(super) fn parts(&mut self, parts: &[Part], call: &CallOf) -> Result<Node, ExportError> {
        let mut nodes = Vec::new();
        let mut cursor = Cursor::new(parts);
        while let Some(part) = cursor.next() {
            let skipped = core::mem::take(&mut cursor.skipped);
            nodes.push(match part {
                Part::Literal(text) => self.literal(text.get(skipped..).unwrap_or_default()),
                Part::Hole(hole) => self.hole(hole, &mut cursor, call)?,
                Part::Group(inner) if has_given_id(inner) => {
                    Node::optional(self.parts(inner, call)?)
                }
                Part::Group(inner) if is_of_messages(inner) => Node::default(),
                Part::Group(inner) => self.parts(inner, call)?,
            });
        }
        Ok(Node::seq(nodes))
    }

    /// Returns text of the wire, and records its end.
    pub(super) fn literal(&mut self, text: &str) -> Node {
        if let Some((_, line)) = text.rsplit_once('\n') {
            self.margin = line.bytes().take_while(|&byte| byte == b' ').count();
        }
        if !text.is_empty() {
            self.is_applied = text.ends_with('(');
        }
        Node::Text(text.to_owned())
    }

    fn hole(
        &mut self,
        hole: &Hole,
        cursor: &mut Cursor<'_>,
        call: &CallOf,
    ) -> Result<Node, ExportError> {
        Ok(match hole {
            Hole::Name | Hole::NameIs(_) | Hole::NameDeclared | Hole::Label => {
                Node::Text(call.name.clone())
            }
            Hole::NameMeant(_) => Node::default(),
            Hole::Id(None) => id(),
            Hole::Id(Some(template)) => self.parts(&template.parts, call)?,
            Hole::Index(_) => Node::choice([
                "0".into(),
                Node::seq([
                    Node::Char(CharClass::from_ranges(&[('1', '9')])),
                    Node::Repeat(
                        Box::new(Node::Char(CharClass::from_ranges(&[('0', '9')]))),
                        0,
                        Some(3),
                    ),
                ]),
            ]),
            Hole::Object(dialect) => {
                let style = self.style(*dialect);
                let parts = self.call_object(call, &style)?;
                let margin = Some(self.margin);
                self.values.bracketed_parts(parts, &style, margin)
            }
            Hole::Arguments(dialect) => self.arguments(*dialect, call)?,
            Hole::Raw(key) => self.raw(key, cursor, call)?,
            Hole::Parameters { separator } => self.parameters(call, separator)?,
            Hole::Elements => self.elements(call)?,
            _ => return Err(ExportError::new("the content of a part of its templates is unknown")),
        })
    }

    /// Returns the way in which values of a dialect are written.
    pub(super) fn style(&self, dialect: Dialect) -> Style {
        let write = self.family.write;
        let syntax = match (dialect, self.form.quote.is_empty(), self.form.types) {
            (Dialect::Json, ..) => Syntax::Json,
            (Dialect::Python, ..) => Syntax::Python,
            (Dialect::Literal, true, _) => Syntax::Script,
            (Dialect::Literal, false, Types::Wire) => Syntax::Quoted,
            (Dialect::Literal, false, Types::Schema) => Syntax::AllQuoted,
        };
        let quote = self.form.quote.first().cloned().unwrap_or_default();
        let is_quoted = matches!(syntax, Syntax::Quoted | Syntax::AllQuoted);
        Style {
            syntax,
            spacing: write.json,
            escapes: write.escapes,
            quote,
            not: if is_quoted { self.not.clone() } else { Arc::from([]) },
            python_words: write.words != Words::Json,
        }
    }

    /// Returns the members of a call object.
    fn call_object(
        &mut self,
        call: &CallOf,
        style: &Style,
    ) -> Result<Vec<(Node, bool)>, ExportError> {
        let margin = Some(self.margin.saturating_add(4));
        let arguments = Shape::Object(call.arguments.clone());
        let arguments = self.values.value(&arguments, style, margin);
        let Keys::Named(keys) = &self.form.keys else {
            return Ok(vec![(style.member(&call.name, arguments), true)]);
        };
        let key = |keys: &[String]| {
            let key = keys.first().cloned();
            key.ok_or_else(|| ExportError::new("its call objects lack a key"))
        };
        let mut members = Vec::new();
        for role in keys.order {
            members.push(match role {
                KeyRole::Name => {
                    let name = style.constant(&Value::from(call.name.as_str()));
                    (style.member(&key(&keys.name)?, name), true)
                }
                KeyRole::Arguments => {
                    (style.member(&key(&keys.arguments)?, arguments.clone()), true)
                }
                KeyRole::Id if self.family.write.ids == WrittenIds::Counted => {
                    let number = Node::Repeat(
                        Box::new(Node::Char(CharClass::from_ranges(&[('0', '9')]))),
                        1,
                        Some(4),
                    );
                    let number = Node::seq(["\"".into(), number, "\"".into()]);
                    (style.member(&key(&keys.id)?, number), true)
                }
                KeyRole::Id => continue,
            });
        }
        Ok(members)
    }

    fn arguments(&mut self, dialect: Dialect, call: &CallOf) -> Result<Node, ExportError> {
        let style = self.style(dialect);
        let margin = Some(self.margin);
        if self.is_applied && dialect == Dialect::Python {
            let odd = call.arguments.members.iter().find(|member| !is_identifier(&member.key));
            if let Some(member) = odd {
                let why = format!("`{}` is not the name of a keyword", member.key);
                return Err(ExportError::new(why));
            }
            self.values.notes.refused("strings that contain the beginning of a call");
            let style = Style { not: self.heads.clone(), ..style };
            return Ok(self.values.keywords(&call.arguments, &style));
        }
        let arguments = Shape::Object(call.arguments.clone());
        let object = self.values.value(&arguments, &style, margin);
        // In a script, the parentheses of a call without arguments are empty.
        let is_required = call.arguments.members.iter().any(|member| member.is_required);
        let nothing = self.is_applied && style.syntax == Syntax::Script && !is_required;
        Ok(if nothing { Node::choice([object, Node::default()]) } else { object })
    }

    /// Returns the text of a single argument, up to the next tag or the end of the message.
    fn raw(
        &mut self,
        key: &str,
        cursor: &mut Cursor<'_>,
        call: &CallOf,
    ) -> Result<Node, ExportError> {
        let fits = match &call.arguments.members[..] {
            [only] => only.key == key && matches!(only.shape, Shape::String(0, None) | Shape::Any),
            _ => false,
        };
        if !fits {
            return Err(ExportError::new("its syntax is for one argument, a string"));
        }
        let end = cursor.end_of_value();
        Ok(until(&self.not, end))
    }
}

/// Returns whether the first template of a form's calls encloses values in tags.
pub(super) fn has_parameters(form: &Form) -> bool {
    let mut first = form.calls.iter().take(1).flat_map(Template::holes);
    first.any(|hole| matches!(hole, Hole::Parameters { .. }))
}

/// Returns whether a template of a call has the arguments as JSON.
pub(super) fn holds_json(template: &Template) -> bool {
    let is =
        |hole: &Hole| matches!(hole, Hole::Object(Dialect::Json) | Hole::Arguments(Dialect::Json));
    template.holes().any(is)
}

/// Returns a node for the id of a call, as models write it.
fn id() -> Node {
    let letters = [('A', 'Z'), ('a', 'z'), ('0', '9'), ('_', '_'), ('-', '-')];
    Node::Repeat(Box::new(Node::Char(CharClass::from_ranges(&letters))), 1, Some(MAX_ID_CHARS))
}

/// Returns whether a group contains an id, which not every call has.
fn has_given_id(parts: &[Part]) -> bool {
    parts.iter().any(|part| matches!(part, Part::Hole(Hole::Id(None))))
}

/// Returns whether a group belongs to a message's header, which the encoder does not write.
fn is_of_messages(parts: &[Part]) -> bool {
    let of_header = |part: &Part| {
        matches!(part, Part::Hole(Hole::Channel | Hole::Recipient | Hole::Note | Hole::Text))
    };
    parts.iter().any(of_header)
}
