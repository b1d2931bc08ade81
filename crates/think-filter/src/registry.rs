//! The registered formats, and the names of engines for them.

use alloc::vec::Vec;

use jail_match::{Alias, UnknownName, resolve};

use crate::{
    format::Format,
    row::Row,
    table::{ALIASES, FORMATS},
};

/// Returns every registered format, in the order of names.
#[must_use]
pub fn formats() -> Vec<Format> {
    FORMATS.iter().map(Row::format).collect()
}

/// Returns every alias, sorted by engine. Aliases of no engine are other names of a format.
pub fn aliases() -> impl Iterator<Item = Alias> + Clone {
    ALIASES.iter().copied()
}

/// Returns the registered format with this name, or the format that engines call by it.
///
/// ASCII case does not count, and `-` equals `_`. `engine:name` asks for the meaning of one engine:
/// `sglang:minimax`. The format `lead_only` equals the filters of chat clients for leading blocks
/// to the byte only under [`crate::Whitespace::Verbatim`], because those keep all whitespace.
///
/// # Errors
/// Returns an error if the name is not registered (with the nearest names), or if engines use it
/// for different formats (with the spellings that are unambiguous).
pub fn format(name: &str) -> Result<Format, UnknownName> {
    let names = FORMATS.iter().map(|row| row.name);
    let found = resolve("reasoning format", name, names.clone(), aliases())?;
    let row = FORMATS.iter().find(|row| row.name == found);
    row.map(Row::format).ok_or_else(|| UnknownName::new("reasoning format", name, names))
}
