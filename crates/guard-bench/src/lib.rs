//! The texts of the benchmarks, made from a fixed seed, and how they are cut.
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

/// Words of the made texts.
const WORDS: [&str; 16] = [
    "the", "harbour", "keeps", "its", "lights", "on", "until", "dawn", "and", "every", "boat",
    "that", "leaves", "finds", "a", "note",
];

/// Text that looks for a moment like markup.
const NEAR_MARKERS: [&str; 6] = ["a < b", "<b>", "`x`", "[1]", "{n}", "</p>"];

/// Numbers that look random and are the same in every run.
#[derive(Debug)]
struct Numbers(u64);

impl Numbers {
    /// Returns a number below `end`.
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        usize::try_from(self.0 >> 33).unwrap_or(0) % end.max(1)
    }
}

/// Returns sentences of at least `len` bytes.
#[must_use]
pub fn prose(len: usize) -> String {
    words(len, &[])
}

/// Returns sentences of at least `len` bytes, in which every tenth word looks like markup.
#[must_use]
pub fn near_markers(len: usize) -> String {
    words(len, &NEAR_MARKERS)
}

fn words(len: usize, others: &[&str]) -> String {
    let mut numbers = Numbers(7);
    let mut text = String::with_capacity(len + 64);
    for count in 1_usize.. {
        if text.len() >= len {
            break;
        }
        let list = if count.is_multiple_of(10) && !others.is_empty() { others } else { &WORDS };
        text.push_str(list.get(numbers.below(list.len())).copied().unwrap_or_default());
        text.push_str(if count.is_multiple_of(13) { ". " } else { " " });
    }
    text
}

/// Returns the pieces of a text, each about as long as a token: 2 to 7 bytes.
#[must_use]
pub fn tokens(text: &str) -> Vec<&str> {
    let mut numbers = Numbers(11);
    let (mut pieces, mut rest) = (Vec::new(), text);
    while !rest.is_empty() {
        let wanted = (2 + numbers.below(6)).min(rest.len());
        let end = (wanted..=rest.len()).find(|&at| rest.is_char_boundary(at));
        let (piece, after) = rest.split_at(end.unwrap_or(rest.len()));
        pieces.push(piece);
        rest = after;
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::{near_markers, prose, tokens};

    #[test]
    fn pieces_join_to_the_text() {
        for text in [prose(1000), near_markers(1000), "é日".repeat(9)] {
            assert_eq!(tokens(&text).concat(), text);
        }
        assert!(prose(1000).len() >= 1000);
        assert!(near_markers(1000).contains('<'));
    }
}
