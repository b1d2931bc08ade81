//! The closing of blocks: at their own end, at a limit, or at the end of the stream.
//!
//! In `a{bcdef}`, a block `{...}` with a limit of three bytes exceeds it at `e`:
//!
//! | policy | result |
//! |---|---|
//! | `Release` | the text `a{bcdef}` |
//! | `Strip` | the text `abcdef` |
//! | `Drop` | the text `a`; seven bytes dropped |
//! | `End` | the text `a`, the block `bcd`, the text `ef}` |
//! | `Error` | the text `a{bcd`, then an error |

use super::{
    Jail,
    blocks::{Block, BlockMode, TextRoute},
    event::{Closed, Dropped, JailEvent, JailSignal},
    pair::{OnFail, Release},
};
use crate::{diagnostic::DiagnosticKind, limits::LimitError};

/// The end of a block, and its reason.
#[derive(Clone, Copy)]
pub(super) struct Ending<'t> {
    /// The end as it was written, if one came.
    pub(super) mark: Option<&'t str>,
    pub(super) why: Closed,
    /// Stream offset after the end.
    pub(super) at: u64,
}

impl Ending<'_> {
    fn text(&self) -> &str {
        self.mark.unwrap_or("")
    }
}

/// A limit that a block hit, with the policy for the block.
#[derive(Clone, Copy)]
pub(super) struct Breach {
    pub(super) kind: DiagnosticKind,
    pub(super) then: OnFail,
    /// Stream offset of the limit.
    pub(super) at: u64,
}

/// Bytes that are neither text nor handed over.
#[derive(Clone, Copy)]
struct Loss {
    at: u64,
    bytes: u64,
    why: Dropped,
}

