//! The open blocks of a jail, and the text they keep.
//!
//! For the text `(a [b`, where both brackets open blocks and the outer one keeps its text:
//!
//! | block | its text in the one buffer `(a [b` |
//! |---|---|
//! | outer | from index 0 |
//! | inner | from index 3 |

use alloc::{string::String, vec::Vec};

use super::{
    event::{JailEvent, Jailed},
    mark_matcher::Tail,
};

/// An open block, or quoted text in one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Block {
    /// The number of the lookout for the text inside.
    pub(super) state: usize,
    /// The pair of the block, or `None` for quotes.
    pub(super) pair: Option<usize>,
    /// Stream offset of the block's start.
    pub(super) at: u64,
    /// Length of the block's start.
    pub(super) start: usize,
    /// Index of the block's start in the kept text.
    pub(super) from: usize,
    /// Stream offset of the block's limit.
    pub(super) until: u64,
    /// Stream offset of the nearest limit of the blocks around it.
    pub(super) around: u64,
    /// Stream offset from which the block is dropped, if its limit drops it.
    pub(super) dropped_from: u64,
    /// The number of bytes that were dropped with blocks and marks inside the block.
    pub(super) inner_dropped: u64,
    pub(super) mode: BlockMode,
    /// For a block without an end: how its mark may continue, and the lookout that found it.
    pub(super) tail: Option<(usize, Tail)>,
}

/// The treatment of a block's text.
///
/// For the block in `a(bc)`:
///
/// | mode | output |
/// |---|---|
/// | `Keep` | nothing until `)`, then the block |
/// | `Tap` | the text `(bc)`, then the block |
/// | `Follow` | the text `(bc)` |
/// | `Strip` | the text `bc` |
/// | `Swallow` | nothing |
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BlockMode {
    /// The text is kept until the end.
    Keep,
    /// The text passes, and a copy is kept.
    Tap,
    /// The text is treated like the text around the block.
    Follow,
    /// The text is treated like the text around the block, but the block's end is removed.
    Strip,
    /// The text is dropped.
    Swallow,
}

/// The destination of text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TextRoute {
    Out,
    Kept,
    Both,
    Nowhere,
}

/// A stack of open blocks over one buffer. The text of an inner block is a part of the outer's.
#[derive(Debug, Clone, Default)]
pub(super) struct Blocks {
    stack: Vec<Block>,
    text: String,
    /// The number of blocks opened in the text outside.
    pub(super) outermost: u64,
}

impl Blocks {
    pub(super) fn is_empty(&self) -> bool {
        self.stack.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.stack.len()
    }

    /// Returns the number of open blocks, without quotes.
    pub(super) fn depth(&self) -> usize {
        self.stack.iter().filter(|block| block.pair.is_some()).count()
    }

    pub(super) fn top(&self) -> Option<&Block> {
        self.stack.last()
    }

    pub(super) fn top_mut(&mut self) -> Option<&mut Block> {
        self.stack.last_mut()
    }

    pub(super) fn get(&self, n: usize) -> Option<&Block> {
        self.stack.get(n)
    }

    pub(super) fn get_mut(&mut self, n: usize) -> Option<&mut Block> {
        self.stack.get_mut(n)
    }

    pub(super) fn push(&mut self, block: Block) {
        self.stack.push(Block { from: self.text.len(), ..block });
    }

    /// Adds dropped bytes to the count of the innermost block.
    pub(super) fn count_dropped(&mut self, bytes: u64) {
        if let Some(top) = self.stack.last_mut() {
            top.inner_dropped += bytes;
        }
    }

    /// Moves the count of dropped bytes of block `n` to the block around it.
    pub(super) fn pass_losses_on(&mut self, n: usize) {
        let dropped = self.get_mut(n).map_or(0, |block| core::mem::take(&mut block.inner_dropped));
        if let Some(around) = n.checked_sub(1).and_then(|around| self.get_mut(around)) {
            around.inner_dropped += dropped;
        }
    }

    pub(super) fn pop(&mut self) -> Option<Block> {
        self.stack.pop()
    }

    /// Returns the offset of the nearest limit.
    pub(super) fn until(&self) -> u64 {
        self.top().map_or(u64::MAX, |top| top.until.min(top.around))
    }

