//! The outline of a family's markup, which does not depend on the target's language.
//!
//! ```text
//! <tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>
//! open: <tool_call>  confirmed by: {  payload: object  close: </tool_call>
//! ```

mod calls;
mod header;
mod lost;
mod messages;

use llm_stream_guard::{InReasoning, Profile};
use think_filter::{MarkerCase, format};
use toolcall_parsers::grammar;

pub(crate) use self::calls::{CallShape, Payload};
use self::messages::Headers;
use crate::{ExportError, expr::Expr};

/// The markup of a family, as a writer needs it.
#[derive(Debug, Default)]
pub(crate) struct Outline {
    /// The ways to write calls, all with the same payload. Empty if the family has no calls.
    pub(crate) calls: Vec<CallShape>,
    /// The markers that end a call.
    pub(crate) ends: Vec<Expr>,
    /// The beginning of any message, if the family writes messages with headers.
    pub(crate) header: Expr,
    /// The tokens that end a message.
    pub(crate) message_ends: Vec<Expr>,
    /// The beginning of a message of reasoning.
    pub(crate) reasoning_header: Option<Expr>,
    pub(crate) thought: Option<Thought>,
    /// Markup between the parts of a message.
    pub(crate) removed: Vec<Expr>,
    /// The properties of the family that the outline does not express, each as a phrase.
    pub(crate) lost: Vec<String>,
}

/// Reasoning between markers.
#[derive(Debug)]
pub(crate) struct Thought {
    pub(crate) open: Vec<String>,
    pub(crate) close: Vec<String>,
    pub(crate) is_any_case: bool,
    /// Whether the beginning of a call also ends the reasoning.
    pub(crate) ends_at_call: bool,
}

/// Walks over the family and the reasoning format of `profile`.
pub(crate) fn outline(profile: &Profile) -> Result<Outline, ExportError> {
    let mut outline = Outline::default();
    if let Some(name) = &profile.tools {
        let grammar = grammar(name).map_err(|error| ExportError::new(error.to_string()))?;
        let family = grammar.family();
        let headers = Headers::new(family)?;
        calls::add_calls(&mut outline, family, headers.as_ref())?;
        outline.removed.extend(outline.calls.iter().map(|call| call.tail.clone()));
        if let Some(headers) = headers {
            outline.header = headers.any();
            outline.reasoning_header = headers.reasoning()?;
            outline.message_ends = headers.ends().collect();
            outline.removed.extend(headers.ends());
        }
        outline.removed.extend(family.end_of_turn.iter().map(|text| text.as_str().into()));
        outline.removed.extend(family.erase.iter().map(|erased| erased.text.as_str().into()));
        if profile.tool_in_reasoning == InReasoning::Suspend {
            outline.lost.push("that a call interrupts reasoning".to_owned());
        }
    }
    if let Some(name) = &profile.reasoning {
        let format = format(name).map_err(|error| ExportError::new(error.to_string()))?;
        if !format.is_passthrough() {
            // A reader of pieces may not wait for a label that may be missing.
            let label = format.label.as_deref().unwrap_or_default();
            outline.thought = Some(Thought {
                open: format.open.iter().map(|open| format!("{open}{label}")).collect(),
                close: format.close.iter().map(ToString::to_string).collect(),
                is_any_case: format.case == MarkerCase::Insensitive,
                ends_at_call: profile.tool_in_reasoning == InReasoning::End,
            });
            outline.removed.extend(format.answer.iter().map(|it| (&*it.marker).into()));
            outline.lost.push(
                "the places in a line where tags of reasoning count, and code fences".to_owned(),
            );
        }
    }
    Ok(outline)
}
