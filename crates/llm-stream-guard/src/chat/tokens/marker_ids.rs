//! Marker tokens in the text of chunks that have token ids.
//!
//! ```text
//! ids 9 21 8 30      9: <think>, 8: </think>
//! text <think>hm</think>Hi            two marker tokens, two places: markers
//! text <think>a </think></think>Hi    `</think>` has two places: text, and noted
//! ```

use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
};

use memchr::memmem::Finder;

use crate::{
    chat::tokens::marker_places::{Place, certain_places, places},
    guard::Guard,
    identify::{AddedTokens, TokenLengths},
    limits::{MAX_AWAITED_MARKERS, MAX_TEXT_LAG},
};

/// The guard and the marker tokens of choices whose chunks have token ids.
#[derive(Debug, Clone)]
pub(crate) struct TokenReader {
    /// A guard that knows the marker tokens.
    pub(in crate::chat) guard: Guard,
    table: Arc<MarkerTable>,
}

/// The marker tokens that the guard acts on.
#[derive(Debug)]
struct MarkerTable {
    /// Index of the marker with each id.
    by_id: BTreeMap<u32, usize>,
    finders: Vec<Finder<'static>>,
    /// The lengths of all tokens, if the vocabulary is known.
    lengths: Option<TokenLengths>,
}

impl TokenReader {
    pub(crate) fn new(guard: Guard, tokens: &AddedTokens) -> Self {
        let texts: Vec<&str> = guard.marker_tokens().collect();
        let place = |text: &str| texts.iter().position(|known| *known == text);
        let by_id = tokens.iter().filter_map(|token| Some((token.id, place(&token.text)?)));
        let finders = texts.iter().map(|text| Finder::new(text.as_bytes()).into_owned()).collect();
        let lengths = tokens.lengths().cloned();
        let table = MarkerTable { by_id: by_id.collect(), finders, lengths };
        Self { guard, table: Arc::new(table) }
    }
}

/// Whether the guard of a choice is fed with tokens.
#[derive(Debug, Clone, Default)]
pub(in crate::chat) enum TokenMode {
    /// The choice is read without tokens.
    #[default]
    Off,
    /// The first chunk with text or ids will decide.
    Undecided(Arc<TokenReader>),
    /// The chunks have token ids.
    On(Box<ChunkTokens>),
}

/// A marker token whose text has not been found yet.
#[derive(Debug, Clone, Copy)]
pub(in crate::chat) struct Awaited {
    pub(in crate::chat) id: u32,
    /// Index of the token's text among the markers.
    pub(in crate::chat) marker: usize,
    /// Number of text tokens between this marker and the one before it, or the start of its chunk.
    pub(in crate::chat) before: u64,
    /// Bytes of text that arrived after the token's chunk.
    waited: usize,
}

impl Awaited {
    pub(in crate::chat) const fn new(id: u32, marker: usize, before: u64) -> Self {
        Self { id, marker, before, waited: 0 }
    }
}

/// A piece of a chunk's text.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ChunkPiece {
    pub(crate) len: usize,
    /// Id of the marker token, or `None` for ordinary text.
    pub(crate) marker: Option<u32>,
    /// Number of tokens of the piece, if known.
    pub(crate) tokens: Option<u64>,
}

/// Matches the token ids of a choice to its text.
#[derive(Debug, Clone)]
pub(crate) struct ChunkTokens {
    table: Arc<MarkerTable>,
    awaited: VecDeque<Awaited>,
    /// The end of the text, if it may begin the text of an awaited marker token.
    held: String,
    /// Whether some text arrived later than its token ids.
    lags: bool,
    /// Text tokens without text, which belong to the text after them.
    textless: u64,
    /// The pieces of the last text.
    pub(crate) pieces: Vec<ChunkPiece>,
}

impl ChunkTokens {
    pub(crate) fn new(reader: &TokenReader) -> Self {
        Self::of(Arc::clone(&reader.table))
    }

    const fn of(table: Arc<MarkerTable>) -> Self {
        Self {
            table,
            awaited: VecDeque::new(),
            held: String::new(),
            lags: false,
            textless: 0,
            pieces: Vec::new(),
        }
    }

