//! Blocks that repeat the last one without its opener.

use jail_match::{BodyId, Diagnostic, Feed, Sink, Verdict};

use super::BlockReader;
use crate::{event::DiagnosticKind, machine::plan::Start};

impl BlockReader {
    pub(crate) fn may_begin(&self, body: BodyId) -> bool {
        let opener = self.plan.openers.get(usize::from(body));
        let repeated = opener.filter(|opener| opener.start == Start::RepeatedBlock);
        let repeats =
            |marker: &str| self.last_block.as_ref().is_some_and(|block| block.may_repeat(marker));
        repeated.is_none_or(|opener| repeats(&opener.marker))
    }

    /// Forgets the last block.
    pub(super) fn forget_block(&mut self) {
        if let Some(block) = &mut self.last_block {
            block.clear();
        }
    }

    /// Returns whether the text being read is compared with the last block.
    #[inline]
    pub(super) fn is_comparing(&self) -> bool {
        self.last_block.as_ref().is_some_and(|block| block.is_comparing())
    }

    /// Compares `text` with the last block, and reports a repetition.
    pub(super) fn compare_block(&mut self, text: &str, sink: &mut dyn Sink) -> Feed {
        let Some(block) = &mut self.last_block else { return Verdict::RESCAN.after(0) };
        let feed = block.compare(text);
        if feed.verdict == Verdict::RESCAN {
            return feed;
        }
        self.calls.at += feed.used as u64;
        if matches!(feed.verdict, Verdict::Empty(_)) {
            let opener = self
                .plan
                .openers
                .get(usize::from(self.opener))
                .map_or(0, |opener| opener.marker.len());
            let from = self.calls.begun_at.saturating_sub(opener as u64);
            let bytes = self.calls.at.saturating_sub(from);
            sink.event(Diagnostic::new(DiagnosticKind::Echo, from, bytes).into());
        }
        feed
    }
}
