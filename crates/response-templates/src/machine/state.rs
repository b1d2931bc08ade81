//! The state of a parser while it reads.

use alloc::{string::String, vec, vec::Vec};

use toolcall_parsers::Calls;

use super::{region::Current, watch::Watch};
use crate::{message::FieldRegion, pattern::Search, template::ResponseTemplate};

#[derive(Debug, Clone)]
pub(super) struct State {
    /// The character before the buffer.
    pub(super) before: Option<char>,
    /// The text that was not released.
    pub(super) buffer: String,
    /// The number of bytes that were released: the place where the buffer begins.
    pub(super) base: u64,
    /// The offsets up to which the buffer was read, and up to which it was handed on.
    pub(super) cursor: usize,
    pub(super) done: usize,
    pub(super) searches: Vec<Search>,
    /// The boundaries outside of regions that do not occur in the rest of the text.
    pub(super) exhausted: Vec<bool>,
    /// The watch: 0 outside of regions, otherwise the number of the field plus 1.
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
    /// The start of the text that is never read.
    pub(super) halted: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    Reading,
    /// The end of the text was reported.
    Ending,
    /// The rest of the text is never read.
    Halted,
    Finished,
}

impl State {
    pub(super) fn new(template: &ResponseTemplate, watches: &[Watch], calls: Calls) -> Self {
        let inner = &template.inner;
        let most = watches.iter().map(|watch| watch.boundaries.len()).max().unwrap_or(0);
        // A default counts as a region where strings are joined.
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
