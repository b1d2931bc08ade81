//! Why a region has no value.

/// Why the text of a region is not what its field says. The region is left out; the stream goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Malformed {
    /// It is not JSON.
    Json,
    /// It is not JSON once keys and strings are rewritten.
    Dialect,
    /// It has U+0001 or U+0002, which strings with delimiters must not have.
    Sentinel,
    /// It is no integer.
    Int,
    /// It is no number.
    Float,
    /// A tag has no key.
    TagKey,
    /// A tag has no value, and its value is to be parsed.
    TagValue,
    /// A placeholder stands for a group that matched nothing.
    UndefinedPlaceholder,
    /// A placeholder's path leads nowhere.
    PlaceholderPath,
    /// The content is to be a list.
    NotAList,
    /// An item of the list is to be an object.
    ItemNotAnObject,
    /// A value that is to be joined is no string.
    NotAString,
    /// A tag is not closed, and closers inside of it do not count.
    TagUnclosed,
    /// It outgrew the limit of regions.
    Limit,
}

impl Malformed {
    /// A short, stable name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Json => "malformed_json",
            Self::Dialect => "malformed_json_dialect",
            Self::Sentinel => "sentinel_in_input",
            Self::Int => "malformed_int",
            Self::Float => "malformed_float",
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
