//! The cursor of a jail: finds marks, opens and closes blocks, keeps limits.

use super::{
    Jail,
    blocks::{Block, Mode, Way},
    event::{Closed, Dropped, JailEvent, JailSignal},
    lookout::{Seen, View, scalar_behind},
    pair::{Flow, Nested, OnFail, Release},
    plan::{Effect, OUTSIDE, inside},
};
use crate::{limits::LimitError, matcher::floor_char_boundary, sink::NoticeKind};

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
        let plan = self.plan.clone();
        let view = View { text, base: self.base, before: self.before, ended };
        let mut pos = 0;
        loop {
            let room = self.index(self.blocks.until());
            let state = &plan.states[self.blocks.top().map_or(OUTSIDE, |top| top.state)];
            let work = &mut self.counters.examined;
            let seen = state.lookout.seek(view, pos, room, &mut self.progress, work);
            self.note_refuted(&seen);
            let (at, len, id) = match seen {
                Seen::Nothing if text.len() <= room => {
                    self.blocks.take(&text[pos..], on);
                    return Ok(text.len());
                }
                Seen::Nothing => {
                    pos = self.overrun(text, pos, room, on)?;
                    continue;
                }
                Seen::Hold(at) => {
                    self.blocks.take(&text[pos..at], on);
                    return Ok(at);
                }
                Seen::Mark { at, len, id } => (at, len, id),
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
                pos = self.overrun(text, pos, room, on)?;
                continue;
            }
            self.blocks.take(&text[pos..at], on);
            let (mark, offset) = (&text[at..end], view.base + at as u64);
            match effect {
                Effect::Escape => self.blocks.take(mark, on),
                Effect::Quote(state) => {
                    self.open(state, None, mark, offset, on);
                }
                Effect::Open(_) if self.blocks.depth() >= plan.depth => {
                    let kind = NoticeKind::DepthLimit;
                    let bytes = mark.len() as u64;
                    self.limit(kind, offset, bytes, OnFail::Release, on);
                    self.blocks.take(mark, on);
                }
                Effect::Open(pair) => self.open_pair(pair, mark, offset, on)?,
                Effect::Close => {
                    self.close(Some(mark), Closed::End, offset + mark.len() as u64, on)
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
    fn note_refuted(&mut self, seen: &Seen) {
        let Some(offset) = self.partial else { return };
        let at = match *seen {
            Seen::Hold(at) => {
                if self.base + at as u64 == offset {
                    return;
                }
                None
            }
            Seen::Mark { at, .. } => Some(self.base + at as u64),
            Seen::Nothing => None,
        };
        self.partial = None;
        self.counters.refuted += u64::from(at != Some(offset));
    }

    /// Takes text up to a limit and applies it; returns where to go on.
    fn overrun(
        &mut self,
        text: &str,
        pos: usize,
        room: usize,
        on: &mut impl FnMut(JailEvent<'_>),
    ) -> Result<usize, LimitError> {
        let cut = floor_char_boundary(text, room).max(pos);
        self.blocks.take(&text[pos..cut], on);
        let over = self.blocks.first_over();
        let pair = self.blocks.get(over).and_then(|block| block.pair);
        let then = pair.map_or(OnFail::End, |pair| self.plan.pairs[pair].over);
        self.breach(over, NoticeKind::JailBytes, then, self.base + cut as u64, on)?;
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
                behind.saturating_add(self.plan.pairs[pair].limit as u64)
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
            mode,
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
        let own = match self.plan.pairs[pair].flow {
            Flow::Withhold => Mode::Keep,
            Flow::Tap => Mode::Tap,
        };
        match self.blocks.way() {
            _ if self.blocks.is_empty() => own,
            _ if self.plan.nested == Nested::OuterOnly => Mode::Follow,
            Way::Nowhere => Mode::Follow,
            // What has passed cannot be withheld.
            Way::Both => Mode::Tap,
            Way::Out | Way::Kept => own,
        }
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
            if self.blocks.outermost > self.plan.blocks {
                let behind = at + mark.len() as u64;
                return self.breach(0, NoticeKind::JailCount, self.plan.over, behind, on);
            }
        }
        Ok(())
    }

    /// Closes the innermost block, or quoted text, at stream offset `behind`.
    fn close(
        &mut self,
        end: Option<&str>,
        why: Closed,
        behind: u64,
        on: &mut impl FnMut(JailEvent<'_>),
    ) {
        let Some(block) = self.blocks.pop() else { return };
        let bytes = behind - block.at;
        match (block.mode, block.pair) {
            (Mode::Follow, _) | (_, None) => self.blocks.take(end.unwrap_or(""), on),
            (Mode::Strip, _) => self.drop_end(end, behind, on),
            (Mode::Swallow, _) => self.drop(block.lost, behind - block.lost, Dropped::Limit, on),
            (Mode::Tap, _) => {
                self.blocks.hand(&block, end, on);
                if self.blocks.way() == Way::Out {
                    // A copy that nothing around it needs.
                    self.blocks.forget(block.from);
                }
                self.blocks.take(end.unwrap_or(""), on);
            }
            (Mode::Keep, Some(pair)) => self.release(&block, pair, end, behind, on),
        }
        if let Some(pair) = block.pair {
            self.counters.ended += u64::from(why == Closed::End);
            on(JailEvent::Signal(JailSignal::Closed { pair, at: block.at, bytes, why }));
        }
    }

    /// Releases a block that was popped, as its pair says.
    fn release(
        &mut self,
        block: &Block,
        pair: usize,
        end: Option<&str>,
        behind: u64,
        on: &mut impl FnMut(JailEvent<'_>),
    ) {
        match self.plan.pairs[pair].release {
            Release::Hand => {
                self.blocks.hand(block, end, on);
                self.blocks.forget(block.from);
            }
            Release::Verbatim => {
                self.blocks.let_go(block.from, on);
                self.blocks.take(end.unwrap_or(""), on);
            }
            Release::Strip => {
                self.strip_start(block, on);
                self.blocks.let_go(block.from, on);
                self.drop_end(end, behind, on);
            }
            Release::Drop => {
                self.blocks.forget(block.from);
                self.drop(block.at, behind - block.at, Dropped::Block, on);
            }
        }
    }

    fn strip_start(&mut self, block: &Block, on: &mut impl FnMut(JailEvent<'_>)) {
        self.blocks.forget_start(block);
        self.drop(block.at, block.start as u64, Dropped::Markup, on);
    }

    fn drop_end(&mut self, end: Option<&str>, behind: u64, on: &mut impl FnMut(JailEvent<'_>)) {
        let bytes = end.unwrap_or("").len() as u64;
        self.drop(behind - bytes, bytes, Dropped::Markup, on);
    }

    fn drop(&mut self, at: u64, bytes: u64, why: Dropped, on: &mut impl FnMut(JailEvent<'_>)) {
        if bytes > 0 {
            self.counters.dropped += bytes;
            on(JailEvent::Signal(JailSignal::Dropped { at, bytes, why }));
        }
    }

    fn limit(
        &mut self,
        kind: NoticeKind,
        at: u64,
        bytes: u64,
        then: OnFail,
        on: &mut impl FnMut(JailEvent<'_>),
    ) {
        self.counters.limits += 1;
        on(JailEvent::Signal(JailSignal::Limit { kind, at, bytes, then }));
    }

    /// Block `n` hit a limit at stream offset `here`. Blocks inside it are its text.
    pub(super) fn breach(
        &mut self,
        n: usize,
        kind: NoticeKind,
        then: OnFail,
        here: u64,
        on: &mut impl FnMut(JailEvent<'_>),
    ) -> Result<(), LimitError> {
        while self.blocks.len() > n + 1 {
            if let Some(inner) = self.blocks.top_mut() {
                // Its text stays where it is.
                inner.mode = if inner.mode == Mode::Swallow { Mode::Swallow } else { Mode::Follow };
            }
            self.close(None, Closed::Outer, here, on);
        }
        let Some(&block) = self.blocks.top() else { return Ok(()) };
        let (at, bytes) = (block.at, here - block.at);
        self.limit(kind, at, bytes, then, on);
        let mode = match then {
            OnFail::End => {
                self.close(None, Closed::Limit(kind), here, on);
                return Ok(());
            }
            OnFail::Error => {
                self.blocks.abandon(on);
                return Err(LimitError { kind, at, bytes });
            }
            OnFail::Release => Mode::Follow,
            OnFail::Strip => Mode::Strip,
            OnFail::Drop => Mode::Swallow,
        };
        if mode == Mode::Strip && block.mode == Mode::Keep {
            self.strip_start(&block, on);
        }
        if let Some(top) = self.blocks.top_mut() {
            (top.mode, top.until) = (mode, u64::MAX);
            top.lost = if block.mode == Mode::Tap { here } else { at };
        }
        match block.mode {
            // The text has passed, and this was a copy of it.
            Mode::Tap if self.blocks.kept_around() => {}
            Mode::Tap => self.blocks.forget(block.from),
            _ if mode == Mode::Swallow => self.blocks.forget(block.from),
            _ => self.blocks.let_go(block.from, on),
        }
        if mode == Mode::Follow {
            self.close(None, Closed::Limit(kind), here, on);
        }
        Ok(())
    }

    /// The stream ended: closes what is open.
    pub(super) fn close_all(
        &mut self,
        on: &mut impl FnMut(JailEvent<'_>),
    ) -> Result<(), LimitError> {
        while let Some(&block) = self.blocks.top() {
            let then = block.pair.map_or(OnFail::End, |pair| self.plan.pairs[pair].unclosed);
            let n = self.blocks.len() - 1;
            if matches!(block.mode, Mode::Keep | Mode::Tap) && then != OnFail::End {
                self.breach(n, NoticeKind::JailUnclosed, then, self.base, on)?;
            }
            if self.blocks.len() > n {
                self.close(None, Closed::Stream, self.base, on);
            }
        }
        Ok(())
    }
}
