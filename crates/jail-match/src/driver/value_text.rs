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
    /// Whether the value began. Else all text up to `at` is blank.
    begun: bool,
    /// The number of open brackets.
    depth: u32,
    in_string: bool,
    escaped: bool,
}

impl ValueText {
    /// Returns the state before the value that `text` begins with after blanks, if it begins with a
    /// bracket or a quote, or if all of `text` is blank. `at` is the stream offset of `text`.
    pub(super) fn at_start(text: &[u8], at: u64) -> Option<Self> {
        let reading = Reading { at, ..Reading::default() }.begun_in(text)?;
        Some(Self(Some(Box::new(reading))))
    }

    /// Decides whether a value begins, if blanks only came so far and `text` at stream offset `at`
    /// shows it.
    pub(super) fn look(&mut self, text: &[u8], at: u64) {
        let Some(reading) = self.0.as_deref_mut().filter(|reading| !reading.begun) else { return };
        let blank = usize::try_from(reading.at.saturating_sub(at)).unwrap_or(usize::MAX);
        match reading.begun_in(text.get(blank..).unwrap_or_default()) {
            Some(begun) => *reading = begun,
            None => self.0 = None,
        }
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
    /// Returns the state after the blanks that the next `text` begins with. Returns `None` if no
    /// value begins after them.
    fn begun_in(self, text: &[u8]) -> Option<Self> {
        let blanks = text.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        let begun = match text.get(blanks) {
            Some(b'{' | b'[' | b'"') => true,
            Some(_) => return None,
            None => false,
        };
        Some(Self { at: self.at.saturating_add(blanks as u64), begun, ..self })
    }

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
