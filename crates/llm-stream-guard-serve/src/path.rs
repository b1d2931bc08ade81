//! Normalizes the paths of requests.

/// Returns the normal form of `path`, as upstream resolves it. Percent-encoding is decoded once,
/// repeated slashes, `.` and `..` are resolved, and final slashes are removed.
pub(crate) fn canonical(path: &str) -> String {
    let decoded = decode(path);
    let mut segments: Vec<&str> = Vec::new();
    for segment in decoded.split('/') {
        match segment {
            "" | "." => {}
            ".." => drop(segments.pop()),
            segment => segments.push(segment),
        }
    }
    format!("/{}", segments.join("/"))
}

fn decode(path: &str) -> String {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let Some((&byte, more)) = rest.split_first() {
        let code = more.split_at_checked(2).filter(|_| byte == b'%');
        let digits = code.and_then(|(digits, _)| std::str::from_utf8(digits).ok());
        let digits = digits.filter(|it| it.bytes().all(|byte| byte.is_ascii_hexdigit()));
        match (digits.and_then(|it| u8::from_str_radix(it, 16).ok()), code) {
            (Some(decoded), Some((_, behind))) => {
                bytes.push(decoded);
                rest = behind;
            }
            _ => {
                bytes.push(byte);
                rest = more;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::canonical;

    #[test]
    fn path_spellings_are_canonicalized() {
        for path in [
            "/v1/chat/completions",
            "/v1//chat/completions",
            "//v1/chat/completions/",
            "/v1/chat/completions//",
            "/v1/./chat/x/../completions",
            "/v1/ch%61t/completions",
            "/v1%2Fchat%2fcompletions",
            "/../v1/chat/completions",
        ] {
            assert_eq!(canonical(path), "/v1/chat/completions", "{path}");
        }
        for (path, expected) in [
            ("/", "/"),
            ("", "/"),
            ("*", "/*"),
            ("/a%", "/a%"),
            ("/a%zz", "/a%zz"),
            ("/%2561", "/%61"),
        ] {
            assert_eq!(canonical(path), expected, "{path}");
        }
    }
}
