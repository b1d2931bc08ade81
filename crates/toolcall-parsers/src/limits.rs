//! Limits without a setting: bounds on held text, nesting and work. Those with a setting are in
//! [`crate::CallLimits`]; `docs/limits.md` names both.

/// Maximum white space at a place where a tag or bracket must follow, in bytes. All of it is held
/// until the tag is certain; after more of it, other text is released.
pub(crate) const MAX_BLANKS: usize = 32;

/// Maximum white space that is held for a tag or the end of a scalar after it, in bytes.
pub(crate) const MAX_GAP: usize = 1024;

/// Maximum length of a call's head with the tag after it, in bytes. All of it is held until it is
/// whole.
pub(crate) const MAX_HEAD: usize = 256;

/// Maximum length of a tag or header beyond its key: attributes, types and blanks, in bytes.
pub(crate) const MAX_SLACK: usize = 256;

/// Maximum name that a tag inside a string is searched for with, in bytes.
pub(crate) const MAX_TAG_NAME: usize = 1024;

/// Maximum text held after an end of the call inside a value, in bytes, until it shows whether the
/// call ended there. A longer text makes that end data.
pub(crate) const MAX_WAIT: usize = 16 * 1024;

/// Maximum distance of the search for the end of a value, in bytes. A longer text without an end is
/// read as a value with a missing end.
pub(crate) const MAX_LOOKAHEAD: usize = 64 * 1024;

/// Maximum bytes that failing searches look at, for each byte of the stream.
pub(crate) const MAX_SEARCHED: u64 = 8;

/// Maximum nesting of arguments, their own object included.
pub(crate) const MAX_DEPTH: usize = 128;

/// Maximum number of surplus closing brackets, with the blanks between them: they are held until an
/// end tag shows that they belong to the call.
pub(crate) const MAX_EXCESS: usize = 32;

/// Maximum number of newlines bound to an opener: more than any model was seen to write in a row.
/// Held ones are looked at again with every chunk.
pub(crate) const MAX_NEWLINES: u8 = 16;

/// Maximum depth of nested wrappers of a call: chat APIs use one or two.
pub(crate) const MAX_WRAPPERS: u8 = 8;

/// Maximum number of words in one part of a message header: a role, a recipient and one more.
pub(crate) const MAX_WORDS: u8 = 3;

/// Maximum number of suffixes of a message's tags: no checkpoint has more.
pub(crate) const MAX_SUFFIXES: u8 = 16;

/// Maximum bytes of remembered ids: thousands of ids as models write them. After more of them, the
/// ids of a message are generated.
pub(crate) const MAX_ID_BYTES: usize = 256 * 1024;

/// Maximum depth of combinators and references that are followed in a schema.
pub(crate) const MAX_SCHEMA_DEPTH: u8 = 16;

/// Maximum number of schemas that are looked at for one parameter.
pub(crate) const MAX_SCHEMAS: u32 = 1024;

/// Maximum length of a model id that is looked up, in bytes: paths into a cache have about 200.
pub(crate) const MAX_MODEL_ID: usize = 512;

/// Maximum number of entries of a list in a family file: compiled entries are compared with each
/// other.
pub(crate) const MAX_ENTRIES: usize = 1000;

/// Maximum number of families in a chain of `like`.
pub(crate) const MAX_LIKE: usize = 3;

/// Maximum nesting of groups in a template: families write an option inside an option, and each
/// level doubles what the reader must keep apart.
pub(crate) const MAX_GROUP_DEPTH: u8 = 2;

/// Maximum number of groups in a template, for the same reason: four times what any family writes.
pub(crate) const MAX_GROUPS: usize = 8;
