//! The registered formats, and the names by which engines call them.

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

/// Returns every alias, sorted by engine. Aliases without an engine are other names of a format.
pub fn aliases() -> impl Iterator<Item = Alias> + Clone {
    ALIASES.iter().copied()
}

/// Returns the registered format with this name, or the format that engines call by this name.
///
/// ASCII case does not count, and `-` equals `_`. `engine:name`, such as `sglang:minimax`, looks up
/// the name of one engine.
///
/// The format `lead_only` does the same as the filters of chat clients that remove leading blocks.
/// Because those filters keep all whitespace, use it with [`crate::Whitespace::Verbatim`].
///
/// # Errors
/// Returns an error if the name is not registered, with the nearest names. Also returns an error if
/// engines use the name for different formats, with the unambiguous spellings.
pub fn format(name: &str) -> Result<Format, UnknownName> {
    let names = FORMATS.iter().map(|row| row.name);
    let found = resolve("reasoning format", name, names.clone(), aliases())?;
    let row = FORMATS.iter().find(|row| row.name == found);
    row.map(Row::format).ok_or_else(|| UnknownName::new("reasoning format", name, names))
}
