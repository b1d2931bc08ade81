//! Ceilings of figures, and files exempted from checks of `tidy`. Both may only shrink.

use std::collections::BTreeMap;

/// The file with the ceilings.
const FILE: &str = include_str!("../ceilings.txt");

/// The contents of `xtask/ceilings.txt`.
#[derive(Debug, Default)]
pub(crate) struct Ceilings {
    limits: BTreeMap<(String, String), usize>,
    exempt: Vec<String>,
}

impl Ceilings {
    /// Reads the ceilings of this workspace.
    pub(crate) fn read() -> Self {
        Self::parse(FILE)
    }

    /// Reads lines like `wide_functions jail-match 3` and `words crates/a`. A line that begins
    /// with `#` is a comment.
    fn parse(text: &str) -> Self {
        let mut ceilings = Self::default();
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            match line.split_whitespace().collect::<Vec<_>>()[..] {
                ["words", path] => ceilings.exempt.push(path.into()),
                [figure, of, limit] => {
                    let limit = limit.parse().unwrap_or(0);
                    ceilings.limits.insert((figure.into(), of.into()), limit);
                }
                _ => {}
            }
        }
        ceilings
    }

    /// Returns the ceiling of a figure of a crate. Without a line it is 0.
    pub(crate) fn limit(&self, figure: &str, of: &str) -> usize {
        self.limits.get(&(figure.to_owned(), of.to_owned())).copied().unwrap_or(0)
    }

    /// Returns the exempted directory or file that contains `path`.
    pub(crate) fn exemption(&self, path: &str) -> Option<&str> {
        let within = |one: &&String| {
            path.strip_prefix(one.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        self.exempt.iter().find(within).map(String::as_str)
    }

    /// Returns all exempted directories and files.
    pub(crate) fn exempt(&self) -> &[String] {
        &self.exempt
    }

    /// Returns a finding if more than the ceiling were found.
    pub(crate) fn check(&self, figure: &str, of: &str, found: &[&str]) -> Option<String> {
        let limit = self.limit(figure, of);
        (found.len() > limit).then(|| {
            let (count, names) = (found.len(), found.join(" "));
            format!(
                "{of}: {count} {figure}, expected at most {limit} (xtask/ceilings.txt): {names}"
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Ceilings;

    #[test]
    fn counts_over_the_ceiling_are_found_and_exemptions_cover_directories() {
        let ceilings = Ceilings::parse("# Comment 1\nwide_functions a 2\nwords crates/b\n");
        assert_eq!(ceilings.check("wide_functions", "a", &["x", "y"]), None);
        assert_eq!(
            ceilings.check("wide_functions", "a", &["x", "y", "z"]).unwrap(),
            "a: 3 wide_functions, expected at most 2 (xtask/ceilings.txt): x y z"
        );
        assert!(ceilings.check("expects", "a", &["x"]).is_some());
        assert_eq!(ceilings.exemption("crates/b/src/lib.rs"), Some("crates/b"));
        assert_eq!(ceilings.exemption("crates/bc/src/lib.rs"), None);
    }
}
