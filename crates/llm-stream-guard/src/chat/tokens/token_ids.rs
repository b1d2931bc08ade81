//! Token ids in the fields of chunks.
//!
//! ```text
//! {"choices":[{"delta":{"content":"a"},"token_ids":[64]}]}                             [64]
//! {"choices":[{"delta":{"content":"a"},"logprobs":{"content":[{"token":"a","id":64}]}}]}  [64]
//! {"choices":[{"delta":{"content":"a"},"token_ids":[]}]}                               none
//! ```

use serde_json::{Map, Value};

/// Fields with the ids of a chunk's tokens. In order, they are written by vLLM and SGLang's
/// completions, SGLang's chats, SGLang's own endpoint, and llama.cpp.
const FIELDS: [&str; 4] = ["token_ids", "response_token_ids", "output_ids", "tokens"];

/// Field with the ids of the prompt's tokens, as vLLM writes it.
const PROMPT: &str = "prompt_token_ids";

/// Field in which llama.cpp's server repeats the answer in its own form.
const VERBOSE: &str = "__verbose";

/// Returns whether a field of this name has token ids.
pub(in crate::chat) fn is_ids(name: &str) -> bool {
    FIELDS.contains(&name) || [PROMPT, VERBOSE].contains(&name)
}

/// Returns the token ids in fields next to the choices of a chunk.
pub(in crate::chat) fn ids_around(fields: &Map<String, Value>) -> Option<Vec<u32>> {
    let verbose = || fields.iter().find(|(name, _)| *name == VERBOSE)?.1.as_object();
    ids_in(fields).or_else(|| ids_in(verbose()?))
}

/// Returns the token ids in fields of a choice or a delta.
pub(in crate::chat) fn ids_in(fields: &Map<String, Value>) -> Option<Vec<u32>> {
    // Chunks have few fields: comparing names costs less than hashing them.
    if !fields.keys().any(|name| FIELDS.contains(&name.as_str())) {
        return None;
    }
    let list = FIELDS.iter().find_map(|name| fields.get(*name)?.as_array())?;
    let id = |id: &Value| u32::try_from(id.as_u64()?).ok();
    // Servers that were not asked for ids write an empty list.
    list.iter().map(id).collect::<Option<Vec<u32>>>().filter(|ids| !ids.is_empty())
}

/// Prefix of the text that vLLM writes in place of a token's text on request.
const ID: &str = "token_id:";

/// Returns the token ids of log probabilities, if each entry has one: in a field `id` (llama.cpp),
/// or in place of its text (`return_tokens_as_token_ids` of vLLM).
pub(in crate::chat) fn ids_of_logprobs(logprobs: &Value) -> Option<Vec<u32>> {
    let named = |text: &Value| text.as_str()?.strip_prefix(ID)?.parse().ok();
    let id = |entry: &Value| match entry.get("id") {
        Some(id) => u32::try_from(id.as_u64()?).ok(),
        None => named(entry.get("token")?),
    };
    let ids: Option<Vec<u32>> = match logprobs.get("content").and_then(Value::as_array) {
        Some(entries) => entries.iter().map(id).collect(),
        None => logprobs.get("tokens")?.as_array()?.iter().map(named).collect(),
    };
    ids.filter(|ids| !ids.is_empty())
}

/// Removes token ids, which describe text that is not written.
pub(in crate::chat) fn remove_ids(fields: &mut Map<String, Value>) {
    FIELDS.iter().for_each(|name| drop(fields.shift_remove(*name)));
    fields.shift_remove(VERBOSE);
}

/// Removes all fields that servers write when they are asked for token ids. Returns whether there
/// were any.
pub(in crate::chat) fn remove_all_ids(fields: &mut Map<String, Value>) -> bool {
    let before = fields.len();
    remove_ids(fields);
    fields.shift_remove(PROMPT);
    fields.len() < before
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::ids_of_logprobs;

    #[test]
    fn ids_in_log_probabilities_count_if_every_token_has_one() {
        for (members, ids) in [
            (json!({"content": [{"id": 7, "token": "a"}, {"id": 8}]}), Some(vec![7, 8])),
            (json!({"content": [{"token": "token_id:7"}]}), Some(vec![7])),
            (json!({"tokens": ["token_id:7", "token_id:9"]}), Some(vec![7, 9])),
            (json!({"content": [{"id": 7}, {"token": "a"}]}), None),
            (json!({"content": [{"id": -1}]}), None),
            (json!({"tokens": ["token_id:x"]}), None),
            (json!({"content": []}), None),
            (json!(null), None),
        ] {
            assert_eq!(ids_of_logprobs(&members), ids, "{members}");
        }
    }
}
