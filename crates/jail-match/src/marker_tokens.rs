//! Marker tokens: markers that a tokenizer writes as one token.
//!
//! In text, such a token looks like typed text that spells it. To distinguish them, a marker token
//! is fed to a machine with its first four bytes replaced by a reserved scalar. The length, and
//! with it every offset, stays the same. A table whose markers are respelled in the same way finds
//! marker tokens only:
//!
//! ```text
//! marker token   <tool_call>     is fed as   ␣_call>      (␣: four bytes, a reserved scalar)
//! typed text     <tool_call>     is fed as   <tool_call>  and matches no marker
//! ```

use alloc::{boxed::Box, collections::BTreeSet, string::String, sync::Arc};

/// The first reserved scalar. All reserved scalars begin with the same byte, which is the rarest in
/// text.
const FIRST_RESERVED: u32 = 0x10_F000;
/// The scalar that announces the substitute of a reserved scalar that occurred in the text.
const ESCAPE: char = '\u{10FFFD}';
/// The distance of substitutes from the reserved scalars they replace: one plane of Unicode.
const PLANE: u32 = 0x1_0000;
/// The number of bytes of a marker that its reserved scalar replaces.
const HEAD_BYTES: usize = 4;
/// The first byte of every reserved scalar.
pub(crate) const RESERVED_LEAD: u8 = 0xF4;
/// A word with 1 in each byte.
const ONES: u64 = u64::MAX / 255;

/// Returns whether `text` may contain a scalar that is reserved for marker tokens. Most texts do
/// not, and a token of usual length takes a few instructions.
///
/// ```
/// use jail_match::may_have_reserved;
/// assert!(!may_have_reserved("a token"));
/// assert!(may_have_reserved("\u{10FFFD}"));
/// ```
#[must_use]
#[inline]
pub fn may_have_reserved(text: &str) -> bool {
    let bytes = text.as_bytes();
    // The first and the last bytes overlap in a short text.
    if let (Some(first), Some(last)) = (bytes.first_chunk::<8>(), bytes.last_chunk::<8>()) {
        return match bytes.len() {
            ..=16 => has_lead(u64::from_le_bytes(*first)) || has_lead(u64::from_le_bytes(*last)),
            _ => memchr::memchr(RESERVED_LEAD, bytes).is_some(),
        };
    }
    if let (Some(first), Some(last)) = (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        let [first, last] = [*first, *last].map(|four| u64::from(u32::from_le_bytes(four)));
        return has_lead(first << 32 | last);
    }
    bytes.contains(&RESERVED_LEAD)
}

/// Returns whether a byte of the word is [`RESERVED_LEAD`].
const fn has_lead(word: u64) -> bool {
    // A byte is 0 where it is equal, and only then the subtraction borrows first.
    let differs = word ^ (ONES * RESERVED_LEAD as u64);
    differs.wrapping_sub(ONES) & !differs & (ONES << 7) != 0
}

/// Returns whether `scalar` is reserved for marker tokens.
#[must_use]
pub const fn is_reserved(scalar: char) -> bool {
    scalar as u32 >= FIRST_RESERVED && scalar as u32 <= ESCAPE as u32
}

/// The meaning of a reserved scalar in the output of a machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reserved<'m> {
    /// The first bytes of a marker, as text and as part of a JSON string. The rest of the marker
    /// follows in the output.
    Head(&'m str, &'m str),
    /// The scalar after this one is a substitute: see [`unescape_reserved`].
    Escape,
}

/// Markers that are single tokens of a tokenizer, each with the text it is fed as.
///
/// Members have at least four bytes, with a boundary of scalars after the fourth. The markers of
/// all known tokenizers have this form.
///
/// ```
/// use jail_match::MarkerTokens;
/// let literals = ["<tool_call>\n", "\n</tool_call>"];
/// let tokens = MarkerTokens::used(["<tool_call>", "</tool_call>", "<pad>"], literals);
/// assert!(tokens.fed("<tool_call>").is_some());
/// assert!(tokens.fed("<pad>").is_none());
/// let fed = tokens.respell("\n</tool_call>").unwrap_or_default();
/// assert_eq!((fed.len(), fed.starts_with('\n')), (13, true));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MarkerTokens {
    members: Arc<[Member]>,
}

