//! Names of families, of all three kinds: profiles, tool-call families, reasoning formats.

use toolcall_parsers::{UnknownName, aliases, families, grammar};

use super::{Profile, profile, profiles};
use crate::reasoning::{reasoning, reasoning_aliases, reasoning_formats};

/// Returns the profile called `name`. Without such a profile, a profile with only the tool-call
/// family or only the reasoning format of that name is returned.
///
/// ```
/// use llm_stream_guard::named_profile;
/// assert_eq!(named_profile("qwen3").map(|found| found.name).as_deref(), Ok("qwen3"));
/// // An engine's name for a tool-call family.
/// let found = named_profile("vllm:deepseek_v3").map(|found| found.tools);
/// assert_eq!(found, Ok(Some("vllm:deepseek_v3".to_owned())));
/// assert!(named_profile("qwen33").is_err());
/// ```
///
/// # Errors
/// Returns an error with the nearest names if no profile, family or format has the name. A name
/// that engines use for different families is also an error.
pub fn named_profile(name: &str) -> Result<Profile, UnknownName> {
    if let Ok(profile) = profile(name) {
        return Ok(profile);
    }
    match grammar(name) {
        Ok(_) => return Ok(Profile::tools(name)),
        Err(ambiguous) if !ambiguous.meanings().is_empty() => return Err(ambiguous),
        Err(_) => {}
    }
    if reasoning(name).is_ok() {
        return Ok(Profile::reasoning(name));
    }
    let names = all_names();
    Err(UnknownName::new("family", name, names.iter().map(String::as_str)))
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
