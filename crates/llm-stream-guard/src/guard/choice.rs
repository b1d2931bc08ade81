//! Tool choice: what the request says about calls, as a grammar.
//!
//! Where calls are required the answer is guided: bare JSON at the lead of the content. Its
//! openers stand before the family's own, so that one cursor reads both; a payload that is not
//! JSON of calls is refuted, and the family's own syntax or text takes its place.

use jail_match::{Channel, Edge, Then};
use toolcall_parsers::{
    Grammar, InReasoning, Tools, UnknownName, Wanted, edges,
    guided::{OwnCalls, Payload},
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
    pub(super) grammar: Grammar,
    /// How many of its openers, the first ones, are those of a guided payload.
    pub(super) guided: usize,
    read: OpenersRead,
}

/// Which openers are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OpenersRead {
    All,
    /// Those that no text holds but a model's of the family.
    Markers,
}

impl GuidedGrammar {
    /// What is read under `choice` of a family that writes `native`.
    ///
    /// # Errors
    /// A named tool is not among those that are declared.
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
        // What compiled alone compiles behind a payload.
        let (grammar, guided) = native.guided(payload, tools, own).unwrap_or((native, 0));
        Ok(Self { grammar, guided, read: all })
    }

    /// The edges, with body ids from 0 on. A payload does not begin in reasoning.
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
