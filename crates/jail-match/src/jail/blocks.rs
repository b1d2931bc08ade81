//! The open blocks, and the text they keep.

use alloc::{string::String, vec::Vec};

use super::{
    event::{JailEvent, Jailed},
    mark_matcher::Tail,
};

/// An open block, or quoted text in one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Block {
    /// The state inside.
    pub(super) state: usize,
    /// Its pair; quotes have none.
    pub(super) pair: Option<usize>,
    /// Stream offset of its start.
    pub(super) at: u64,
    /// Length of its start.
    pub(super) start: usize,
    /// Where its start begins in the kept text.
    pub(super) from: usize,
    /// Stream offset up to which its text may go.
    pub(super) until: u64,
    /// The least such offset of the blocks around it.
    pub(super) around: u64,
    /// Stream offset from which it is dropped, if it is.
    pub(super) lost: u64,
    /// Bytes of it that were dropped with blocks and marks inside.
    pub(super) gone: u64,
    pub(super) mode: BlockMode,
    /// Where it is all start: how the mark may go on, and the state that found it.
    pub(super) tail: Option<(usize, Tail)>,
}

/// What is done with a block's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BlockMode {
    /// It is kept.
    Keep,
    /// It is kept, and passes.
    Tap,
    /// Whatever is done with the text around it.
    Follow,
    /// As [`BlockMode::Follow`], but its end is removed.
    Strip,
    /// It is dropped.
    Swallow,
}

/// Where text goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TextRoute {
    Out,
    Kept,
    Both,
    Nowhere,
}

/// A stack of blocks over one buffer: inner blocks are parts of what the outer ones keep.
#[derive(Debug, Clone, Default)]
pub(super) struct Blocks {
    stack: Vec<Block>,
    text: String,
    /// How many blocks opened in the text outside.
    pub(super) outermost: u64,
}

impl Blocks {
    pub(super) fn is_empty(&self) -> bool {
        self.stack.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.stack.len()
    }

    /// How many are blocks, not quotes.
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

    /// Bytes of the innermost block were dropped.
    pub(super) fn lose(&mut self, bytes: u64) {
        if let Some(top) = self.stack.last_mut() {
            top.gone += bytes;
        }
    }

    /// What was dropped of block `n` so far counts for the one around it alone.
    pub(super) fn pass_losses_on(&mut self, n: usize) {
        let gone = self.get_mut(n).map_or(0, |block| core::mem::take(&mut block.gone));
        if let Some(around) = n.checked_sub(1).and_then(|around| self.get_mut(around)) {
            around.gone += gone;
        }
    }

    pub(super) fn pop(&mut self) -> Option<Block> {
        self.stack.pop()
    }

    /// The offset up to which text may go.
    pub(super) fn until(&self) -> u64 {
        self.top().map_or(u64::MAX, |top| top.until.min(top.around))
    }

    /// The outermost of the blocks whose limit is [`Blocks::until`].
    pub(super) fn first_over(&self) -> usize {
        let until = self.until();
        self.stack.iter().position(|block| block.until == until).unwrap_or(0)
    }

    /// Where the outermost block begins, if no limit has decided about it.
    pub(super) fn open_at(&self) -> Option<u64> {
        let first = self.stack.first()?;
        matches!(first.mode, BlockMode::Keep | BlockMode::Tap).then_some(first.at)
    }

    pub(super) fn buffered(&self) -> usize {
        self.text.len()
    }

    /// Bytes kept that have not passed.
    pub(super) fn withheld(&self) -> usize {
        if self.has(BlockMode::Tap) { 0 } else { self.text.len() }
    }

    pub(super) fn has(&self, mode: BlockMode) -> bool {
        self.stack.iter().any(|block| block.mode == mode)
    }

    /// Whether a block around block `n` keeps its text, too.
    pub(super) fn kept_around(&self, n: usize) -> bool {
        let mut around = self.stack.iter().take(n);
        around.any(|block| matches!(block.mode, BlockMode::Keep | BlockMode::Tap))
    }

    /// Where text of the innermost block goes.
    pub(super) fn route(&self) -> TextRoute {
        self.route_in(self.len())
    }

    /// Where text of the innermost of the `level` outermost blocks goes.
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

    /// Takes text that is certain not to be a mark, or a mark that is text.
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

    /// Returns a block that was just popped, whose text is kept up to index `upto`.
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

    /// Releases everything kept as text, and closes all blocks.
    pub(super) fn abandon(&mut self, on: &mut impl FnMut(JailEvent<'_>)) {
        let route = self.route();
        self.stack.clear();
        if route == TextRoute::Kept && !self.text.is_empty() {
            on(JailEvent::Text(&self.text));
        }
        self.text.clear();
    }
}
