//! Members of objects in a call's arguments: a key counts once, at every level.
//!
//! ```text
//! {"a": 1, "b": 2, "a": 3}      becomes  {"a": 1, "b": 2}
//!        ^ from here on text is held, until the key is known to be new
//! ```
//!
//! The first member of a name counts, because a client may have acted on it. Readers of JSON
//! disagree which of two equal keys counts. Keys are compared decoded: `"a"` equals `"\u0061"`.

#[cfg(test)]
mod tests;

use alloc::{borrow::Cow, collections::BTreeSet, string::String, vec::Vec};

use crate::{
    limits::MAX_MEMBER_NAMES,
    value::{Escape, Flavor, is_plain, unescape},
};

/// Maximum number of an object's keys that are compared one by one.
const FEW: usize = 16;

/// The position in the JSON text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum KeysAt {
    /// Outside of strings, where no key begins.
    #[default]
    Value,
    /// Before a key of an object, or its end.
    BeforeKey,
    Key,
    /// After a key, before the colon.
    AfterKey,
    /// Inside a string that is a value.
    Text,
}

/// An open object or list.
#[derive(Debug, Clone, Copy)]
struct Level {
    object: bool,
    /// Index of the level's first key.
    first: usize,
}

/// A filter of JSON text that arrives in pieces. It drops members whose key the object has already.
#[derive(Debug, Clone, Default)]
pub(crate) struct UniqueKeys {
    at: KeysAt,
    /// Whether the next character of the string is escaped.
    escaped: bool,
    levels: Vec<Level>,
    /// The ends of the keys of all open objects in `names`.
    keys: Vec<usize>,
    names: String,
    /// The keys of objects with many keys, each with the number of its level.
    many: BTreeSet<(usize, String)>,
    /// The comma, the key and the blanks around them that are held.
    held: String,
    /// The bytes of the held text before the key.
    key_from: usize,
    /// Whether text after a comma is held.
    holds: bool,
    /// Number of levels that are open around a member that is being dropped.
    dropping: Option<usize>,
    /// Whether the names are longer than the limit, so that not all keys were compared.
    overflowed: bool,
    /// Whether a member was dropped.
    dropped: bool,
    /// Maximum length of a key in bytes, as it is written.
    max_key: usize,
    /// Length of the open key so far, with blanks. A longer key than allowed is not compared.
    key_len: usize,
    /// Stream offset of the call.
    call_at: u64,
    /// Whether the call is malformed, so that no more of its arguments are emitted.
    broken: bool,
}

impl UniqueKeys {
    /// Prepares the filter for a call at stream offset `call_at`, whose keys have at most `max_key`
    /// bytes. The memory of buffers is kept.
    pub(crate) fn begin(&mut self, call_at: u64, max_key: usize) {
        self.end();
        (self.call_at, self.max_key) = (call_at, max_key);
    }

    /// Returns the stream offset of the call.
    pub(crate) fn call_at(&self) -> u64 {
        self.call_at
    }

    /// Marks the call as malformed. No more of its arguments are emitted.
    pub(crate) fn set_broken(&mut self) {
        self.broken = true;
    }

    /// Returns whether the call was marked as malformed.
    pub(crate) fn is_broken(&self) -> bool {
        self.broken
    }

    /// Ends the call, and forgets its keys.
    pub(crate) fn end(&mut self) {
        let Self { levels, keys, names, held, .. } = self;
        levels.clear();
        keys.clear();
        names.clear();
        held.clear();
        self.many.clear();
        (self.at, self.escaped, self.holds, self.dropping) = (KeysAt::Value, false, false, None);
        (self.overflowed, self.dropped, self.broken) = (false, false, false);
        self.key_len = 0;
    }

    /// Returns the number of bytes of the held key and of the text around it.
    pub(crate) fn held(&self) -> usize {
        self.held.len()
    }

    /// Returns the number of bytes of the held key alone, with its quotes.
    pub(crate) fn held_key(&self) -> usize {
        match self.at {
            KeysAt::Key | KeysAt::AfterKey if self.holds => {
                self.held.len().saturating_add(1).saturating_sub(self.key_from)
            }
            _ => 0,
        }
    }

    /// Returns the number of bytes in buffers.
    pub(crate) fn buffered(&self) -> usize {
        self.held.len().saturating_add(self.names.len())
    }

