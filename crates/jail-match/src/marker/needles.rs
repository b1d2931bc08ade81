//! The search for the next of a few bytes. `memchr` searches for up to three bytes at a time.

use alloc::vec::Vec;

/// The length of a block of text. A search for more than three bytes searches each block once for
/// every three bytes.
const BLOCK: usize = 1024;

/// The bytes at which the search of a class stops.
#[derive(Debug, Clone, Default)]
pub(super) struct Needles(pub(super) Vec<u8>);

impl Needles {
    pub(super) fn find(&self, hay: &[u8]) -> Option<usize> {
        match *self.0.as_slice() {
            [] => None,
            [a] => memchr::memchr(a, hay),
            [a, b] => memchr::memchr2(a, b, hay),
            [a, b, c] => memchr::memchr3(a, b, c, hay),
            _ => self.find_many(hay),
        }
    }

    fn find_many(&self, hay: &[u8]) -> Option<usize> {
        let mut base = 0;
        for block in hay.chunks(BLOCK) {
            let mut end = block.len();
            let mut found = false;
            for group in self.0.chunks(3) {
                let hit = match *group {
                    [a] => memchr::memchr(a, &block[..end]),
                    [a, b] => memchr::memchr2(a, b, &block[..end]),
                    [a, b, c] => memchr::memchr3(a, b, c, &block[..end]),
                    _ => None,
                };
                if let Some(at) = hit {
                    end = at;
                    found = true;
                }
            }
            if found {
                return Some(base + end);
            }
            base += block.len();
        }
        None
    }
}
