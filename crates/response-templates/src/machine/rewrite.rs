//! A dialect of JSON as plain JSON, while it arrives.

use alloc::string::String;
use core::mem;

use crate::{chars::is_word, json::escaped, template::Dialect};

/// Rewrites the text of a region: bare names get quotes, and what stands between the dialect's own
/// delimiters becomes a string of JSON.
///
/// As long as delimiters come in pairs the result is that of [`crate::content`], which looks for
/// each pair in the whole text; where the last one is not closed, what comes out is no JSON.
#[derive(Debug, Clone, Default)]
pub(super) struct Rewriter {
    keys: bool,
    delimiters: Option<(String, String)>,
    /// Whether what is read stands between delimiters.
    inside: bool,
    /// What may be the start of a delimiter.
    tail: String,
    /// Whether only characters of a word came since a brace or a comma, and these.
    in_key: bool,
    key: String,
    /// The JSON so far.
    pub(super) json: String,
}

impl Rewriter {
    /// Whether the dialect can be rewritten on the way: delimiters of several kinds are looked for
    /// one after the other in the whole text.
    pub(super) fn knows(dialect: &Dialect) -> bool {
        dialect.delimiters.len() <= 1
    }

    /// `None`: the dialect writes plain JSON.
    pub(super) fn new(dialect: &Dialect) -> Option<Self> {
        let Dialect { unquoted_keys, delimiters, .. } = dialect;
        let (keys, delimiters) = (*unquoted_keys, delimiters.first().cloned());
        (keys || delimiters.is_some()).then(|| Self { keys, delimiters, ..Self::default() })
    }

    /// How many bytes were read and are not in the JSON.
    pub(super) fn held(&self) -> usize {
        self.tail.len() + self.key.len()
    }

    /// Reads on.
    pub(super) fn read(&mut self, text: &str) {
        let Some((open, close)) = self.delimiters.take() else { return self.plain(text) };
        let mut whole = mem::take(&mut self.tail);
        whole.push_str(text);
        let mut rest = whole.as_str();
        loop {
            let wanted = if self.inside { &close } else { &open };
            let Some((before, behind)) = rest.split_once(wanted.as_str()) else { break };
            self.part(before);
            self.end_key();
            self.json.push('"');
            self.inside = !self.inside;
            rest = behind;
        }
        let wanted = if self.inside { &close } else { &open };
        let (sure, tail) = rest.split_at(rest.len() - begun(rest, wanted));
        self.part(sure);
        let gone = whole.len() - tail.len();
        whole.drain(..gone);
        self.tail = whole;
        self.delimiters = Some((open, close));
    }

    /// The region is over.
    pub(super) fn end(&mut self) {
        let tail = mem::take(&mut self.tail);
        self.part(&tail);
        self.end_key();
    }

    /// Text in which no delimiter stands.
    fn part(&mut self, text: &str) {
        match self.inside {
            // Writing to a string cannot fail.
            true => drop(escaped(text, &mut self.json)),
            false => self.plain(text),
        }
    }

    /// Text between strings.
    fn plain(&mut self, text: &str) {
        if !self.keys {
            return self.json.push_str(text);
        }
        for c in text.chars() {
            if self.in_key && is_word(c) {
                self.key.push(c);
                continue;
            }
            let quote = if c == ':' && !self.key.is_empty() { "\"" } else { "" };
            self.json.push_str(quote);
            self.end_key();
            self.json.push_str(quote);
            self.json.push(c);
            self.in_key = matches!(c, '{' | ',');
        }
    }

    /// Nothing more can belong to a name.
    fn end_key(&mut self) {
        self.json.push_str(&self.key);
        self.key.clear();
        self.in_key = false;
    }
}

/// How many bytes at the end of `text` may begin `wanted`.
fn begun(text: &str, wanted: &str) -> usize {
    let ends = wanted.char_indices().map(|(at, _)| at).rev();
    ends.into_iter().find(|&len| text.ends_with(&wanted[..len])).unwrap_or(0)
}