    /// Bytes of text that wait for the rest of a marker.
    pub(in crate::chat) fn held(&self) -> usize {
        self.held.len()
    }

    /// Begins a new stream, and returns text that waits for the rest of a marker.
    pub(in crate::chat) fn restart(&mut self) -> String {
        let table = Arc::clone(&self.table);
        std::mem::replace(self, Self::of(table)).held
    }

    /// Forgets awaited marker tokens, and returns text that waits for the rest of one.
    pub(crate) fn release(&mut self) -> String {
        self.awaited.clear();
        std::mem::take(&mut self.held)
    }

    /// Divides the next text, with what was held before it, into pieces. Takes off the end of `text`
    /// that must wait. Returns whether a part of it is ambiguous.
    pub(crate) fn divide(&mut self, text: &mut String, ids: Option<&[u32]>) -> bool {
        self.pieces.clear();
        let in_step = self.awaited.is_empty() && !self.lags;
        if let Some(ids) = ids.filter(|_| in_step && self.held.is_empty() && self.textless == 0) {
            if self.divide_by_lengths(text, ids).is_some() {
                return false;
            }
            self.pieces.clear();
        }
        if !self.held.is_empty() {
            text.insert_str(0, &std::mem::take(&mut self.held));
        }
        let after = self.expect(ids.unwrap_or_default());
        if text.is_empty() {
            self.textless = self.textless.saturating_add(after);
            self.trim(0);
            return false;
        }
        if self.awaited.is_empty() {
            let tokens = ids.map(|_| after.saturating_add(std::mem::take(&mut self.textless)));
            self.piece(text.len(), None, tokens);
            let spelled = |finder: &Finder<'_>| finder.find(text.as_bytes()).is_some();
            return ids.is_none() && self.table.finders.iter().any(spelled);
        }
        let awaited = &*self.awaited.make_contiguous();
        let found = places(text, &self.table.finders, awaited);
        let end = (in_step && after == 0).then_some(text.len());
        let mut certain = Vec::new();
        let ends = (in_step.then_some(0), end);
        let ambiguous = certain_places(&found, awaited, ends, &mut certain);
        let (end, mut tokens) = self.mark(&found, &certain);
        if ambiguous {
            self.awaited.clear();
        }
        tokens = self
            .awaited
            .iter()
            .fold(tokens.saturating_add(after), |sum, awaited| sum.saturating_add(awaited.before));
        let cut = self.begun(&text[end..]);
        let rest = text.len() - end - cut;
        if rest > 0 {
            self.piece(rest, None, Some(std::mem::take(&mut tokens)));
        }
        self.textless = tokens;
        self.held.push_str(&text[text.len() - cut..]);
        text.truncate(text.len() - cut);
        self.trim(text.len());
        self.lags |= !self.awaited.is_empty();
        if !in_step || ambiguous || cut > 0 {
            // The number of tokens is known for the whole text at most.
            let all = ids.filter(|_| in_step && cut == 0).map(|ids| ids.len() as u64);
            let count = all.filter(|_| self.pieces.len() == 1);
            self.pieces.iter_mut().for_each(|piece| piece.tokens = count);
        }
        ambiguous
    }

    /// Divides a text that is exactly that of `ids` into pieces. The last token may have no text,
    /// because servers leave out the one that ends the answer. `None` if there is one token or no
    /// marker, or if the lengths of the tokens do not fit the text.
    fn divide_by_lengths(&mut self, text: &str, ids: &[u32]) -> Option<()> {
        if ids.len() < 2 || !ids.iter().any(|id| self.table.by_id.contains_key(id)) {
            return None;
        }
        let table = Arc::clone(&self.table);
        let lengths = table.lengths.as_ref()?;
        // The start of the text after the last marker, and the ends of its tokens.
        let (mut from, mut ends, mut at) = (0, Vec::new(), 0_usize);
        for (n, id) in ids.iter().enumerate() {
            if at == text.len() && n + 1 == ids.len() {
                break;
            }
            let end = lengths.of(*id)?.saturating_add(at);
            if let Some(marker) = table.by_id.get(id) {
                let marker = table.finders.get(*marker)?.needle();
                text.get(at..end).filter(|text| text.as_bytes() == marker)?;
                self.text_pieces(text, from, &ends);
                self.piece(marker.len(), Some(*id), Some(1));
                ends.clear();
                from = end;
            } else {
                ends.push(end);
            }
            at = end;
        }
        if at != text.len() {
            return None;
        }
        self.text_pieces(text, from, &ends);
        Some(())
    }

