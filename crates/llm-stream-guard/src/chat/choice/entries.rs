//! Token entries. Each entry is written to the field that its token's text is written to.
//!
//! A chunk's text and its tokens arrive together. The guard decides later whether the text is
//! content, reasoning, part of a call, or markup. An entry waits until all of its token's text is
//! decided.
//!
//! ```text
//! tokens    "hm", ".</", "think>", "Hi"
//! reasoning "hm", "."       the second entry is narrowed to its visible text
//! content   "Hi"
//! dropped   "think>"
//! ```

use std::{collections::VecDeque, mem::take};

use serde_json::{Map, Value};

use crate::chat::tokens::logprobs::{is_text, narrow, token_len, tokens};

/// The channel of decided text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::chat) enum TextFate {
    Content,
    Reasoning,
    /// Reasoning that is written into the content.
    Inline,
    /// Reasoning that is not written.
    Hidden,
    /// Markup and arguments of a call.
    Call,
    Markup,
}

/// A range of a choice's text whose channel is decided.
#[derive(Debug, Clone, Copy)]
pub(in crate::chat) struct Decided<'t> {
    pub(in crate::chat) at: u64,
    pub(in crate::chat) len: u64,
    pub(in crate::chat) fate: TextFate,
    /// The part of the text that was written.
    pub(in crate::chat) text: &'t str,
}

/// A list of entries, named after the field of the delta that has their text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::chat) enum List {
    Content,
    Reasoning,
    Calls,
}

/// Reasoning tokens of a choice.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::chat) struct ReasoningCount {
    pub(in crate::chat) tokens: u64,
    /// Whether some tokens were estimated, one for each delta.
    pub(in crate::chat) estimated: bool,
}

/// A token, or a chunk whose tokens are not known one by one.
#[derive(Debug, Clone)]
struct TokenEntry {
    from: u64,
    to: u64,
    /// Number of bytes of the entry that are not decided.
    left: u64,
    kind: EntryKind,
    seen: SeenTokens,
    /// The written text, if it may differ from the token's.
    shown: Vec<u8>,
}

#[derive(Debug, Clone)]
enum EntryKind {
    /// The log probabilities of one token: an object of one-element lists. `exact`: the tokens of its
    /// chunk concatenate to the chunk's text.
    Token { logprobs: Map<String, Value>, exact: bool },
    /// A chunk with this number of token ids, or `None` if its number of tokens is unknown.
    Chunk(Option<u64>),
}

/// Bytes of an entry's text by channel.
#[derive(Debug, Clone, Copy, Default)]
struct SeenTokens {
    content: u64,
    reasoning: u64,
    /// Bytes of reasoning that are not written.
    hidden: u64,
    call: u64,
}

/// The entries of a choice whose text is not decided, in order.
#[derive(Debug, Clone, Default)]
pub(in crate::chat) struct Entries {
    queue: VecDeque<TokenEntry>,
    /// Offset up to which text is decided.
    at: u64,
    /// Tokens in the queue.
    tokens: usize,
    /// Decided entries that wait for a chunk.
    ready: Vec<(List, Value)>,
    /// Entries of calls, which wait for a chunk with a call.
    calls: Vec<(List, Value)>,
    /// Whether all entries are written to the content's list unchanged.
    pub(in crate::chat) all: bool,
    pub(in crate::chat) reasoning: ReasoningCount,
}

impl Entries {
    pub(in crate::chat) fn is_empty(&self) -> bool {
        self.queue.is_empty() && self.ready.is_empty() && self.calls.is_empty()
    }

    /// Returns the number of tokens that wait.
    pub(in crate::chat) fn waiting(&self) -> usize {
        self.tokens + self.ready.len() + self.calls.len()
    }

    /// Takes the tokens of a chunk whose text is at `from..to` out of its log probabilities. `text`
    /// has the pieces of that text.
    pub(in crate::chat) fn take_tokens(
        &mut self,
        (from, to): (u64, u64),
        text: [&str; 2],
        logprobs: &mut Map<String, Value>,
    ) -> bool {
        let tokens = tokens(logprobs);
        let exact = is_text(&tokens, text);
        let (mut end, last) = (from, tokens.len().saturating_sub(1));
        let any = !tokens.is_empty();
        for (i, logprobs) in tokens.into_iter().enumerate() {
            let start = end;
            end = if i == last { to } else { to.min(end + token_len(&logprobs)) };
            self.push(start, end, EntryKind::Token { logprobs, exact });
        }
        any
    }

    /// Records a chunk whose text is at `from..to`, and its number of tokens.
    pub(in crate::chat) fn take_chunk(&mut self, from: u64, to: u64, tokens: Option<u64>) {
        if to > from {
            self.push(from, to, EntryKind::Chunk(tokens));
        }
    }

