//! The events of one push, recorded without Python until the parser returns.
//!
//! ```text
//! Content("Hel"), Content("lo"), CallStart { index: 0, id: "call_0", name: "find" }
//! text    Hellocall_0find
//! items   Text(content, 0..5), CallStart { index: 0, id: 5..11, name: 11..15 }
//! ```

use std::ops::Range;

use llm_stream_guard::{Diagnostic, Event, Outcome, Sink};

/// Maximum capacity of the text buffer that is kept from push to push.
const KEPT: usize = 64 << 10;

/// A sink that keeps events in two reusable buffers. Neighbouring pieces of one text are joined.
#[derive(Debug, Clone, Default)]
pub(crate) struct Recorder {
    text: String,
    items: Vec<Item>,
}

/// An event whose texts are ranges of the recorder's text.
#[derive(Debug, Clone)]
pub(crate) enum Item {
    Content(Range<usize>),
    Reasoning(Range<usize>),
    CallStart { index: u32, id: Range<usize>, name: Range<usize> },
    CallArguments { index: u32, fragment: Range<usize> },
    CallEnd { index: u32, outcome: Outcome },
    Diagnostic(Diagnostic),
}

impl Recorder {
    /// Drops all recorded events.
    pub(crate) fn clear(&mut self) {
        self.items.clear();
        self.text.clear();
        self.text.shrink_to(KEPT);
        self.items.shrink_to(KEPT / size_of::<Item>());
    }

    /// Returns the events, in order.
    pub(crate) fn items(&self) -> &[Item] {
        &self.items
    }

    /// Returns the text of a range.
    pub(crate) fn text(&self, range: &Range<usize>) -> &str {
        self.text.get(range.clone()).unwrap_or_default()
    }

    fn keep(&mut self, text: &str) -> Range<usize> {
        let start = self.text.len();
        self.text.push_str(text);
        start..self.text.len()
    }
}

impl Sink for Recorder {
    fn event(&mut self, event: Event<'_>) {
        let item = match event {
            Event::Content(text) | Event::Other(_, text) => {
                let range = self.keep(text);
                if let Some(Item::Content(last)) = self.items.last_mut() {
                    last.end = range.end;
                    return;
                }
                Item::Content(range)
            }
            Event::Reasoning(text) => {
                let range = self.keep(text);
                if let Some(Item::Reasoning(last)) = self.items.last_mut() {
                    last.end = range.end;
                    return;
                }
                Item::Reasoning(range)
            }
            Event::CallStart { index, id, name } => {
                let (id, name) = (self.keep(id), self.keep(name));
                Item::CallStart { index, id, name }
            }
            Event::CallArguments { index, fragment } => {
                let range = self.keep(fragment);
                match self.items.last_mut() {
                    Some(Item::CallArguments { index: same, fragment }) if *same == index => {
                        fragment.end = range.end;
                        return;
                    }
                    _ => Item::CallArguments { index, fragment: range },
                }
            }
            Event::CallEnd { index, outcome } => Item::CallEnd { index, outcome },
            Event::Diagnostic(diagnostic) => Item::Diagnostic(diagnostic),
            // Other events, such as late ids and edges of markers, are for stages of the guard.
            _ => return,
        };
        self.items.push(item);
    }
}
