//! Names of families, of all three kinds: profiles, tool-call families, reasoning formats.

use toolcall_parsers::{UnknownName, aliases, families, grammar};

use super::{Profile, profile, profiles};
use crate::reasoning::{reasoning, reasoning_aliases, reasoning_formats};

/// Returns the profile called `name`. A name that has no profile, or only one of reasoning, may be
/// the one that engines use for a tool-call family: then its calls are read, with the reasoning
/// format that engines mean by the name, if there is one.
///
/// ```
/// use llm_stream_guard::named_profile;
/// assert_eq!(named_profile("qwen3").map(|found| found.name).as_deref(), Ok("qwen3"));
/// // An engine's name for a tool-call family and for its reasoning.
/// assert_eq!(named_profile("nemotron_v3").map(|found| found.name).as_deref(), Ok("nemotron3"));
/// // For a tool-call family alone.
/// let found = named_profile("vllm:llama3_json").map(|found| (found.tools, found.reasoning));
/// assert_eq!(found, Ok((Some("vllm:llama3_json".to_owned()), None)));
/// assert!(named_profile("qwen33").is_err());
/// ```
///
/// # Errors
/// Returns an error with the nearest names if no profile, family or format has the name. A name
/// that engines use for different families is also an error.
pub fn named_profile(name: &str) -> Result<Profile, UnknownName> {
    let own = match profile(name).ok() {
        Some(whole) if whole.tools.is_some() => return Ok(whole),
        own => own,
    };
    let format = reasoning(name).ok().map(|format| format.name().to_owned());
    match (grammar(name), own) {
        (Ok(calls), _) => {
            let whole = profile(calls.name()).ok().filter(|whole| {
                // The reasoning of a family that writes in messages has the family's name.
                let reasoning = whole.reasoning.as_deref().unwrap_or(calls.name());
                format.as_deref() == Some(reasoning)
            });
            Ok(whole.unwrap_or_else(|| Profile { reasoning: format, ..Profile::tools(name) }))
        }
        (Err(_), Some(own)) => Ok(own),
        (Err(ambiguous), None) if !ambiguous.meanings().is_empty() => Err(ambiguous),
        (Err(_), None) if format.is_some() => Ok(Profile::reasoning(name)),
        (Err(_), None) => {
            let names = all_names();
            Err(UnknownName::new("family", name, names.iter().map(String::as_str)))
        }
    }
}

/// Returns every name of the three kinds, aliases included, sorted.
#[must_use]
pub fn all_names() -> Vec<String> {
    let profiles = profiles();
    let mut names: Vec<String> = profiles.iter().map(|profile| profile.name.clone()).collect();
    names.extend(profiles.iter().flat_map(|profile| profile.aliases.iter().cloned()));
    names.extend(families().map(|family| family.name.to_owned()));
    names.extend(aliases().map(|alias| alias.name.to_owned()));
    names.extend(reasoning_formats().iter().map(|format| format.name().to_owned()));
    names.extend(reasoning_aliases().map(|alias| alias.name.to_owned()));
    names.sort_unstable();
    names.dedup();
    names
}
