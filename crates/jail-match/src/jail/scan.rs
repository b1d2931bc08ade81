//! The cursor of a jail: finds marks, opens and closes blocks, and applies their limits.
//!
//! For the pair `<secret>`, `</secret>`:
//!
//! | text | effect |
//! |---|---|
//! | `a ` | is emitted |
//! | `<secret>` | opens a block |
//! | `x` | is kept in the block |
//! | `</sec` | stays pending: more text shows whether it is the end |

use super::{
    Jail,
    blocks::{Block, BlockMode, TextRoute},
    event::{Closed, JailEvent, JailSignal},
    mark_matcher::{Tail, View, after_scalar},
    pair::{BlockDelivery, Extent, Nested, OnFail},
    rules::{Effect, OUTSIDE, inside},
    settle::{Breach, Ending},
};
use crate::{
    chars::floor_char_boundary,
    diagnostic::DiagnosticKind,
    limits::LimitError,
    marker::{Match, Search},
};

/// A start that opens a block, or quoted text in one.
#[derive(Clone, Copy)]
struct Opening<'t> {
    /// The number of the lookout for the text inside.
    lookout: usize,
    /// The pair, or `None` for quotes.
    pair: Option<usize>,
    /// The start as it was written.
    mark: &'t str,
    /// Stream offset of the start.
    at: u64,
}

impl Opening<'_> {
    /// Returns the stream offset after the start.
    fn end(&self) -> u64 {
        self.at + self.mark.len() as u64
    }
}

