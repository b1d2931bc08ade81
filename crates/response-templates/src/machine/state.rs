//! The state of a parser while it reads.

use alloc::{string::String, vec, vec::Vec};

use toolcall_parsers::Calls;

use super::{region::Current, watch::Watch};
use crate::{message::FieldRegion, pattern::Search, template::ResponseTemplate};

/// The state of a parser, which starts over with each message.
#[derive(Debug, Clone)]
pub(super) struct State {
    /// The character before the buffer.
    pub(super) before: Option<char>,
    /// The text that is not released yet.
    pub(super) buffer: String,
    /// The number of bytes released, which is the place where the buffer begins.
    pub(super) base: u64,
    /// The offset up to which the buffer was read. It was handed to regions up to `done`.
    pub(super) cursor: usize,
    pub(super) done: usize,
    pub(super) searches: Vec<Search>,
    /// For each boundary outside of regions, whether it is known not to occur in the rest of the
    /// text.
    pub(super) exhausted: Vec<bool>,
    /// The number of the watch: 0 outside of regions, otherwise the number of the field plus 1.
    pub(super) watch: usize,
    pub(super) current: Current,
    /// The place of the region's opener, if the opener was empty.
    pub(super) empty_open: Option<u64>,
    pub(super) calls: Calls,
    pub(super) seen: Vec<bool>,
    pub(super) record: Vec<FieldRegion>,
    /// The end of the prompt.
    pub(super) from: u64,
    /// The place in the stream where the message begins.
    pub(super) origin: u64,
    pub(super) phase: Phase,
    /// Whether the searches have read the end of the text.
    pub(super) at_end: bool,
    /// The place where a halted parser stopped reading.
    pub(super) halted: u64,
}

/// The phase of a parser.
///
/// `push("a")` reads, `finish` reports the end of the text (`Ending`) and is then `Finished`. A
/// closer that would match again and again at one place halts the parser.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    /// More text may follow.
    Reading,
    /// The end of the text was reported, and the held text is being read.
    Ending,
    /// The rest of the text is dropped.
    Halted,
    /// The message has ended.
    Finished,
}

impl State {
    pub(super) fn new(template: &ResponseTemplate, watches: &[Watch], calls: Calls) -> Self {
        let inner = &template.inner;
        let most = watches.iter().map(|watch| watch.boundaries.len()).max().unwrap_or(0);
        // Where strings are joined, a default counts as the first region.
        let seen = inner.fields.iter().map(|field| {
            inner.defaults.get(&field.name).is_some_and(|value| value.as_str().is_some())
        });
        Self {
            before: None,
            buffer: String::new(),
            base: 0,
            cursor: 0,
            done: 0,
            searches: vec![Search::default(); most],
            exhausted: vec![false; most],
            watch: 0,
            current: Current::for_field(inner.leftover),
            empty_open: None,
            calls,
            seen: seen.collect(),
            record: Vec::new(),
            from: 0,
            origin: 0,
            phase: Phase::Reading,
            at_end: false,
            halted: 0,
        }
    }
}
