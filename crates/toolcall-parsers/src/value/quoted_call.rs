//! Openers of calls inside a string in the family's own quotes. A call's end after one belongs to
//! the quoted call.
//!
//! ```text
//! {text:<|"|>as in <|tool_call>call:ring{}<tool_call|>     the end is not that of the outer call
//! ```

/// A search for openers in the text of a string that is written piece by piece.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct QuotedCall {
    seen: bool,
    /// The opener that the last bytes begin, and the number of those bytes.
    partial: Option<(u8, core::num::NonZeroU8)>,
}

impl QuotedCall {
    /// Returns whether an opener was found.
    pub(super) fn is_seen(self) -> bool {
        self.seen
    }

    /// Returns whether the last bytes may begin an opener.
    pub(super) fn is_partial(self) -> bool {
        self.partial.is_some()
    }

    /// Examines the next piece of the string.
    pub(super) fn see(&mut self, text: &str, openers: &[alloc::string::String]) {
        if self.seen || text.is_empty() {
            return;
        }
        if let Some((opener, len)) = self.partial.take() {
            let known = openers.get(usize::from(opener)).and_then(|it| it.get(..len.get().into()));
            self.compare(text, openers, known.unwrap_or_default());
        }
        let first_of = |opener: &alloc::string::String| opener.bytes().next();
        for (n, first) in openers.iter().filter_map(first_of).enumerate() {
            // All openers with this byte were compared.
            if openers.iter().filter_map(first_of).take(n).any(|known| known == first) {
                continue;
            }
            for at in memchr::memchr_iter(first, text.as_bytes()) {
                if self.seen || self.partial.is_some() {
                    return;
                }
                self.compare(text.get(at..).unwrap_or_default(), openers, "");
            }
        }
    }

    /// Compares `text` with the rest of each opener that begins with `known`.
    fn compare(&mut self, text: &str, openers: &[alloc::string::String], known: &str) {
        for (n, opener) in openers.iter().enumerate() {
            let Some(rest) = opener.strip_prefix(known).filter(|rest| !rest.is_empty()) else {
                continue;
            };
            if text.starts_with(rest) {
                self.seen = true;
            } else if rest.starts_with(text) {
                let len = known.len().saturating_add(text.len());
                let len = u8::try_from(len).ok().and_then(core::num::NonZeroU8::new);
                self.partial = u8::try_from(n).ok().zip(len).or(self.partial);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::{string::ToString, vec::Vec};

    use super::QuotedCall;

    #[test]
    fn openers_are_seen_at_every_cut() {
        let openers: Vec<_> = ["<|tool_call>", "<|tools|>"].map(|it| it.to_string()).into();
        for (text, is_seen) in [
            ("a <|tool_call>b", true),
            ("<<|tools|>", true),
            ("<|tool<|tool_call>", true),
            ("<|tool_<|tool", false),
            ("é<|tool_call|>", false),
        ] {
            for at in (0..=text.len()).filter(|at| text.is_char_boundary(*at)) {
                for end in (at..=text.len()).filter(|end| text.is_char_boundary(*end)) {
                    let mut call = QuotedCall::default();
                    for piece in [&text[..at], &text[at..end], &text[end..]] {
                        call.see(piece, &openers);
                    }
                    assert_eq!(call.is_seen(), is_seen, "{text} at {at}, {end}");
                }
            }
        }
    }
}
