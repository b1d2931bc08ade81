//! Quotes inside a string that were taken for data, and what a fault after it says of them.
//!
//! ```text
//! {'k[1, 'x']': [1, 'x']}, 'so: <call>..</call>'   the first string is taken to be `k[1, 'x`; the
//!          ^ the fault                              strings after it are turned inside out
//! ```

use super::reader::{ValueReader, ValueState};

impl ValueReader {
    /// Returns whether quotes in the last string, which has ended, were taken for data. A fault after
    /// it may show that they were none, so that nothing says what later quotes enclose.
    pub(crate) fn has_inner_quotes(&self) -> bool {
        self.state == ValueState::Literal && self.literal.own.inner_quotes
    }
}