impl Jail {
    /// Closes the innermost block or quoted text.
    pub(super) fn close(&mut self, end: Ending<'_>, on: &mut impl FnMut(JailEvent<'_>)) {
        let Some(block) = self.blocks.pop() else { return };
        let bytes = end.at - block.at;
        self.blocks.count_dropped(block.inner_dropped);
        match (block.mode, block.pair) {
            (BlockMode::Follow, _) | (_, None) => self.blocks.take(end.text(), on),
            (BlockMode::Strip, _) => self.drop_end(end, on),
            (BlockMode::Swallow, _) => {
                let bytes = end.at - block.dropped_from - block.inner_dropped;
                self.drop(Loss { at: block.dropped_from, bytes, why: Dropped::Limit }, on);
            }
            (BlockMode::Tap, _) => {
                let upto = self.blocks.buffered();
                self.blocks.take(end.text(), on);
                if let Some(jailed) = self.blocks.jailed(&block, upto, end.mark) {
                    on(JailEvent::Tapped(jailed));
                }
                if self.blocks.route() == TextRoute::Out {
                    // No block around it needs the copy.
                    self.blocks.forget(block.from);
                }
            }
            (BlockMode::Keep, Some(_)) => self.release(&block, end, on),
        }
        if let Some(pair) = block.pair {
            let why = end.why;
            self.counters.ended += u64::from(why == Closed::End);
            on(JailEvent::Signal(JailSignal::Closed { pair, at: block.at, bytes, why }));
        }
    }

    /// Releases a block that was popped.
    fn release(&mut self, block: &Block, end: Ending<'_>, on: &mut impl FnMut(JailEvent<'_>)) {
        let release = block.pair.map(|pair| self.rules.pairs[pair].release);
        match release.unwrap_or_default() {
            Release::Hand => {
                if let Some(jailed) = self.blocks.jailed(block, self.blocks.buffered(), end.mark) {
                    on(JailEvent::Jailed(jailed));
                }
                self.blocks.forget(block.from);
            }
            Release::Verbatim => {
                self.blocks.release_kept(self.blocks.len(), block.from, on);
                self.blocks.take(end.text(), on);
            }
            Release::Strip => {
                self.blocks.forget_start(block);
                let bytes = block.start as u64;
                self.drop(Loss { at: block.at, bytes, why: Dropped::Markup }, on);
                self.blocks.release_kept(self.blocks.len(), block.from, on);
                self.drop_end(end, on);
            }
            Release::Drop => {
                self.blocks.forget(block.from);
                // Bytes dropped with blocks inside it were counted then.
                let bytes = end.at - block.at - block.inner_dropped;
                self.drop(Loss { at: block.at, bytes, why: Dropped::Block }, on);
            }
        }
    }

    fn drop_end(&mut self, end: Ending<'_>, on: &mut impl FnMut(JailEvent<'_>)) {
        let bytes = end.text().len() as u64;
        self.drop(Loss { at: end.at - bytes, bytes, why: Dropped::Markup }, on);
    }

    /// Drops bytes of the innermost block.
    fn drop(&mut self, loss: Loss, on: &mut impl FnMut(JailEvent<'_>)) {
        self.drop_from(self.blocks.len().checked_sub(1), loss, on);
    }

    /// Drops bytes of block `n`, or of the text outside.
    fn drop_from(&mut self, n: Option<usize>, loss: Loss, on: &mut impl FnMut(JailEvent<'_>)) {
        let Loss { at, bytes, why } = loss;
        if bytes > 0 {
            self.counters.dropped += bytes;
            if let Some(block) = n.and_then(|n| self.blocks.get_mut(n)) {
                block.inner_dropped += bytes;
            }
            on(JailEvent::Signal(JailSignal::Dropped { at, bytes, why }));
        }
    }

    /// Counts and reports a limit that was hit by the bytes before `breach.at`.
    pub(super) fn report(
        &mut self,
        breach: Breach,
        bytes: u64,
        on: &mut impl FnMut(JailEvent<'_>),
    ) {
        let Breach { kind, then, at } = breach;
        self.counters.limits += 1;
        on(JailEvent::Signal(JailSignal::Limit { kind, at: at - bytes, bytes, then }));
    }

    /// Applies a limit to block `n`. Blocks inside it become a part of its text.
    pub(super) fn breach(
        &mut self,
        n: usize,
        breach: Breach,
        on: &mut impl FnMut(JailEvent<'_>),
    ) -> Result<(), LimitError> {
        let Breach { kind, then, at: here } = breach;
        match then.goes_on() {
            true => self.follow_inner(n, breach, on),
            false => self.close_inner(n, here, on),
        }
        let Some(&block) = self.blocks.get(n) else { return Ok(()) };
        let (at, bytes) = (block.at, here - block.at);
        self.report(breach, bytes, on);
        let limit = Ending { mark: None, why: Closed::Limit(kind), at: here };
        let mode = match then {
            OnFail::End => {
                self.close(limit, on);
                return Ok(());
            }
            OnFail::Error => {
                self.blocks.abandon(on);
                return Err(LimitError { kind, at, bytes });
            }
            OnFail::Release => BlockMode::Follow,
            OnFail::Strip => BlockMode::Strip,
            OnFail::Drop => BlockMode::Swallow,
        };
        if mode == BlockMode::Strip && block.mode == BlockMode::Keep {
            self.blocks.forget_start(&block);
            let loss = Loss { at, bytes: block.start as u64, why: Dropped::Markup };
            self.drop_from(Some(n), loss, on);
        }
        if block.mode == BlockMode::Tap {
            self.blocks.pass_losses_on(n);
        }
        if let Some(block) = self.blocks.get_mut(n) {
            block.dropped_from = if block.mode == BlockMode::Tap { here } else { at };
            (block.mode, block.until) = (mode, u64::MAX);
        }
        match block.mode {
            // The text has passed; only a copy of it is kept.
            BlockMode::Tap if self.blocks.kept_around(n) => {}
            BlockMode::Tap => self.blocks.forget(block.from),
            _ if mode == BlockMode::Swallow => self.blocks.forget(block.from),
            _ => self.blocks.release_kept(n + 1, block.from, on),
        }
        if mode == BlockMode::Follow {
            self.close(limit, on);
        }
        Ok(())
    }

    /// Closes the blocks inside block `n`, which has ended. Their text stays in place.
    fn close_inner(&mut self, n: usize, here: u64, on: &mut impl FnMut(JailEvent<'_>)) {
        while self.blocks.len() > n + 1 {
            if let Some(inner) = self.blocks.top_mut()
                && inner.mode != BlockMode::Swallow
            {
                inner.mode = BlockMode::Follow;
            }
            self.close(Ending { mark: None, why: Closed::Outer, at: here }, on);
        }
    }

    /// Keeps the blocks and quotes inside block `n` open as a part of its text. Block `n` continues
    /// to its end, and an end inside them must not close it.
    ///
    /// If `{"a}b"}` exceeds its limit at `a`, the quotes stay open, and the last brace is the end.
    fn follow_inner(&mut self, n: usize, breach: Breach, on: &mut impl FnMut(JailEvent<'_>)) {
        let drops = breach.then == OnFail::Drop;
        let around = self.blocks.get(n).map_or(u64::MAX, |block| block.around);
        for level in (n + 1..self.blocks.len()).rev() {
            let Some(inner) = self.blocks.get_mut(level) else { return };
            (inner.until, inner.around) = (u64::MAX, around);
            if let Some((_, tail)) = &mut inner.tail {
                // The inner block's own limit no longer matters.
                tail.grown = true;
            }
            match inner.mode {
                BlockMode::Keep | BlockMode::Tap => inner.mode = BlockMode::Follow,
                BlockMode::Swallow if drops => {
                    // Block `n` drops the rest of the inner block.
                    inner.mode = BlockMode::Follow;
                    let (at, bytes) =
                        (inner.dropped_from, breach.at - inner.dropped_from - inner.inner_dropped);
                    self.drop_from(Some(level), Loss { at, bytes, why: Dropped::Limit }, on);
                }
                _ => {}
            }
            if drops {
                self.blocks.pass_losses_on(level);
            }
        }
    }

    /// Closes what is open at the end of the stream.
    pub(super) fn close_all(
        &mut self,
        on: &mut impl FnMut(JailEvent<'_>),
    ) -> Result<(), LimitError> {
        let at = self.base;
        while let Some(&block) = self.blocks.top() {
            let then = block.pair.map_or(OnFail::End, |pair| self.rules.pairs[pair].unclosed);
            let n = self.blocks.len() - 1;
            if matches!(block.mode, BlockMode::Keep | BlockMode::Tap) && then != OnFail::End {
                self.breach(n, Breach { kind: DiagnosticKind::JailUnclosed, then, at }, on)?;
            }
            if self.blocks.len() > n {
                self.close(Ending { mark: None, why: Closed::Stream, at }, on);
            }
        }
        Ok(())
    }
}