    /// Returns whether a member was dropped.
    pub(crate) fn has_dropped(&self) -> bool {
        self.dropped
    }

    /// Returns whether the call has more names than can be compared.
    pub(crate) fn has_overflowed(&self) -> bool {
        self.overflowed
    }

    /// Returns whether text of a string, without quotes and escapes, passes unchanged.
    #[inline]
    pub(crate) fn passes(&self) -> bool {
        self.at == KeysAt::Text && !self.escaped && self.dropping.is_none()
    }

    /// Emits what is held, because the text ends here.
    pub(crate) fn flush(&mut self, out: &mut dyn FnMut(&str)) {
        if !self.held.is_empty() {
            out(&self.held);
            self.held.clear();
        }
    }

    /// Filters the next piece of the text. Returns whether a member began to be dropped in it.
    pub(crate) fn feed(&mut self, text: &str, out: &mut dyn FnMut(&str)) -> bool {
        if self.passes() && is_plain(text) {
            out(text);
            return false;
        }
        let out = &mut |piece: &str| {
            if !piece.is_empty() {
                out(piece);
            }
        };
        let bytes = text.as_bytes();
        // Text from `from` on was neither emitted nor held.
        let (mut from, mut i, mut began) = (0, 0, false);
        while let Some(&byte) = bytes.get(i) {
            let next = i.saturating_add(1);
            match self.at {
                KeysAt::Text | KeysAt::Key => {
                    if self.escaped {
                        self.escaped = false;
                        // An escaped character may have several bytes.
                        self.count(1);
                        i = next;
                        continue;
                    }
                    let rest = bytes.get(i..).unwrap_or_default();
                    let stop = memchr::memchr2(b'"', b'\\', rest);
                    self.count(stop.unwrap_or(rest.len()));
                    let Some(stop) = stop else { break };
                    i = i.saturating_add(stop).saturating_add(1);
                    match rest.get(stop) {
                        Some(b'\\') => {
                            self.count(1);
                            self.escaped = true;
                        }
                        _ if self.at == KeysAt::Text => self.at = KeysAt::Value,
                        _ => self.at = KeysAt::AfterKey,
                    }
                    continue;
                }
                KeysAt::BeforeKey if byte == b'"' && self.dropping.is_none() => {
                    self.at = KeysAt::Key;
                    self.key_from = self.held.len().saturating_add(next.saturating_sub(from));
                    if !self.holds {
                        // The first key of an object is new, so it is emitted at once.
                        out(text.get(from..next).unwrap_or_default());
                        (from, self.key_from) = (next, self.names.len());
                    }
                }
                KeysAt::BeforeKey if byte == b'"' => self.at = KeysAt::Text,
                KeysAt::AfterKey if byte == b':' => {
                    let piece = text.get(from..i).unwrap_or_default();
                    from = i;
                    self.at = KeysAt::Value;
                    if self.is_new(piece, out) {
                        self.flush(out);
                    } else {
                        self.held.clear();
                        self.dropping = Some(self.levels.len());
                        (self.dropped, began) = (true, true);
                    }
                    (self.holds, self.key_len) = (false, 0);
                }
                // Blanks around a key are held with it.
                KeysAt::AfterKey => self.count(1),
                KeysAt::BeforeKey if self.holds && byte.is_ascii_whitespace() => self.count(1),
                _ => match byte {
                    b'"' => self.at = KeysAt::Text,
                    b'{' | b'[' => {
                        let object = byte == b'{';
                        self.levels.push(Level { object, first: self.keys.len() });
                        self.at = if object { KeysAt::BeforeKey } else { KeysAt::Value };
                    }
                    b'}' | b']' => {
                        from = self.resume(from, i);
                        self.close();
                        self.at = KeysAt::Value;
                    }
                    b',' => {
                        from = self.resume(from, i);
                        if self.levels.last().is_some_and(|level| level.object) {
                            self.at = KeysAt::BeforeKey;
                            if self.dropping.is_none() {
                                out(text.get(from..i).unwrap_or_default());
                                (from, self.holds) = (i, true);
                            }
                        }
                    }
                    _ => {}
                },
            }
            i = next;
        }
        let rest = text.get(from..).unwrap_or_default();
        match (self.dropping, self.at) {
            (Some(_), _) => {}
            (None, KeysAt::Key | KeysAt::AfterKey) if !self.holds => {
                // The name of a first key is kept for comparison.
                self.keep(rest);
                out(rest);
            }
            _ if self.holds => {
                self.held.push_str(rest);
                if self.is_too_long() {
                    self.holds = false;
                    self.flush(out);
                }
            }
            _ => out(rest),
        }
        began
    }

