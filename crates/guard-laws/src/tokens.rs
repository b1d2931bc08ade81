//! A guard that reads tokens, as a machine under test.

use std::sync::Arc;

use llm_stream_guard::{End, Grammar, Guard, Ids, Token, TokenKind};
use stream_laws::{ByteMachine, HeldBytes, HeldReason, RunRecord, StreamMachine};

use crate::{GuardMachine, Recorder};

/// A guard with the places of the marker tokens in the model's text.
///
/// The text may be cut anywhere. Text is fed as it is cut, and marker tokens are fed whole.
#[derive(Debug, Clone)]
pub struct TokenMachine {
    machine: GuardMachine,
    /// Offset and length of each marker token.
    markers: Arc<[(usize, usize)]>,
    /// The number of marker tokens that were fed.
    fed: usize,
    /// Offset of the next byte.
    at: usize,
    /// The bytes of an incomplete marker token.
    begun: Vec<u8>,
}

impl TokenMachine {
    /// Creates a machine that runs clones of `guard` over a text with these `markers`, given as
    /// offset and length in order. Generated ids are numbers.
    pub fn new(
        mut guard: Guard,
        end: End,
        markers: impl IntoIterator<Item = (usize, usize)>,
    ) -> Self {
        guard.set_ids(Ids::counting());
        let machine = GuardMachine::with_ids(guard, end);
        let markers = markers.into_iter().filter(|(_, len)| *len > 0).collect();
        Self { machine, markers, fed: 0, at: 0, begun: Vec::new() }
    }

    fn push_all(
        &mut self,
        chunk: &[u8],
        out: &mut RunRecord,
        text: impl Fn(&mut GuardMachine, &[u8], &mut RunRecord),
    ) {
        let mut rest = chunk;
        if rest.is_empty() {
            text(&mut self.machine, rest, out);
        }
        while !rest.is_empty() {
            let (from, len) = self.markers.get(self.fed).copied().unwrap_or((usize::MAX, 0));
            let most = if from > self.at { from - self.at } else { from + len - self.at };
            let (piece, behind) = rest.split_at(most.min(rest.len()));
            if from > self.at {
                text(&mut self.machine, piece, out);
            } else {
                self.begun.extend_from_slice(piece);
            }
            self.at += piece.len();
            rest = behind;
            if self.begun.len() == len && len > 0 {
                let marker = std::mem::take(&mut self.begun);
                self.machine.push_marker(&String::from_utf8_lossy(&marker), out);
                self.fed += 1;
            }
        }
    }
}

impl GuardMachine {
    /// Feeds a marker token.
    fn push_marker(&mut self, text: &str, out: &mut RunRecord) {
        let token = Token { id: 0, text, kind: TokenKind::Marker };
        let result = self.guard.push_token(token, &mut Recorder(out));
        self.note(result, out);
    }
}

impl StreamMachine for TokenMachine {
    fn push(&mut self, chunk: &str, out: &mut RunRecord) {
        self.push_all(chunk.as_bytes(), out, |machine, text, out| {
            // Marker tokens begin and end between scalars.
            machine.push(&String::from_utf8_lossy(text), out);
        });
    }

    fn finish(&mut self, out: &mut RunRecord) {
        // An incomplete marker token at the end is text.
        if !self.begun.is_empty() {
            let begun = std::mem::take(&mut self.begun);
            self.machine.push(&String::from_utf8_lossy(&begun), out);
        }
        self.machine.finish(out);
    }

    fn reset(&mut self) {
        self.machine.reset();
        (self.fed, self.at) = (0, 0);
        self.begun.clear();
    }

    fn held(&self) -> HeldBytes {
        let HeldBytes { bytes, kind } = self.machine.held();
        let kind = if self.begun.is_empty() { kind } else { HeldReason::Marker };
        HeldBytes::new(kind, bytes + self.begun.len())
    }

    fn work(&self) -> u64 {
        self.machine.work()
    }

    fn state_size(&self) -> usize {
        self.machine.state_size() + self.begun.len()
    }
}

impl ByteMachine for TokenMachine {
    fn push_bytes(&mut self, chunk: &[u8], out: &mut RunRecord) {
        self.push_all(chunk, out, GuardMachine::push_bytes);
    }
}

/// Returns the texts that are likely to be single tokens of a tokenizer for the family of `guard`:
/// tags without blanks, bracketed words and the like, among all texts that the family knows.
#[must_use]
pub fn likely_marker_tokens(guard: &Guard) -> Vec<String> {
    let mut texts = guard.grammar().map(Grammar::literals).unwrap_or_default();
    texts.extend(guard.edges().iter().map(|edge| edge.marker.to_string()));
    let mut tokens: Vec<String> = texts.iter().flat_map(|text| shaped(text)).collect();
    tokens.sort();
    tokens.dedup();
    tokens
}

/// Returns the parts of `text` that look like tokens.
fn shaped(text: &str) -> Vec<String> {
    /// Tokens inside tags that are text.
    const INNER: [&str; 3] = ["]<]minimax[>[", "｜DSML｜", "｜GCML｜"];
    if let Some(inner) = INNER.into_iter().find(|inner| text.contains(inner)) {
        return vec![inner.to_owned()];
    }
    let mut found = Vec::new();
    for (open, close) in [('<', '>'), ('[', ']'), ('◁', '▷')] {
        let mut rest = text;
        while let Some(from) = rest.find(open) {
            rest = &rest[from..];
            let inside = |c: char| {
                let plain = c.is_alphanumeric() || "|｜/_:.-▁~\"".contains(c);
                plain && (open != '[' || !c.is_lowercase() || rest.starts_with("[|"))
            };
            let end = rest.char_indices().skip(1).find(|&(_, c)| !inside(c));
            match end {
                Some((at, last)) if last == close && at > 2 => {
                    let (token, behind) = rest.split_at(at + last.len_utf8());
                    found.push(token.to_owned());
                    rest = behind;
                }
                _ => rest = &rest[open.len_utf8()..],
            }
        }
    }
    found
}

/// Returns the offset and the length of each of `tokens` in `text`. Of several at one place, the
/// longest counts.
#[must_use]
pub fn markers_in(text: &str, tokens: &[String]) -> Vec<(usize, usize)> {
    let (mut found, mut at) = (Vec::new(), 0);
    while let Some(first) = text[at..].chars().next() {
        // Most places differ from all tokens in the first character.
        let here = tokens.iter().filter(|token| token.starts_with(first));
        let here = here.filter(|token| text[at..].starts_with(token.as_str()));
        let len = here.map(String::len).max();
        found.extend(len.map(|len| (at, len)));
        at += len.unwrap_or(first.len_utf8());
    }
    found
}
