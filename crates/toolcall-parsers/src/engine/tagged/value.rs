//! Reading one value: where it ends, what is trimmed, and writing it out as JSON.
//!
//! A string is written while it arrives. What is held back: a prefix of a tag that may end the
//! value (left to the driver), whitespace that may have to be trimmed, and the text behind a tag
//! that ends the value only together with what follows.

use alloc::string::String;

use super::{
    head::HeadReader,
    shape::{TaggedShape, Then},
    stops::Stops,
};
use crate::{
    calls::Calls,
    engine::text::{Is, is},
    event::CallSink,
    json::escape::escape,
    typing::Types,
};

/// Whitespace that is held, at most, in the hope that it ends up between tags.
pub(super) const MAX_GAP: usize = 1024;

/// What becomes of a value's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// A string, written as it comes.
    String,
    /// Typed by the schema once it is whole.
    Typed(Types),
    /// JSON by the wire's word, once it is whole.
    Json,
    /// JSON or a string, whatever it looks like once it is whole.
    Guess,
    /// Nothing.
    Drop,
}

/// Where in a value a reader is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    Text,
    Cdata,
    /// In what may be the next parameter's header.
    NextParameter,
    /// Behind what may be the call's end.
    CallClose,
}

/// What a value's text led to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fed {
    More { used: usize },
    Closed { used: usize, by: By },
}

/// What ended a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum By {
    Itself,
    /// The next parameter's header, which [`ValueReader::next`] has read.
    NextParameter(Then),
    /// The call's and the wrapper's end.
    Wrapper,
}

/// Reads one value after the other.
#[derive(Debug, Clone)]
pub(super) struct ValueReader {
    pub(super) mode: Mode,
    pub(super) phase: Phase,
    pub(super) key: String,
    /// No parameter of the call was written before.
    pub(super) first: bool,
    /// Nothing but what the head's trimming takes has come.
    pub(super) blank: bool,
    /// A CDATA section may begin.
    pub(super) cdata_here: bool,
    pub(super) line_start: bool,
    /// Whitespace at the end, to be dropped if the value ends here.
    pub(super) edge: String,
    /// Length of the whitespace run at the end.
    pub(super) run: usize,
    /// Text that is part of the value unless what follows makes a tag of it.
    pub(super) pending: String,
    pub(super) gap: usize,
    pub(super) collected: String,
    /// The value outgrew its limit and became a string.
    pub(super) outgrown: bool,
    pub(super) dropped: u64,
    pub(super) next: HeadReader,
}

impl ValueReader {
    pub(super) const fn new() -> Self {
        Self {
            mode: Mode::Drop,
            phase: Phase::Text,
            key: String::new(),
            first: true,
            blank: true,
            cdata_here: true,
            line_start: false,
            edge: String::new(),
            run: 0,
            pending: String::new(),
            gap: 0,
            collected: String::new(),
            outgrown: false,
            dropped: 0,
            next: HeadReader::new(),
        }
    }

    pub(super) fn held(&self) -> usize {
        self.edge.len() + self.pending.len() + self.collected.len()
    }

    /// The header of the next parameter that ended the value.
    pub(super) fn next(&mut self) -> &mut HeadReader {
        &mut self.next
    }

    /// A value begins, for `key`.
    pub(super) fn begin(
        &mut self,
        key: &str,
        mode: Mode,
        first: bool,
        calls: &Calls,
        sink: &mut dyn CallSink,
    ) {
        self.key.clear();
        self.key.push_str(key);
        (self.mode, self.phase, self.first) = (mode, Phase::Text, first);
        (self.blank, self.cdata_here, self.line_start) = (true, true, false);
        (self.run, self.gap, self.outgrown, self.dropped) = (0, 0, false, 0);
        self.edge.clear();
        self.pending.clear();
        self.collected.clear();
        if mode == Mode::String {
            self.write_key(calls, sink);
            calls.arguments("\"", sink);
        }
    }

    pub(super) fn feed(
        &mut self,
        shape: &TaggedShape,
        text: &str,
        calls: &Calls,
        sink: &mut dyn CallSink,
    ) -> Fed {
        let mut i = 0;
        let fed = loop {
            let fed = match self.phase {
                Phase::Text => self.text(shape, text, &mut i, calls, sink),
                Phase::Cdata => self.cdata(text, &mut i, calls, sink),
                Phase::NextParameter => self.next_parameter(shape, text, &mut i, calls, sink),
                Phase::CallClose => self.call_close(shape, text, &mut i, calls, sink),
            };
            if let Some(fed) = fed {
                break fed;
            }
        };
        if self.collected.len() > calls.options.limits.value && self.mode != Mode::String {
            self.write_key(calls, sink);
            calls.arguments("\"", sink);
            escape(&self.collected, |piece| calls.arguments(piece, sink));
            self.collected = String::new();
            (self.mode, self.outgrown) = (Mode::String, true);
        }
        fed
    }

    fn text(
        &mut self,
        shape: &TaggedShape,
        text: &str,
        i: &mut usize,
        calls: &Calls,
        sink: &mut dyn CallSink,
    ) -> Option<Fed> {
        let stops = Stops::of(shape);
        let mut from = *i;
        loop {
            let Some(hit) = stops.find(&text.as_bytes()[from..]) else {
                self.push(shape, &text[*i..], calls, sink);
                return Some(Fed::More { used: text.len() });
            };
            let at = from + hit;
            let rest = &text[at..];
            let own = is(rest, &shape.value_close);
            if own == Is::Yes {
                self.push(shape, &text[*i..at], calls, sink);
                return Some(Fed::Closed { used: at + shape.value_close.len(), by: By::Itself });
            }
            let mut maybe = own == Is::Maybe;
            for (literal, phase) in stops.others.iter().flatten() {
                let live = match phase {
                    Phase::NextParameter if at > *i => text.as_bytes()[at - 1] == b'\n',
                    Phase::NextParameter => self.line_start,
                    Phase::Cdata => self.cdata_here && text[*i..at].trim_ascii().is_empty(),
                    Phase::CallClose | Phase::Text => true,
                };
                match is(rest, literal) {
                    Is::Yes if live => {
                        self.push(shape, &text[*i..at], calls, sink);
                        *i = at + literal.len();
                        self.enter(*phase, literal);
                        return None;
                    }
                    Is::Maybe if live => maybe = true,
                    _ => {}
                }
            }
            if maybe {
                self.push(shape, &text[*i..at], calls, sink);
                return Some(Fed::More { used: at });
            }
            from = at + rest.chars().next().map_or(1, char::len_utf8);
        }
    }

    fn enter(&mut self, phase: Phase, literal: &str) {
        self.phase = phase;
        match phase {
            Phase::Cdata => {
                self.blank = false;
                self.edge.clear();
            }
            _ => {
                self.pending.push_str(literal);
                self.gap = 0;
                self.next.restart(1);
            }
        }
    }

    /// What looked like a tag is text of the value.
    pub(super) fn release(&mut self, shape: &TaggedShape, calls: &Calls, sink: &mut dyn CallSink) {
        self.phase = Phase::Text;
        let mut pending = core::mem::take(&mut self.pending);
        self.push(shape, &pending, calls, sink);
        pending.clear();
        self.pending = pending;
    }

    /// Whether the end of the stream ends the value rather than cutting it.
    pub(super) fn ends_here(&self) -> bool {
        self.phase == Phase::CallClose
    }
}
