//! The thought that a model may write before its answer.
//!
//! ```text
//! <think>It rains there.</think>\n\n{"city": "Bergen"}
//! the prompt or the model opens it; the answer follows its end and up to two line ends
//! ```

use std::sync::Arc;

use llm_stream_guard::Profile;
use think_filter::{Format, format};

use super::{
    class::CharClass,
    dfa::{Dfa, State, until},
    ir::Node,
    markup,
};
use crate::ExportError;

/// The characters that begin a JSON object or list.
const BRACKETS: [char; 2] = ['{', '['];

/// White space that a server may write before JSON.
const BLANKS: [char; 4] = [' ', '\t', '\r', '\n'];

/// The way in which a model writes its thought.
pub(super) struct ThoughtGrammar(Format);

impl ThoughtGrammar {
    /// Returns the thought of the models of a profile, or `None` if they write none as text.
    pub(super) fn of(profile: &Profile) -> Result<Option<Self>, ExportError> {
        let format = match (&profile.format, &profile.reasoning) {
            (Some(format), _) => Some(format.clone()),
            (None, Some(name)) => {
                Some(format(name).map_err(|error| ExportError::new(error.to_string()))?)
            }
            (None, None) => None,
        };
        Ok(format.filter(|format| !format.is_passthrough()).map(Self))
    }

    /// Returns the markers, which free text must not contain.
    pub(super) fn markers(&self) -> Vec<String> {
        markup::reasoning(&self.0)
    }

    /// Returns whether the format has no markers besides those around the thought.
    pub(super) fn is_plain(&self) -> bool {
        self.0.answer.is_empty() && self.0.label.is_none()
    }

    /// Returns the rest of a thought that the prompt opened, with its end.
    pub(super) fn rest(&self, not: &[String]) -> Option<Node> {
        self.0.close.first().map(|end| until(not, end).then(line_ends()))
    }

    /// Returns a thought that the model opens itself.
    pub(super) fn own(&self, not: &[String]) -> Option<Node> {
        let (open, close) = self.0.open.first().zip(self.0.close.first())?;
        let opened = || Node::seq([Node::from(&**open), until(not, close), line_ends()]);
        self.is_plain().then(opened)
    }
}

/// Returns the line ends that models write after their reasoning.
fn line_ends() -> Node {
    Node::Repeat(Box::new("\n".into()), 0, Some(2))
}

/// Returns free text that does not begin with a bracket, also after blanks. Such text cannot be
/// confused with JSON.
pub(super) fn without_bracket(text: Node) -> Node {
    match text {
        Node::Dfa(dfa) => Node::Dfa(Arc::new(begun_without_bracket(&dfa))),
        Node::Seq(mut parts) => {
            if let Some(first) = parts.first_mut() {
                *first = without_bracket(std::mem::take(first));
            }
            Node::Seq(parts)
        }
        other => other,
    }
}

/// Returns the automaton with another start, which refuses brackets and repeats at blanks.
fn begun_without_bracket(dfa: &Dfa) -> Dfa {
    let mut states: Vec<State> = dfa.states.clone();
    for state in &mut states {
        state.edges.iter_mut().for_each(|(_, to)| *to += 1);
    }
    let first = dfa.states.first().cloned().unwrap_or_default();
    let mut edges = Vec::new();
    for (class, to) in &first.edges {
        let blanks: Vec<_> =
            BLANKS.into_iter().filter(|&c| *to == 0 && class.has(c)).map(|c| (c, c)).collect();
        if !blanks.is_empty() {
            edges.push((CharClass::from_ranges(&blanks), 0));
        }
        let left: Vec<char> = BRACKETS.into_iter().chain(blanks.iter().map(|&(c, _)| c)).collect();
        let rest = class.without(&left);
        if !rest.is_empty() {
            edges.push((rest, to + 1));
        }
    }
    states.insert(0, State { edges, accepts: first.accepts });
    Dfa { states, text: dfa.text.clone() }
}
