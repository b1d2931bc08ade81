//! Tool choice: the request's rules about calls, as a grammar.
//!
//! If calls are required, the answer may be a guided payload: bare JSON at the start of the
//! content. The table has the openers of guided JSON before those of the family, so that one cursor
//! reads both. A payload that is not JSON of calls is read as the family's own syntax or as text.

use jail_match::{Edge, Then};
use toolcall_parsers::{
    BadPayload, Grammar, InReasoning, Tools, UnknownName, Wanted, edges,
    guided::{OwnCalls, Payload},
};

/// The request's rule about calls.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum ToolChoice {
    /// The model decides whether to call.
    #[default]
    Auto,
    /// No call is emitted. Markup of calls is removed. Text that may be a call without markup stays
    /// text, unless it names a declared tool.
    None,
    /// The answer consists of calls: a JSON object, a JSON array, or the family's own syntax.
    Required,
    /// The answer is a call of this tool: an object with its arguments, or any form that
    /// [`ToolChoice::Required`] accepts. Calls of other tools are dropped and reported.
    Named(String),
}

impl ToolChoice {
    /// Returns the calls that may be emitted.
    pub(super) fn wanted(&self) -> Wanted {
        match self {
            Self::Auto | Self::Required => Wanted::Any,
            Self::None => Wanted::None,
            Self::Named(name) => Wanted::Only(name.as_str().into()),
        }
    }

    /// Returns the grammar under the choice, for a family that writes `native`.
    ///
    /// # Errors
    /// Returns an error if a named tool is not declared.
    pub(super) fn grammar(
        &self,
        bad: BadPayload,
        native: Grammar,
        tools: &Tools,
    ) -> Result<Grammar, UnknownName> {
        let payload = match self {
            Self::Auto | Self::None => return Ok(native),
            Self::Required => Payload::Calls,
            Self::Named(name) => {
                if !tools.admits(name) {
                    let names = tools.iter().map(|tool| tool.name.as_str());
                    return Err(UnknownName::new("tool", name, names));
                }
                Payload::Of(name)
            }
        };
        let own = match bad {
            BadPayload::Reject => OwnCalls::Shadowed,
            _ => OwnCalls::Tried,
        };
        // A grammar that compiles alone also compiles with a payload before it.
        Ok(native.guided(payload, tools, own).unwrap_or(native))
    }

    /// Returns the edges of `grammar` under the choice, with body ids from 0.
    pub(super) fn edges(
        &self,
        grammar: &Grammar,
        tools: &Tools,
        in_reasoning: InReasoning,
    ) -> Vec<Edge> {
        let mut all = edges(grammar, in_reasoning, 0);
        if *self == Self::None && tools.is_empty() {
            // Text that may be a call without markup is text, unless it names a declared tool.
            let marked: Vec<bool> = grammar.are_marked().collect();
            let is_marked = |body| marked.get(usize::from(body)).copied().unwrap_or(true);
            all.retain(|edge| !matches!(edge.then, Then::Body(body, _) if !is_marked(body)));
        }
        all
    }
}
