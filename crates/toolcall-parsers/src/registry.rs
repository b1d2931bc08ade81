//! The registered families, by name.

mod lookup;
mod read;
mod table;

use jail_match::UnknownName;

pub use self::lookup::{Summary, aliases, families, family, family_variant, family_variants};
use crate::compiled::Grammar;

/// The grammars of all registered families, by name.
pub fn grammars() -> impl Iterator<Item = Grammar> {
    families().filter_map(|summary| grammar(summary.name).ok())
}

/// Returns the grammar of the family called `name`, by our name or an engine's. An engine's own
/// name may precede it (`sglang:qwen25`). ASCII case does not matter, and `-` equals `_`.
///
/// # Errors
/// An unknown name; the error lists the nearest known ones. A name that engines have for
/// different families; the error lists those, as `engine:name`.
pub fn grammar(name: &str) -> Result<Grammar, UnknownName> {
    let row = self::lookup::row(name)?;
    #[cfg(feature = "std")]
    return Ok(COMPILED[row].get_or_init(|| compile(row)).clone());
    #[cfg(not(feature = "std"))]
    Ok(compile(row))
}

/// The grammars that were asked for: compiled once a process, and shared.
#[cfg(feature = "std")]
static COMPILED: [std::sync::OnceLock<Grammar>; table::FAMILIES.len()] =
    [const { std::sync::OnceLock::new() }; table::FAMILIES.len()];

fn compile(row: usize) -> Grammar {
    // Every registered family reads and compiles, as tests hold.
    let family = table::FAMILIES[row].family();
    family.and_then(|family| Grammar::new(family).ok()).unwrap_or_default()
}

/// The grammar of the family called `name` as the models of one of its variants write it; see
/// [`family_variant`].
///
/// # Errors
/// As [`grammar`]; a family without that variant.
pub fn grammar_variant(name: &str, variant: usize) -> Result<Grammar, UnknownName> {
    Ok(Grammar::new(family_variant(name, variant)?.as_ref().clone()).unwrap_or_default())
}
