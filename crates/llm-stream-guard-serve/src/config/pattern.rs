//! Patterns of model ids, as a configuration writes them.

/// A pattern of model ids: `*` is any text, case is ignored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct IdPattern(String);

impl IdPattern {
    pub(crate) fn new(pattern: &str) -> Self {
        Self(pattern.to_lowercase())
    }

    /// Returns whether the pattern matches exactly one id.
    pub(crate) fn is_literal(&self) -> bool {
        !self.0.contains('*')
    }

    /// Returns the number of characters that are not stars.
    fn literals(&self) -> usize {
        self.0.chars().filter(|&char| char != '*').count()
    }

    /// Returns whether the pattern matches the whole of an id in lower case.
    fn is_for(&self, id: &str) -> bool {
        let Some((head, rest)) = self.0.split_once('*') else { return self.0 == id };
        let (middle, tail) = rest.rsplit_once('*').unwrap_or(("", rest));
        let Some(mut left) = id.strip_prefix(head).and_then(|id| id.strip_suffix(tail)) else {
            return false;
        };
        for part in middle.split('*') {
            let Some((_, after)) = left.split_once(part) else { return false };
            left = after;
        }
        true
    }

    /// Returns the value of the most specific matching pattern: the one with the most literal
    /// characters.
    pub(crate) fn find<'r, T>(rows: &'r [(Self, T)], id: &str) -> Option<&'r T> {
        let id = id.to_lowercase();
        let fits = rows.iter().filter(|(pattern, _)| pattern.is_for(&id));
        fits.max_by_key(|(pattern, _)| pattern.literals()).map(|(_, value)| value)
    }
}

#[cfg(test)]
mod tests {
    use super::IdPattern;

    #[test]
    fn star_matches_any_text_and_the_most_literal_pattern_wins() {
        for (pattern, id, fits) in [
            ("claude-*", "claude-3-7-sonnet-20250219", true),
            ("Claude-*", "CLAUDE-", true),
            ("claude-*", "claud", false),
            ("*", "", true),
            ("*/qwen*-8b", "Qwen/Qwen3-8B", true),
            ("*/qwen*-8b", "Qwen/Qwen3-4B", false),
            ("a*b*c", "a-c-b-c", true),
            ("a*b*c", "a-c", false),
            ("ab*ba", "aba", false),
            ("a", "a", true),
            ("a", "ab", false),
        ] {
            let rows = [(IdPattern::new(pattern), ())];
            assert_eq!(IdPattern::find(&rows, id).is_some(), fits, "{pattern} {id}");
        }
        let rows = ["*", "claude-*", "claude-opus*"].map(|it| (IdPattern::new(it), it));
        assert_eq!(IdPattern::find(&rows, "claude-opus-4"), Some(&"claude-opus*"));
        assert_eq!(IdPattern::find(&rows, "gpt-4"), Some(&"*"));
    }
}
