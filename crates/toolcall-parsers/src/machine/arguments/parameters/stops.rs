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
        let values = values.flat_map(|value| {
            let quotes = value.quotes.iter().flat_map(|(open, close)| [open, close]);
            value.ends.iter().chain(&value.again).chain(quotes)
        });
        let heads = spec.heads.iter().filter_map(Head::opener);
        let middles = spec.middles().map(|(close, _)| close);
        let tags = values.chain(spec.openers()).chain(&spec.ends).chain(heads).chain(middles);
        for byte in tags.flat_map(|tag| tag.texts()).filter_map(|text| text.bytes().next()) {
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