    /// Returns the outermost block whose limit is [`Blocks::until`].
    pub(super) fn first_over(&self) -> usize {
        let until = self.until();
        self.stack.iter().position(|block| block.until == until).unwrap_or(0)
    }

    /// Returns the offset of the outermost block, unless a limit has decided about it.
    pub(super) fn open_at(&self) -> Option<u64> {
        let first = self.stack.first()?;
        matches!(first.mode, BlockMode::Keep | BlockMode::Tap).then_some(first.at)
    }

    pub(super) fn buffered(&self) -> usize {
        self.text.len()
    }

    /// Returns the number of kept bytes that did not pass as text.
    pub(super) fn withheld(&self) -> usize {
        if self.has(BlockMode::Tap) { 0 } else { self.text.len() }
    }

    pub(super) fn has(&self, mode: BlockMode) -> bool {
        self.stack.iter().any(|block| block.mode == mode)
    }

    /// Returns whether a block around block `n` also keeps its text.
    pub(super) fn kept_around(&self, n: usize) -> bool {
        let mut around = self.stack.iter().take(n);
        around.any(|block| matches!(block.mode, BlockMode::Keep | BlockMode::Tap))
    }

    /// Returns the destination of text in the innermost block.
    pub(super) fn route(&self) -> TextRoute {
        self.route_in(self.len())
    }

    /// Returns the destination of text in the innermost of the `level` outermost blocks.
    fn route_in(&self, level: usize) -> TextRoute {
        let mut modes = self.stack.iter().take(level).map(|block| block.mode);
        if modes.clone().any(|mode| mode == BlockMode::Swallow) {
            return TextRoute::Nowhere;
        }
        match modes.find(|mode| matches!(mode, BlockMode::Keep | BlockMode::Tap)) {
            None => TextRoute::Out,
            Some(BlockMode::Tap) => TextRoute::Both,
            Some(_) => TextRoute::Kept,
        }
    }

    /// Sends text to its destination.
    pub(super) fn take(&mut self, text: &str, on: &mut impl FnMut(JailEvent<'_>)) {
        if text.is_empty() {
            return;
        }
        let route = self.route();
        if matches!(route, TextRoute::Kept | TextRoute::Both) {
            self.text.push_str(text);
        }
        if matches!(route, TextRoute::Out | TextRoute::Both) {
            on(JailEvent::Text(text));
        }
    }

    /// Returns the event data of a popped block, whose kept text ends at index `upto`.
    pub(super) fn jailed<'t>(
        &'t self,
        block: &Block,
        upto: usize,
        end: Option<&'t str>,
    ) -> Option<Jailed<'t>> {
        let (start, body) = self.text.get(block.from..upto)?.split_at(block.start);
        Some(Jailed { pair: block.pair?, at: block.at, start, body, end })
    }

    /// Releases the kept text from index `from` on, unless one of the `level` outermost blocks
    /// keeps it.
    pub(super) fn release_kept(
        &mut self,
        level: usize,
        from: usize,
        on: &mut impl FnMut(JailEvent<'_>),
    ) {
        if self.route_in(level) == TextRoute::Out {
            if let Some(text) = self.text.get(from..).filter(|text| !text.is_empty()) {
                on(JailEvent::Text(text));
            }
            self.text.truncate(from);
        }
    }

    /// Forgets the kept text from `from` on.
    pub(super) fn forget(&mut self, from: usize) {
        self.text.truncate(from);
    }

    /// Removes the kept start of a block.
    pub(super) fn forget_start(&mut self, block: &Block) {
        self.text.drain(block.from..block.from + block.start);
    }

    /// Forgets all kept text. Blocks stay open whose pair `has_end`.
    pub(super) fn lose_text(&mut self, has_end: impl Fn(usize) -> bool) {
        self.text.clear();
        self.stack.retain(|block| block.pair.is_none_or(&has_end));
        self.stack.iter_mut().for_each(|block| (block.from, block.start) = (0, 0));
    }

    /// Releases all kept text as text, and closes all blocks.
    pub(super) fn abandon(&mut self, on: &mut impl FnMut(JailEvent<'_>)) {
        let route = self.route();
        self.stack.clear();
        if route == TextRoute::Kept && !self.text.is_empty() {
            on(JailEvent::Text(&self.text));
        }
        self.text.clear();
    }
}
