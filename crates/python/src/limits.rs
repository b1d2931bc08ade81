//! Limits without a setting: bounds on the objects that Python programs hand over.

/// Maximum depth of an object that is read as JSON: that of the parser of JSON text.
pub(crate) const MAX_JSON_DEPTH: usize = 127;

/// Maximum number of values of an object that is read as JSON. An object that holds itself twice
/// has more values than memory.
pub(crate) const MAX_JSON_VALUES: usize = 4 << 20;
