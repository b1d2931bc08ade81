//! Finding of possible tags inside a value.
//!
//! ```text
//! Oslo is <b>big</b></parameter>
//!         ^ a possible first byte, but not the start of a tag of the family
//!                   ^ the value's end tag
//! ```

use alloc::{boxed::Box, vec::Vec};

use super::{
    call_heads::CallHead,
    spec::{HeadersIn, ParameterNode, ParameterSpec},
};
use crate::{
    machine::arguments::tag::TagTexts,
    texts::{Bytes, TextMatch, Texts},
};

/// The tags that have a meaning inside a value.
#[derive(Debug, Clone, Default)]
pub(crate) struct ValueTags {
    /// The first bytes of the tags.
    bytes: Box<[u8]>,
    /// The tags. Those that count everywhere in a value are certain.
    tags: Texts,
    /// The tags that may follow the end of a value.
    following: Box<Texts>,
}

impl ValueTags {
    /// Returns the tags of `spec`.
    pub(crate) fn new(spec: &ParameterSpec) -> Self {
        let mut bytes: Vec<u8> = Vec::new();
        let values = spec.nodes.iter().filter_map(|node| match node {
            ParameterNode::Value(value) => Some(value),
            _ => None,
        });
        let ends = values.clone().flat_map(|value| {
            let quotes = value.quotes.iter().flat_map(|(open, close)| [open, close]);
            value.ends.iter().chain(quotes)
        });
        let heads = spec.heads.iter().chain(&spec.typed_heads).filter_map(CallHead::opener);
        let tags = ends.chain(spec.openers()).chain(&spec.ends).chain(heads);
        // A blank before such a tag is not needed to find it.
        let again = values.flat_map(|value| &value.again);
        let headers = spec.inner_tags().map(|(close, _)| close).chain(again);
        let headers = headers.flat_map(|tag| tag.texts()).map(str::trim_start);
        let texts = tags.flat_map(|tag| tag.texts()).chain(headers);
        for byte in texts.filter_map(|text| text.bytes().next()) {
            if !bytes.contains(&byte) {
                bytes.push(byte);
            }
        }
        let following = [&spec.parts, &spec.separators, &spec.ends, &spec.followers, &spec.turn];
        let following = following.into_iter().flatten().chain(spec.openers()).chain([&spec.inner]);
        let following = following.flat_map(TagTexts::texts).map(|text| (text, false));
        Self {
            bytes: bytes.into(),
            tags: tags_of(spec),
            following: Box::new(Texts::new(following)),
        }
    }

    /// Returns the set of first bytes.
    pub(crate) fn first(&self) -> Bytes {
        self.bytes.iter().fold(Bytes::default(), |bytes, &byte| bytes.with(byte))
    }

    /// Compares the start of `text` with the tags.
    #[inline]
    pub(crate) fn match_at(&self, text: &str) -> TextMatch {
        self.tags.match_at(text.as_bytes())
    }

    /// Returns whether a tag may be at the start of `text`, by its first bytes.
    #[inline]
    pub(crate) fn may_begin(&self, text: &str) -> bool {
        self.tags.may_begin(text.as_bytes())
    }

    /// Returns whether a tag that may follow the end of a value may be at the start of `text`.
    pub(crate) fn may_follow(&self, text: &str) -> bool {
        self.following.may_begin(text.as_bytes())
    }

    /// Returns the first position where a tag may begin.
    #[inline]
    pub(crate) fn find(&self, text: &[u8]) -> Option<usize> {
        match *self.bytes {
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
    let everywhere = spec.ends.iter().chain(spec.inner_tags().map(|(close, _)| close));
    let heads = spec.heads.iter().chain(&spec.typed_heads).filter_map(CallHead::opener);
    let everywhere = everywhere.chain(heads);
    let openers = spec.openers().iter().map(|tag| (tag, spec.headers > HeadersIn::Lines));
    // The end tag of one form of value is data in another.
    let ends = values().flat_map(|value| &value.ends);
    let ends = ends.map(|end| (end, values().all(|value| value.ends.contains(end))));
    let others = values().flat_map(|value| {
        let quotes = value.quotes.iter().map(|(open, _)| open);
        value.again.iter().chain(quotes)
    });
    let tags = everywhere.map(|tag| (tag, true)).chain(openers).chain(ends);
    let tags = tags.chain(others.map(|tag| (tag, false)));
    Texts::new(
        tags.flat_map(|(tag, certain): (&TagTexts, bool)| tag.texts().map(move |t| (t, certain))),
    )
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use crate::machine::plan::Arguments;

    #[test]
    fn every_head_of_a_call_begins_with_a_tag() {
        for grammar in crate::grammars() {
            for leaf in &grammar.plan().leaves {
                let Arguments::Parameters(spec) = &leaf.arguments else { continue };
                let mut heads = spec.heads.iter().chain(&spec.typed_heads);
                assert!(heads.all(|head| head.opener().is_some()), "{}", grammar.name());
            }
        }
    }

    #[test]
    fn no_family_has_stop_bytes_that_are_letters_digits_or_whitespace() {
        let mut stopping = Vec::new();
        for grammar in crate::grammars() {
            let leaves = grammar.plan().leaves.iter();
            let stops = leaves.flat_map(|leaf| match &leaf.arguments {
                Arguments::Parameters(spec) => spec.value_tags.bytes.to_vec(),
                _ => Vec::new(),
            });
            let plain = |byte: &u8| byte.is_ascii_alphanumeric() || byte.is_ascii_whitespace();
            stopping.extend(stops.filter(plain).map(|byte| (grammar.clone(), byte)));
        }
        assert!(stopping.is_empty(), "{stopping:?}");
    }
}
