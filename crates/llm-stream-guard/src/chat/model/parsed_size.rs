//! An upper bound for the memory of parsed JSON.

/// Number of bytes of a parsed value for each byte of its text, beyond which the value is heavy.
pub(in crate::chat) const HEAVINESS: usize = 8;

/// Returns an upper bound for the memory that the parsed value of a JSON text takes, in bytes.
///
/// ```
/// use llm_stream_guard::chat::parsed_size;
/// assert!(parsed_size("\"some text\"") < 1 << 10);
/// assert!(parsed_size(&"{\"\":0},".repeat(1000)) > 1 << 20);
/// ```
#[must_use]
pub fn parsed_size(json: &str) -> usize {
    /// An object's first node.
    const OBJECT: usize = 896;
    /// A value in a list, or a field, whose place grew to twice what it needs.
    const ENTRY: usize = 256;
    /// A string's length, pointer, capacity, and what its allocation is rounded up to.
    const STRING: usize = 32;

    let (mut size, mut quoted, mut escaped) = (ENTRY, false, false);
    for byte in json.bytes() {
        let more = match byte {
            _ if quoted => 1,
            b'{' => OBJECT,
            b'[' | b',' => ENTRY,
            b'"' => STRING,
            _ => 0,
        };
        size = size.saturating_add(more);
        quoted = if quoted { escaped || byte != b'"' } else { byte == b'"' };
        escaped = quoted && !escaped && byte == b'\\';
    }
    size
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::parsed_size;

    #[test]
    fn size_is_at_least_that_of_the_parsed_value() {
        for (text, least) in [
            (json!({"a": "x".repeat(1000)}).to_string(), 1600),
            (json!(vec![0; 1000]).to_string(), 72_000),
            (json!({"a\"b\\": {}}).to_string(), 1200),
        ] {
            let size = parsed_size(&text);
            assert!((least..least * 4).contains(&size), "{size} {text}");
        }
        assert!(parsed_size(&json!("{[,".repeat(1000)).to_string()) < 5000);
    }
}
