//! Regions of the text, each with its fate, from the guard's account.
//!
//! ```text
//! text     <think>a</think>b
//! account  markup (7 bytes), reasoning "a", markup (8 bytes), content "b"
//! regions  <think> markup | a reasoning | </think> markup | b content
//! ```

use core::ops::Range;

use jail_match::{Channel, Span, SpanKind};

use super::report::{Delay, Fate, Region, Step};

/// Emitted text and spans of other bytes, each with the step in which it was decided.
#[derive(Debug, Clone, Default)]
pub(super) struct Ledger {
    /// The text emitted so far.
    text: String,
    passed: Vec<PassedText>,
    spans: Vec<LedgerEntry>,
    /// Markers that acted, with offset, length and effect.
    pub(super) markers: Vec<Marker>,
    /// Number of bytes that were emitted or accounted for.
    pub(super) accounted: usize,
    /// Offset of the last call or its opener.
    pub(super) call_at: usize,
    /// Whether a call has ended, after which another may begin.
    pub(super) call_ended: bool,
}

#[derive(Debug, Clone, Copy)]
struct PassedText {
    fate: Fate,
    len: usize,
    step: usize,
}

#[derive(Debug, Clone, Copy)]
struct LedgerEntry {
    at: usize,
    len: usize,
    fate: Fate,
    step: usize,
}

/// A marker of the wire.
#[derive(Debug, Clone)]
pub(super) struct Marker {
    pub(super) at: usize,
    pub(super) len: usize,
    pub(super) marker: String,
    pub(super) does: std::borrow::Cow<'static, str>,
}

impl Ledger {
    pub(super) fn text(&mut self, channel: Channel, text: &str, step: usize) {
        let fate = match channel {
            Channel::CONTENT => Fate::Content,
            Channel::REASONING => Fate::Reasoning,
            _ => Fate::Other,
        };
        self.text.push_str(text);
        self.accounted += text.len();
        match self.passed.last_mut() {
            Some(last) if (last.fate, last.step) == (fate, step) => last.len += text.len(),
            _ => self.passed.push(PassedText { fate, len: text.len(), step }),
        }
    }

    pub(super) fn span(&mut self, span: Span, step: usize) {
        let Span { kind, at, len } = span;
        let fate = match kind {
            SpanKind::Markup => Fate::Markup,
            SpanKind::Framing => Fate::Framing,
            SpanKind::Body => Fate::Call,
            SpanKind::Dropped => Fate::Dropped,
        };
        self.accounted += len as usize;
        if kind == SpanKind::Body && std::mem::take(&mut self.call_ended) {
            self.call_at = (at + len) as usize;
        }
        self.spans.push(LedgerEntry { at: at as usize, len: len as usize, fate, step });
    }

    /// Returns the offset at which the `bytes` held bytes begin after `came` received ones. Bytes
    /// that are accounted for and held belong to a call that is emitted whole.
    pub(super) fn kept(&self, came: usize, bytes: usize) -> usize {
        let last = came.saturating_sub(bytes);
        if self.accounted > last { self.call_at.min(last) } else { last }
    }

    /// Divides the `wire` into regions by the account. Delays of text are written into `steps`.
    ///
    /// Spans have offsets, and the text between them is the emitted text, in order. If the emitted
    /// text differs, a stage rewrote it. After such a place, only spans are known.
    pub(super) fn settle(mut self, wire: &str, steps: &mut [Step]) -> Vec<Region> {
        self.spans.sort_by_key(|span| span.at);
        self.markers.sort_by_key(|marker| marker.at);
        let mut map = Map { regions: Vec::new(), steps };
        let mut passed = Queue { rest: self.text.as_bytes(), passed: &self.passed, used: 0 };
        let mut at = 0;
        let mut markers = self.markers.iter().peekable();
        for span in &self.spans {
            let start = span.at.clamp(at, wire.len());
            passed.fill(wire.as_bytes(), at..start, &mut map);
            let end = (span.at + span.len).clamp(start, wire.len());
            map.wait(start, span.step);
            at = start;
            while markers.next_if(|marker| marker.at < start).is_some() {}
            while let Some(marker) = markers.next_if(|marker| marker.at < end) {
                map.add(at..marker.at, span.fate, None);
                let close = (marker.at + marker.len).min(end);
                map.add(marker.at..close, Fate::Markup, Some(marker));
                at = close;
            }
            map.add(at..end, span.fate, None);
            at = end;
        }
        passed.fill(wire.as_bytes(), at..wire.len(), &mut map);
        map.regions
    }
}

/// Emitted text that is not assigned to a range.
struct Queue<'l> {
    rest: &'l [u8],
    passed: &'l [PassedText],
    /// Number of bytes of the first piece that are assigned.
    used: usize,
}

impl Queue<'_> {
    /// Assigns this range of `wire` to the next text.
    fn fill(&mut self, wire: &[u8], range: Range<usize>, map: &mut Map<'_>) {
        let Range { start: mut at, end } = range;
        while at < end {
            let Some(next) = self.passed.first() else { break };
            let len = (next.len - self.used).min(end - at);
            if self.rest.get(..len) != Some(&wire[at..at + len]) {
                self.passed = &[];
                break;
            }
            map.wait(at, next.step);
            map.add(at..at + len, next.fate, None);
            self.rest = &self.rest[len..];
            (at, self.used) = (at + len, self.used + len);
            if self.used == next.len {
                (self.passed, self.used) = (&self.passed[1..], 0);
            }
        }
        map.add(at..end, Fate::Rewritten, None);
    }
}

struct Map<'s> {
    regions: Vec<Region>,
    steps: &'s mut [Step],
}

impl Map<'_> {
    fn add(&mut self, range: Range<usize>, fate: Fate, marker: Option<&Marker>) {
        let len = range.len();
        if len == 0 {
            return;
        }
        match self.regions.last_mut() {
            Some(last) if last.fate == fate && last.marker.is_none() && marker.is_none() => {
                last.len += len;
            }
            _ => {
                let marker = marker.map(|marker| marker.does.clone());
                self.regions.push(Region { at: range.start, len, fate, marker });
            }
        }
    }

    /// Records that the region at `at` was decided in `step`.
    fn wait(&mut self, at: usize, step: usize) {
        let came = self.steps.partition_point(|step| step.at <= at).saturating_sub(1).min(step);
        if came == step {
            return;
        }
        let delay = Delay {
            chunks: step - came,
            bytes: self.steps[step].at - at,
            ms: self.steps[step].ms.zip(self.steps[came].ms).map(|(out, came)| out - came),
        };
        let known = &mut self.steps[step].delay;
        if known.is_none_or(|known| known.chunks < delay.chunks) {
            *known = Some(delay);
        }
    }
}
