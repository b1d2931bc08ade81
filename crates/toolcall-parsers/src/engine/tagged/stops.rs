//! The tags to look for inside a value.

use super::{
    shape::{Quoting, TaggedShape},
    value::Phase,
};

const CDATA_OPEN: &str = "<![CDATA[";

/// The tags that may end a value, and the bytes they begin with.
pub(super) struct Stops<'s> {
    bytes: [u8; 3],
    /// Those other than the value's own end, with what they lead to.
    pub(super) others: [Option<(&'s str, Phase)>; 3],
}

impl<'s> Stops<'s> {
    pub(super) fn of(shape: &'s TaggedShape) -> Self {
        let first = |text: &str| text.as_bytes().first().copied().unwrap_or(0);
        let own = first(&shape.value_close);
        let next = shape.parameter.open.first().filter(|_| shape.implicit.next_parameter);
        let close = shape.call_close.first().filter(|_| shape.implicit.call_close);
        let cdata = (shape.quoting == Quoting::Cdata).then_some((CDATA_OPEN, Phase::Cdata));
        let others = [
            cdata,
            next.map(|literal| (literal.as_ref(), Phase::NextParameter)),
            close.map(|literal| (literal.as_ref(), Phase::CallClose)),
        ];
        let mut bytes = [own; 3];
        // CDATA's `<` goes unnoticed only in a grammar whose tags do not begin with it.
        for (byte, other) in bytes[1..].iter_mut().zip(&others[1..]) {
            if let Some((literal, _)) = other {
                *byte = first(literal);
            }
        }
        Self { bytes, others }
    }

    pub(super) fn find(&self, text: &[u8]) -> Option<usize> {
        let [a, b, c] = self.bytes;
        if a == b && a == c { memchr::memchr(a, text) } else { memchr::memchr3(a, b, c, text) }
    }
}
