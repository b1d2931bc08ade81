//! Building a jail.

use alloc::{sync::Arc, vec::Vec};

use super::{
    Jail,
    error::JailError,
    mark::Mark,
    pair::{JailPair, Nested, OnFail},
    rules::Rules,
};

/// Builds a [`Jail`].
#[derive(Debug, Clone)]
pub struct JailBuilder {
    pool: JailPair,
    pairs: Vec<JailPair>,
    nested: Nested,
    depth: usize,
    blocks: u64,
    over: OnFail,
}

impl Default for JailBuilder {
    fn default() -> Self {
        Self {
            pool: JailPair::empty(),
            pairs: Vec::new(),
            nested: Nested::default(),
            depth: 16,
            blocks: u64::MAX,
            over: OnFail::Release,
        }
    }
}

impl JailBuilder {
    /// Adds a start sequence to the pool: any end of the pool closes it.
    #[must_use]
    pub fn start(mut self, start: impl Into<Mark>) -> Self {
        self.pool = self.pool.start(start);
        self
    }

    /// Adds an end sequence to the pool.
    #[must_use]
    pub fn end(mut self, end: impl Into<Mark>) -> Self {
        self.pool = self.pool.end(end);
        self
    }

    /// The most bytes a block of the pool may hold, sequences not counted (default 1 MiB). A
    /// block that grows beyond is handed over as it is, and the text after it is outside. See
    /// [`JailPair::limit`] for other ways.
    #[must_use]
    pub fn limit(self, limit: usize) -> Self {
        self.pool(|pool| pool.limit(limit, OnFail::End))
    }

    /// Changes the pool's settings, which are those of a [`JailPair`].
    #[must_use]
    pub fn pool(self, change: impl FnOnce(JailPair) -> JailPair) -> Self {
        Self { pool: change(self.pool), ..self }
    }

    /// Adds a start and the end bound to it.
    #[must_use]
    pub fn pair(self, start: impl Into<Mark>, end: impl Into<Mark>) -> Self {
        self.rule(JailPair::new(start, end))
    }

    /// Adds a pair.
    #[must_use]
    pub fn rule(mut self, pair: JailPair) -> Self {
        self.pairs.push(pair);
        self
    }

    /// When blocks inside a block are released.
    #[must_use]
    pub fn nested(self, nested: Nested) -> Self {
        Self { nested, ..self }
    }

    /// The most blocks open at once (default 16). A start beyond is text of the block it stands
    /// in, and reported.
    #[must_use]
    pub fn depth(self, depth: usize) -> Self {
        Self { depth, ..self }
    }

    /// The most blocks opened in the text outside, in one stream (no limit unless set), and what
    /// becomes of each beyond.
    #[must_use]
    pub fn blocks(self, blocks: u64, over: OnFail) -> Self {
        Self { blocks, over, ..self }
    }

    /// Whether no sequence was added.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty() && self.pool.starts.is_empty() && self.pool.ends.is_empty()
    }

    /// How many pairs were added, the pool not counted.
    #[must_use]
    pub fn pairs(&self) -> usize {
        self.pairs.len()
    }

    /// Compiles the rules. Of equal starts the one added first counts.
    ///
    /// # Errors
    /// Names the entry at fault: no start, an empty sequence, a limit of 0, a start of the pool
    /// that equals an end, a pair that would open in itself though its start equals its end, two
    /// pairs with one start, an inner pair that does not exist, an expression that is faulty, may
    /// match nothing, or has no greatest length and no hold.
    pub fn build(self) -> Result<Jail, JailError> {
        let Self { pool, mut pairs, nested, depth, blocks, over } = self;
        let pooled = !(pool.starts.is_empty() && pool.ends.is_empty());
        if pooled {
            pairs.push(pool);
        }
        let rules = Rules { pairs, pooled, nested, depth, blocks, over }.compile()?;
        Ok(Jail::new(Arc::new(rules)))
    }
}
