//! Arguments as elements, whose template repeats and nests.

use toolcall_parsers::template::{Hole, Part};

use super::{CallOf, Cursor, Walk};
use crate::{
    ExportError,
    grammar::{
        ir::Node,
        shape::{Object, Shape},
        text::{Between, Marked},
    },
};

/// The name of the element for an item of a list.
const ITEM: &str = "item";

impl Walk<'_, '_> {
    pub(super) fn elements(&mut self, call: &CallOf) -> Result<Node, ExportError> {
        if call.arguments.rest.is_some() {
            return Err(ExportError::new(
                "an element ends with its own name, so that no grammar expresses undeclared ones",
            ));
        }
        self.members(&call.arguments)
    }

    fn members(&mut self, object: &Object) -> Result<Node, ExportError> {
        let mut nodes = Vec::new();
        for member in &object.members {
            let element = self.element(&member.key, &member.shape)?;
            nodes.push(if member.is_required { element } else { Node::optional(element) });
        }
        Ok(Node::seq(nodes))
    }

    fn element(&mut self, key: &str, shape: &Shape) -> Result<Node, ExportError> {
        let Some(template) = self.form.elements.first() else {
            return Err(ExportError::new("its form has no template of an element"));
        };
        let mut nodes = Vec::new();
        let mut cursor = Cursor::new(&template.parts);
        while let Some(part) = cursor.next() {
            let skipped = core::mem::take(&mut cursor.skipped);
            nodes.push(match part {
                Part::Literal(text) => self.literal(text.get(skipped..).unwrap_or_default()),
                Part::Hole(Hole::Key) => Node::Text(key.to_owned()),
                Part::Hole(Hole::Value(_)) => {
                    let end = cursor.end_of_value();
                    self.inside(shape, end)?
                }
                _ => return Err(ExportError::new("its elements have other parts than values")),
            });
        }
        Ok(Node::seq(nodes))
    }

    /// Returns the content of an element, and the text that ends it. A definition becomes a rule,
    /// because it may refer to itself.
    fn inside(&mut self, shape: &Shape, end: &str) -> Result<Node, ExportError> {
        let Shape::Ref(number) = shape else { return self.inside_of(shape, end) };
        let key = (self.values.tool, *number);
        if let Some(&rule) = self.elements.get(&key) {
            return Ok(Node::Rule(rule));
        }
        let rule = self.values.reserve("element");
        self.elements.insert(key, rule);
        let inside = self.inside_of(shape, end)?;
        self.values.fill(rule, inside);
        Ok(Node::Rule(rule))
    }

    fn inside_of(&mut self, shape: &Shape, end: &str) -> Result<Node, ExportError> {
        let leaves = self.values.leaves(shape);
        let containers = leaves.iter().filter(|it| is_container(it)).count();
        let has_text = leaves.iter().any(|it| matches!(it, Shape::Any | Shape::String(..)));
        let (mut ways, mut texts) = (Vec::new(), Vec::new());
        for leaf in leaves {
            let is_alone = containers == 1 && !has_text;
            match &leaf {
                Shape::Object(object) if is_alone && object.rest.is_none() => {
                    ways.push(self.members(object)?.then(end.into()));
                }
                Shape::Array(items, least, most) if is_alone => {
                    let item = self.element(ITEM, items)?;
                    let items = Node::Repeat(Box::new(item), *least, *most);
                    ways.push(items.then(end.into()));
                }
                _ => texts.push(leaf),
            }
        }
        if texts.iter().any(is_container) {
            self.values
                .notes
                .refused("elements in lists and objects whose members are not declared");
            if !has_text && texts.iter().all(may_be_empty) {
                ways.push(end.into());
            }
        }
        if !texts.is_empty() {
            let style = self.between_tags();
            let how = Between { style: &style, marked: Marked::No, end, in_cdata: false };
            ways.push(self.values.between(&texts, &how));
        }
        Ok(Node::choice(ways))
    }
}

/// Returns whether an empty list or object satisfies a shape.
fn may_be_empty(shape: &Shape) -> bool {
    match shape {
        Shape::Object(object) => !object.members.iter().any(|member| member.is_required),
        Shape::Array(_, least, _) => *least == 0,
        _ => false,
    }
}

fn is_container(shape: &Shape) -> bool {
    matches!(shape, Shape::Object(_) | Shape::Array(..))
}