#[derive(Debug, PartialEq, Eq)]
struct Member {
    text: Box<str>,
    /// The text with a reserved scalar in the place of its first four bytes.
    fed: Box<str>,
    /// The first four bytes, escaped for a JSON string.
    escaped: Box<str>,
}

impl MarkerTokens {
    /// Creates the set of those `tokens` that occur in one of `literals`.
    ///
    /// Of tokens that overlap in a literal the leftmost counts, and of those that begin at one
    /// place the longest. Tokenizers read text in the same way.
    pub fn used<'t>(
        tokens: impl IntoIterator<Item = &'t str>,
        literals: impl IntoIterator<Item = impl AsRef<str>>,
    ) -> Self {
        let fits = |token: &&str| token.len() >= HEAD_BYTES && token.is_char_boundary(HEAD_BYTES);
        let tokens = tokens.into_iter().filter(fits);
        let tokens: BTreeSet<&str> = tokens.filter(|token| !token.trim().is_empty()).collect();
        let mut used: BTreeSet<&str> = BTreeSet::new();
        for literal in literals {
            let find = |text: &str| tokens.get(text).copied();
            each_piece(literal.as_ref(), find, |piece| {
                used.extend(piece.err());
            });
        }
        let scalars = (FIRST_RESERVED..u32::from(ESCAPE)).filter_map(char::from_u32);
        let members = used.into_iter().zip(scalars).map(|(text, scalar)| {
            let mut fed = String::from(scalar);
            fed.push_str(&text[HEAD_BYTES..]);
            let escaped = escaped(&text[..HEAD_BYTES]).into();
            Member { text: text.into(), fed: fed.into(), escaped }
        });
        Self { members: members.collect() }
    }

    /// Returns whether the set is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// Returns the texts of the members.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.members.iter().map(|member| &*member.text)
    }

    fn find(&self, text: &str) -> Option<&Member> {
        let at = self.members.binary_search_by(|member| (*member.text).cmp(text));
        at.ok().and_then(|at| self.members.get(at))
    }

    /// Returns the text to feed for the marker token `text`, or `None` if it is not a member.
    #[must_use]
    pub fn fed(&self, text: &str) -> Option<&str> {
        self.find(text).map(|member| &*member.fed)
    }

    /// Returns whether `literal` begins with a member.
    #[must_use]
    pub fn leads(&self, literal: &str) -> bool {
        self.members.iter().any(|member| literal.starts_with(&*member.text))
    }

    /// Returns `literal` with each member in it respelled, or `None` if it contains none.
    #[must_use]
    pub fn respell(&self, literal: &str) -> Option<String> {
        let (mut out, mut found) = (String::with_capacity(literal.len()), false);
        each_piece(
            literal,
            |text| self.find(text),
            |piece| match piece {
                Ok(scalar) => out.push(scalar),
                Err(member) => {
                    out.push_str(&member.fed);
                    found = true;
                }
            },
        );
        found.then_some(out)
    }

    /// Returns the meaning of `scalar` in the output of a machine that was fed marker tokens, or
    /// `None` for an ordinary scalar.
    #[must_use]
    pub fn reserved(&self, scalar: char) -> Option<Reserved<'_>> {
        if scalar == ESCAPE {
            return Some(Reserved::Escape);
        }
        let at = u32::from(scalar).checked_sub(FIRST_RESERVED)?;
        let member = self.members.get(usize::try_from(at).ok()?)?;
        Some(Reserved::Head(member.text.get(..HEAD_BYTES)?, &member.escaped))
    }
}

/// Returns the two scalars to feed for a reserved scalar in ordinary text. They match no marker.
#[must_use]
pub fn escape_reserved(scalar: char) -> [char; 2] {
    [ESCAPE, char::from_u32(u32::from(scalar).saturating_sub(PLANE)).unwrap_or(scalar)]
}

/// Returns the scalar of the text that the substitute `scalar` replaced, or `None` for an ordinary
/// scalar.
#[must_use]
pub fn unescape_reserved(scalar: char) -> Option<char> {
    char::from_u32(u32::from(scalar).saturating_add(PLANE)).filter(|&scalar| is_reserved(scalar))
}

