//! Finding what may be a tag inside a value.

use alloc::vec::Vec;

use super::{
    heads::Head,
    spec::{Node, ParameterSpec},
};

/// The bytes with which the tags begin that matter inside a value.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stops {
    bytes: Vec<u8>,
}

impl Stops {
    pub(crate) fn of(spec: &ParameterSpec) -> Self {
        let mut bytes: Vec<u8> = Vec::new();
        let values = spec.nodes.iter().filter_map(|node| match node {
            Node::Value(value) => Some(value),
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
        Self { bytes }
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

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use crate::machine::plan::Arguments;

    #[test]
    fn no_family_stops_at_bytes_that_prose_is_made_of() {
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
