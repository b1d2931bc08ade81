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

use alloc::{collections::BTreeSet, string::String, vec::Vec};

use crate::{
    decoded::{decode, emit, string_end},
    limits::MAX_MEMBER_NAMES,
    value::{is_long_and_ends, is_plain},
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
#[derive(Debug, Clone)]
struct Level {
    object: bool,
    /// Index of the level's first key.
    first: usize,
    /// The keys, if there are many.
    many: BTreeSet<String>,
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

    /// Filters the next piece of the text. If a member begins to be dropped in it, returns the number
    /// of bytes before the member's value. The rest of the piece must be fed again.
    pub(crate) fn feed(&mut self, text: &str, out: &mut dyn FnMut(&str)) -> Option<usize> {
        if self.passes() && !is_long_and_ends(text) && is_plain(text) {
            emit(text, out);
            return None;
        }
        // Text from `from` on was neither emitted nor held.
        let (mut from, mut i) = (0, 0);
        while let Some(&byte) = text.as_bytes().get(i) {
            let next = i.saturating_add(1);
            match self.at {
                KeysAt::Text | KeysAt::Key => {
                    let rest = text.get(i..).unwrap_or_default();
                    let (len, closed) = string_end(rest, &mut self.escaped);
                    self.count(len.saturating_sub(closed.into()));
                    i = i.saturating_add(len);
                    self.at = match (closed, self.at) {
                        (false, at) => at,
                        (true, KeysAt::Key) => KeysAt::AfterKey,
                        (true, _) => KeysAt::Value,
                    };
                    continue;
                }
                KeysAt::BeforeKey if byte == b'"' && self.dropping.is_none() => {
                    self.at = KeysAt::Key;
                    if self.holds {
                        let before = next.saturating_sub(from);
                        self.key_from = self.held.len().saturating_add(before);
                    } else {
                        // The first key of an object is new, so it is emitted at once.
                        emit(text.get(from..next).unwrap_or_default(), out);
                        from = next;
                    }
                }
                KeysAt::BeforeKey if byte == b'"' => self.at = KeysAt::Text,
                KeysAt::AfterKey if byte == b':' => {
                    let piece = text.get(from..i).unwrap_or_default();
                    from = i;
                    self.at = KeysAt::Value;
                    let is_new = self.is_new(piece, out);
                    (self.holds, self.key_len) = (false, 0);
                    if !is_new {
                        self.held.clear();
                        (self.dropping, self.dropped) = (Some(self.levels.len()), true);
                        return Some(i);
                    }
                    self.flush(out);
                }
                // Blanks around a key are held with it.
                KeysAt::AfterKey => self.count(1),
                KeysAt::BeforeKey if self.holds && byte.is_ascii_whitespace() => self.count(1),
                _ => match byte {
                    b'"' => self.at = KeysAt::Text,
                    b'{' | b'[' => {
                        let object = byte == b'{';
                        let (first, many) = (self.keys.len(), BTreeSet::new());
                        self.levels.push(Level { object, first, many });
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
                                emit(text.get(from..i).unwrap_or_default(), out);
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
                emit(rest, out);
            }
            _ if self.holds => {
                self.held.push_str(rest);
                if self.is_too_long() {
                    self.holds = false;
                    self.flush(out);
                }
            }
            _ => emit(rest, out),
        }
        None
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
    }

    /// Returns the start of key number `n` in the names.
    fn start_of(&self, n: usize) -> usize {
        let before = n.checked_sub(1).and_then(|before| self.keys.get(before));
        before.copied().unwrap_or(0)
    }

    /// Returns key number `n` of all open objects.
    fn key(&self, n: usize) -> &str {
        let end = self.keys.get(n).copied().unwrap_or(0);
        self.names.get(self.start_of(n)..end).unwrap_or_default()
    }

    /// Completes the key, whose last part is in `piece`. Returns whether the object did not have it
    /// yet. The text before a colon is emitted or held.
    fn is_new(&mut self, piece: &str, out: &mut dyn FnMut(&str)) -> bool {
        let start = self.start_of(self.keys.len());
        if self.holds {
            self.held.push_str(piece);
            self.names.push_str(self.held.get(self.key_from..).unwrap_or_default());
        } else {
            self.keep(piece);
            emit(piece, out);
        }
        if self.is_too_long() {
            self.names.truncate(start);
            return true;
        }
        self.decode_name(start);
        let Some(level) = self.levels.last() else { return true };
        let name = self.names.get(start..).unwrap_or_default();
        let (first, count) = (level.first, self.keys.len().saturating_sub(level.first));
        let known = match count > FEW {
            true => level.many.contains(name),
            false => (first..self.keys.len()).any(|n| self.key(n) == name),
        };
        if known || self.names.len() > MAX_MEMBER_NAMES {
            self.overflowed |= !known;
            self.names.truncate(start);
            return !known;
        }
        self.keys.push(self.names.len());
        let added = match count {
            FEW => first..self.keys.len(),
            count if count > FEW => self.keys.len().saturating_sub(1)..self.keys.len(),
            _ => 0..0,
        };
        let added: Vec<String> = added.map(|n| String::from(self.key(n))).collect();
        if let Some(level) = self.levels.last_mut() {
            level.many.extend(added);
        }
        true
    }

    /// Decodes the name that the names end with, from `start` on, and removes its closing quote.
    fn decode_name(&mut self, start: usize) {
        let raw = self.names.get(start..).unwrap_or_default();
        let end = raw.rfind('"').unwrap_or(raw.len());
        self.names.truncate(start.saturating_add(end));
        let raw = self.names.get(start..).unwrap_or_default();
        if raw.contains('\\') {
            let mut name = String::new();
            if decode(raw, &mut name) == Some(raw.len()) {
                self.names.truncate(start);
                self.names.push_str(&name);
            }
        }
    }
}
