//! The jail: withholds the text between a start and an end, and releases it by rules.
//!
//! | file | subject |
//! |---|---|
//! | `pair.rs`, `mark.rs`, `builder.rs` | the rules as the host writes them |
//! | `rules.rs` | the compiled rules: one lookout (a list of marks to search for) for each place |
//! | `mark_matcher.rs`, `pattern.rs` | the search for the marks of one lookout |
//! | `scan.rs` | the cursor |
//! | `blocks.rs`, `settle.rs` | open blocks, and how they end |

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
use pair::Extent;
use rules::CompiledRules;
use settle::Breach;

/// A filter that withholds the text between starts and ends.
///
/// Starts and ends are bound as a [`JailPair`], or pooled: any end of the pool closes any of its
/// starts. A *mark* is a start or an end. The first mark in the text wins, and the longest of
/// several at one place. Blocks may nest where a pair allows it ([`Inner`]), up to a depth. If a
/// pair has quotes ([`Quote`]), ends inside them do not count. The result does not depend on
/// chunks.
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
/// # Held bytes
///
/// Outside of blocks, a proper prefix of a start is held, or a start that may become a longer one.
/// Inside, the block is held: at most its pair's limit and one mark.
#[derive(Debug, Clone)]
pub struct Jail {
    rules: Arc<CompiledRules>,
    pending: Pending,
    /// Stream offset of the first pending byte.
    base: u64,
    /// The byte before that offset.
    before: Option<u8>,
    progress: Progress,
    blocks: Blocks,
    /// Stream offset of pending text that may become a mark.
    partial: Option<u64>,
    counters: JailCounters,
    failed: Option<LimitError>,
    /// Whether text is being read. At the start of a call it is set only if the caller's function
    /// panicked in the last one.
    reading: bool,
}

impl Jail {
    /// Creates a builder without sequences.
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
            reading: false,
        }
    }

    /// Feeds the next piece of the stream.
    ///
    /// # Errors
    /// Returns an error only when a limit with [`OnFail::Error`] is hit. Held text has then been
    /// released. The first byte that was not read is at [`LimitError::at`] plus
    /// [`LimitError::bytes`]. Every later call returns the same error.
    pub fn push(
        &mut self,
        chunk: &str,
        mut on: impl FnMut(JailEvent<'_>),
    ) -> Result<(), LimitError> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        self.begin_reading();
        self.counters.bytes_in += chunk.len() as u64;
        let mut pending = core::mem::take(&mut self.pending);
        let step = self.rules.longest.saturating_add(4);
        let pushed = pending.push(chunk, step, |text| self.scan(text, false, &mut on));
        (self.pending, self.reading) = (pending, false);
        pushed.map_err(|error| self.fail(error))?;
        if !self.pending.is_empty() {
            self.counters.partial += u64::from(self.partial != Some(self.base));
            self.partial = Some(self.base);
        }
        self.counters.held_max = self.counters.held_max.max(self.buffered());
        Ok(())
    }

    /// Ends the stream: held text is emitted, and open blocks close. The jail can then only be
    /// [reset](Jail::reset).
    ///
    /// # Errors
    /// See [`Jail::push`]. Also returns an error if a block is open whose pair forbids it with
    /// [`JailPair::unclosed`].
    pub fn finish(&mut self, mut on: impl FnMut(JailEvent<'_>)) -> Result<(), LimitError> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        self.begin_reading();
        let mut pending = core::mem::take(&mut self.pending);
        let finished = pending.rescan(|text| {
            let keep = self.scan(text, true, &mut on)?;
            self.close_all(&mut on)?;
            Ok(keep)
        });
        (self.pending, self.reading) = (pending, false);
        finished.map(drop).map_err(|error| self.fail(error))
    }

    /// Decides about pending text, because no mark may continue in the text to come. Pending text
    /// outside of blocks is emitted. Open blocks stay open.
    ///
    /// # Errors
    /// See [`Jail::push`].
    pub fn settle(&mut self, mut on: impl FnMut(JailEvent<'_>)) -> Result<(), LimitError> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        self.begin_reading();
        let mut pending = core::mem::take(&mut self.pending);
        let settled = pending.rescan(|text| self.scan(text, true, &mut on));
        (self.pending, self.reading) = (pending, false);
        settled.map(drop).map_err(|error| self.fail(error))
    }

    /// Applies a limit of the host, such as one of chunks or time, to the outermost open block.
    /// Returns whether a block was open.
    ///
    /// The host chooses the moment. No other part of a result can depend on chunks.
    ///
    /// # Errors
    /// See [`Jail::push`].
    pub fn expire(
        &mut self,
        kind: DiagnosticKind,
        then: OnFail,
        mut on: impl FnMut(JailEvent<'_>),
    ) -> Result<bool, LimitError> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        self.begin_reading();
        let open = self.open_at().is_some();
        let breach = Breach { kind, then, at: self.base };
        let expired = if open { self.breach(0, breach, &mut on) } else { Ok(()) };
        self.reading = false;
        expired.map_err(|error| self.fail(error)).map(|()| open)
    }

    /// Returns the stream offset of the outermost open block, if a limit can still end it.
    #[must_use]
    pub fn open_at(&self) -> Option<u64> {
        self.blocks.open_at()
    }

    /// Returns the jail to the state of a new one with the same rules.
    pub fn reset(&mut self) {
        *self = Self::new(self.rules.clone());
    }

    /// Returns the bytes held and the reason.
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

    /// Returns the number of bytes in buffers that grow with the input, including copies of text
    /// that passed. The limits bound it.
    #[must_use]
    pub fn buffered(&self) -> usize {
        self.pending.len().saturating_add(self.blocks.buffered())
    }

    /// Returns the counters since the start of the stream.
    #[must_use]
    pub fn counters(&self) -> &JailCounters {
        &self.counters
    }

    /// Begins to read. If the caller's function panicked in the last call, what the jail held is
    /// lost, and open blocks stay open.
    fn begin_reading(&mut self) {
        if core::mem::replace(&mut self.reading, true) {
            (self.base, self.before) = (self.counters.bytes_in, None);
            self.progress.start_over();
            (self.partial, self.pending) = (None, Pending::default());
            let pairs = &self.rules.pairs;
            let has_end = |pair: usize| pairs[pair].extent != Extent::Start;
            self.blocks.lose_text(has_end);
        }
    }

    fn fail(&mut self, error: LimitError) -> LimitError {
        self.pending.clear();
        self.failed = Some(error);
        error
    }
}
