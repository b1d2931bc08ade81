//! An upper bound for the memory of parsed JSON.

/// Returns the maximum memory that the value of a JSON text takes, in bytes.
pub(super) fn weight(text: &str) -> usize {
    /// An object's first node.
    const OBJECT: usize = 896;
    /// A value in a list, or a field, whose place grew to twice what it needs.
    const ENTRY: usize = 256;
    /// A string's length, pointer, capacity, and what its allocation is rounded up to.
    const STRING: usize = 32;

    let (mut weight, mut quoted, mut escaped) = (ENTRY, false, false);
    for byte in text.bytes() {
        let more = match byte {
            _ if quoted => 1,
            b'{' => OBJECT,
            b'[' | b',' => ENTRY,
            b'"' => STRING,
            _ => 0,
        };
        weight = weight.saturating_add(more);
        quoted = if quoted { escaped || byte != b'"' } else { byte == b'"' };
        escaped = quoted && !escaped && byte == b'\\';
    }
    weight
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::weight;

    #[test]
    fn weight_is_at_least_the_parsed_size() {
        for (text, least) in [
            (json!({"a": "x".repeat(1000)}).to_string(), 1600),
            (json!(vec![0; 1000]).to_string(), 72_000),
            (json!({"a\"b\\": {}}).to_string(), 1200),
        ] {
            assert!((least..least * 4).contains(&weight(&text)), "{} {text}", weight(&text));
        }
        assert!(weight(&json!("{[,".repeat(1000)).to_string()) < 5000);
    }
}
