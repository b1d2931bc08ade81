//! Tool choice: the request's rules about calls, as a grammar.
//!
//! If calls are required, the answer may be a guided payload: bare JSON at the start of the
//! content. The table has the openers of guided JSON before those of the family, so that one cursor
//! reads both. A payload that is not JSON of calls is read as the family's own syntax or as text.

use jail_match::{Channel, Edge, Then};
use toolcall_parsers::{
    Grammar, InReasoning, Tools, UnknownName, Wanted, edges,
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
}

/// Policy for a guided payload that is not, or not entirely, made of calls: an answer under
/// [`ToolChoice::Required`] or [`ToolChoice::Named`] that begins with `{` or `[`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum BadPayload {
    /// Emits each call as soon as it is certain. A call that breaks later is malformed. A payload
    /// without a call is text.
    #[default]
    BestEffort,
    /// Emits nothing before the payload is whole. If one of its calls is broken, the whole payload
    /// is text. At most [`jail_match::Limits::candidate`] bytes are held.
    RecoverAsText,
    /// Emits nothing before the payload is whole. If one of its calls is broken, or the payload is
    /// longer than [`jail_match::Limits::candidate`], it is dropped with all text after it: see
    /// [`super::Guard::rejected`].
    Reject,
}

/// The grammar under a tool choice.
pub(super) struct GuidedGrammar {
    pub(super) grammar: Grammar,
    /// Number of openers, at the start of the list, that begin a guided payload.
    pub(super) guided: usize,
    read: OpenersRead,
}

/// Which openers are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OpenersRead {
    All,
    /// Only openers that are markers, which ordinary text does not contain.
    Markers,
}

impl GuidedGrammar {
    /// Compiles the grammar under `choice` for a family that writes `native`.
    ///
    /// # Errors
    /// Returns an error if a named tool is not declared.
    pub(super) fn new(
        choice: &ToolChoice,
        bad: BadPayload,
        native: Grammar,
        tools: &Tools,
    ) -> Result<Self, UnknownName> {
        let all = OpenersRead::All;
        let payload = match choice {
            ToolChoice::Auto => return Ok(Self { grammar: native, guided: 0, read: all }),
            // Text that may be a call without markup is text, unless it names a declared tool.
            ToolChoice::None => {
                let read = if tools.is_empty() { OpenersRead::Markers } else { all };
                return Ok(Self { grammar: native, guided: 0, read });
            }
            ToolChoice::Required => Payload::Calls,
            ToolChoice::Named(name) => {
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
        let (grammar, guided) = native.guided(payload, tools, own).unwrap_or((native, 0));
        Ok(Self { grammar, guided, read: all })
    }

    /// Returns the edges, with body ids from 0. A payload does not begin in reasoning.
    pub(super) fn edges(&self, in_reasoning: InReasoning) -> Vec<Edge> {
        let mut all = edges(&self.grammar, in_reasoning, 0);
        let marked: Vec<bool> = self.grammar.are_marked().collect();
        all.retain_mut(|edge| {
            let Then::Body(body, _) = edge.then else { return true };
            let body = usize::from(body);
            let is_marked = marked.get(body).copied().unwrap_or(true);
            if self.read == OpenersRead::Markers && !is_marked {
                return false;
            }
            let guided = body < self.guided;
            let begins = edge.on.has(Channel::CONTENT);
            if guided && begins {
                edge.on = Channel::CONTENT.mask();
            }
            begins || !guided
        });
        all
    }
}
