//! Classes of characters in the language of templates.

/// Returns whether `c` is white space at the edges of text. Unlike in Unicode, the separators
/// U+001C to U+001F are white space.
pub(crate) fn is_blank(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\x1c'..='\x1f')
}

/// Returns whether `c` is a letter, a mark, a digit or a connector, as in `\w`.
pub(crate) fn is_word(c: char) -> bool {
    // An error means that the Unicode tables are not compiled in.
    regex_syntax::try_is_word_character(c).unwrap_or(c.is_alphanumeric() || c == '_')
}

/// Returns the value of a decimal digit of any script.
pub(crate) fn digit(c: char) -> Option<u8> {
    let c = u32::from(c);
    let after = ZEROS.partition_point(|&zero| zero <= c);
    let digit = c - ZEROS.get(after.checked_sub(1)?)?;
    u8::try_from(digit).ok().filter(|&digit| digit < 10)
}

/// The digit zero of every script. The other nine digits of a script follow it.
const ZEROS: [u32; 77] = [
    0x30, 0x660, 0x6F0, 0x7C0, 0x966, 0x9E6, 0xA66, 0xAE6, 0xB66, 0xBE6, 0xC66, 0xCE6, 0xD66,
    0xDE6, 0xE50, 0xED0, 0xF20, 0x1040, 0x1090, 0x17E0, 0x1810, 0x1946, 0x19D0, 0x1A80, 0x1A90,
    0x1B50, 0x1BB0, 0x1C40, 0x1C50, 0xA620, 0xA8D0, 0xA900, 0xA9D0, 0xA9F0, 0xAA50, 0xABF0, 0xFF10,
    0x104A0, 0x10D30, 0x10D40, 0x11066, 0x110F0, 0x11136, 0x111D0, 0x112F0, 0x11450, 0x114D0,
    0x11650, 0x116C0, 0x116D0, 0x116DA, 0x11730, 0x118E0, 0x11950, 0x11BF0, 0x11C50, 0x11D50,
    0x11DA0, 0x11DE0, 0x11F50, 0x16130, 0x16A60, 0x16AC0, 0x16B50, 0x16D70, 0x1CCF0, 0x1D7CE,
    0x1D7D8, 0x1D7E2, 0x1D7EC, 0x1D7F6, 0x1E140, 0x1E2F0, 0x1E4F0, 0x1E5F1, 0x1E950, 0x1FBF0,
];

#[cfg(test)]
mod tests {
    use super::digit;

    #[test]
    fn digits_of_all_scripts_have_values() {
        assert_eq!(['7', '٣', '９', '𝟮'].map(digit), [Some(7), Some(3), Some(9), Some(2)]);
        assert_eq!(['a', '²', '\0', '\u{10FFFF}'].map(digit), [None; 4]);
    }
}