    fn push(&mut self, from: u64, to: u64, kind: EntryKind) {
        self.tokens += usize::from(matches!(kind, EntryKind::Token { .. }));
        let (seen, shown) = (SeenTokens::default(), Vec::new());
        self.queue.push_back(TokenEntry { from, to, left: to - from, kind, seen, shown });
    }

    /// Records the channel of a range of text.
    pub(in crate::chat) fn decide(&mut self, decided: Decided<'_>) {
        let Decided { at, len, fate, text } = decided;
        let end = at + len;
        for entry in &mut self.queue {
            if entry.from >= end {
                break;
            }
            let (from, to) = (entry.from.max(at), entry.to.min(end));
            if to > from {
                let part = text.as_bytes().get((from - at) as usize..(to - at) as usize);
                entry.decide(to - from, fate, part.unwrap_or_default());
            }
        }
        self.at = self.at.max(end);
        let to = self.at;
        // An entry without text goes with the text after it.
        self.settle_while(|entry| entry.left == 0 && entry.from < to);
    }

    /// Settles the entries of all text up to `to`, whether or not its channel was recorded.
    pub(in crate::chat) fn settle_to(&mut self, to: u64) {
        self.settle_while(|entry| entry.to <= to && entry.from < to);
    }

    /// Settles the entries of all text.
    pub(in crate::chat) fn settle_all(&mut self) {
        self.settle_while(|_| true);
    }

    /// Moves the first entries, as far as they are decided, to those that wait for a chunk.
    fn settle_while(&mut self, decided: impl Fn(&TokenEntry) -> bool) {
        while self.queue.front().is_some_and(&decided) {
            if let Some(entry) = self.queue.pop_front() {
                self.settle(entry);
            }
        }
    }

    fn settle(&mut self, entry: TokenEntry) {
        let TokenEntry { from, to, left, kind, seen, shown } = entry;
        let (logprobs, exact) = match kind {
            EntryKind::Chunk(ids) => return self.reasoning.add_chunk(ids, to - from, seen),
            EntryKind::Token { logprobs, exact } => (logprobs, exact),
        };
        self.tokens -= 1;
        let list = seen.list();
        if seen.reasoning > 0 && seen.reasoning >= seen.content {
            self.reasoning.tokens += 1;
            self.reasoning.estimated |= !exact;
        }
        let textless = to == from || left > 0 && !exact;
        let list = match list {
            _ if seen.hidden > 0 && seen.content == 0 => return,
            _ if self.all => List::Content,
            Some(list) => list,
            None if textless => List::Content,
            None => return,
        };
        let mut logprobs = logprobs;
        let narrowed = exact && shown.len() as u64 != to - from && !self.all;
        if narrowed && list != List::Calls {
            narrow(&mut logprobs, &shown);
        }
        let ready = if list == List::Calls { &mut self.calls } else { &mut self.ready };
        ready.push((list, Value::Object(logprobs)));
    }

    /// Removes and returns the decided entries. Those of calls are included only if `calls` is set.
    pub(in crate::chat) fn take_ready(&mut self, calls: bool) -> Vec<(List, Value)> {
        let mut ready = take(&mut self.ready);
        if calls {
            ready.append(&mut self.calls);
        }
        ready
    }

    pub(in crate::chat) fn has_ready(&self) -> bool {
        !self.ready.is_empty() || !self.calls.is_empty()
    }

    /// Drops the waiting entries of calls, because no call is written.
    pub(in crate::chat) fn drop_calls(&mut self) {
        self.calls.clear();
    }

    /// Drops the entries of text up to `to`, which is not written.
    pub(in crate::chat) fn forget(&mut self, to: u64) {
        self.ready.clear();
        self.calls.clear();
        let is_token = |entry: &TokenEntry| matches!(entry.kind, EntryKind::Token { .. });
        self.queue.retain(|entry| entry.to > to || !is_token(entry));
        self.tokens = self.queue.iter().filter(|entry| is_token(entry)).count();
    }
}

