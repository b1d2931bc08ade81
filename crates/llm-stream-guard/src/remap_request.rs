//! Requests to models whose delimiters are remapped on the wire.

use std::fmt;

use serde_json::Value;
use toolcall_parsers::UnknownName;
use wire_remap::{
    Regime,
    bodies::{BodyError, OpenAiChat},
};

use crate::profile::{self, Profile};

/// Replaces the delimiters in the texts of a chat-completion request by those that the model of
/// `profile` uses ([`Profile::remap`]), so that its tokenizer sees no reserved ones. Without a
/// remapping the body is unchanged. A guard of the same profile restores them in the answer.
///
/// Call it after [`crate::move_tools_to_prompt`], whose text has delimiters. Pass a copy of the
/// transcript, which stays canonical.
///
/// ```
/// use llm_stream_guard::{profile, remap_request};
/// use serde_json::json;
/// let mut profile = profile("hermes")?;
/// profile.remap = Some("hermes".into());
/// let mut body = json!({"messages": [{"role": "system", "content": "Write <tool_call>."}]});
/// remap_request(&mut body, &profile)?;
/// assert_eq!(body["messages"][0]["content"], "Write [[CALL]].");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Returns a [`RemapRequestError`] if the profile names an unknown remapping, or if the body is not that
/// of a chat completion. It is then unchanged.
pub fn remap_request(body: &mut Value, profile: &Profile) -> Result<(), RemapRequestError> {
    let Some(name) = &profile.remap else { return Ok(()) };
    let regime = Regime::on(profile::remap(name).map_err(RemapRequestError::Unknown)?);
    let remapped = regime.request().apply(body, &OpenAiChat);
    remapped.map(|_| ()).map_err(RemapRequestError::Body)
}

/// An error of [`remap_request`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum RemapRequestError {
    /// The profile names an unknown remapping.
    Unknown(UnknownName),
    /// The body is not that of a chat completion.
    Body(BodyError),
}

impl fmt::Display for RemapRequestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown(error) => error.fmt(f),
            Self::Body(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for RemapRequestError {}
