//! Names of types that several types share. A name has one meaning in a crate, and among the public
//! names of the workspace.

use std::collections::{BTreeMap, BTreeSet};

use crate::source::Source;

/// The types that the sources of a crate define.
#[derive(Debug, Default)]
pub(crate) struct TypeNames {
    /// The name of each type, and whether it is public.
    types: Vec<(String, bool)>,
}

impl TypeNames {
    /// Finds the types of the sources of a crate.
    pub(crate) fn of(sources: &[Source]) -> Self {
        let lines = sources.iter().flat_map(Source::code);
        Self { types: lines.filter_map(|line| type_name(line.trim_start())).collect() }
    }

    /// Returns the names that several types of the crate share.
    pub(crate) fn shared(&self) -> Vec<&str> {
        let mut seen = BTreeMap::<&str, usize>::new();
        for (name, _) in &self.types {
            *seen.entry(name).or_default() += 1;
        }
        seen.into_iter().filter(|(_, count)| *count > 1).map(|(name, _)| name).collect()
    }
}

/// Returns the names of public types that several crates share.
pub(crate) fn shared_public(crates: &BTreeMap<String, TypeNames>) -> Vec<&str> {
    let mut owners = BTreeMap::<&str, BTreeSet<&str>>::new();
    for (owner, names) in crates {
        for (name, _) in names.types.iter().filter(|(_, public)| *public) {
            owners.entry(name).or_default().insert(owner);
        }
    }
    owners.into_iter().filter(|(_, owners)| owners.len() > 1).map(|(name, _)| name).collect()
}

/// Returns the name of the type that a line defines, and whether it is public.
fn type_name(line: &str) -> Option<(String, bool)> {
    let rest = line.strip_prefix("pub").map_or(line, |rest| match rest.strip_prefix('(') {
        Some(scope) => scope.split_once(')').map_or(line, |(_, rest)| rest),
        None => rest,
    });
    let (keyword, rest) = rest.trim_start().split_once(' ')?;
    let name: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    let defines = ["struct", "enum", "trait", "union"].contains(&keyword) && !name.is_empty();
    defines.then_some((name, line.starts_with("pub ")))
}

#[cfg(test)]
mod tests {
    use super::{TypeNames, shared_public};
    use crate::source::Source;

    fn names(text: &str) -> TypeNames {
        TypeNames::of(&[Source { path: "a.rs".into(), text: text.into() }])
    }

    #[test]
    fn types_of_one_name_are_found_in_a_crate_and_among_public_names() {
        let one = "pub struct Read;\nmod a {\n    struct Read<'a>(&'a str);\n    enum Own {}\n}\n";
        assert_eq!(names(one).shared(), ["Read"]);
        let two = "pub(crate) struct Own;\npub trait Read: Sized {}\n";
        assert_eq!(names(two).shared(), Vec::<&str>::new());
        let crates = [("one", one), ("two", two)].map(|(name, text)| (name.into(), names(text)));
        assert_eq!(shared_public(&crates.into()), ["Read"]);
    }
}
