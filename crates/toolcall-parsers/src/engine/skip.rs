//! Finding the way back behind a fault.

use super::text::find;
use crate::grammar::Text;

/// What a search for a place to go on found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Skipped {
    /// Nothing yet; `used` bytes are dropped, the rest may be the beginning of a stop.
    More { used: usize },
    /// A stop, behind `at` bytes to drop; `len` bytes of it are markup.
    To { at: usize, len: usize, stop: Stop },
}

/// Where a search ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stop {
    /// At the end of a call.
    Inner,
    /// At the end of what calls stand in.
    Outer,
    /// Before an opener.
    Opener,
}

/// Looks for the next of the closers or openers in `text`.
pub(crate) fn skip<'t>(
    text: &str,
    inner: impl Iterator<Item = &'t Text> + Clone,
    outer: impl Iterator<Item = &'t Text> + Clone,
    openers: impl Iterator<Item = &'t Text> + Clone,
) -> Skipped {
    let (inners, outers) = (inner.clone().count(), outer.clone().count());
    let mut stops = inner.chain(outer).chain(openers).map(|text| text.as_ref());
    match find(text, stops.clone()) {
        Err(used) => Skipped::More { used },
        Ok((at, n)) => {
            let len = stops.nth(n).map_or(0, str::len);
            match n {
                n if n < inners => Skipped::To { at, len, stop: Stop::Inner },
                n if n < inners + outers => Skipped::To { at, len, stop: Stop::Outer },
                _ => Skipped::To { at, len: 0, stop: Stop::Opener },
            }
        }
    }
}
