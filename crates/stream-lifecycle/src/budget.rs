//! The byte budget of a collector.

/// The number of bytes that a collector may still keep. Kept text is a prefix of the received text.
///
/// ```
/// use stream_lifecycle::ByteBudget;
/// let mut budget = ByteBudget::new(4);
/// assert_eq!(budget.take_text("aé"), "aé");
/// assert_eq!(budget.take_text("éb"), "");
/// assert!(budget.is_exceeded());
/// ```
#[derive(Debug, Clone)]
pub struct ByteBudget {
    left: usize,
    exceeded: bool,
}

impl ByteBudget {
    /// Default budget of collectors: 16 MiB, many times the longest answer of a model.
    pub const DEFAULT: usize = 16 << 20;

    /// Creates a budget of `limit` bytes.
    #[must_use]
    pub const fn new(limit: usize) -> Self {
        Self { left: limit, exceeded: false }
    }

    /// Takes all of `bytes` or none, and returns whether they fit. After the first refusal, no
    /// bytes fit.
    #[must_use]
    pub fn take(&mut self, bytes: usize) -> bool {
        self.exceeded |= bytes > self.left;
        if !self.exceeded {
            self.left -= bytes;
        }
        !self.exceeded
    }

    /// Takes and returns the prefix of `text` that fits, in whole characters. After the first cut,
    /// no text fits.
    #[must_use]
    pub fn take_text<'t>(&mut self, text: &'t str) -> &'t str {
        let most = if self.exceeded { 0 } else { self.left.min(text.len()) };
        let fits = (0..=most).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
        self.exceeded |= fits < text.len();
        self.left -= fits;
        &text[..fits]
    }

    /// Returns whether something was refused or cut.
    #[must_use]
    pub const fn is_exceeded(&self) -> bool {
        self.exceeded
    }
}

#[cfg(test)]
mod tests {
    use super::ByteBudget;

    #[test]
    fn byte_budget_refuses_everything_after_its_first_refusal() {
        let mut budget = ByteBudget::new(5);
        assert!(budget.take(2) && budget.take(3) && budget.take(0));
        assert!(!budget.is_exceeded() && !budget.take(1));
        assert!(budget.is_exceeded() && !budget.take(0));
        let mut budget = ByteBudget::new(5);
        assert!(!budget.take(6) && !budget.take(1));
        assert_eq!(budget.take_text("a"), "");
    }

    #[test]
    fn text_budget_is_cut_between_characters() {
        let mut budget = ByteBudget::new(4);
        assert_eq!(
            [budget.take_text("aé"), budget.take_text("é"), budget.take_text("b")],
            ["aé", "", ""]
        );
        assert!(budget.is_exceeded());
    }
}
