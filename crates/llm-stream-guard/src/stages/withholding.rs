//! Withholding of reasoning that may become the answer, because the answer or the closer may be
//! missing.
//!
//! ```text
//! <think>The answer is 7.</think>   without more text: emitted as content (`nonempty_content`)
//! <think>The answer is 7.           without a closer: emitted by the policy of `unclosed`
//! ```

use jail_match::{Edge, End, Event, Sink, Then};
use think_filter::{Kept, Withheld};

use super::OutputStage;

/// A stage that withholds reasoning until its channel is certain.
#[derive(Debug, Clone)]
pub(crate) struct Withholding {
    withheld: Withheld,
    /// Which edges close a span. They are reported to this stage alone.
    closers: Box<[bool]>,
}

impl Withholding {
    /// Creates a stage that withholds reasoning by `withheld`, in a message that is read by these
    /// edges.
    pub(crate) fn new(withheld: Withheld, edges: &[Edge]) -> Self {
        let closes = |edge: &Edge| matches!(edge.then, Then::Leave | Then::Switch(_));
        let reported = withheld.waits_for_closers();
        let closers = if reported { edges.iter().map(closes).collect() } else { Box::default() };
        Self { withheld, closers }
    }

    pub(crate) fn reset(&mut self) {
        self.withheld.reset();
    }

    pub(crate) fn held(&self) -> usize {
        self.withheld.held()
    }

    /// Emits all withheld texts in their original channels.
    pub(crate) fn release<S: Sink + ?Sized>(&mut self, next: &mut S) {
        self.withheld.release(&mut |kept| put(kept, next));
    }

    /// Ends the message, inside reasoning if `open` is set.
    pub(crate) fn finish<S: Sink + ?Sized>(&mut self, end: End, open: bool, next: &mut S) {
        self.withheld.finish(end, open, &mut |kept| put(kept, next));
    }

    /// Begins another message.
    pub(crate) fn message_boundary<S: Sink + ?Sized>(&mut self, open: bool, next: &mut S) {
        self.withheld.message_boundary(open, &mut |kept| put(kept, next));
    }
}

/// Emits a withheld text. Ends of spans are not events.
fn put<S: Sink + ?Sized>(kept: Kept<'_>, next: &mut S) {
    if let Kept::Text(channel, text) = kept {
        next.event(Event::text(channel, text));
    }
}

impl<S: Sink + ?Sized> OutputStage<S> for Withholding {
    fn event(&mut self, event: Event<'_>, next: &mut S) {
        let Self { withheld, closers } = self;
        match event {
            Event::EdgeMatched(edge) if !closers.is_empty() => {
                if closers.get(edge) == Some(&true) {
                    withheld.span_ended(&mut |kept| put(kept, next));
                }
                return;
            }
            Event::CallStart { .. } => self.release(next),
            _ => {
                if let Some((channel, text)) = event.as_text() {
                    return withheld.text(channel, text, &mut |kept| put(kept, next));
                }
            }
        }
        next.event(event);
    }
}
