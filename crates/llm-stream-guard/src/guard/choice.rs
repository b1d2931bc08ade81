//! Tool choice: what the request says about calls, as a grammar.
//!
//! Where calls are required the answer is guided: bare JSON at the lead of the content. Its
//! openers stand before the family's own, so that one cursor reads both; a payload that is not
//! JSON of calls is refuted, and the family's own syntax or text takes its place.

use std::sync::Arc;

use jail_match::{Channel, Edge, Then};
use serde_json::Value;
use toolcall_parsers::{
    Grammar, InReasoning, Tools, UnknownName, Wanted, edges,
    grammar::{
        At, Certainty, Closing, Container, Item, JsonShape, Keys, Opener, Role, Shape, Text,
    },
};

/// What the request says about calls.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum ToolChoice {
    /// The model may call.
    #[default]
    Auto,
    /// No call is emitted. Markup of calls is removed; text that may be a call without markup is
    /// text, unless the tools are declared and it names one.
    None,
    /// The answer is calls: an object or an array of them, or the family's own syntax.
    Required,
    /// The answer is a call of this tool: an object with its arguments, or what
    /// [`ToolChoice::Required`] reads. Calls of other tools are dropped and reported.
    Named(String),
}

impl ToolChoice {
    /// Reads the `tool_choice` of a request: one of the words, or `{"type": "function",
    /// "function": {"name": ..}}`. `None` for what is neither.
    #[must_use]
    pub fn from_json(choice: &Value) -> Option<Self> {
        match choice.as_str() {
            Some("auto") => Some(Self::Auto),
            Some("none") => Some(Self::None),
            // Some servers' word for the same.
            Some("required" | "any") => Some(Self::Required),
            Some(_) => None,
            None => {
                let function = choice.get("function").unwrap_or(choice);
                Some(Self::Named(function.get("name")?.as_str()?.to_owned()))
            }
        }
    }

    /// Which calls may be emitted.
    pub(super) fn wanted(&self) -> Wanted {
        match self {
            Self::Auto | Self::Required => Wanted::Any,
            Self::None => Wanted::None,
            Self::Named(name) => Wanted::Only(name.as_str().into()),
        }
    }
}

/// What becomes of a guided payload that is not calls, or not all of it: an answer under
/// [`ToolChoice::Required`] or [`ToolChoice::Named`] that begins with `{` or `[`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum BadPayload {
    /// Each call is emitted as soon as it is certain; what breaks later is a malformed call. A
    /// payload with no call in it is text.
    #[default]
    BestEffort,
    /// Nothing is emitted before the payload is whole. If one of its calls is broken, all of it is
    /// text. At most [`jail_match::Limits::candidate`] bytes are held.
    RecoverAsText,
    /// Nothing is emitted before the payload is whole. If one of its calls is broken, or the
    /// payload is longer than [`jail_match::Limits::candidate`], it is dropped with all that
    /// follows: see [`super::Guard::rejected`].
    Reject,
}

/// What is read under a choice.
pub(super) struct GuidedGrammar {
    pub(super) grammar: Arc<Grammar>,
    /// How many of its openers, the first ones, are those of a guided payload.
    pub(super) guided: usize,
}

impl GuidedGrammar {
    /// What is read under `choice` of a family that writes `native`.
    ///
    /// # Errors
    /// A named tool is not among those that are declared.
    pub(super) fn new(
        choice: &ToolChoice,
        bad: BadPayload,
        native: Arc<Grammar>,
        tools: &Tools,
    ) -> Result<Self, UnknownName> {
        let openers = match choice {
            ToolChoice::Auto => return Ok(Self { grammar: native, guided: 0 }),
            ToolChoice::None if !tools.is_empty() => {
                return Ok(Self { grammar: native, guided: 0 });
            }
            ToolChoice::None => {
                let mut grammar = Arc::unwrap_or_clone(native);
                grammar.openers.retain(|opener| opener.certainty == Certainty::Marked);
                return Ok(Self { grammar: Arc::new(grammar), guided: 0 });
            }
            ToolChoice::Required => openers(|container| vec![calls(container, keys(&[]))]),
            ToolChoice::Named(name) => {
                if !tools.admits(name) {
                    let names = tools.iter().map(|tool| tool.name.as_str());
                    return Err(UnknownName::new("tool", name, names));
                }
                openers(|container| named(name, tools, container))
            }
        };
        let mut grammar = Arc::unwrap_or_clone(native);
        let mut guided = openers;
        if bad != BadPayload::Reject {
            for opener in &mut guided {
                // The first of two equal openers is the one that is read.
                let same = grammar.openers.iter().find(|own| {
                    (&own.marker, own.role) == (&opener.marker, opener.role)
                        && (own.at == opener.at || matches!(own.at, At::Anywhere | At::LineStart))
                });
                opener.shapes.extend(same.into_iter().flat_map(|own| own.shapes.clone()));
            }
        }
        let count = guided.len();
        guided.append(&mut grammar.openers);
        grammar.openers = guided;
        Ok(Self { grammar: Arc::new(grammar), guided: count })
    }

