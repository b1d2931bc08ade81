//! The registered families, by name.

mod lookup;
mod read;
mod table;

use jail_match::UnknownName;

pub use self::lookup::{Summary, aliases, families, family, family_variant};
use crate::compiled::Grammar;

/// The grammars of all registered families, by name.
pub fn grammars() -> impl Iterator<Item = Grammar> {
    families().filter_map(|summary| grammar(summary.name).ok())
}

/// The grammar of the family called `name`: ours, or an engine's, in front of which its own name
/// may stand (`sglang:qwen25`). ASCII case does not count, and `-` equals `_`.
///
/// # Errors
/// An unknown name; the error lists the nearest known ones. A name that engines have for
/// different families; the error lists those, as `engine:name`.
pub fn grammar(name: &str) -> Result<Grammar, UnknownName> {
    // Every registered family compiles, as a test holds.
    Ok(Grammar::new(family(name)?.as_ref().clone()).unwrap_or_default())
}

/// The grammar of the family called `name` as the models of one of its variants write it; see
/// [`family_variant`].
///
/// # Errors
/// As [`grammar`]; a family without that variant.
pub fn grammar_variant(name: &str, variant: usize) -> Result<Grammar, UnknownName> {
    Ok(Grammar::new(family_variant(name, variant)?.as_ref().clone()).unwrap_or_default())
}
