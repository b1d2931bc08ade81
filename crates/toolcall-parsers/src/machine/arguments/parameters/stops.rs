//! Finding what may be a tag inside a value.

use alloc::vec::Vec;

use super::{
    heads::Head,
    spec::{HeadersIn, ParameterNode, ParameterSpec},
};
use crate::{
    machine::arguments::tag::TagTexts,
    texts::{Bytes, Stands, Texts},
};

/// The tags that matter inside a value.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stops {
    /// The bytes they begin with.
    bytes: Vec<u8>,
    /// The tags. Certain ones count at any place in a value.
    tags: Texts,
}

impl Stops {
    pub(crate) fn of(spec: &ParameterSpec) -> Self {
        let mut bytes: Vec<u8> = Vec::new();
        let values = spec.nodes.iter().filter_map(|node| match node {
            ParameterNode::Value(value) => Some(value),
            _ => None,
        });
        let ends = values.clone().flat_map(|value| {
            let quotes = value.quotes.iter().flat_map(|(open, close)| [open, close]);
            value.ends.iter().chain(quotes)
        });
        let heads = spec.heads.iter().filter_map(Head::opener);
        let tags = ends.chain(spec.openers()).chain(&spec.ends).chain(heads);
        // A blank before a tag of a header that is torn or comes twice need not be seen.
        let again = values.flat_map(|value| &value.again);
        let headers = spec.middles().map(|(close, _)| close).chain(again);
        let headers = headers.flat_map(|tag| tag.texts()).map(str::trim_start);
        let texts = tags.flat_map(|tag| tag.texts()).chain(headers);
        for byte in texts.filter_map(|text| text.bytes().next()) {
            if !bytes.contains(&byte) {
                bytes.push(byte);
            }
        }
        Self { bytes, tags: tags_of(spec) }
    }

    /// The bytes that tags begin with.
    pub(crate) fn first(&self) -> Bytes {
        self.bytes.iter().fold(Bytes::default(), |bytes, &byte| bytes.with(byte))
    }

    /// Returns the tags at the start of `text`.
    #[inline]
    pub(crate) fn at(&self, text: &str) -> Stands {
        self.tags.at(text.as_bytes())
    }

    /// The first place where a tag may begin.
    #[inline]
    pub(crate) fn find(&self, text: &[u8]) -> Option<usize> {
        match *self.bytes.as_slice() {
            [] => None,
            [a] => memchr::memchr(a, text),
            [a, b] => memchr::memchr2(a, b, text),
            [a, b, c] => memchr::memchr3(a, b, c, text),
            ref all => text.iter().position(|byte| all.contains(byte)),
        }
    }
}

fn tags_of(spec: &ParameterSpec) -> Texts {
    let values = || {
        spec.nodes.iter().filter_map(|node| match node {
            ParameterNode::Value(value) => Some(value),
            _ => None,
        })
    };
    let everywhere = spec.ends.iter().chain(spec.middles().map(|(close, _)| close));
    let everywhere = everywhere.chain(spec.heads.iter().filter_map(Head::opener));
    let openers = spec.openers().iter().map(|tag| (tag, spec.headers > HeadersIn::Lines));
    // One value's end is text in another's.
    let ends = values().flat_map(|value| &value.ends);
    let ends = ends.map(|end| (end, values().all(|value| value.ends.contains(end))));
    let others = values().flat_map(|value| {
        let quotes = value.quotes.iter().map(|(open, _)| open);
        value.again.iter().chain(quotes)
    });
    let tags = everywhere.map(|tag| (tag, true)).chain(openers).chain(ends);
    let tags = tags.chain(others.map(|tag| (tag, false)));
    Texts::of(
        tags.flat_map(|(tag, certain): (&TagTexts, bool)| tag.texts().map(move |t| (t, certain))),
    )
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use crate::machine::plan::Arguments;

    #[test]
    fn no_family_has_stop_bytes_that_are_letters_digits_or_whitespace() {
        let mut stopping = Vec::new();
        for grammar in crate::grammars() {
            let leaves = grammar.plan().leaves.iter();
            let stops = leaves.flat_map(|leaf| match &leaf.arguments {
                Arguments::Parameters(spec) => spec.stops.bytes.clone(),
                _ => Vec::new(),
            });
            let plain = |byte: &u8| byte.is_ascii_alphanumeric() || byte.is_ascii_whitespace();
            stopping.extend(stops.filter(plain).map(|byte| (grammar.clone(), byte)));
        }
        assert!(stopping.is_empty(), "{stopping:?}");
    }
}
