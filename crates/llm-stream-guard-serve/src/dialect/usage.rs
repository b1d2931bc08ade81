//! Token counts of usage reports.

use serde_json::{Value, json};

/// Returns a number of tokens that upstream counted, or 0 if upstream did not count them.
pub(super) fn tokens(usage: Option<&Value>, path: &str) -> u64 {
    usage.and_then(|usage| usage.pointer(path)?.as_u64()).unwrap_or(0)
}

/// Returns the number of reasoning tokens that upstream or the guard counted, and whether it is an
/// estimate.
pub(super) fn reasoning_tokens(usage: Option<&Value>) -> Value {
    let details = usage.and_then(|usage| usage.get("completion_tokens_details"));
    let mut said = json!({"reasoning_tokens": tokens(details, "/reasoning_tokens")});
    let name = "reasoning_tokens_estimated";
    if let (Some(fields), Some(estimated)) =
        (said.as_object_mut(), details.and_then(|details| details.get(name)))
    {
        fields.insert(name.to_owned(), estimated.clone());
    }
    said
}
