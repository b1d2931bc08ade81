//! Reasons why a region has no value.

/// The reason why the text of a region is malformed. The message lacks the region, and the stream
/// continues.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Malformed {
    /// The text is not JSON.
    Json,
    /// The text of a JSON dialect is not JSON after its keys and strings were rewritten.
    Dialect,
    /// The text has U+0001 or U+0002, which a dialect with delimited strings must not have.
    Sentinel,
    /// The text is not an integer.
    Int,
    /// The text is not a number.
    Float,
    /// The text is not a list of calls.
    CallList,
    /// A tag does not have a key.
    TagKey,
    /// A tag has no value, but its value must be parsed.
    TagValue,
    /// A placeholder refers to a group that took no part in the match.
    UndefinedPlaceholder,
    /// A placeholder refers to a member that does not exist.
    PlaceholderPath,
    /// The content is not a list, but the transform applies to each item of one.
    NotAList,
    /// An item of the list is not an object.
    ItemNotAnObject,
    /// A value that must be joined is not a string.
    NotAString,
    /// A tag is not closed, and closers inside the tag do not count.
    TagUnclosed,
    /// The region is longer than the limit of regions.
    Limit,
}

impl Malformed {
    /// Returns a short, stable name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Json => "malformed_json",
            Self::Dialect => "malformed_json_dialect",
            Self::Sentinel => "sentinel_in_input",
            Self::Int => "malformed_int",
            Self::Float => "malformed_float",
            Self::CallList => "malformed_call_list",
            Self::TagKey => "tag_without_key",
            Self::TagValue => "tag_without_value",
            Self::UndefinedPlaceholder => "placeholder_undefined",
            Self::PlaceholderPath => "placeholder_missing_key",
            Self::NotAList => "each_not_a_list",
            Self::ItemNotAnObject => "each_item_not_an_object",
            Self::NotAString => "join_not_a_string",
            Self::TagUnclosed => "tag_unclosed",
            Self::Limit => "region_limit",
        }
    }
}
