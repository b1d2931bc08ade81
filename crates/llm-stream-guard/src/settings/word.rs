//! Settings that are one of several words.

use std::str::FromStr;

use jail_match::{End, Whitespace};
use serde::{Deserialize, Deserializer, de::Error as _};
use think_filter::Start;
use toolcall_parsers::{ArgumentTypes, CallsInCode, Ids, UnknownName};

use crate::guard::Delivery;

/// A type whose values have names, which its `FromStr` reads.
///
/// ```
/// use llm_stream_guard::{Start, Word};
/// assert_eq!(Start::WORDS, ["content", "reasoning"]);
/// ```
pub trait Word: FromStr<Err = UnknownName> {
    /// The names of all values.
    const WORDS: &'static [&'static str];
}

impl Word for ArgumentTypes {
    const WORDS: &'static [&'static str] = &["written", "declared"];
}

impl Word for CallsInCode {
    const WORDS: &'static [&'static str] = &["run", "text"];
}

impl Word for Delivery {
    const WORDS: &'static [&'static str] = &["streaming", "atomic"];
}

impl Word for End {
    const WORDS: &'static [&'static str] = &["stop", "length", "aborted"];
}

impl Word for Ids {
    const WORDS: &'static [&'static str] = &["unique", "counting"];
}

impl Word for Start {
    const WORDS: &'static [&'static str] = &["content", "reasoning"];
}

impl Word for Whitespace {
    const WORDS: &'static [&'static str] =
        &["framing", "verbatim", "trim", "before_calls", "reasoning_end"];
}

/// Reads the word of a setting. The error lists all words.
pub(super) fn read<'de, D: Deserializer<'de>, T: Word>(from: D) -> Result<Option<T>, D::Error> {
    let Some(text) = Option::<String>::deserialize(from)? else { return Ok(None) };
    let expected = || {
        let words: Vec<_> = T::WORDS.iter().map(|word| format!("`{word}`")).collect();
        D::Error::custom(format!("expected one of {}, found `{text}`", words.join(", ")))
    };
    text.parse().map(Some).map_err(|_| expected())
}

#[cfg(test)]
mod tests {
    use std::fmt::Debug;

    use super::{ArgumentTypes, CallsInCode, Delivery, End, Ids, Start, Whitespace, Word};

    fn values<T: Word + Debug>() -> Vec<String> {
        T::WORDS.iter().map(|word| format!("{:?}", word.parse::<T>().unwrap())).collect()
    }

    #[test]
    fn every_word_is_read_as_another_value() {
        for mut values in [
            values::<ArgumentTypes>(),
            values::<CallsInCode>(),
            values::<Delivery>(),
            values::<End>(),
            values::<Ids>(),
            values::<Start>(),
            values::<Whitespace>(),
        ] {
            let count = values.len();
            values.sort();
            values.dedup();
            assert_eq!(values.len(), count, "{values:?}");
        }
    }
}