/// Calls `on` with each part of `literal`: `Err` for a token that `find` finds, `Ok` for a scalar
/// between tokens. The leftmost token counts, and of several at one place the longest.
fn each_piece<T>(
    literal: &str,
    find: impl Fn(&str) -> Option<T>,
    mut on: impl FnMut(Result<char, T>),
) {
    let mut rest = literal;
    while let Some(first) = rest.chars().next() {
        let mut ends = (HEAD_BYTES..=rest.len()).rev().filter(|&end| rest.is_char_boundary(end));
        let token = ends.find_map(|end| find(&rest[..end]).map(|token| (token, end)));
        let len = token.as_ref().map_or(first.len_utf8(), |(_, end)| *end);
        on(token.map_or(Ok(first), |(token, _)| Err(token)));
        rest = &rest[len..];
    }
}

/// Returns the text escaped for a JSON string.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for scalar in text.chars() {
        match scalar {
            '"' | '\\' => out.extend(['\\', scalar]),
            '\u{0}'..='\u{1f}' => {
                let digit = |n: u32| char::from_digit(n, 16).unwrap_or('0');
                out.push_str("\\u00");
                out.extend([digit(u32::from(scalar) >> 4), digit(u32::from(scalar) & 15)]);
            }
            _ => out.push(scalar),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use alloc::{string::String, vec::Vec};

    use super::{
        MarkerTokens, Reserved, escape_reserved, is_reserved, may_have_reserved, unescape_reserved,
    };

    #[test]
    fn reserved_scalar_is_seen_at_every_place_of_texts_of_every_length() {
        for len in 0..40 {
            // Bytes next to the first byte of reserved scalars.
            for text in ["x".repeat(len), "\u{F3FFF}".repeat(len / 4)] {
                assert!(!may_have_reserved(&text), "{text:?}");
                for at in (0..=text.len()).filter(|&at| text.is_char_boundary(at)) {
                    let with = [&text[..at], "\u{10F000}", &text[at..]].concat();
                    assert!(may_have_reserved(&with), "{with:?}");
                }
            }
        }
    }

    #[test]
    fn longest_of_tokens_with_a_common_prefix_is_used() {
        let tokens = MarkerTokens::used(["<tool", "<tool_call>", "_call"], ["<tool_call> <tool"]);
        assert_eq!(tokens.texts().collect::<Vec<_>>(), ["<tool", "<tool_call>"]);
        let fed = tokens.respell("a<tool_call>b<tool").expect("it holds two");
        assert_eq!(fed.chars().filter(|&scalar| is_reserved(scalar)).count(), 2);
        assert_eq!(fed.len(), "a<tool_call>b<tool".len());
        assert_eq!(tokens.respell("_call> < tool"), None);
    }

    #[test]
    fn short_and_blank_tokens_are_text() {
        let tokens = MarkerTokens::used(["[", "<s>", "    ", "é<xy"], ["[<s>    é<xy"]);
        assert_eq!(tokens.texts().collect::<Vec<_>>(), ["é<xy"]);
        assert!(MarkerTokens::used(["ab日本"], ["ab日本"]).is_empty());
    }

    #[test]
    fn marker_token_prefixes_are_escaped_inside_json_strings() {
        let tokens = MarkerTokens::used(["<|\"|>", "\\\u{1}ab>"], ["<|\"|>\\\u{1}ab>"]);
        let heads: Vec<_> = tokens
            .texts()
            .filter_map(|text| tokens.fed(text)?.chars().next())
            .filter_map(|scalar| tokens.reserved(scalar))
            .collect();
        let head = |text, escaped| Reserved::Head(text, escaped);
        assert_eq!(heads, [head("<|\"|", "<|\\\"|"), head("\\\u{1}ab", "\\\\\\u0001ab")]);
    }

    #[test]
    fn every_reserved_scalar_is_escaped_and_restored() {
        for scalar in '\u{10F000}'..='\u{10FFFD}' {
            let [escape, other] = escape_reserved(scalar);
            assert_eq!(MarkerTokens::default().reserved(escape), Some(Reserved::Escape));
            assert!(!is_reserved(other));
            assert_eq!(unescape_reserved(other), Some(scalar));
        }
        assert_eq!(unescape_reserved('a'), None);
        let _: String = escape_reserved('\u{10F000}').into_iter().collect();
    }
}
