//! The JSON value after an opener that began no call. Openers in the value are text.
//!
//! ```text
//! <call>{"see": "<call>go</call>"} and <call>go</call>
//!       |-------- value ---------|     the first opener has no call, so the second one is data;
//!                                      the third one begins a call
//! ```

use alloc::boxed::Box;

/// The value after an opener that began no call, if one is expected or open. Allocated then.
#[derive(Debug, Clone, Default)]
pub(super) struct ValueText(Option<Box<Reading>>);

/// The brackets and strings that are open in the value.
#[derive(Debug, Clone, Copy, Default)]
struct Reading {
    /// Stream offset of the next byte to be read, at first that of the value.
    at: u64,
    /// The number of open brackets.
    depth: u32,
    in_string: bool,
    escaped: bool,
}

impl ValueText {
    /// Returns the state before the value that `text` begins with after blanks, if it begins with a
    /// bracket or a quote. `at` is the stream offset of `text`.
    pub(super) fn at_start(text: &[u8], at: u64) -> Option<Self> {
        let blanks = text.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        let is_value = matches!(text.get(blanks), Some(b'{' | b'[' | b'"'));
        let at = at.saturating_add(blanks as u64);
        is_value.then(|| Self(Some(Box::new(Reading { at, ..Reading::default() }))))
    }

    /// Returns whether no value is expected or open.
    pub(super) fn is_over(&self) -> bool {
        self.0.is_none()
    }

    /// Returns whether `text`, the next text at stream offset `at`, ends in the value.
    pub(super) fn is_open_after(&self, text: &[u8], at: u64) -> bool {
        self.0.as_deref().is_some_and(|reading| {
            let mut reading = *reading;
            !reading.closes_in(text, at) && reading.is_open()
        })
    }

    /// Reads the next text, which begins at stream offset `at`.
    pub(super) fn advance(&mut self, text: &[u8], at: u64) {
        if self.0.as_deref_mut().is_some_and(|reading| reading.closes_in(text, at)) {
            self.0 = None;
        }
    }
}

impl Reading {
    fn is_open(self) -> bool {
        self.depth > 0 || self.in_string
    }

    /// Reads `text`, and returns whether the value ends in it.
    fn closes_in(&mut self, text: &[u8], at: u64) -> bool {
        let skipped = usize::try_from(self.at.saturating_sub(at)).unwrap_or(usize::MAX);
        for &byte in text.get(skipped..).unwrap_or_default() {
            self.at = self.at.saturating_add(1);
            if core::mem::take(&mut self.escaped) {
                continue;
            }
            match byte {
                b'\\' if self.in_string => self.escaped = true,
                b'"' => self.in_string = !self.in_string,
                _ if self.in_string => {}
                b'{' | b'[' => self.depth = self.depth.saturating_add(1),
                b'}' | b']' => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
            if !self.is_open() {
                return true;
            }
        }
        false
    }
}