    /// Ends the member that is being dropped, if index `at` of the text is after it. Returns the
    /// index from which text counts.
    fn resume(&mut self, from: usize, at: usize) -> usize {
        if self.dropping == Some(self.levels.len()) {
            self.dropping = None;
            return at;
        }
        from
    }

    /// Counts bytes of the open key. The limit falls on the same byte at every cut.
    fn count(&mut self, bytes: usize) {
        if self.at != KeysAt::Text {
            self.key_len = self.key_len.saturating_add(bytes);
            self.overflowed |= self.is_too_long();
        }
    }

    /// Returns whether the open key is too long to be compared.
    fn is_too_long(&self) -> bool {
        self.key_len > self.max_key
    }

    /// Keeps a part of a first key's name.
    fn keep(&mut self, piece: &str) {
        if self.is_too_long() {
            self.names.truncate(self.start_of(self.keys.len()));
        } else {
            self.names.push_str(piece);
        }
    }

    fn close(&mut self) {
        let Some(level) = self.levels.pop() else { return };
        let start = self.start_of(level.first);
        self.keys.truncate(level.first);
        self.names.truncate(start);
        if !self.many.is_empty() {
            let depth = self.levels.len();
            self.many.retain(|(level, _)| *level < depth);
        }
    }

    /// Returns the start of key number `n` in the names.
    fn start_of(&self, n: usize) -> usize {
        let before = n.checked_sub(1).and_then(|before| self.keys.get(before));
        before.copied().unwrap_or(0)
    }

    /// Completes the key, whose last part is in `piece`. Returns whether the object did not have it
    /// yet. The text before a colon is emitted or held.
    fn is_new(&mut self, piece: &str, out: &mut dyn FnMut(&str)) -> bool {
        let depth = self.levels.len().saturating_sub(1);
        let first = self.levels.last().map_or(0, |level| level.first);
        let raw = if self.holds {
            self.held.push_str(piece);
            String::from(self.held.get(self.key_from..).unwrap_or_default())
        } else {
            out(piece);
            self.keep(piece);
            let start = self.start_of(self.keys.len());
            let raw = String::from(self.names.get(start..).unwrap_or_default());
            self.names.truncate(start);
            raw
        };
        if self.is_too_long() {
            return true;
        }
        let raw = raw.rsplit_once('"').map_or("", |(name, _)| name);
        let name = decoded(raw);
        let count = self.keys.len().saturating_sub(first);
        let known = match count > FEW {
            true => self.many.contains(&(depth, String::from(&*name))),
            false => (first..self.keys.len()).any(|n| {
                let end = self.keys.get(n).copied().unwrap_or(0);
                self.names.get(self.start_of(n)..end) == Some(&*name)
            }),
        };
        if known {
            return false;
        }
        if name.len() > self.max_key
            || self.names.len().saturating_add(name.len()) > MAX_MEMBER_NAMES
        {
            self.overflowed = true;
            return true;
        }
        self.names.push_str(&name);
        self.keys.push(self.names.len());
        if count == FEW {
            for n in first..self.keys.len() {
                let end = self.keys.get(n).copied().unwrap_or(0);
                let name = self.names.get(self.start_of(n)..end).unwrap_or_default();
                self.many.insert((depth, String::from(name)));
            }
        } else if count > FEW {
            self.many.insert((depth, name.into_owned()));
        }
        true
    }
}

/// Returns the text of a JSON string without its quotes.
fn decoded(raw: &str) -> Cow<'_, str> {
    if !raw.contains('\\') {
        return Cow::Borrowed(raw);
    }
    let (mut text, mut rest) = (String::new(), raw);
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        text.push_str(before);
        let len = match unescape(escape.as_bytes(), Flavor::Json) {
            Escape::Is(scalar, len) => {
                text.push(scalar);
                len
            }
            // A lone surrogate stays as it is written.
            _ => {
                text.push('\\');
                1
            }
        };
        rest = escape.get(len..).unwrap_or_default();
    }
    text.push_str(rest);
    Cow::Owned(text)
}
