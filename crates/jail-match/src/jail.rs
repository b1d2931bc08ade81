//! The generic jail: text between a start and an end is withheld, and released as the rules say.

mod blocks;
mod builder;
mod error;
mod event;
mod mark;
mod mark_matcher;
#[cfg(not(feature = "regex"))]
mod no_pattern;
mod pair;
#[cfg(feature = "regex")]
mod pattern;
mod pattern_view;
mod rules;
mod scan;
mod settle;

pub use builder::JailBuilder;
pub use error::JailError;
pub use event::{Closed, Dropped, JailCounters, JailEvent, JailSignal, Jailed};
pub use mark::{Mark, MarkPosition};
pub use pair::{BlockDelivery, Inner, JailPair, Nested, OnFail, Quote, Release};

use alloc::sync::Arc;

use crate::{
    diagnostic::DiagnosticKind,
    driver::{Held, HeldKind},
    limits::LimitError,
    pending::Pending,
};
use blocks::Blocks;
use mark_matcher::Progress;
use rules::CompiledRules;
use settle::Breach;

/// Withholds what stands between starts and ends.
///
/// Starts and ends are bound as a [`JailPair`], or pooled: any end of the pool closes any of its
/// starts. What begins first in the text wins, the longest of several marks at one place. Blocks
/// may nest where a pair says so ([`Inner`]), up to a depth; ends inside quotes do not count
/// where a pair knows quotes ([`Quote`]). Nothing depends on the chunks.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use jail_match::{Jail, JailEvent};
/// let mut jail = Jail::builder().start("<secret>").end("</secret>").build()?;
/// let mut seen = String::new();
/// let mut on = |event: JailEvent<'_>| match event {
///     JailEvent::Text(text) => seen.push_str(text),
///     JailEvent::Jailed(jailed) => seen.push_str(&format!("[{} bytes]", jailed.body.len())),
///     _ => {}
/// };
/// for chunk in ["my <sec", "ret>abc</secr", "et> is out"] {
///     jail.push(chunk, &mut on)?;
/// }
/// jail.finish(&mut on)?;
/// assert_eq!(seen, "my [3 bytes] is out");
/// # Ok(())
/// # }
/// ```
///
/// # What is held
///
/// Outside, a proper prefix of a start, or a start that a longer one may outgrow: less than the
/// longest mark, an expression's hold included. Inside, the block: at most the pair's limit and
/// one mark more.
#[derive(Debug, Clone)]
pub struct Jail {
    rules: Arc<CompiledRules>,
    pending: Pending,
    /// Stream offset of the first byte that is pending, or of the next to come.
    base: u64,
    /// The byte before that.
    before: Option<u8>,
    progress: Progress,
    blocks: Blocks,
    /// Where a chunk ended in what may become a mark.
    partial: Option<u64>,
    counters: JailCounters,
    failed: Option<LimitError>,
}

impl Jail {
    /// A jail without sequences.
    #[must_use]
    pub fn builder() -> JailBuilder {
        JailBuilder::default()
    }

    fn new(rules: Arc<CompiledRules>) -> Self {
        Self {
            rules,
            pending: Pending::default(),
            base: 0,
            before: None,
            progress: Progress::default(),
            blocks: Blocks::default(),
            partial: None,
            counters: JailCounters::default(),
            failed: None,
        }
    }

    /// Feeds the next piece of the stream.
    ///
    /// # Errors
    /// Only if a limit with [`OnFail::Error`] was hit: what was held has been released, no byte
    /// after it was taken (the first of those is [`LimitError::at`] plus [`LimitError::bytes`]),
    /// and every later call returns the same error.
    pub fn push(
        &mut self,
        chunk: &str,
        mut on: impl FnMut(JailEvent<'_>),
    ) -> Result<(), LimitError> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        self.counters.bytes_in += chunk.len() as u64;
        let mut pending = core::mem::take(&mut self.pending);
        let step = self.rules.longest.saturating_add(4);
        let pushed = pending.push(chunk, step, |text| self.scan(text, false, &mut on));
        self.pending = pending;
        pushed.map_err(|error| self.fail(error))?;
        if !self.pending.is_empty() {
            self.counters.partial += u64::from(self.partial != Some(self.base));
            self.partial = Some(self.base);
        }
        self.counters.held_max = self.counters.held_max.max(self.buffered());
        Ok(())
    }

    /// Ends the stream: what is held is emitted, and open blocks close. The jail is then spent;
    /// [`Jail::reset`] makes it as new.
    ///
    /// # Errors
    /// As [`Jail::push`]; also if a block is open that must not be ([`JailPair::unclosed`]).
    pub fn finish(&mut self, mut on: impl FnMut(JailEvent<'_>)) -> Result<(), LimitError> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        let mut pending = core::mem::take(&mut self.pending);
        let finished = pending.rescan(|text| {
            let keep = self.scan(text, true, &mut on)?;
            self.close_all(&mut on)?;
            Ok(keep)
        });
        self.pending = pending;
        finished.map(drop).map_err(|error| self.fail(error))
    }

    /// Text follows that no mark may span, because something else stands between: what is held
    /// outside blocks is emitted. Open blocks stay open.
    ///
    /// # Errors
    /// As [`Jail::push`].
    pub fn settle(&mut self, mut on: impl FnMut(JailEvent<'_>)) -> Result<(), LimitError> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        let mut pending = core::mem::take(&mut self.pending);
        let settled = pending.rescan(|text| self.scan(text, true, &mut on));
        self.pending = pending;
        settled.map(drop).map_err(|error| self.fail(error))
    }

    /// The open blocks have outlived a limit that the caller watches, of chunks or of time: the
    /// outermost is treated as `then` says. Returns whether one was open.
    ///
    /// Where that falls is the caller's choice, and so the one thing that may depend on chunks.
    ///
    /// # Errors
    /// As [`Jail::push`], under [`OnFail::Error`].
    pub fn expire(
        &mut self,
        kind: DiagnosticKind,
        then: OnFail,
        mut on: impl FnMut(JailEvent<'_>),
    ) -> Result<bool, LimitError> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        if self.open_at().is_none() {
            return Ok(false);
        }
        self.breach(0, Breach { kind, then, at: self.base }, &mut on)
            .map_err(|error| self.fail(error))?;
        Ok(true)
    }

    /// Where the outermost open block begins, if it is one that a limit can still end.
    #[must_use]
    pub fn open_at(&self) -> Option<u64> {
        self.blocks.open_at()
    }

    /// Makes the jail as new.
    pub fn reset(&mut self) {
        *self = Self::new(self.rules.clone());
    }

    /// What is held, and why.
    #[must_use]
    pub fn held(&self) -> Held {
        let (pending, block) = (self.pending.len(), self.blocks.withheld());
        let kind = match (pending, self.blocks.is_empty()) {
            (0, _) if block == 0 => HeldKind::Nothing,
            (_, true) => HeldKind::Marker,
            (_, false) => HeldKind::Call,
        };
        Held { bytes: pending.saturating_add(block), kind }
    }

    /// Live bytes in buffers that grow with input; bounded by the limits. Beyond what is held,
    /// copies of text that passed.
    #[must_use]
    pub fn buffered(&self) -> usize {
        self.pending.len().saturating_add(self.blocks.buffered())
    }

    /// Counters since the start.
    #[must_use]
    pub fn counters(&self) -> &JailCounters {
        &self.counters
    }

    fn fail(&mut self, error: LimitError) -> LimitError {
        self.pending.clear();
        self.failed = Some(error);
        error
    }
}
