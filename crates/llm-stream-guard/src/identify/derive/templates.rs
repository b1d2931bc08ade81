//! The templates of a family's file, before they are written.

use serde_json::Value;

/// The templates of a form of calls.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Draft {
    pub(super) section: String,
    pub(super) call: String,
    pub(super) parameter: String,
    pub(super) element: String,
    pub(super) between: String,
    pub(super) keys: String,
    /// Where a call without a tag before it may begin.
    pub(super) at: &'static str,
    /// The delimiter of strings.
    pub(super) quote: String,
    /// Whether the wire says what is a string.
    pub(super) wire_types: bool,
    /// Whether the index of a call is written as its id.
    pub(super) counted_ids: bool,
    /// Whether no tag begins a call.
    pub(super) bare: bool,
    /// Text after the last call that ends the turn.
    pub(super) ends: String,
}

/// Returns a text as a string of TOML.
pub(super) fn quoted(text: &str) -> String {
    let plain = !text.contains('\'') && !text.chars().any(char::is_control);
    if plain { format!("'{text}'") } else { Value::from(text).to_string() }
}
