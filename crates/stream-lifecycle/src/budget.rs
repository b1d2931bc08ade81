//! How much a collector keeps.

/// Bytes that a collector may still keep: what it keeps is a prefix of what was said.
#[derive(Debug, Clone)]
pub struct ByteBudget {
    left: usize,
    exceeded: bool,
}

impl ByteBudget {
    /// What collectors keep unless told otherwise: 16 MiB, many times the longest answer a model
    /// gives.
    pub const DEFAULT: usize = 16 << 20;

    /// A budget of `limit` bytes.
    #[must_use]
    pub const fn new(limit: usize) -> Self {
        Self { left: limit, exceeded: false }
    }

    /// Takes `bytes` more, all or none; after the first refusal nothing fits any more.
    #[must_use]
    pub fn take(&mut self, bytes: usize) -> bool {
        self.exceeded |= bytes > self.left;
        if !self.exceeded {
            self.left -= bytes;
        }
        !self.exceeded
    }

    /// Takes what fits of `text`, whole characters; after the first cut nothing fits any more.
    #[must_use]
    pub fn take_text<'t>(&mut self, text: &'t str) -> &'t str {
        let most = if self.exceeded { 0 } else { self.left.min(text.len()) };
        let fits = (0..=most).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
        self.exceeded |= fits < text.len();
        self.left -= fits;
        &text[..fits]
    }

    /// Whether something did not fit.
    #[must_use]
    pub const fn is_exceeded(&self) -> bool {
        self.exceeded
    }
}

#[cfg(test)]
mod tests {
    use super::ByteBudget;

    #[test]
    fn all_or_nothing_is_taken_and_nothing_behind_a_refusal() {
        let mut budget = ByteBudget::new(5);
        assert!(budget.take(2) && budget.take(3) && budget.take(0));
        assert!(!budget.is_exceeded() && !budget.take(1));
        assert!(budget.is_exceeded() && !budget.take(0));
        let mut budget = ByteBudget::new(5);
        assert!(!budget.take(6) && !budget.take(1));
        assert_eq!(budget.take_text("a"), "");
    }

    #[test]
    fn of_a_text_whole_characters_are_taken() {
        let mut budget = ByteBudget::new(4);
        assert_eq!(
            [budget.take_text("aé"), budget.take_text("é"), budget.take_text("b")],
            ["aé", "", ""]
        );
        assert!(budget.is_exceeded());
    }
}
