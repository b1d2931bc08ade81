//! Lookup of registered families in the table that is generated from their files.

use alloc::sync::Arc;

use jail_match::{Alias, UnknownName, resolve, same_name};
use serde_json::Value;

use super::table::{ALIASES, FAMILIES};
use crate::family::{Family, with_variant};

/// The name and origin of a registered family.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Summary {
    /// The name of the family.
    pub name: &'static str,
    /// The models that use it, in words.
    pub about: &'static str,
    /// Where its syntax is documented.
    pub source: &'static str,
}

/// A row of the registry's table.
pub(super) struct Row {
    pub(super) summary: Summary,
    /// The part of the family's file about calls, as compact JSON. Parts inherited from other files
    /// are included.
    pub(super) calls: &'static str,
}

impl Row {
    pub(super) const fn new(
        name: &'static str,
        about: &'static str,
        source: &'static str,
        calls: &'static str,
    ) -> Self {
        Self { summary: Summary { name, about, source }, calls }
    }

    /// Returns the family that the file describes.
    pub(super) fn family(&self) -> Option<Family> {
        Family::from_value(&self.file()?).ok()
    }

    /// Returns the parsed file.
    fn file(&self) -> Option<Value> {
        let mut file: Value = serde_json::from_str(self.calls).ok()?;
        let Summary { name, about, source } = self.summary;
        for (key, value) in [("name", name), ("about", about), ("source", source)] {
            file.as_object_mut()?.insert(key.into(), value.into());
        }
        Some(file)
    }
}

/// Returns all registered families, in the order of their names.
pub fn families() -> impl ExactSizeIterator<Item = Summary> + Clone {
    FAMILIES.iter().map(|row| row.summary)
}

/// Returns the names that engines use for families.
pub fn aliases() -> impl Iterator<Item = Alias> + Clone {
    ALIASES.iter().copied()
}

/// Returns the family called `name`. An engine's name for the family is also accepted, alone
/// (`qwen25`) or with the engine (`sglang:qwen25`). ASCII case does not matter, and `-` equals `_`.
/// Only this family's file is parsed.
///
/// ```
/// let family = toolcall_parsers::family("SGLang:qwen25")?;
/// assert_eq!(family.name, "hermes");
/// # Ok::<(), toolcall_parsers::UnknownName>(())
/// ```
///
/// # Errors
/// - The name is unknown. The error lists the most similar names.
/// - Engines use the name for different families. The error lists them, as `engine:name`.
pub fn family(name: &str) -> Result<Arc<Family>, UnknownName> {
    read_family(name, Some)
}

/// Returns a variant of the family called `name`. Variants are numbered from 0, in the order of the
/// family's file.
///
/// # Errors
/// As [`family()`]. Also if the family does not have that variant.
pub fn family_variant(name: &str, variant: usize) -> Result<Arc<Family>, UnknownName> {
    read_family(name, |file| {
        let over = file.get("variant")?.get(variant)?;
        Some(with_variant(&file, over))
    })
}

/// Returns the number of variants of the family called `name` that differ in their calls. Returns 0
/// for an unknown name.
#[must_use]
pub fn family_variants(name: &str) -> usize {
    let row = FAMILIES.iter().find(|row| same_name(row.summary.name, name));
    let file = row.and_then(Row::file);
    file.and_then(|file| Some(file.get("variant")?.as_array()?.len())).unwrap_or_default()
}

fn read_family(
    name: &str,
    of: impl FnOnce(Value) -> Option<Value>,
) -> Result<Arc<Family>, UnknownName> {
    let family = FAMILIES[row(name)?].file().and_then(of);
    let family = family.and_then(|file| Family::from_value(&file).ok());
    // A test checks that every row can be read, so only the variant can be unknown here.
    family.map(Arc::new).ok_or_else(|| UnknownName::new(NAME_KIND, name, names()))
}

/// Returns the index of the row of the family called `name`.
pub(super) fn row(name: &str) -> Result<usize, UnknownName> {
    let found = resolve(NAME_KIND, name, names(), ALIASES.iter().copied())?;
    FAMILIES
        .iter()
        .position(|row| row.summary.name == found)
        .ok_or_else(|| UnknownName::new(NAME_KIND, name, names()))
}

fn names() -> impl Iterator<Item = &'static str> + Clone {
    FAMILIES.iter().map(|row| row.summary.name)
}

/// The kind of name, for error messages.
const NAME_KIND: &str = "tool-call family";

/// Returns the file of the registered family called `name`, for families that inherit from it.
pub(super) fn file(name: &str) -> Option<Value> {
    FAMILIES.iter().find(|row| same_name(row.summary.name, name)).and_then(Row::file)
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::{FAMILIES, Row, aliases, families, family, family_variant, family_variants};
    use crate::family::{Family, with_variant};

    #[test]
    fn every_registered_family_and_variant_is_read() {
        for row in FAMILIES {
            let name = row.summary.name;
            let file = Row::file(row).unwrap();
            let read = Family::from_value(&file).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(family(name).unwrap().as_ref(), &read);
            let variants = file.get("variant").and_then(|it| it.as_array());
            let variants = variants.map_or(&[][..], |variants| &variants[..]);
            assert_eq!(family_variants(name), variants.len(), "{name}");
            for (i, variant) in variants.iter().enumerate() {
                let read = Family::from_value(&with_variant(&file, variant));
                let read = read.unwrap_or_else(|error| panic!("{name}, variant {i}: {error}"));
                assert_eq!(family_variant(name, i).unwrap().as_ref(), &read);
            }
        }
        let names: alloc::vec::Vec<_> = families().map(|summary| summary.name).collect();
        assert!(names.is_sorted() && !names.is_empty());
    }

    #[test]
    fn every_alias_resolves_to_its_family() {
        for alias in aliases().filter(|alias| !alias.engine.is_empty()) {
            let name = alias.to_string();
            assert_eq!(family(&name).unwrap().name, alias.of, "{name}");
        }
    }

    #[test]
    fn unknown_family_name_reports_the_nearest_name() {
        assert_eq!(family("hermess").unwrap_err().nearest()[0], "hermes");
        assert!(family_variant("hermes", 99).is_err());
        assert_eq!(family_variants("none"), 0);
    }
}
