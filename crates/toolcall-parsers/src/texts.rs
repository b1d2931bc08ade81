//! A set of texts that are looked for at the same position.
//!
//! Three bytes rule out most positions. The remaining texts are sorted, so that each further byte
//! narrows a range of the list:
//!
//! ```text
//! set: </a> (certain), </ab>, <b
//! "x"      None      no text begins with x
//! "</a"    Begun     may become </a>, which is certain
//! "</ab"   Perhaps   may become </ab>, which the caller must check
//! "</a>x"  Perhaps   </a> is there
//! ```

use alloc::{boxed::Box, string::String, vec::Vec};

/// A function that returns another spelling of a text, or `None` to keep it.
pub(crate) type Speller<'s> = dyn Fn(&str) -> Option<String> + 's;

/// A set of texts. The caller marks each as certain or not. A text cut inside a certain one is
/// `Begun`.
#[derive(Debug, Clone, Default)]
pub(crate) struct Texts {
    first: Bytes,
    alike: Box<[SameFirstByte]>,
}

/// The texts that begin with one byte.
#[derive(Debug, Clone)]
struct SameFirstByte {
    first: u8,
    /// The possible second and third bytes. All bytes, if a text is too short to have one.
    next_bytes: [Bytes; 2],
    sorted: Box<[(Box<[u8]>, bool)]>,
}

/// The result of comparing [`Texts`] with the start of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TextMatch {
    /// No text of the set is here, whatever follows.
    None,
    /// The given text ends inside a certain text of the set.
    Begun,
    /// A text of the set may be here. The caller must compare each.
    Perhaps,
}

impl Texts {
    /// Creates a set from texts and whether each is certain. A duplicate is certain if one of its
    /// entries is.
    pub(crate) fn new<'a>(texts: impl IntoIterator<Item = (&'a str, bool)>) -> Self {
        let mut sorted: Vec<(Box<[u8]>, bool)> = Vec::new();
        for (text, certain) in texts.into_iter().filter(|(text, _)| !text.is_empty()) {
            match sorted.binary_search_by(|(known, _)| (**known).cmp(text.as_bytes())) {
                Ok(at) => sorted[at].1 |= certain,
                Err(at) => sorted.insert(at, (text.as_bytes().into(), certain)),
            }
        }
        let alike = sorted.chunk_by(|(a, _), (b, _)| a[0] == b[0]).map(|alike| {
            let bytes = |at: usize| {
                let mut bytes = alike.iter().map(|(text, _)| text.get(at));
                bytes.try_fold(Bytes::default(), |bytes, byte| Some(bytes.with(*byte?)))
            };
            let next_bytes = [1, 2].map(|at| bytes(at).unwrap_or(Bytes::ALL));
            SameFirstByte { first: alike[0].0[0], next_bytes, sorted: alike.into() }
        });
        let alike: Box<[SameFirstByte]> = alike.collect();
        let first = alike.iter().fold(Bytes::default(), |bytes, alike| bytes.with(alike.first));
        Self { first, alike }
    }

    /// Returns the set in another spelling.
    pub(crate) fn respelled(&self, speller: &Speller<'_>) -> Self {
        let sorted = self.alike.iter().flat_map(|alike| &alike.sorted);
        let texts: Vec<(String, bool)> = sorted
            .map(|(text, certain)| {
                let text = String::from_utf8_lossy(text);
                (speller(&text).unwrap_or_else(|| text.into_owned()), *certain)
            })
            .collect();
        Self::new(texts.iter().map(|(text, certain)| (text.as_str(), *certain)))
    }

    /// Returns the first bytes of all texts.
    pub(crate) fn first(&self) -> Bytes {
        self.first
    }

    /// Returns whether one of the texts may be at the start of `text`, by its first three bytes.
    #[inline]
    pub(crate) fn may_begin(&self, text: &[u8]) -> bool {
        let Some((first, rest)) = text.split_first() else { return true };
        let alike = self.alike.iter().find(|alike| alike.first == *first);
        alike.is_some_and(|alike| {
            alike.next_bytes.iter().zip(rest).all(|(bytes, byte)| bytes.has(*byte))
        })
    }

    /// Compares the set with the start of `text`, which is not empty.
    #[inline]
    pub(crate) fn match_at(&self, text: &[u8]) -> TextMatch {
        let Some((first, rest)) = text.split_first() else { return TextMatch::Perhaps };
        if !self.first.has(*first) {
            return TextMatch::None;
        }
        let alike = self.alike.iter().find(|alike| alike.first == *first);
        alike.map_or(TextMatch::None, |alike| alike.match_at(text, rest))
    }
}

impl SameFirstByte {
    fn match_at(&self, text: &[u8], rest: &[u8]) -> TextMatch {
        if self.next_bytes.iter().zip(rest).any(|(bytes, byte)| !bytes.has(*byte)) {
            return TextMatch::None;
        }
        self.narrow(text)
    }

    fn narrow(&self, text: &[u8]) -> TextMatch {
        let mut rest = &*self.sorted;
        for len in 1.. {
            // All texts of the range share `len` bytes. The first of them is the shortest.
            let (Some((first, _)), Some((last, _))) = (rest.first(), rest.last()) else { break };
            if first.len() == len {
                return TextMatch::Perhaps;
            }
            let Some(byte) = text.get(len) else {
                let certain = rest.iter().any(|(_, certain)| *certain);
                return if certain { TextMatch::Begun } else { TextMatch::Perhaps };
            };
            if first[len] != *byte || last[len] != *byte {
                let from = rest.partition_point(|(text, _)| text[len] < *byte);
                let same = rest[from..].iter().take_while(|(text, _)| text[len] == *byte).count();
                rest = &rest[from..from + same];
            }
        }
        TextMatch::None
    }
}

/// A set of byte values.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Bytes([u64; 4]);

impl Bytes {
    const ALL: Self = Self([u64::MAX; 4]);

    /// Returns the set with `byte` added.
    pub(crate) fn with(mut self, byte: u8) -> Self {
        self.0[usize::from(byte >> 6)] |= 1 << (byte & 63);
        self
    }

    #[inline]
    pub(crate) fn has(self, byte: u8) -> bool {
        self.0[usize::from(byte >> 6)] >> (byte & 63) & 1 != 0
    }
}

#[cfg(test)]
mod tests {
    use super::{TextMatch, Texts};

    #[test]
    fn text_set_distinguishes_mismatch_certain_prefix_and_possible_match() {
        let texts = Texts::new([("</a>", true), ("<b", false), ("</ab>", false), ("<b", false)]);
        let at = |text: &str| texts.match_at(text.as_bytes());
        assert_eq!(["x", "<<", "<c", "</b", "</a<", "</abc"].map(at), [TextMatch::None; 6]);
        assert_eq!(["<", "</", "</a"].map(at), [TextMatch::Begun; 3]);
        assert_eq!(["</ab", "<b", "<bx", "</a>", "</a>x"].map(at), [TextMatch::Perhaps; 5]);
    }

    #[test]
    fn one_byte_text_is_always_a_possible_match() {
        let texts = Texts::new([("<", true), ("<ab>", true)]);
        assert_eq!(
            ["<x", "<", "<ab"].map(|text| texts.match_at(text.as_bytes())),
            [TextMatch::Perhaps; 3]
        );
        assert_eq!(Texts::default().match_at(b"x"), TextMatch::None);
    }
}
