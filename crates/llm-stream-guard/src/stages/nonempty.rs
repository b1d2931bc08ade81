//! Reasoning in place of an answer that never comes.

use jail_match::{End, Event, Sink};
use think_filter::{Kept, WithheldReasoning};

use super::OutputStage;

/// Withholds reasoning until something visible comes.
#[derive(Debug, Clone)]
pub(crate) struct Nonempty(WithheldReasoning);

impl Nonempty {
    pub(crate) fn new(limit: usize) -> Self {
        Self(WithheldReasoning::new(limit))
    }

    pub(crate) fn reset(&mut self) {
        self.0.reset();
    }

    pub(crate) fn held(&self) -> usize {
        self.0.held()
    }

    /// Every text is emitted on the channel it was for, and nothing is kept any more.
    pub(crate) fn release<S: Sink + ?Sized>(&mut self, next: &mut S) {
        self.0.release(|kept| text(kept, next));
    }

    /// The message is over: text that was withheld is the answer, unless the stream was cut.
    pub(crate) fn finish<S: Sink + ?Sized>(&mut self, end: End, next: &mut S) {
        self.0.finish(end, |kept| text(kept, next));
    }
}

/// Where spans of reasoning end is no event here.
fn text<S: Sink + ?Sized>(kept: Kept<'_>, next: &mut S) {
    if let Kept::Text(channel, text) = kept {
        next.event(Event::text(channel, text));
    }
}

impl<S: Sink + ?Sized> OutputStage<S> for Nonempty {
    fn event(&mut self, event: Event<'_>, next: &mut S) {
        match (event.as_text(), event) {
            (Some((channel, text)), _) if self.0.keeps(channel, text) => return,
            (Some(_), _) | (None, Event::CallStart { .. }) => self.release(next),
            (None, _) => {}
        }
        next.event(event);
    }
}
