//! Limits without a setting: bounds on held text, nesting and work. Limits with a setting are in
//! [`crate::CallLimits`]. `docs/limits.md` lists both.

/// Maximum white space before a required tag or bracket, in bytes. The white space is held until
/// the tag is certain.
pub(crate) const MAX_BLANKS: usize = 32;

/// Maximum white space held inside a value, before a tag or the end of a scalar, in bytes.
pub(crate) const MAX_HELD_BLANKS: usize = 1024;

/// Maximum length of a call's head (`name(key=`) with the tag after it, in bytes. The head is held
/// until it is complete.
pub(crate) const MAX_CALL_HEAD: usize = 256;

/// Maximum length of a tag or header without its key, in bytes: attributes, types and blanks.
pub(crate) const MAX_HEADER_EXTRA: usize = 256;

/// Maximum length of a tool's name in a search for a tag inside a string, in bytes.
pub(crate) const MAX_TAG_NAME: usize = 1024;

/// Maximum text held after an end tag inside a value, in bytes. The text shows whether the call
/// ended there. If it is longer, the end tag is data.
pub(crate) const MAX_TEXT_AFTER_END: usize = 16 * 1024;

/// Maximum text held while the end of a value is searched for, in bytes. A longer text is emitted
/// as the value's, and the search goes on.
pub(crate) const MAX_LOOKAHEAD: usize = 64 * 1024;

/// Maximum number of quoted calls, one inside another, whose values are distinguished. Deeper ones are
/// counted only.
pub(crate) const MAX_QUOTED_CALLS: usize = 32;

/// Maximum bytes that failed searches examine, per byte of the stream.
pub(crate) const MAX_SEARCHED_PER_BYTE: u64 = 8;

/// Maximum nesting of arguments, including the outermost object.
pub(crate) const MAX_ARGUMENT_DEPTH: usize = 128;

/// Maximum length of the names of a call's parameters together, in bytes. More names make the call
/// malformed, because a parameter given twice could not be recognised.
pub(crate) const MAX_PARAMETER_NAMES: usize = 64 * 1024;

/// Maximum length of the names of all members of a call's open objects together, in bytes. More
/// names make the call malformed, because a member given twice could not be recognised.
pub(crate) const MAX_MEMBER_NAMES: usize = 1024 * 1024;

/// Maximum length of a word or number that is held because it may have to be mended, in bytes.
pub(crate) const MAX_MENDED_TOKEN: usize = 32;

/// Maximum number of surplus closing brackets after a call, with the blanks between them. They are
/// held until an end tag shows that they belong to the call.
pub(crate) const MAX_SURPLUS_BRACKETS: usize = 32;

/// Maximum number of newlines that belong to an opener. Models write fewer; held newlines are
/// examined again with every chunk.
pub(crate) const MAX_NEWLINES: u8 = 16;

/// Maximum depth of nested wrapper objects around a call. Chat APIs use one or two.
pub(crate) const MAX_WRAPPERS: u8 = 8;

/// Maximum number of words in one part of a message header, such as a role and a recipient.
pub(crate) const MAX_HEADER_WORDS: u8 = 3;

/// Maximum number of different tag suffixes in one message. Checkpoints use one.
pub(crate) const MAX_SUFFIXES: u8 = 16;

/// Maximum bytes of remembered ids: enough for thousands of ids. Later calls of the message get
/// generated ids.
pub(crate) const MAX_ID_BYTES: usize = 256 * 1024;

/// Maximum depth of combinators (`anyOf`) and references that are followed in a schema.
pub(crate) const MAX_SCHEMA_DEPTH: u8 = 16;

/// Maximum number of schemas that are examined for one parameter.
pub(crate) const MAX_SCHEMAS: u32 = 1024;

/// Maximum length of a model id that is looked up, in bytes. Paths of cached models have about 200.
pub(crate) const MAX_MODEL_ID: usize = 512;

/// Maximum number of entries of a list in a family file. Compilation compares each entry with the
/// others.
pub(crate) const MAX_LIST_ENTRIES: usize = 1000;

/// Maximum length of a chain of families that refer to each other with `like`.
pub(crate) const MAX_LIKE_CHAIN: usize = 3;

/// Maximum nesting of groups in a template. Each level doubles the number of readings.
pub(crate) const MAX_GROUP_DEPTH: u8 = 2;

/// Maximum number of groups in a template. Each group doubles the number of readings. Registered
/// families use at most a quarter of it.
pub(crate) const MAX_GROUPS: usize = 8;

/// Maximum number of declared names for which a template that repeats them is written out.
pub(crate) const MAX_NAMED_TEMPLATES: usize = 1000;

/// Maximum length of a text that the proof of a family's file reads at every cut.
pub(crate) const MAX_PROOF_CUT: usize = 512;

/// Maximum number of a family's tags that begin a value in the proof of its file.
pub(crate) const MAX_PROOF_TAGS: usize = 8;

/// Maximum length of a string that may become a number, a boolean or `null`, in bytes.
pub(crate) const MAX_SCALAR_BYTES: usize = 64;
