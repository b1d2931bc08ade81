//! Tracking of strings and brackets in JSON text that may arrive in pieces.

use crate::limits::{MAX_KNOWN_DEPTH, MAX_LAST_BYTES};

/// A tracker of strings in JSON text, fed byte by byte.
#[derive(Debug, Clone, Default)]
pub(crate) struct StringTracker {
    open: bool,
    escaped: bool,
}

impl StringTracker {
    /// Reads the next byte and returns whether it is part of a string, quotes included.
    pub(crate) fn take(&mut self, byte: u8) -> bool {
        match byte {
            _ if self.escaped => self.escaped = false,
            b'\\' if self.open => self.escaped = true,
            b'"' => self.open = !self.open,
            _ => return self.open,
        }
        true
    }

    /// Whether a string has begun and not ended.
    pub(crate) fn is_open(&self) -> bool {
        self.open
    }
}

/// A check whether JSON text that arrives in pieces, such as a call's arguments, is whole. Text is
/// whole if its brackets outside of strings match.
///
/// ```
/// let mut arguments = llm_stream_guard::chat::Balance::default();
/// arguments.feed("{\"a\": \"}");
/// assert!(!arguments.is_closed());
/// arguments.feed("\"}");
/// assert!(arguments.is_closed());
/// ```
#[derive(Debug, Clone, Default)]
pub struct Balance {
    opened: bool,
    depth: usize,
    /// One bit for each open bracket, from the outermost: whether it opened a list.
    lists: [u64; MAX_KNOWN_DEPTH / 64],
    /// Whether a closing bracket did not match.
    mismatched: bool,
    strings: StringTracker,
}

impl Balance {
    /// Reads the next piece.
    pub fn feed(&mut self, text: &str) {
        text.bytes().for_each(|byte| self.take(byte));
    }

    /// Reads the next piece up to the bracket that closes the outermost object or list. Returns the
    /// rest, which begins with that bracket and is not read, or is empty.
    ///
    /// ```
    /// let mut arguments = llm_stream_guard::chat::Balance::default();
    /// assert_eq!(arguments.feed_until_close("{\"a\": [1]} "), "} ");
    /// assert!(!arguments.is_closed());
    /// ```
    pub fn feed_until_close<'t>(&mut self, text: &'t str) -> &'t str {
        for (at, byte) in text.bytes().enumerate() {
            if self.depth == 1 && !self.strings.is_open() && matches!(byte, b'}' | b']') {
                return text.get(at..).unwrap_or_default();
            }
            self.take(byte);
        }
        ""
    }

    fn take(&mut self, byte: u8) {
        match byte {
            _ if self.strings.take(byte) => {}
            b'{' | b'[' => {
                if let Some(word) = self.lists.get_mut(self.depth / 64) {
                    let bit = 1 << (self.depth % 64);
                    *word = if byte == b'[' { *word | bit } else { *word & !bit };
                }
                self.depth = self.depth.saturating_add(1);
                self.opened = true;
            }
            b'}' | b']' => {
                let opened = self.is_list().map(|is_list| if is_list { b']' } else { b'}' });
                self.mismatched |= opened.is_none_or(|opened| opened != byte);
                self.depth = self.depth.saturating_sub(1);
            }
            _ => {}
        }
    }

    /// Whether the innermost open bracket is a list's, or `None` if no bracket is open. Brackets
    /// that are too deep count as an object's.
    fn is_list(&self) -> Option<bool> {
        let at = self.depth.checked_sub(1)?;
        Some(self.lists.get(at / 64).is_some_and(|word| word >> (at % 64) & 1 == 1))
    }

    /// Whether an object or a list has begun.
    #[must_use]
    pub fn is_opened(&self) -> bool {
        self.opened
    }

    /// Whether an object or a list has begun and ended, and all brackets match.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.opened && self.depth == 0 && !self.mismatched && !self.strings.is_open()
    }

    /// Returns text that makes the JSON so far invalid for every reader, also for those that
    /// complete JSON that was cut. The text is empty if brackets do not match already.
    ///
    /// ```
    /// let mut arguments = llm_stream_guard::chat::Balance::default();
    /// assert_eq!(arguments.seal(), "{,]");
    /// arguments.feed("{\"path\": \"/ho");
    /// assert_eq!(arguments.seal(), "\",]");
    /// ```
    #[must_use]
    pub fn seal(&self) -> String {
        let mut seal = String::new();
        if self.mismatched {
            return seal;
        }
        if self.strings.open {
            // The second backslash completes the escape.
            seal.push_str(if self.strings.escaped { "\\\"" } else { "\"" });
        }
        seal.push_str(match self.is_list() {
            None => "{,]",
            Some(true) => ",}",
            Some(false) => ",]",
        });
        seal
    }
}

/// The arguments of a call in a stream, of which a client can only parse those of a call that may
/// run: the last bracket is held, and sent at the end.
///
/// ```
/// use llm_stream_guard::chat::SealedArguments;
/// let mut arguments = SealedArguments::default();
/// assert_eq!(arguments.push("{\"city\": \"Oslo\"}"), "{\"city\": \"Oslo\"");
/// assert_eq!(arguments.clone().end(true), "}");
/// assert_eq!(arguments.end(false), ",]");
/// ```
#[derive(Debug, Clone, Default)]
pub struct SealedArguments {
    sent: Balance,
    /// The last bracket, and text after it.
    last: String,
}

impl SealedArguments {
    /// Feeds the next text, and returns the part of it to send.
    pub fn push<'t>(&mut self, fragment: &'t str) -> &'t str {
        let rest = match self.last.is_empty() {
            true => self.sent.feed_until_close(fragment),
            false => fragment,
        };
        if self.last.len() < MAX_LAST_BYTES {
            self.last.push_str(rest);
        }
        fragment.get(..fragment.len() - rest.len()).unwrap_or_default()
    }

    /// Ends the arguments, and returns the last text to send: what was held if the call may run, or
    /// else text that makes them invalid for every reader of JSON.
    #[must_use]
    pub fn end(self, runs: bool) -> String {
        if runs { self.last } else { self.sent.seal() }
    }
}

#[cfg(test)]
mod tests {
    use super::Balance;

    #[test]
    fn seal_closes_the_string_and_mismatches_the_innermost_bracket() {
        for (text, expected) in [
            ("", "{,]"),
            ("7", "{,]"),
            ("{", ",]"),
            ("{\"a", "\",]"),
            (r#"{"a": "x\"#, r#"\",]"#),
            ("{\"a\": [1, {}", ",}"),
            ("{\"a\": [1, {", ",]"),
            ("[", ",}"),
            ("{\"a\": [\"]", "\",}"),
            ("{\"a\": 1,]", ""),
            ("}", ""),
        ] {
            let mut balance = Balance::default();
            balance.feed(text);
            assert_eq!(balance.seal(), expected, "{text}");
        }
        let mut deep = Balance::default();
        deep.feed(&"[".repeat(1000));
        assert_eq!(deep.seal(), ",]");
        deep.feed(&"]".repeat(1000));
        assert!(!deep.is_closed());
    }

    #[test]
    fn text_is_read_up_to_the_last_bracket() {
        for (pieces, rest) in [
            (&["{\"a\": \"}", "\", \"b\": [{}]", "} "][..], "} "),
            (&["{\"a\": {}"], ""),
            (&["7"], ""),
        ] {
            let mut balance = Balance::default();
            let mut last = "";
            for piece in pieces {
                last = balance.feed_until_close(piece);
            }
            assert_eq!(last, rest);
            assert!(!balance.is_closed());
        }
    }
}
