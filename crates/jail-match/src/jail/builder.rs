//! The builder of a jail.

use alloc::{sync::Arc, vec::Vec};

use super::{
    Jail,
    error::JailError,
    mark::Mark,
    pair::{JailPair, Nested, OnFail},
    rules::Rules,
};

/// A builder of a [`Jail`].
///
/// ```
/// use jail_match::{Jail, JailPair, OnFail};
/// let jail = Jail::builder()
///     .rule(JailPair::new("<a>", "</a>").limit(4096, OnFail::Release))
///     .pair("<b>", "</b>")
///     .depth(4)
///     .build()?;
/// # Ok::<(), jail_match::JailError>(())
/// ```
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
    /// Adds a start to the pool. Any end of the pool closes it.
    #[must_use]
    pub fn start(mut self, start: impl Into<Mark>) -> Self {
        self.pool = self.pool.start(start);
        self
    }

    /// Adds an end to the pool.
    #[must_use]
    pub fn end(mut self, end: impl Into<Mark>) -> Self {
        self.pool = self.pool.end(end);
        self
    }

    /// Sets the maximum number of bytes in a block of the pool, without its start and end (default
    /// 1 MiB).
    ///
    /// A longer block is handed over as far as the limit, and the text after that is outside. See
    /// [`JailPair::limit`] for other policies.
    #[must_use]
    pub fn limit(self, limit: usize) -> Self {
        self.pool(|pool| pool.limit(limit, OnFail::End))
    }

    /// Changes the settings of the pool with `change`. A pool has the settings of a [`JailPair`].
    #[must_use]
    pub fn pool(self, change: impl FnOnce(JailPair) -> JailPair) -> Self {
        Self { pool: change(self.pool), ..self }
    }

    /// Adds a start and the end bound to it.
    #[must_use]
    pub fn pair(self, start: impl Into<Mark>, end: impl Into<Mark>) -> Self {
        self.rule(JailPair::new(start, end))
    }

    /// Adds a pair with its settings.
    #[must_use]
    pub fn rule(mut self, pair: JailPair) -> Self {
        self.pairs.push(pair);
        self
    }

    /// Sets when blocks inside a block are released.
    #[must_use]
    pub fn nested(self, nested: Nested) -> Self {
        Self { nested, ..self }
    }

    /// Sets the maximum number of blocks open at once (default 16). A start beyond it is reported,
    /// and is text of the block around it.
    #[must_use]
    pub fn depth(self, depth: usize) -> Self {
        Self { depth, ..self }
    }

    /// Sets the maximum number of outermost blocks in one stream (default none), and the policy for
    /// each block beyond it.
    #[must_use]
    pub fn blocks(self, blocks: u64, over: OnFail) -> Self {
        Self { blocks, over, ..self }
    }

    /// Returns whether neither a start nor an end was added.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty() && self.pool.starts.is_empty() && self.pool.ends.is_empty()
    }

    /// Returns the number of pairs added, without the pool.
    #[must_use]
    pub fn pairs(&self) -> usize {
        self.pairs.len()
    }

    /// Compiles the rules to a jail.
    ///
    /// # Errors
    /// Returns an error that names the faulty entry:
    ///
    /// * a pair without a start, or an empty start or end;
    /// * a limit of 0;
    /// * a start of the pool that equals an end;
    /// * a pair that may open in itself and whose start equals its end;
    /// * two pairs with the same start;
    /// * an inner pair that does not exist;
    /// * an expression that is faulty, may match the empty text, or has neither a maximum length
    ///   nor a hold.
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
