//! The cursor of a jail: finds marks, opens blocks, keeps their limits.

#![expect(
    clippy::indexing_slicing,
    reason = "pairs and states are named by their places in the rules; `keep` is at most the \
              text's length"
)]
#![expect(
    clippy::arithmetic_side_effects,
    reason = "places in the text at hand, which matches do not leave; places of the stream, and \
              counts, have 64 bits; there is a block where one is read on"
)]

use super::{
    Jail,
    blocks::{Block, Mode, Way},
    event::{Closed, JailEvent, JailSignal},
    mark_matcher::{MarkMatcher, Tail, View, scalar_behind},
    pair::{BlockDelivery, Extent, Nested, OnFail},
    rules::{Effect, OUTSIDE, inside},
};
use crate::{
    chars::floor_char_boundary,
    diagnostic::DiagnosticKind,
    limits::LimitError,
    marker::{Match, Search},
};

impl Jail {
    /// Goes through `text`, which begins at offset `self.base`; returns the index from which it
    /// must come again.
    pub(super) fn scan(
        &mut self,
        text: &str,
        ended: bool,
        on: &mut impl FnMut(JailEvent<'_>),
    ) -> Result<usize, LimitError> {
        let scanned = self.scan_window(text, ended, on);
        if let Ok(keep) = scanned {
            self.base += keep as u64;
            if let Some(&last) = text.as_bytes()[..keep].last() {
                self.before = Some(last);
            }
        }
        scanned
    }

    fn scan_window(
        &mut self,
        text: &str,
        ended: bool,
        on: &mut impl FnMut(JailEvent<'_>),
    ) -> Result<usize, LimitError> {
        let rules = self.rules.clone();
        let view = View { text, base: self.base, before: self.before, ended };
        let mut pos = 0;
        loop {
            if let Some((state, tail)) = self.blocks.top().and_then(|top| top.tail) {
                let matcher = &rules.states[state].matcher;
                pos = self.outgrow(matcher, tail, view, pos, on)?;
                if pos == text.len() && !ended {
                    return Ok(pos);
                }
                continue;
            }
            let room = self.index(self.blocks.until());
            let state = &rules.states[self.blocks.top().map_or(OUTSIDE, |top| top.state)];
            let work = &mut self.counters.examined;
            let found = state.matcher.seek(view, pos, room, &mut self.progress, work);
            self.note_refuted(found);
            let (at, len, id) = match found {
                Search::Miss if text.len() <= room => {
                    self.blocks.take(&text[pos..], on);
                    return Ok(text.len());
                }
                Search::Miss => {
                    pos = self.overrun(text, pos, None, room, on)?;
                    continue;
                }
                Search::Partial { at } => {
                    self.blocks.take(&text[pos..at], on);
                    return Ok(at);
                }
                Search::Match(Match { at, len, id }) => (at, len, id),
            };
            let effect = state.effect(id);
            let mut end = at + len;
            if effect == Effect::Escape {
                if end == text.len() && !ended {
                    self.blocks.take(&text[pos..at], on);
                    return Ok(at);
                }
                end = scalar_behind(text, end);
            }
            let around = self.blocks.top().map_or(u64::MAX, |top| top.around);
            let most = if effect == Effect::Close { self.index(around) } else { room };
            if end > most {
                pos = self.overrun(text, pos, Some(at), room, on)?;
                continue;
            }
            self.blocks.take(&text[pos..at], on);
            let (mark, offset) = (&text[at..end], view.base + at as u64);
            match effect {
                Effect::Escape => self.blocks.take(mark, on),
                Effect::Quote(state) => {
                    self.open(state, None, mark, offset, on);
                }
                Effect::Open(_) if self.blocks.depth() >= rules.depth => {
                    let kind = DiagnosticKind::DepthLimit;
                    let bytes = mark.len() as u64;
                    self.limit(kind, offset, bytes, OnFail::Release, on);
                    self.blocks.take(mark, on);
                }
                Effect::Open(pair) => {
                    let tail = state.matcher.tail(id, len, &self.progress);
                    let from = self.blocks.top().map_or(OUTSIDE, |top| top.state);
                    self.open_pair(pair, mark, offset, on)?;
                    if rules.pairs[pair].extent == Extent::Start {
                        let tail = tail.map(|tail| (from, tail));
                        self.close_single(offset, offset + mark.len() as u64, tail, on);
                    }
                }
                Effect::Close => {
                    self.close(Some(mark), Closed::End, offset + mark.len() as u64, on);
                }
            }
            pos = end;
        }
    }

    /// The index of a stream offset in the text being scanned.
    fn index(&self, offset: u64) -> usize {
        usize::try_from(offset.saturating_sub(self.base)).unwrap_or(usize::MAX)
    }

    /// What was held at the end of a chunk may be decided now.
    fn note_refuted(&mut self, found: Search) {
        let Some(offset) = self.partial else { return };
        let at = match found {
            Search::Partial { at } => {
                if self.base + at as u64 == offset {
                    return;
                }
                None
            }
            Search::Match(Match { at, .. }) => Some(self.base + at as u64),
            Search::Miss => None,
        };
        self.partial = None;
        self.counters.refuted += u64::from(at != Some(offset));
    }

    /// Takes text up to a limit and applies it; returns where to go on. A mark at index `mark`
    /// that the limit would cut is read again if the block goes on, because it counts there.
    fn overrun(
        &mut self,
        text: &str,
        pos: usize,
        mark: Option<usize>,
        room: usize,
        on: &mut impl FnMut(JailEvent<'_>),
    ) -> Result<usize, LimitError> {
        let over = self.blocks.first_over();
        let pair = self.blocks.get(over).and_then(|block| block.pair);
        let then = pair.map_or(OnFail::End, |pair| self.rules.pairs[pair].over);
        let mark = mark.filter(|_| then.goes_on());
        let cut = mark.unwrap_or_else(|| floor_char_boundary(text, room).max(pos));
        self.blocks.take(&text[pos..cut], on);
        self.breach(over, DiagnosticKind::JailBytes, then, self.base + cut as u64, on)?;
        Ok(cut)
    }

    fn open(
        &mut self,
        state: usize,
        pair: Option<usize>,
        mark: &str,
        at: u64,
        on: &mut impl FnMut(JailEvent<'_>),
    ) {
        let mode = self.mode(pair);
        let behind = at + mark.len() as u64;
        let until = match pair {
            Some(pair) if matches!(mode, Mode::Keep | Mode::Tap) => {
                behind.saturating_add(self.rules.pairs[pair].limit as u64)
            }
            _ => u64::MAX,
        };
        let around = self.blocks.until();
        self.blocks.push(Block {
            state,
            pair,
            at,
            start: mark.len(),
            from: 0,
            until,
            around,
            lost: at,
            gone: 0,
            mode,
            tail: None,
        });
        if let Some(pair) = pair {
            let depth = self.blocks.depth();
            self.counters.opened += 1;
            self.counters.depth_max = self.counters.depth_max.max(depth);
            on(JailEvent::Signal(JailSignal::Opened { pair, at, depth }));
        }
        self.blocks.take(mark, on);
    }

    /// What is to be done with the text of a block that opens now.
    fn mode(&self, pair: Option<usize>) -> Mode {
        let Some(pair) = pair else { return Mode::Follow };
        let own = match self.rules.pairs[pair].flow {
            BlockDelivery::Withhold => Mode::Keep,
            BlockDelivery::Tap => Mode::Tap,
        };
        match self.blocks.way() {
            _ if self.blocks.is_empty() => own,
            _ if self.rules.nested == Nested::OuterOnly => Mode::Follow,
            Way::Nowhere => Mode::Follow,
            // What has passed cannot be withheld.
            Way::Both => Mode::Tap,
            Way::Out | Way::Kept => own,
        }
    }

    /// Closes a block that is all start, unless a limit has, or its mark may go on.
    fn close_single(
        &mut self,
        at: u64,
        behind: u64,
        tail: Option<(usize, Tail)>,
        on: &mut impl FnMut(JailEvent<'_>),
    ) {
        match self.blocks.top_mut().filter(|top| top.at == at) {
            Some(top) if tail.is_some() => top.tail = tail,
            Some(_) => self.close(Some(""), Closed::End, behind, on),
            None => {}
        }
    }

    /// Follows the mark of the innermost block, which its hold cut short, from `pos` on: if it
    /// goes on, the block hits its limit. Returns where the block ends, or the text.
    fn outgrow(
        &mut self,
        matcher: &MarkMatcher,
        mut tail: Tail,
        View { text, base, ended, .. }: View<'_>,
        pos: usize,
        on: &mut impl FnMut(JailEvent<'_>),
    ) -> Result<usize, LimitError> {
        let (read, over) = matcher.read_on(&mut tail, &text[pos..], &mut self.counters.examined);
        let depth = self.blocks.len();
        if read > 0 && !core::mem::replace(&mut tail.grown, true) {
            let then = self.blocks.top().and_then(|top| top.pair);
            let then = then.map_or(OnFail::End, |pair| self.rules.pairs[pair].over);
            let here = base + pos as u64;
            self.breach(depth - 1, DiagnosticKind::JailBytes, then, here, on)?;
            if self.blocks.len() < depth {
                return Ok(pos);
            }
        }
        let end = pos + read;
        self.blocks.take(&text[pos..end], on);
        if over || ended {
            self.close(Some(""), Closed::End, base + end as u64, on);
        } else if let Some(top) = self.blocks.top_mut() {
            top.tail = top.tail.map(|(state, _)| (state, tail));
        }
        Ok(end)
    }

    fn open_pair(
        &mut self,
        pair: usize,
        mark: &str,
        at: u64,
        on: &mut impl FnMut(JailEvent<'_>),
    ) -> Result<(), LimitError> {
        let outermost = self.blocks.is_empty();
        self.open(inside(pair), Some(pair), mark, at, on);
        if outermost {
            self.blocks.outermost += 1;
            if self.blocks.outermost > self.rules.blocks {
                let behind = at + mark.len() as u64;
                return self.breach(0, DiagnosticKind::JailCount, self.rules.over, behind, on);
            }
        }
        Ok(())
    }
}
