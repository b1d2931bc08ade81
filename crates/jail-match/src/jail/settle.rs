//! How blocks come to an end: by their own, by a limit, by that of the stream.

#![expect(
    clippy::arithmetic_side_effects,
    reason = "a block, its loss and its end marks lie in front of `behind`, and what is gone of \
              it is a part of it; counts have 64 bits; a block is open where its number is asked \
              for"
)]

use super::{
    Jail,
    blocks::{Block, Mode, Way},
    event::{Closed, Dropped, JailEvent, JailSignal},
    pair::{OnFail, Release},
};
use crate::{diagnostic::DiagnosticKind, limits::LimitError};

impl Jail {
    /// Closes the innermost block, or quoted text, at stream offset `behind`.
    pub(super) fn close(
        &mut self,
        end: Option<&str>,
        why: Closed,
        behind: u64,
        on: &mut impl FnMut(JailEvent<'_>),
    ) {
        let Some(block) = self.blocks.pop() else { return };
        let bytes = behind - block.at;
        self.blocks.lose(block.gone);
        match (block.mode, block.pair) {
            (Mode::Follow, _) | (_, None) => self.blocks.take(end.unwrap_or(""), on),
            (Mode::Strip, _) => self.drop_end(end, behind, on),
            (Mode::Swallow, _) => {
                let bytes = behind - block.lost - block.gone;
                self.drop(block.lost, bytes, Dropped::Limit, on);
            }
            (Mode::Tap, _) => {
                let upto = self.blocks.buffered();
                self.blocks.take(end.unwrap_or(""), on);
                self.blocks.hand(&block, upto, end, on);
                if self.blocks.way() == Way::Out {
                    // A copy that nothing around it needs.
                    self.blocks.forget(block.from);
                }
            }
            (Mode::Keep, Some(pair)) => self.release(&block, pair, end, behind, on),
        }
        if let Some(pair) = block.pair {
            self.counters.ended += u64::from(why == Closed::End);
            on(JailEvent::Signal(JailSignal::Closed { pair, at: block.at, bytes, why }));
        }
    }

    /// Releases a block that was popped, as its pair says.
    #[expect(clippy::indexing_slicing, reason = "a pair's number is its place in the rules")]
    fn release(
        &mut self,
        block: &Block,
        pair: usize,
        end: Option<&str>,
        behind: u64,
        on: &mut impl FnMut(JailEvent<'_>),
    ) {
        match self.rules.pairs[pair].release {
            Release::Hand => {
                self.blocks.hand(block, self.blocks.buffered(), end, on);
                self.blocks.forget(block.from);
            }
            Release::Verbatim => {
                self.blocks.let_go(self.blocks.len(), block.from, on);
                self.blocks.take(end.unwrap_or(""), on);
            }
            Release::Strip => {
                self.strip_start(block, on);
                self.blocks.let_go(self.blocks.len(), block.from, on);
                self.drop_end(end, behind, on);
            }
            Release::Drop => {
                self.blocks.forget(block.from);
                // What blocks inside it dropped was counted with them.
                self.drop(block.at, behind - block.at - block.gone, Dropped::Block, on);
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

    /// Drops bytes of the innermost block.
    fn drop(&mut self, at: u64, bytes: u64, why: Dropped, on: &mut impl FnMut(JailEvent<'_>)) {
        self.drop_from(self.blocks.len().checked_sub(1), at, bytes, why, on);
    }

    /// Drops bytes of block `n`, or of the text outside.
    fn drop_from(
        &mut self,
        n: Option<usize>,
        at: u64,
        bytes: u64,
        why: Dropped,
        on: &mut impl FnMut(JailEvent<'_>),
    ) {
        if bytes > 0 {
            self.counters.dropped += bytes;
            if let Some(block) = n.and_then(|n| self.blocks.get_mut(n)) {
                block.gone += bytes;
            }
            on(JailEvent::Signal(JailSignal::Dropped { at, bytes, why }));
        }
    }

    pub(super) fn limit(
        &mut self,
        kind: DiagnosticKind,
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
        kind: DiagnosticKind,
        then: OnFail,
        here: u64,
        on: &mut impl FnMut(JailEvent<'_>),
    ) -> Result<(), LimitError> {
        match then.goes_on() {
            true => self.follow_inner(n, then, here, on),
            false => self.close_inner(n, here, on),
        }
        let Some(&block) = self.blocks.get(n) else { return Ok(()) };
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
            self.blocks.forget_start(&block);
            self.drop_from(Some(n), at, block.start as u64, Dropped::Markup, on);
        }
        if block.mode == Mode::Tap {
            self.blocks.pass_losses_on(n);
        }
        if let Some(block) = self.blocks.get_mut(n) {
            block.lost = if block.mode == Mode::Tap { here } else { at };
            (block.mode, block.until) = (mode, u64::MAX);
        }
        match block.mode {
            // The text has passed, and this was a copy of it.
            Mode::Tap if self.blocks.kept_around(n) => {}
            Mode::Tap => self.blocks.forget(block.from),
            _ if mode == Mode::Swallow => self.blocks.forget(block.from),
            _ => self.blocks.let_go(n + 1, block.from, on),
        }
        if mode == Mode::Follow {
            self.close(None, Closed::Limit(kind), here, on);
        }
        Ok(())
    }

    /// Closes the blocks inside block `n`, which is over. Their text stays where it is.
    fn close_inner(&mut self, n: usize, here: u64, on: &mut impl FnMut(JailEvent<'_>)) {
        while self.blocks.len() > n + 1 {
            if let Some(inner) = self.blocks.top_mut() {
                inner.mode = if inner.mode == Mode::Swallow { Mode::Swallow } else { Mode::Follow };
            }
            self.close(None, Closed::Outer, here, on);
        }
    }

    /// Keeps the blocks and quotes inside block `n` open as its text, because block `n` goes on
    /// to its end: an end inside them must not be taken for its own.
    ///
    /// `{"a}b"}` over its limit at `a`: the quotes stay open, and the last brace is the end.
    fn follow_inner(
        &mut self,
        n: usize,
        then: OnFail,
        here: u64,
        on: &mut impl FnMut(JailEvent<'_>),
    ) {
        let around = self.blocks.get(n).map_or(u64::MAX, |block| block.around);
        for level in (n + 1..self.blocks.len()).rev() {
            let Some(inner) = self.blocks.get_mut(level) else { return };
            (inner.until, inner.around) = (u64::MAX, around);
            if let Some((_, tail)) = &mut inner.tail {
                // The limit of its own that a longer mark would hit does not matter any more.
                tail.grown = true;
            }
            match inner.mode {
                Mode::Keep | Mode::Tap => inner.mode = Mode::Follow,
                Mode::Swallow if then == OnFail::Drop => {
                    // Block `n` drops what follows.
                    inner.mode = Mode::Follow;
                    let (at, bytes) = (inner.lost, here - inner.lost - inner.gone);
                    self.drop_from(Some(level), at, bytes, Dropped::Limit, on);
                }
                _ => {}
            }
            if then == OnFail::Drop {
                self.blocks.pass_losses_on(level);
            }
        }
    }

    /// The stream ended: closes what is open.
    #[expect(clippy::indexing_slicing, reason = "a pair's number is its place in the rules")]
    pub(super) fn close_all(
        &mut self,
        on: &mut impl FnMut(JailEvent<'_>),
    ) -> Result<(), LimitError> {
        while let Some(&block) = self.blocks.top() {
            let then = block.pair.map_or(OnFail::End, |pair| self.rules.pairs[pair].unclosed);
            let n = self.blocks.len() - 1;
            if matches!(block.mode, Mode::Keep | Mode::Tap) && then != OnFail::End {
                self.breach(n, DiagnosticKind::JailUnclosed, then, self.base, on)?;
            }
            if self.blocks.len() > n {
                self.close(None, Closed::Stream, self.base, on);
            }
        }
        Ok(())
    }
}
