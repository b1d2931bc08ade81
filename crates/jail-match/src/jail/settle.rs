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

    fn drop(&mut self, at: u64, bytes: u64, why: Dropped, on: &mut impl FnMut(JailEvent<'_>)) {
        if bytes > 0 {
            self.counters.dropped += bytes;
            self.blocks.lose(bytes);
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
        if block.mode == Mode::Tap {
            self.blocks.pass_losses_on();
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
