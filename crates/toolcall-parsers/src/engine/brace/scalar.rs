//! Telling early that a bare scalar is a string.

use crate::grammar::Text;

/// Whether `held`, which may be the beginning of a JSON number, word or string, may still be
/// with `next` behind it.
pub(super) fn may_go_on(held: &str, next: char, null_words: &[Text]) -> bool {
    const WORDS: [&str; 3] = ["null", "true", "false"];
    let blank = |byte: u8| byte.is_ascii_whitespace();
    match held.as_bytes() {
        _ if next.is_ascii_whitespace() => true,
        [b'"', ..] => true,
        [] if matches!(next, '"' | '-' | '0'..='9') => true,
        [.., last] if blank(*last) => false,
        [b'-' | b'0'..=b'9', ..] => matches!(next, '0'..='9' | '+' | '-' | '.' | 'e' | 'E'),
        _ => {
            let words = WORDS.into_iter().chain(null_words.iter().map(|word| word.as_ref()));
            let goes_on = |word: &str| word.strip_prefix(held).is_some_and(|w| w.starts_with(next));
            words.into_iter().any(goes_on)
        }
    }
}
