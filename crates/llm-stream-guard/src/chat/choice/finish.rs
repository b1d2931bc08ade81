//! Finish reasons: their meaning, and the reason to write.

use jail_match::End;
use serde_json::{Map, Value};
use toolcall_parsers::Wanted;

use crate::chat::{
    choice::state::ChoiceState,
    options::{ChatOptions, Stop},
};

/// Returns the standard word for a finish reason, or `None` for an unknown one.
fn meaning(word: &str) -> Option<&'static str> {
    Some(match word.to_ascii_lowercase().as_str() {
        "stop" | "eos" | "eos_token" | "end_turn" | "stop_sequence" | "stop_token" | "complete"
        | "completed" | "end" | "done" => "stop",
        "length" | "max_tokens" | "max_length" | "max_output_tokens" | "model_length" => "length",
        "tool_calls" | "tool_call" | "tool_use" => "tool_calls",
        "function_call" => "function_call",
        "content_filter" | "safety" | "refusal" => "content_filter",
        _ => return None,
    })
}

/// Returns how the text ended, by upstream's finish reason.
pub(crate) fn end_of(word: &str) -> End {
    match meaning(word) {
        Some("stop" | "tool_calls" | "function_call") => End::Stop,
        Some("length") => End::Length,
        _ => End::Aborted,
    }
}

/// Returns the finish reason to write in place of `upstream`.
pub(in crate::chat) fn finish_word(
    state: &ChoiceState,
    options: &ChatOptions,
    upstream: String,
) -> String {
    let suppressed = state.wanted == Wanted::None;
    let named = matches!(state.wanted, Wanted::Only(_));
    let keep = options.stop == Stop::Keep || options.stop == Stop::Convention && named;
    match meaning(&upstream) {
        Some("tool_calls") if suppressed => "stop".into(),
        // The length limit cut only text after the stop string.
        Some("length") if state.stopped.is_some() => finish_word(state, options, "stop".into()),
        Some("stop") if state.called() && !suppressed && !keep => "tool_calls".into(),
        _ => upstream,
    }
}

/// Members in which servers name the stop string that ended the text.
const STOP_REASONS: [&str; 2] = ["stop_reason", "matched_stop"];

/// Names the stop string that ended the text in the server's own member, unless the server does so.
pub(in crate::chat) fn tell_stop(state: &ChoiceState, extra: &mut Map<String, Value>) {
    let Some(string) = &state.stopped else { return };
    let named = STOP_REASONS.into_iter().find(|name| extra.contains_key(*name));
    let value = extra.entry(named.unwrap_or(STOP_REASONS[0])).or_insert(Value::Null);
    if value.is_null() {
        *value = string.as_str().into();
    }
}

#[cfg(test)]
mod tests {
    use super::{End, end_of, meaning};

    #[test]
    fn finish_reasons_map_to_their_meaning_and_end() {
        for (word, means, end) in [
            ("EOS", Some("stop"), End::Stop),
            ("tool_use", Some("tool_calls"), End::Stop),
            ("function_call", Some("function_call"), End::Stop),
            ("max_tokens", Some("length"), End::Length),
            ("safety", Some("content_filter"), End::Aborted),
            ("whim", None, End::Aborted),
        ] {
            assert_eq!((meaning(word), end_of(word)), (means, end), "{word}");
        }
    }
}
