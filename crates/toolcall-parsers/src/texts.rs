//! Many texts, looked for at one place at once.
//!
//! They are kept in the order of their bytes: those that begin as a text does are one stretch of the
//! list, which each further byte narrows. Most places are ruled out by their first three bytes.

use alloc::{boxed::Box, string::String, vec::Vec};

/// Returns the other spelling of a text, or `None` if it has none.
pub(crate) type Speller<'s> = dyn Fn(&str) -> Option<String> + 's;

/// A set of texts. Each is marked as certain or not, with a meaning that the caller decides.
#[derive(Debug, Clone, Default)]
pub(crate) struct Texts {
    first: Bytes,
    alike: Box<[Alike]>,
}

/// Texts that begin with the same byte.
#[derive(Debug, Clone)]
struct Alike {
    first: u8,
    /// Their second and third bytes; all if one has none.
    behind: [Bytes; 2],
    sorted: Box<[(Box<[u8]>, bool)]>,
}

/// The result of comparing [`Texts`] with the start of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stands {
    /// No text of the set, whatever follows.
    None,
    /// None yet: the text ends inside one that is certain, and perhaps inside others.
    Begun,
    /// Perhaps one; ask each.
    Perhaps,
}

impl Texts {
    /// These texts, each with whether it is certain. One that is given twice is if it once was.
    pub(crate) fn of<'a>(texts: impl IntoIterator<Item = (&'a str, bool)>) -> Self {
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
            let behind = [1, 2].map(|at| bytes(at).unwrap_or(Bytes::ALL));
            Alike { first: alike[0].0[0], behind, sorted: alike.into() }
        });
        let alike: Box<[Alike]> = alike.collect();
        let first = alike.iter().fold(Bytes::default(), |bytes, alike| bytes.with(alike.first));
        Self { first, alike }
    }

    /// The same texts in another spelling.
    pub(crate) fn respelled(&self, speller: &Speller<'_>) -> Self {
        let sorted = self.alike.iter().flat_map(|alike| &alike.sorted);
        let texts: Vec<(String, bool)> = sorted
            .map(|(text, certain)| {
                let text = String::from_utf8_lossy(text);
                (speller(&text).unwrap_or_else(|| text.into_owned()), *certain)
            })
            .collect();
        Self::of(texts.iter().map(|(text, certain)| (text.as_str(), *certain)))
    }

    /// The bytes they begin with.
    pub(crate) fn first(&self) -> Bytes {
        self.first
    }

    /// Compares the set with the start of `text`, which is not empty.
    #[inline]
    pub(crate) fn at(&self, text: &[u8]) -> Stands {
        let Some((first, rest)) = text.split_first() else { return Stands::Perhaps };
        if !self.first.has(*first) {
            return Stands::None;
        }
        let alike = self.alike.iter().find(|alike| alike.first == *first);
        alike.map_or(Stands::None, |alike| alike.at(text, rest))
    }
}

impl Alike {
    fn at(&self, text: &[u8], rest: &[u8]) -> Stands {
        if self.behind.iter().zip(rest).any(|(bytes, byte)| !bytes.has(*byte)) {
            return Stands::None;
        }
        self.narrow(text)
    }

    fn narrow(&self, text: &[u8]) -> Stands {
        let mut rest = &*self.sorted;
        for len in 1.. {
            // The first is the shortest of those that share all bytes up to here.
            let (Some((first, _)), Some((last, _))) = (rest.first(), rest.last()) else { break };
            if first.len() == len {
                return Stands::Perhaps;
            }
            let Some(byte) = text.get(len) else {
                let certain = rest.iter().any(|(_, certain)| *certain);
                return if certain { Stands::Begun } else { Stands::Perhaps };
            };
            if first[len] != *byte || last[len] != *byte {
                let from = rest.partition_point(|(text, _)| text[len] < *byte);
                let same = rest[from..].iter().take_while(|(text, _)| text[len] == *byte).count();
                rest = &rest[from..from + same];
            }
        }
        Stands::None
    }
}

/// A set of byte values.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Bytes([u64; 4]);

impl Bytes {
    const ALL: Self = Self([u64::MAX; 4]);

    /// The set with one more byte.
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
    use super::{Stands, Texts};

    #[test]
    fn text_set_distinguishes_no_match_prefix_and_possible_match() {
        let texts = Texts::of([("</a>", true), ("<b", false), ("</ab>", false), ("<b", false)]);
        let at = |text: &str| texts.at(text.as_bytes());
        assert_eq!(["x", "<<", "<c", "</b", "</a<", "</abc"].map(at), [Stands::None; 6]);
        assert_eq!(["<", "</", "</a"].map(at), [Stands::Begun; 3]);
        assert_eq!(["</ab", "<b", "<bx", "</a>", "</a>x"].map(at), [Stands::Perhaps; 5]);
    }

    #[test]
    fn one_byte_text_is_always_a_possible_match() {
        let texts = Texts::of([("<", true), ("<ab>", true)]);
        assert_eq!(["<x", "<", "<ab"].map(|text| texts.at(text.as_bytes())), [Stands::Perhaps; 3]);
        assert_eq!(Texts::default().at(b"x"), Stands::None);
    }
}
