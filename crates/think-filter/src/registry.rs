//! The registered formats and what engines call them: the table of the families' files.

use alloc::vec::Vec;

use jail_match::{Alias, UnknownName, resolve};

use crate::{
    format::Format,
    row::Row,
    table::{ALIASES, FORMATS},
};

/// Every format, by name.
#[must_use]
pub fn formats() -> Vec<Format> {
    FORMATS.iter().map(Row::format).collect()
}

/// Every alias, engine by engine; those of no engine are other names of a format.
pub fn aliases() -> impl Iterator<Item = Alias> + Clone {
    ALIASES.iter().copied()
}

/// The registered format called `name`, or what engines mean by that name; ASCII case does not
/// count, and `-` equals `_`. `engine:name` asks for one engine's meaning: `sglang:minimax`.
///
/// `lead_only` does to the byte what filters for leading blocks do in chat clients only with
/// [`crate::Whitespace::Verbatim`]: they keep all whitespace.
///
/// # Errors
/// A name that is not registered, with the nearest that are; one by which engines mean different
/// formats, with the spellings that tell them apart.
pub fn format(name: &str) -> Result<Format, UnknownName> {
    let names = FORMATS.iter().map(|row| row.name);
    let found = resolve("reasoning format", name, names.clone(), aliases())?;
    let row = FORMATS.iter().find(|row| row.name == found);
    row.map(Row::format).ok_or_else(|| UnknownName::new("reasoning format", name, names))
}
