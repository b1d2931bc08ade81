//! The marker tokens of a recording.

use std::path::Path;

use llm_stream_guard::{AddedToken, AddedTokens};
use serde_json::Value;

use crate::{
    args::{InputKind, ReadingArgs},
    error::{Error, misuse},
};

impl ReadingArgs {
    /// Returns the path of the file to read.
    pub(crate) fn path(&self) -> &Path {
        self.tokens.as_ref().unwrap_or(&self.file)
    }

    /// Returns the format of the file.
    pub(crate) fn input_kind(&self) -> InputKind {
        if self.tokens.is_some() { InputKind::Jsonl } else { self.input }
    }
}

/// Returns the added tokens that distinguish markers from text: those of the checkpoint, or the
/// tokens in `recording` that look like tags. Returns `None` for text without ids.
///
/// # Errors
/// The checkpoint cannot be read, or lists no added tokens.
pub(crate) fn added_tokens(
    args: &ReadingArgs,
    recording: &[u8],
) -> Result<Option<AddedTokens>, Error> {
    if let Some(path) = &args.checkpoint {
        let fault = |what: &dyn std::fmt::Display| misuse(format!("--checkpoint {what}"));
        let tokens = AddedTokens::read(path).map_err(|error| fault(&error))?;
        return match tokens.is_empty() {
            true => Err(fault(&format!("{}: no file lists added tokens", path.display()))),
            false => Ok(Some(tokens)),
        };
    }
    let lines = recording.split(|byte| *byte == b'\n');
    let markers = || lines.filter_map(|line| marker(&serde_json::from_slice(line).ok()?));
    Ok(args.tokens.is_some().then(|| markers().collect()))
}

/// Returns the token of a line, if it looks like a tag. Tokenizers write a whole tag as one token
/// only if it is an added token.
fn marker(line: &Value) -> Option<AddedToken> {
    let id = u32::try_from(line.get("id")?.as_u64()?).ok()?;
    let text = line.get("text")?.as_str()?;
    let is_tag = text.starts_with(['<', '[', ']', '\u{25C1}']);
    let is_tag = is_tag && text.ends_with(['>', ']', '[', '\u{25B7}']);
    is_tag.then(|| AddedToken::new(id, text))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::marker;

    #[test]
    fn whole_tags_alone_are_markers() {
        let is_marker = |text: &str| marker(&json!({"id": 7, "text": text})).is_some();
        assert!(["<think>", "[TOOL_CALLS]", "]<]minimax[>["].into_iter().all(is_marker));
        assert!(!["think", "<", " <think>", "<think"].into_iter().any(is_marker));
        assert!(marker(&json!({"text": "<think>"})).is_none());
    }
}