    /// Writes the pieces of the text from `from` on, whose tokens end at `ends`. White space at both
    /// ends may be markup, so each token there is one piece: the others' number is exact.
    fn text_pieces(&mut self, text: &str, from: usize, ends: &[usize]) {
        let is_blank = |n: usize| {
            let start = n.checked_sub(1).map_or(from, |before| ends[before]);
            text.as_bytes()[start..ends[n]].trim_ascii().is_empty()
        };
        let first = (0..ends.len()).find(|n| !is_blank(*n)).unwrap_or(ends.len());
        let last = (0..ends.len()).rfind(|n| !is_blank(*n)).unwrap_or_default();
        let (mut at, mut tokens) = (from, 0);
        for (n, &end) in ends.iter().enumerate() {
            tokens += 1;
            let apart = n <= first || n + 1 >= last;
            if apart && text.is_char_boundary(end) {
                self.piece(end - at, None, Some(tokens));
                (at, tokens) = (end, 0);
            }
        }
    }

    /// Notes the marker tokens among `ids`; returns the number of text tokens after the last.
    fn expect(&mut self, ids: &[u32]) -> u64 {
        let mut before: u64 = 0;
        for id in ids {
            let Some(&marker) = self.table.by_id.get(id) else {
                before = before.saturating_add(1);
                continue;
            };
            self.awaited.push_back(Awaited::new(*id, marker, before));
            before = 0;
        }
        before
    }

    /// Writes the pieces up to the last certain place; returns its end, and the number of text tokens
    /// that have no text yet.
    fn mark(&mut self, found: &[Place], certain: &[Option<usize>]) -> (usize, u64) {
        let last = certain.iter().rposition(Option::is_some);
        let (mut end, mut tokens) = (0, std::mem::take(&mut self.textless));
        for at in certain.iter().take(last.map_or(0, |last| last.saturating_add(1))) {
            let Some(awaited) = self.awaited.pop_front() else { break };
            tokens = tokens.saturating_add(awaited.before);
            let Some(place) = at.and_then(|at| found.get(at)) else { continue };
            let text = place.at.saturating_sub(end);
            if text > 0 {
                self.piece(text, None, Some(std::mem::take(&mut tokens)));
            }
            self.piece(place.len, Some(awaited.id), Some(1));
            end = place.at.saturating_add(place.len);
        }
        (end, tokens)
    }

    fn piece(&mut self, len: usize, marker: Option<u32>, tokens: Option<u64>) {
        // Text without a token is of tokens that were counted elsewhere.
        let tokens = tokens.filter(|&tokens| tokens > 0);
        self.pieces.push(ChunkPiece { len, marker, tokens });
    }

    /// Returns how many bytes at the end of `rest` begin the text of the next awaited marker token.
    fn begun(&self, rest: &str) -> usize {
        let Some(next) = self.awaited.front() else { return 0 };
        let Some(finder) = self.table.finders.get(next.marker) else { return 0 };
        let marker = finder.needle();
        let most = marker.len().saturating_sub(1).min(rest.len());
        let begun = |len: &usize| rest.as_bytes().ends_with(&marker[..*len]);
        (1..=most)
            .rev()
            .find(begun)
            .filter(|len| rest.is_char_boundary(rest.len() - len))
            .unwrap_or(0)
    }

    /// `len` bytes of text came without the awaited marker tokens.
    fn trim(&mut self, len: usize) {
        for awaited in &mut self.awaited {
            awaited.waited = awaited.waited.saturating_add(len);
        }
        while self.awaited.len() > MAX_AWAITED_MARKERS
            || self.awaited.front().is_some_and(|awaited| awaited.waited > MAX_TEXT_LAG)
        {
            self.awaited.pop_front();
        }
    }
}
