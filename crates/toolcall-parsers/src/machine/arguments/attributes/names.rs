//! The texts that a hole of a header admits.

/// A class of admitted texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Names {
    /// A tool's name: no inner blanks, brackets or quotes. A special token (`<|…|>`) may follow,
    /// which is not part of the name.
    Tool,
    /// Any text on one line without `<`.
    Line,
    /// A flag: `true` or `false`.
    Flag,
}

impl Names {
    /// Returns whether `next` may follow `text`. `token` is set if `text` contains a `<`.
    pub(super) fn admits(self, text: &str, token: bool, next: char) -> bool {
        if self == Self::Flag {
            let rest = |word: &str| word.strip_prefix(text)?.chars().next();
            return ["true", "false"].into_iter().any(|word| rest(word) == Some(next));
        }
        if next.is_ascii_whitespace() {
            return true;
        }
        let last = text.bytes().next_back();
        let odd = next.is_control() || next == '<' || jail_match::is_reserved(next);
        match self {
            Self::Line | Self::Flag => !odd && !matches!(last, Some(b'\n' | b'\r')),
            Self::Tool if token || next == '<' => goes_on_as_token(text, next),
            Self::Tool => {
                let blank = last.is_some_and(|last| last.is_ascii_whitespace());
                let odd = odd || matches!(next, '{' | '}' | '[' | ']' | '>' | '"' | '\'');
                !odd && (!blank || text.trim_ascii().is_empty())
            }
        }
    }
}

/// Returns whether `text` followed by `next` ends with a special token, or the start of one.
fn goes_on_as_token(text: &str, next: char) -> bool {
    let Some((_, token)) = text.split_once('<') else { return true };
    let closed = token.len() > 1 && token.ends_with('|');
    let word = next == '_' || next.is_ascii_alphanumeric();
    match next {
        _ if token.ends_with('>') => false,
        '>' => closed,
        _ => !closed && (next == '|' || word && token.starts_with('|')),
    }
}
