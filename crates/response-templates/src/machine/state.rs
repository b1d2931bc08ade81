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
    /// How far the buffer was read, and how far its text was handed on.
    pub(super) cursor: usize,
    pub(super) done: usize,
    pub(super) searches: Vec<Search>,
    /// The boundaries outside of regions that do not occur in the rest of the text.
    pub(super) exhausted: Vec<bool>,
    /// The state's watch: 0 outside of regions, else the field's number and 1.
    pub(super) watch: usize,
    pub(super) current: Current,
    /// Where the region opened, if its opener was empty.
    pub(super) empty_open: Option<u64>,
    pub(super) calls: Calls,
    pub(super) seen: Vec<bool>,
    pub(super) record: Vec<FieldRegion>,
    /// Where what is for the sink begins.
    pub(super) from: u64,
    /// Where in the stream the message begins.
    pub(super) origin: u64,
    pub(super) phase: Phase,
    /// Whether the searches know that the text is over.
    pub(super) at_end: bool,
    /// Where what is never looked at begins.
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
            current: Current::of(inner.leftover),
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
