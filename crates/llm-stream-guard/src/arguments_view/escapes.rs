//! Escapes of JSON strings that a scan has found to be valid.

/// Appends the inside of a string with its escapes resolved. Half of a surrogate pair is U+FFFD.
pub(super) fn unescape_to(inside: &str, string: &mut String) {
    let mut rest = inside;
    while let Some((plain, escape)) = rest.split_once('\\') {
        string.push_str(plain);
        let mut scalars = escape.chars();
        match scalars.next() {
            Some('b') => string.push('\u{8}'),
            Some('f') => string.push('\u{c}'),
            Some('n') => string.push('\n'),
            Some('r') => string.push('\r'),
            Some('t') => string.push('\t'),
            Some('u') => {
                rest = unicode_to(scalars.as_str(), string);
                continue;
            }
            Some(itself) => string.push(itself),
            None => {}
        }
        rest = scalars.as_str();
    }
    string.push_str(rest);
}

/// Appends the scalar of `d83c\udf31` or `00e9`, and returns the text after it.
fn unicode_to<'t>(digits: &'t str, string: &mut String) -> &'t str {
    let unit = |digits: &'t str| {
        let (digits, rest) = digits.split_at_checked(4)?;
        Some((u16::from_str_radix(digits, 16).ok()?, rest))
    };
    let Some((first, rest)) = unit(digits) else { return digits };
    let second = rest.strip_prefix("\\u").and_then(unit);
    let pair = second.filter(|(second, _)| {
        (0xd800..0xdc00).contains(&first) && (0xdc00..0xe000).contains(second)
    });
    let units = [first].into_iter().chain(pair.map(|(second, _)| second));
    string.extend(char::decode_utf16(units).map(|scalar| scalar.unwrap_or('\u{fffd}')));
    pair.map_or(rest, |(_, rest)| rest)
}
