//! Limits without a setting: bounds on the size of templates and values, and on work.

/// The maximum number of members of an object for which a search is faster than a map.
pub(crate) const MAX_SEARCHED: usize = 16;

/// The maximum number of digits of an integer, which is Python's. Longer integers would take other
/// programs quadratic time to convert.
pub(crate) const MAX_DIGITS: usize = 4300;

/// The maximum number of lists and dictionaries around a value of a call list.
pub(crate) const MAX_CALL_LIST_DEPTH: usize = 100;

/// The maximum number of characters of an integer of a call list, the sign included.
pub(crate) const MAX_CALL_LIST_INTEGER_CHARS: usize = 17;

/// The maximum number of characters in a pattern with its repetitions written out.
pub(crate) const MAX_PATTERN_CHARS: usize = 20_000;

/// The maximum number of characters that repetitions may add to a pattern. A search may be at each
/// of these places at once, so this bounds its work for a character.
pub(crate) const MAX_REPEATED: usize = 256;

/// The maximum size of a pattern's automaton in bytes.
pub(crate) const MAX_AUTOMATON_BYTES: usize = 8 << 20;
