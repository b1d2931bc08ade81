//! Parsing of a jail's blocks with a family's parser.
//!
//! ```text
//! block with a call     the events of the call are emitted
//! block without a call  the block is emitted as content, unchanged
//! ```

use jail_match::{End, Event, Jailed, LimitError, OwnedEvent, Sink};
use toolcall_parsers::Ids;

use super::Guard;
use crate::jailer::{ParseBlocks, verbatim};

/// A parser that reads each block as a message. Calls of all blocks are numbered as those of one
/// message.
#[derive(Debug, Clone)]
pub(crate) struct BlockParser {
    guard: Guard,
    /// Number of the first pair whose blocks are parsed. Pairs before it have no parser.
    first: usize,
    calls: u32,
    /// How the stream ended, for a block that was open at the end.
    end: End,
}

impl BlockParser {
    pub(crate) fn new(guard: Guard, first: usize) -> Self {
        Self { guard, first, calls: 0, end: End::Stop }
    }
}

impl ParseBlocks for BlockParser {
    fn takes(&self, block: &Jailed<'_>) -> bool {
        block.pair >= self.first
    }

    fn read(&mut self, block: &Jailed<'_>, next: &mut dyn Sink) -> Result<bool, LimitError> {
        let end = if block.end.is_some() { End::Stop } else { self.end };
        let mut guard = self.guard.clone();
        guard.number_ids_after(self.calls);
        let mut events = Vec::new();
        let mut sink = |event: Event<'_>| events.push(event.to_owned());
        let read = guard.push(block.body, &mut sink);
        let read = read.and_then(|()| guard.finish(end, &mut sink));
        let starts = events.iter().filter(|event| matches!(event, OwnedEvent::CallStart { .. }));
        // A block that an error cut has no call.
        let calls = if end == End::Aborted { 0 } else { starts.count() };
        if calls == 0 {
            next.event(Event::Content(&verbatim(block)));
            return read.map(|()| false);
        }
        let before = self.calls;
        self.calls = before.saturating_add(u32::try_from(calls).unwrap_or(u32::MAX));
        let body_at = block.at.saturating_add(block.start.len() as u64);
        for event in &events {
            next.event(match event.as_event() {
                Event::CallStart { index, id, name } => {
                    Event::CallStart { index: before.saturating_add(index), id, name }
                }
                Event::CallArguments { index, fragment } => {
                    Event::CallArguments { index: before.saturating_add(index), fragment }
                }
                Event::CallEnd { index, outcome } => {
                    Event::CallEnd { index: before.saturating_add(index), outcome }
                }
                Event::Diagnostic(mut told) => {
                    told.at = told.at.saturating_add(body_at);
                    told.call = told.call.map(|call| before.saturating_add(call));
                    told.into()
                }
                event => event,
            });
        }
        read.map(|()| true)
    }

    fn ended(&mut self, end: End) {
        self.end = end;
    }

    fn reset(&mut self) {
        (self.calls, self.end) = (0, End::Stop);
    }

    fn set_ids(&mut self, ids: Ids) {
        self.guard.set_ids(ids);
    }

    fn needs_special_tokens(&self) -> bool {
        self.guard.needs_special_tokens()
    }

    fn boxed(&self) -> Box<dyn ParseBlocks> {
        Box::new(self.clone())
    }
}