impl Jail {
    /// Scans `text`, which begins at offset `self.base`. Returns the index from which it must be
    /// scanned again with more text.
    pub(super) fn scan(
        &mut self,
        text: &str,
        ended: bool,
        on: &mut impl FnMut(JailEvent<'_>),
    ) -> Result<usize, LimitError> {
        let view = View { text, base: self.base, before: self.before, ended, pos: 0 };
        let scanned = self.scan_view(view, on);
        self.counters.examined = self.progress.work;
        if let Ok(keep) = scanned {
            self.base += keep as u64;
            if let Some(&last) = text.as_bytes()[..keep].last() {
                self.before = Some(last);
            }
        }
        scanned
    }

    fn scan_view(
        &mut self,
        mut view: View<'_>,
        on: &mut impl FnMut(JailEvent<'_>),
    ) -> Result<usize, LimitError> {
        let rules = self.rules.clone();
        let View { text, ended, .. } = view;
        loop {
            if let Some(tail) = self.blocks.top().and_then(|top| top.tail) {
                self.outgrow(tail, &mut view, on)?;
                if view.pos == text.len() && !ended {
                    return Ok(view.pos);
                }
                continue;
            }
            let room = self.index(self.blocks.until());
            let state = &rules.states[self.blocks.top().map_or(OUTSIDE, |top| top.state)];
            let found = state.matcher.seek(view, room, &mut self.progress);
            self.note_refuted(found);
            let (at, len, id) = match found {
                Search::Miss if text.len() <= room => {
                    self.blocks.take(&text[view.pos..], on);
                    return Ok(text.len());
                }
                Search::Miss => {
                    view.pos = self.overrun(view, None, on)?;
                    continue;
                }
                Search::Partial { at } => {
                    self.blocks.take(&text[view.pos..at], on);
                    return Ok(at);
                }
                Search::Match(Match { at, len, id }) => (at, len, id),
            };
            let effect = state.effect(id);
            let mut end = at + len;
            if effect == Effect::Escape {
                if end == text.len() && !ended {
                    self.blocks.take(&text[view.pos..at], on);
                    return Ok(at);
                }
                end = after_scalar(text, end);
            }
            let around = self.blocks.top().map_or(u64::MAX, |top| top.around);
            let most = if effect == Effect::Close { self.index(around) } else { room };
            if end > most {
                view.pos = self.overrun(view, Some(at), on)?;
                continue;
            }
            self.blocks.take(&text[view.pos..at], on);
            let (mark, at) = (&text[at..end], view.offset(at));
            match effect {
                Effect::Escape => self.blocks.take(mark, on),
                Effect::Quote(lookout) => {
                    self.open(Opening { lookout, pair: None, mark, at }, on);
                }
                Effect::Open(_) if self.blocks.depth() >= rules.depth => {
                    let (kind, at) = (DiagnosticKind::DepthLimit, view.offset(end));
                    let breach = Breach { kind, then: OnFail::Release, at };
                    self.report(breach, mark.len() as u64, on);
                    self.blocks.take(mark, on);
                }
                Effect::Open(pair) => {
                    let tail = state.matcher.tail(id, len, &self.progress);
                    let from = self.blocks.top().map_or(OUTSIDE, |top| top.state);
                    let opening = Opening { lookout: inside(pair), pair: Some(pair), mark, at };
                    self.open_pair(opening, on)?;
                    if rules.pairs[pair].extent == Extent::Start {
                        self.close_single(opening, tail.map(|tail| (from, tail)), on);
                    }
                }
                Effect::Close => {
                    let (why, at) = (Closed::End, view.offset(end));
                    self.close(Ending { mark: Some(mark), why, at }, on);
                }
            }
            view.pos = end;
        }
    }

    /// Returns the index of a stream offset in the text being scanned.
    fn index(&self, offset: u64) -> usize {
        usize::try_from(offset.saturating_sub(self.base)).unwrap_or(usize::MAX)
    }

    /// Counts a chunk whose last bytes might have begun a mark and turned out to be text.
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

    /// Takes text up to the nearest limit and applies the limit. Returns the index to continue at.
    ///
    /// If the limit falls inside a mark at index `mark` and the block continues, the index is
    /// `mark`, so that the mark counts.
    fn overrun(
        &mut self,
        view: View<'_>,
        mark: Option<usize>,
        on: &mut impl FnMut(JailEvent<'_>),
    ) -> Result<usize, LimitError> {
        let View { text, pos, .. } = view;
        let over = self.blocks.first_over();
        let room = self.index(self.blocks.until());
        let then = self.over(self.blocks.get(over));
        let mark = mark.filter(|_| then.goes_on());
        let cut = mark.unwrap_or_else(|| floor_char_boundary(text, room).max(pos));
        self.blocks.take(&text[pos..cut], on);
        let (kind, at) = (DiagnosticKind::JailBytes, view.offset(cut));
        self.breach(over, Breach { kind, then, at }, on)?;
        Ok(cut)
    }

    /// Returns the policy for a block that is longer than its limit.
    fn over(&self, block: Option<&Block>) -> OnFail {
        let pair = block.and_then(|block| block.pair);
        pair.map_or(OnFail::End, |pair| self.rules.pairs[pair].over)
    }

    fn open(&mut self, opening: Opening<'_>, on: &mut impl FnMut(JailEvent<'_>)) {
        let Opening { lookout, pair, mark, at } = opening;
        let mode = self.mode(pair);
        let until = match pair {
            Some(pair) if matches!(mode, BlockMode::Keep | BlockMode::Tap) => {
                opening.end().saturating_add(self.rules.pairs[pair].limit as u64)
            }
            _ => u64::MAX,
        };
        let around = self.blocks.until();
        self.blocks.push(Block {
            state: lookout,
            pair,
            at,
            start: mark.len(),
            from: 0,
            until,
            around,
            dropped_from: at,
            inner_dropped: 0,
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

    /// Returns the treatment of the text of a block that opens now.
    fn mode(&self, pair: Option<usize>) -> BlockMode {
        let Some(pair) = pair else { return BlockMode::Follow };
        let own = match self.rules.pairs[pair].flow {
            BlockDelivery::Withhold => BlockMode::Keep,
            BlockDelivery::Tap => BlockMode::Tap,
        };
        match self.blocks.route() {
            _ if self.blocks.is_empty() => own,
            _ if self.rules.nested == Nested::OuterOnly => BlockMode::Follow,
            TextRoute::Nowhere => BlockMode::Follow,
            // Text that has passed cannot be withheld.
            TextRoute::Both => BlockMode::Tap,
            TextRoute::Out | TextRoute::Kept => own,
        }
    }

    /// Closes a block that consists of its start, unless a limit has closed it or its mark may
    /// continue.
    fn close_single(
        &mut self,
        opening: Opening<'_>,
        tail: Option<(usize, Tail)>,
        on: &mut impl FnMut(JailEvent<'_>),
    ) {
        match self.blocks.top_mut().filter(|top| top.at == opening.at) {
            Some(top) if tail.is_some() => top.tail = tail,
            Some(_) => {
                self.close(Ending { mark: Some(""), why: Closed::End, at: opening.end() }, on);
            }
            None => {}
        }
    }

    /// Reads on in the mark of the innermost block, which its hold cut short. If the mark
    /// continues, the block hits its limit. Moves the view's cursor to the end of the mark or of
    /// the text.
    fn outgrow(
        &mut self,
        (state, mut tail): (usize, Tail),
        view: &mut View<'_>,
        on: &mut impl FnMut(JailEvent<'_>),
    ) -> Result<(), LimitError> {
        let (text, pos) = (view.text, view.pos);
        let matcher = &self.rules.states[state].matcher;
        let (read, over) = matcher.read_on(&mut tail, &text[pos..], &mut self.progress.work);
        let depth = self.blocks.len();
        if read > 0 && !core::mem::replace(&mut tail.grown, true) {
            let then = self.over(self.blocks.top());
            let (kind, at) = (DiagnosticKind::JailBytes, view.offset(pos));
            self.breach(depth - 1, Breach { kind, then, at }, on)?;
            if self.blocks.len() < depth {
                return Ok(());
            }
        }
        view.pos = pos + read;
        self.blocks.take(&text[pos..view.pos], on);
        if over || view.ended {
            let at = view.offset(view.pos);
            self.close(Ending { mark: Some(""), why: Closed::End, at }, on);
        } else if let Some(top) = self.blocks.top_mut() {
            top.tail = Some((state, tail));
        }
        Ok(())
    }

    fn open_pair(
        &mut self,
        opening: Opening<'_>,
        on: &mut impl FnMut(JailEvent<'_>),
    ) -> Result<(), LimitError> {
        let outermost = self.blocks.is_empty();
        self.open(opening, on);
        if outermost {
            self.blocks.outermost += 1;
            if self.blocks.outermost > self.rules.blocks {
                let (kind, then) = (DiagnosticKind::JailCount, self.rules.over);
                return self.breach(0, Breach { kind, then, at: opening.end() }, on);
            }
        }
        Ok(())
    }
}
