//! Calls behind a tag found in a chat template: what stands behind it is known only roughly.

use alloc::{format, string::String, vec, vec::Vec};

use super::{family, json, keys, named::field, named::named, texts, unmarked};
use crate::grammar::{
    Arrangement, At, Closing, Container, FieldKind, Grammar, Item, JsonShape, Keys, Layout,
    NamedShape, Next, Opener, Role, Shape, Text,
};

/// The tag of templates that write a bare object.
const BARE: &str = "{";

/// As [`template_grammar`] has it for templates without a tag.
pub(super) fn ollama_generic() -> Grammar {
    template_grammar(BARE)
}

/// The grammar `ollama_generic` for a tag: the text that the model's chat template writes before
/// its first call, up to a brace. An empty tag is `{`.
///
/// Behind the tag calls may be JSON objects or a list of them, with keys for name and arguments
/// or the name as the key; or any text up to a declared tool's name, any text behind that, and
/// the arguments as a JSON object. Names must be declared ([`crate::Tools`]). Brackets that close
/// behind a call are markup, and so is the closing form of the tag. With the tags `{` and `[`
/// calls are bare, and only before anything visible.
#[must_use]
pub fn template_grammar(tag: &str) -> Grammar {
    let tag = if tag.trim().is_empty() { BARE } else { tag.trim() };
    // Objects whose key is the name come first among the shapes; few templates write them.
    let layout = Layout { shape: 1, ..Layout::default() };
    let grammar = family("ollama_generic", "any model whose chat template writes a tag first");
    let grammar = Grammar { layouts: vec![layout.clone()], ..grammar };
    match tag {
        "{" => {
            let openers = [At::Lead, At::AfterCall].map(|at| unmarked("{", at, values(vec![])));
            return Grammar { openers: openers.to_vec(), ..grammar };
        }
        "[" => {
            let layouts = vec![Layout { calls: Arrangement::Together, ..layout }];
            let openers = vec![unmarked("[", At::Lead, values(vec![]))];
            return Grammar { openers, layouts, ..grammar };
        }
        _ => {}
    }
    let closers: Vec<Text> = closing(tag).into_iter().collect();
    let loose = NamedShape {
        header: vec![field(FieldKind::Declared, [("{", Next::ArgumentsHere)])],
        ..named("")
    };
    let mut shapes = values(closers.clone());
    shapes.push(Shape::Named(loose));
    let opener = Opener {
        marker: String::from(tag).into(),
        role: Role::Before,
        ..unmarked(BARE, At::Anywhere, shapes)
    };
    let mut orphans = texts([")", "]", "}"]);
    orphans.extend(closers);
    Grammar { openers: vec![opener], orphans, ..grammar }
}

/// Call objects: first those whose key is the name, which their first key decides.
fn values(closers: Vec<Text>) -> Vec<Shape> {
    let keys = Keys { wrap: texts(["function"]), list: texts(["tool_calls"]), ..keys() };
    [Item::NameIsKey, Item::Keys(keys)]
        .map(|item| {
            let closing = Closing::Optional;
            let calls = json(Container::ObjectOrArray, closers.clone());
            Shape::Json(JsonShape { item, closing, ..calls })
        })
        .to_vec()
}

/// `</x>` for `<x>`, `[/x]` for `[x]`.
fn closing(tag: &str) -> Option<Text> {
    let (open, close) = [("<", ">"), ("[", "]")]
        .into_iter()
        .find(|(open, close)| tag.len() > 2 && tag.starts_with(open) && tag.ends_with(close))?;
    let name = &tag[1..tag.len() - 1];
    name.chars()
        .all(|c| c.is_alphanumeric() || c == '_')
        .then(|| format!("{open}/{name}{close}").into())
}