impl TokenEntry {
    fn decide(&mut self, len: u64, fate: TextFate, text: &[u8]) {
        self.left = self.left.saturating_sub(len);
        let keeps_text = matches!(self.kind, EntryKind::Token { exact: true, .. });
        match fate {
            TextFate::Content | TextFate::Inline => {
                // The entry goes to one list: the content's, if any of its text does.
                if self.seen.content == 0 {
                    self.shown.clear();
                }
                self.seen.content += len;
                self.seen.reasoning += if fate == TextFate::Inline { len } else { 0 };
            }
            TextFate::Reasoning => self.seen.reasoning += len,
            TextFate::Hidden => {
                self.seen.reasoning += len;
                self.seen.hidden += len;
            }
            TextFate::Call => self.seen.call += len,
            TextFate::Markup => {}
        }
        let shows = match fate {
            TextFate::Content | TextFate::Inline => true,
            TextFate::Reasoning => self.seen.content == 0,
            TextFate::Hidden | TextFate::Call | TextFate::Markup => false,
        };
        if keeps_text && shows {
            self.shown.extend_from_slice(text);
        }
    }
}

impl SeenTokens {
    fn list(self) -> Option<List> {
        match self {
            Self { content: 1.., .. } => Some(List::Content),
            Self { reasoning: 1.., .. } => Some(List::Reasoning),
            Self { call: 1.., .. } => Some(List::Calls),
            _ => None,
        }
    }
}

impl ReasoningCount {
    /// Counts a chunk with `len` bytes of text.
    fn add_chunk(&mut self, ids: Option<u64>, len: u64, seen: SeenTokens) {
        if seen.reasoning == 0 {
            return;
        }
        // A token is one, also where white space in it is markup.
        let exact = ids == Some(1) || ids.is_some() && seen.reasoning == len;
        self.estimated |= !exact;
        let share = |ids: u64| (ids.saturating_mul(seen.reasoning) / len.max(1)).max(1);
        self.tokens += ids.map_or(1, share);
    }
}

#[cfg(test)]
mod tests {
    use std::ops::Range;

    use serde_json::{Map, Value, json};

    use super::{Decided, Entries, List, TextFate};

    fn logprobs(value: Value) -> Map<String, Value> {
        let Value::Object(members) = value else { return Map::new() };
        members
    }

    fn entries(tokens: &[&str]) -> Entries {
        let list: Vec<_> = tokens.iter().map(|token| json!({"token": token})).collect();
        let text = tokens.concat();
        let mut entries = Entries::default();
        let mut logprobs = logprobs(json!({"content": list}));
        entries.take_tokens((0, text.len() as u64), [&text, ""], &mut logprobs);
        entries
    }

    fn decide(entries: &mut Entries, range: Range<u64>, fate: TextFate, text: &str) {
        entries.decide(Decided { at: range.start, len: range.end - range.start, fate, text });
    }

    #[test]
    fn logprob_entries_are_cut_to_their_emitted_text() {
        let mut entries = entries(&["h", "m.</", "think>", "\nHi"]);
        decide(&mut entries, 0..3, TextFate::Reasoning, "hm.");
        assert_eq!(entries.take_ready(true).len(), 1, "the second token is not decided");
        decide(&mut entries, 3..12, TextFate::Markup, "");
        decide(&mut entries, 12..14, TextFate::Content, "Hi");
        let ready = entries.take_ready(true);
        let token = |token: &str| json!({"content": [{"token": token}]});
        assert_eq!(ready, [(List::Reasoning, token("m.")), (List::Content, token("Hi"))]);
        assert_eq!((entries.reasoning.tokens, entries.reasoning.estimated), (2, false));
        assert!(entries.is_empty());
    }

    #[test]
    fn logprob_entry_spanning_reasoning_and_content_goes_to_content() {
        let mut entries = entries(&["m</t>H"]);
        decide(&mut entries, 0..1, TextFate::Reasoning, "m");
        decide(&mut entries, 1..5, TextFate::Markup, "");
        decide(&mut entries, 5..6, TextFate::Content, "H");
        assert_eq!(
            entries.take_ready(true),
            [(List::Content, json!({"content": [{"token": "H"}]}))]
        );
    }

    #[test]
    fn logprob_entry_without_text_waits_for_the_next_text() {
        let mut entries = entries(&["", "a"]);
        assert!(!entries.has_ready());
        decide(&mut entries, 0..1, TextFate::Content, "a");
        assert_eq!(entries.take_ready(true).len(), 2);
    }

    #[test]
    fn chunk_counts_as_one_reasoning_token_unless_it_has_token_ids() {
        for (ids, reasoning, count) in [
            (None, 4, (1, true)),
            (Some(3), 4, (3, false)),
            (Some(3), 2, (1, true)),
            (Some(1), 2, (1, false)),
        ] {
            let mut entries = Entries::default();
            entries.take_chunk(0, 4, ids);
            decide(&mut entries, 0..reasoning, TextFate::Reasoning, "");
            decide(&mut entries, reasoning..4, TextFate::Content, "");
            let seen = entries.reasoning;
            assert_eq!((seen.tokens, seen.estimated), count, "{ids:?} {reasoning}");
        }
    }
}