    /// The edges, with body ids from 0 on. A payload does not begin in reasoning.
    pub(super) fn edges(&self, in_reasoning: InReasoning) -> Vec<Edge> {
        let mut all = edges(&self.grammar, in_reasoning, 0);
        all.retain_mut(|edge| {
            let guided =
                matches!(edge.then, Then::Body(body, _) if usize::from(body) < self.guided);
            let begins = edge.on.has(Channel::CONTENT);
            if guided && begins {
                edge.on = Channel::CONTENT.mask();
            }
            begins || !guided
        });
        all
    }
}

/// The openers of a payload: at the lead, and after a call with or without a separator.
fn openers(shapes: impl Fn(Container) -> Vec<Shape>) -> Vec<Opener> {
    let opener = |marker: &'static str, at, role, container| Opener {
        marker: marker.into(),
        at,
        certainty: Certainty::Unmarked,
        role,
        newlines_before: 0,
        shapes: shapes(container),
    };
    vec![
        opener("{", At::Lead, Role::Part, Container::Object),
        opener("[", At::Lead, Role::Part, Container::Array),
        opener("{", At::AfterCall, Role::Part, Container::Object),
        opener(",", At::AfterCall, Role::Before, Container::Object),
        opener(";", At::AfterCall, Role::Before, Container::Object),
    ]
}

/// A call of the tool `name`: in an object that says so, or its arguments alone.
fn named(name: &str, tools: &Tools, container: Container) -> Vec<Shape> {
    let schema = tools.get(name).map(|tool| &tool.parameters);
    let parameters = schema.and_then(|schema| schema.get("properties")?.as_object());
    // A key that is a parameter of the tool says nothing about a call.
    let parameters: Vec<&str> =
        parameters.into_iter().flat_map(|map| map.keys().map(String::as_str)).collect();
    let keys = Keys { beside: Some(unless(&["type"], &parameters)), ..keys(&parameters) };
    let mut shapes = Vec::new();
    if !keys.name.is_empty() && !keys.arguments.is_empty() {
        shapes.push(calls(container, keys));
    }
    if container == Container::Object {
        let item = Item::Arguments(name.to_owned().into());
        shapes.push(shape(container, item));
    }
    shapes
}

fn calls(container: Container, keys: Keys) -> Shape {
    shape(container, Item::Keys(keys))
}

fn shape(container: Container, item: Item) -> Shape {
    Shape::Json(JsonShape {
        glue: Vec::new(),
        container,
        item,
        closers: Vec::new(),
        closing: Closing::Optional,
        ignored_names: Vec::new(),
    })
}

/// The keys of a call, in the spellings of the engines that guide, without those `taken`.
fn keys(taken: &[&str]) -> Keys {
    Keys {
        name: unless(&["name"], taken),
        arguments: unless(&["arguments", "parameters"], taken),
        id: unless(&["id"], taken),
        wrap: unless(&["function", "tool_call"], taken),
        list: unless(&["tool_calls"], taken),
        answer: vec![],
        beside: None,
    }
}

fn unless(keys: &[&'static str], taken: &[&str]) -> Vec<Text> {
    keys.iter().filter(|key| !taken.contains(key)).map(|key| Text::from(*key)).collect()
}
