//! A replacement for the parser of response templates, for builds without it.

use jail_match::{Channel, Counters, Edge, End, Held, Sink};
use toolcall_parsers::{Calls, Ids};

pub(super) use NoTemplate as TemplateCursor;

/// A parser that cannot be created.
#[derive(Debug, Clone)]
pub(super) enum NoTemplate {}

impl NoTemplate {
    pub(super) fn reset(&mut self) {
        match *self {}
    }

    pub(super) fn push(&mut self, _: &str, _: &mut dyn Sink) {
        match *self {}
    }

    pub(super) fn finish(&mut self, _: End, _: &mut dyn Sink) {
        match *self {}
    }

    pub(super) fn next_message(&mut self, _: &mut dyn Sink) {
        match *self {}
    }

    pub(super) fn held(&self) -> Held {
        match *self {}
    }

    pub(super) fn buffered(&self) -> usize {
        match *self {}
    }

    pub(super) fn open_channel(&self) -> Option<Option<Channel>> {
        match *self {}
    }

    pub(super) fn settled(&self) -> u64 {
        match *self {}
    }

    pub(super) fn counters(&self) -> &Counters {
        match *self {}
    }

    pub(super) fn edges(&self) -> &[Edge] {
        match *self {}
    }

    pub(super) fn calls(&self) -> &Calls {
        match *self {}
    }

    pub(super) fn set_ids(&mut self, _: Ids) {
        match *self {}
    }
}
