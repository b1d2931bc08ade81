//! A check that a filter removes no closer whose opener it showed.

use jail_match::SuffixRule;
use think_filter::{Format, MarkerCase, Piece, Text, ThinkFilter, TokenSuffix};

/// Panics if `filter` removes a closer whose opener it showed. The openers and closers that were
/// shown are counted in all of the content since the last reasoning.
///
/// The filter must not withhold reasoning or limit it.
pub(crate) fn no_closer_of_a_shown_opener_is_removed(
    format: &Format,
    filter: &ThinkFilter,
    text: &str,
) {
    let mut filter = filter.clone();
    let (mut shown, mut removed) = (String::new(), filter.counts().stray_closers);
    for scalar in text.chars() {
        let before = filter.is_reasoning();
        let mut buffer = [0; 4];
        let pushed = filter.push(scalar.encode_utf8(&mut buffer), |piece| {
            if let Piece::Content(text) = piece {
                shown.push_str(text);
            }
        });
        pushed.expect("no error policy");
        let strays = filter.counts().stray_closers;
        if strays > removed {
            let open = open_mentions(format, &shown);
            assert_eq!(open, 0, "{}: a closer is missing after {shown:?} of {text:?}", format.name);
            // The texts before and after a removed closer do not form a tag.
            shown.push('\0');
        }
        removed = strays;
        if !before && filter.is_reasoning() {
            shown.clear();
        }
    }
}

/// Returns the number of openers in `text`, less the closers after them.
fn open_mentions(format: &Format, text: &str) -> u32 {
    let (mut open, mut rest) = (0u32, text);
    while let Some(scalar) = rest.chars().next() {
        let longest =
            |tags: &[Text]| tags.iter().filter_map(|tag| tag_len(format, tag, rest)).max();
        let (opener, closer) = (longest(&format.open), longest(&format.close));
        match (opener, closer) {
            (Some(len), closer) if closer.is_none_or(|other| len >= other) => {
                (open, rest) = (open + 1, &rest[len..]);
            }
            (_, Some(len)) => (open, rest) = (open.saturating_sub(1), &rest[len..]),
            _ => rest = &rest[scalar.len_utf8()..],
        }
    }
    open
}

/// Returns the length of `tag` at the start of `text`, with a suffix if the format allows one.
fn tag_len(format: &Format, tag: &str, text: &str) -> Option<usize> {
    let is_at = |tag: &str, text: &str| {
        let head = text.get(..tag.len());
        head.is_some_and(|head| match format.case {
            MarkerCase::Exact => head == tag,
            MarkerCase::Insensitive => head.eq_ignore_ascii_case(tag),
        })
    };
    if is_at(tag, text) {
        return Some(tag.len());
    }
    let head = tag.strip_suffix('>').filter(|_| format.suffix == TokenSuffix::Any)?;
    let suffix = text.get(head.len()..).filter(|_| is_at(head, text))?.strip_prefix(':')?;
    let word = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_".contains(byte);
    let len = suffix.bytes().take(SuffixRule::MAX_CHARS).take_while(word).count();
    suffix[len..].starts_with('>').then_some(head.len() + len + 2).filter(|_| len > 0)
}
