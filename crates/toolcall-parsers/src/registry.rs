//! The grammars of the registered families, by name.

mod lookup;
mod read;
mod table;

use jail_match::UnknownName;

pub use self::lookup::{Summary, aliases, families, family, family_variant, family_variants};
use crate::compiled::Grammar;

/// Returns the grammars of all registered families, in the order of their names.
pub fn grammars() -> impl Iterator<Item = Grammar> {
    families().filter_map(|summary| grammar(summary.name).ok())
}

/// Returns the grammar of the family called `name`. An engine's name for the family is also
/// accepted, alone (`qwen25`) or with the engine (`sglang:qwen25`). ASCII case does not matter, and
/// `-` equals `_`.
///
/// # Errors
/// - The name is unknown. The error lists the most similar names.
/// - Engines use the name for different families. The error lists them, as `engine:name`.
pub fn grammar(name: &str) -> Result<Grammar, UnknownName> {
    let row = self::lookup::row(name)?;
    #[cfg(feature = "std")]
    return Ok(COMPILED[row].get_or_init(|| compile(row)).clone());
    #[cfg(not(feature = "std"))]
    Ok(compile(row))
}

/// The grammars that were looked up. Each is compiled once per process and shared.
#[cfg(feature = "std")]
static COMPILED: [std::sync::OnceLock<Grammar>; table::FAMILIES.len()] =
    [const { std::sync::OnceLock::new() }; table::FAMILIES.len()];

fn compile(row: usize) -> Grammar {
    // Tests check that every registered family can be read and compiled.
    let family = table::FAMILIES[row].family();
    family.and_then(|family| Grammar::new(family).ok()).unwrap_or_default()
}

/// Returns the grammar of a variant of the family called `name`; see [`family_variant`].
///
/// # Errors
/// As [`grammar`]. Also if the family does not have that variant.
pub fn grammar_variant(name: &str, variant: usize) -> Result<Grammar, UnknownName> {
    Ok(Grammar::new(family_variant(name, variant)?.as_ref().clone()).unwrap_or_default())
}
