//! The registered families, by name, from the table made of their files.

use alloc::sync::Arc;

use jail_match::{Alias, UnknownName, resolve, same_name};
use serde_json::Value;

use super::table::{ALIASES, FAMILIES};
use crate::family::{Family, with_variant};

/// A registered family; the rest of its file is read when it is looked up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Summary {
    /// Name of the listed family.
    pub name: &'static str,
    /// The models that write it, in words.
    pub about: &'static str,
    /// Where it was learned.
    pub source: &'static str,
}

/// A row of the registry's table.
pub(super) struct Row {
    pub(super) summary: Summary,
    /// The part of the family's file about calls, with everything it takes from other files, as
    /// compact JSON.
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

    /// The family its file describes.
    pub(super) fn family(&self) -> Option<Family> {
        Family::from_value(&self.file()?).ok()
    }

    /// The file as a value.
    fn file(&self) -> Option<Value> {
        let mut file: Value = serde_json::from_str(self.calls).ok()?;
        let Summary { name, about, source } = self.summary;
        for (key, value) in [("name", name), ("about", about), ("source", source)] {
            file.as_object_mut()?.insert(key.into(), value.into());
        }
        Some(file)
    }
}

/// All registered families, by name.
pub fn families() -> impl ExactSizeIterator<Item = Summary> + Clone {
    FAMILIES.iter().map(|row| row.summary)
}

/// Returns the names that engines use for the families.
pub fn aliases() -> impl Iterator<Item = Alias> + Clone {
    ALIASES.iter().copied()
}

/// Returns the family called `name`, by our name or an engine's. An engine's own name may precede
/// it (`sglang:qwen25`). ASCII case does not matter, and `-` equals `_`. Only this family is
/// parsed.
///
/// ```
/// let family = toolcall_parsers::family("SGLang:qwen25")?;
/// assert_eq!(family.name, "hermes");
/// # Ok::<(), toolcall_parsers::UnknownName>(())
/// ```
///
/// # Errors
/// An unknown name; the error lists the nearest known ones. A name that engines have for
/// different families; the error lists those, as `engine:name`.
pub fn family(name: &str) -> Result<Arc<Family>, UnknownName> {
    read(name, Some)
}

/// The family called `name` as the models of one of its variants write it; variants count from 0
/// in the order of its file.
///
/// # Errors
/// As [`family()`]; a family without that variant.
pub fn family_variant(name: &str, variant: usize) -> Result<Arc<Family>, UnknownName> {
    read(name, |file| {
        let over = file.get("variant")?.get(variant)?;
        Some(with_variant(&file, over))
    })
}

/// How many variants the family called `name` has in its table; none if they differ in nothing about
/// calls, and for a name that is not known.
#[must_use]
pub fn family_variants(name: &str) -> usize {
    let row = FAMILIES.iter().find(|row| same_name(row.summary.name, name));
    let file = row.and_then(Row::file);
    file.and_then(|file| Some(file.get("variant")?.as_array()?.len())).unwrap_or_default()
}

fn read(name: &str, of: impl FnOnce(Value) -> Option<Value>) -> Result<Arc<Family>, UnknownName> {
    let family = FAMILIES[row(name)?].file().and_then(of);
    let family = family.and_then(|file| Family::from_value(&file).ok());
    // Every row reads, as a test holds: only a variant can be unknown here.
    family.map(Arc::new).ok_or_else(|| UnknownName::new(WHAT, name, names()))
}

/// The row of the family called `name`.
pub(super) fn row(name: &str) -> Result<usize, UnknownName> {
    let found = resolve(WHAT, name, names(), ALIASES.iter().copied())?;
    FAMILIES
        .iter()
        .position(|row| row.summary.name == found)
        .ok_or_else(|| UnknownName::new(WHAT, name, names()))
}

fn names() -> impl Iterator<Item = &'static str> + Clone {
    FAMILIES.iter().map(|row| row.summary.name)
}

/// The kind of name, for error messages.
const WHAT: &str = "tool-call family";

/// The file of the registered family called `name`, for families that are like it.
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
            let variants = file.get("variant").and_then(|it| it.as_array()).into_iter().flatten();
            for (i, variant) in variants.enumerate() {
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
        assert_eq!((family_variants("mistral"), family_variants("none")), (2, 0));
    }
}
