//! Limits of exported grammars: bounds on their size, and on the work of writing and checking them.

/// The maximum length of a parameter's name that no schema declares, in characters.
pub(crate) const MAX_KEY_CHARS: u32 = 64;

/// The maximum depth to which rules refer to each other in a text.
pub(crate) const MAX_RULE_DEPTH: usize = 256;

/// The maximum number of blanks before a line whose level is unknown.
pub(crate) const MAX_INDENT: u32 = 64;

/// The maximum number of references that are followed for one part of a schema.
pub(crate) const MAX_HOPS: usize = 16;

/// The maximum number of nodes of a grammar.
pub(crate) const MAX_GRAMMAR_SIZE: usize = 200_000;

/// The maximum length of a regular expression, in bytes.
pub(crate) const MAX_REGEX_BYTES: usize = 1 << 18;

/// The maximum length of the expression of a terminal in Lark, in bytes.
pub(crate) const MAX_LARK_BYTES: usize = 1 << 20;

/// The maximum nesting of schemas. Values of deeper schemas may be any JSON.
pub(crate) const MAX_SCHEMA_DEPTH: usize = 24;

/// The maximum count of a repetition. llama.cpp refuses more than 2,000.
pub(crate) const MAX_COUNT: u64 = 1_000;

/// The maximum number of schemas that are read for one tool.
pub(crate) const MAX_SCHEMAS: usize = 4_096;

/// The maximum length of a call's id, in characters.
pub(crate) const MAX_ID_CHARS: u32 = 64;

/// The maximum number of bytes of tool names that strings in Python are searched for.
pub(crate) const MAX_HEAD_BYTES: usize = 400;

/// The depth of references between rules at which the sampler takes the shortest way to an end.
pub(crate) const MAX_RANDOM_DEPTH: usize = 5;
