//! Writing text as the inside of a JSON string.

/// Calls `out` with pieces that together are `text` as the inside of a JSON string, quotes not
/// included. Text that needs no escape comes as one slice.
pub(crate) fn escape(text: &str, mut out: impl FnMut(&str)) {
    let mut from = 0;
    for (i, byte) in text.bytes().enumerate() {
        if byte >= 0x20 && byte != b'"' && byte != b'\\' {
            continue;
        }
        if i > from {
            out(&text[from..i]);
        }
        escape_byte(byte, &mut out);
        from = i + 1;
    }
    if text.len() > from {
        out(&text[from..]);
    }
}

/// Writes the escape of a quote, a backslash or a control character.
pub(crate) fn escape_byte(byte: u8, out: &mut impl FnMut(&str)) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    out(match byte {
        b'"' => "\\\"",
        b'\\' => "\\\\",
        b'\n' => "\\n",
        b'\r' => "\\r",
        b'\t' => "\\t",
        0x08 => "\\b",
        0x0C => "\\f",
        _ => {
            let code =
                [b'\\', b'u', b'0', b'0', HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]];
            return out(core::str::from_utf8(&code).unwrap_or(""));
        }
    });
}
