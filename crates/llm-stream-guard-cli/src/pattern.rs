//! `--only`: selects the cases to run.

use std::{convert::Infallible, fmt, str::FromStr};

/// A part of an id, or with `*` or `?` a glob for the whole id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pattern(String);

impl Pattern {
    /// Returns whether the pattern matches `id`.
    #[must_use]
    pub(crate) fn matches(&self, id: &str) -> bool {
        if self.0.contains(['*', '?']) { globs(&self.0, id) } else { id.contains(&self.0) }
    }
}

impl From<&str> for Pattern {
    fn from(pattern: &str) -> Self {
        Self(pattern.to_owned())
    }
}

impl FromStr for Pattern {
    type Err = Infallible;

    fn from_str(pattern: &str) -> Result<Self, Infallible> {
        Ok(pattern.into())
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn globs(pattern: &str, text: &str) -> bool {
    let (pattern, text): (Vec<char>, Vec<char>) =
        (pattern.chars().collect(), text.chars().collect());
    let (mut p, mut t, mut star) = (0, 0, None);
    while t < text.len() {
        match pattern.get(p) {
            Some('*') => {
                star = Some((p, t));
                p += 1;
            }
            Some(&one) if one == '?' || one == text[t] => (p, t) = (p + 1, t + 1),
            _ => {
                // The last star matches one more character.
                let Some((at, from)) = star else { return false };
                star = Some((at, from + 1));
                (p, t) = (at + 1, from + 1);
            }
        }
    }
    pattern[p..].iter().all(|&one| one == '*')
}

#[cfg(test)]
mod tests {
    use super::Pattern;

    #[test]
    fn pattern_with_a_star_matches_the_complete_id() {
        let is = |pattern: &str, id| Pattern::from(pattern).matches(id);
        assert!(is("split", "hermes/split_name"));
        assert!(is("hermes/*", "hermes/split_name") && !is("split*", "hermes/split_name"));
        assert!(is("*n?me", "hermes/split_name"));
    }
}
