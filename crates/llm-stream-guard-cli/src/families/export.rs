//! `families --export`: a registered family as a response template, as far as that language goes.

mod calls;
mod messages;
mod pattern;

use llm_stream_guard::{InReasoning, Profile};
use serde_json::{Map, Value, json};
use think_filter::{Format, MarkerCase, format};
use toolcall_parsers::grammar;

use self::{
    messages::Headers,
    pattern::{any, closing, escaped},
};

/// The field of reasoning.
const REASONING: &str = "reasoning_content";

/// A template, and what of the family it does not say.
#[derive(Debug)]
pub struct Exported {
    /// The object at `response_template`.
    pub template: Value,
    /// What is lost, each in a sentence.
    pub lost: Vec<String>,
}

/// The response template of `profile`, whose turns begin with `anchor` in a prompt.
///
/// # Errors
/// What of the family a response template cannot say at all.
pub fn export(profile: &Profile, anchor: &str) -> Result<Exported, String> {
    let mut fields = Map::new();
    let mut lost = Vec::new();
    // What is markup between the other fields.
    let mut removed: Vec<String> = Vec::new();
    let (mut header, mut begins) = (String::new(), None);
    if let Some(name) = &profile.tools {
        let grammar = grammar(name).map_err(|error| error.to_string())?;
        let family = grammar.family();
        let headers = Headers::of(family)?;
        let calls = calls::of(family, headers.as_ref(), &mut lost)?;
        fields.insert("tool_calls".to_owned(), calls.field);
        removed.extend(calls.tails);
        if let Some(headers) = headers {
            header = headers.any();
            if let Some(open) = headers.reasoning()? {
                let close = closing(&any(headers.ends()), &header);
                let field = json!({"open_pattern": format!(r"\s*{open}"), "close_pattern": close});
                fields.insert(REASONING.to_owned(), field);
            }
            removed.extend(headers.ends());
        }
        removed.extend(family.end_of_turn.iter().map(|text| escaped(text)));
        removed.extend(family.erase.iter().map(|it| escaped(&it.text)));
        begins = (profile.tool_in_reasoning == InReasoning::End).then_some(calls.begins);
        if profile.tool_in_reasoning == InReasoning::Suspend {
            lost.push("that a call interrupts reasoning".to_owned());
        }
    }
    if let Some(name) = &profile.reasoning {
        let format = format(name).map_err(|error| error.to_string())?;
        if !format.is_passthrough() {
            fields.insert(REASONING.to_owned(), reasoning(&format, begins)?);
            removed.extend(format.answer.iter().map(|it| escaped(&it.marker)));
            lost.push("where in a line tags of reasoning count, and code fences".to_owned());
        }
    }
    let mut removed = any(removed.into_iter());
    if !removed.is_empty() {
        removed += r"\s*";
    }
    // The white space behind a header is the message's.
    let content = match any([removed, header].into_iter()) {
        removed if removed.is_empty() => json!({}),
        removed => json!({"close_pattern": format!(r"\s*{removed}")}),
    };
    fields.insert("content".to_owned(), content);
    let template = json!({
        "version": 1, "defaults": {"role": "assistant"}, "start_anchor": anchor, "fields": fields,
    });
    Ok(Exported { template, lost })
}

/// The field of the reasoning, which ends where a call begins if that is given.
fn reasoning(format: &Format, call: Option<String>) -> Result<Value, String> {
    let close = any(format.close.iter().map(|text| escaped(text)));
    if format.open.is_empty() || close.is_empty() {
        return Err("its reasoning has no opener or no closer".to_owned());
    }
    // Where a label may be missing not every reader would wait for it.
    let label = format.label.as_deref().unwrap_or_default();
    let open = format.open.iter().map(|open| format!("{open}{label}"));
    let call = call.map(|call| format!(r"(?={call})"));
    let close = any([format!(r"{close}\s*")].into_iter().chain(call));
    Ok(match format.case {
        MarkerCase::Insensitive => json!({
            "open_pattern": format!("(?i){}", any(open.map(|text| escaped(&text)))),
            "close_pattern": format!(r"(?i)\s*{close}"),
        }),
        MarkerCase::Exact => json!({
            "open": open.collect::<Vec<_>>(), "close_pattern": format!(r"\s*{close}"),
        }),
    })
}
