//! The calls of one message: numbers, ids, declared tools, options and stream offsets.
//!
//! The call machine reports every call through [`Calls`]. Engines outside of this crate do too.

mod arguments;

use alloc::{boxed::Box, string::String};

use jail_match::{CallPart, Trace};

use self::arguments::{ArgumentStages, KeyedOutput};
use crate::{
    event::{Diagnostic, DiagnosticKind, Event, Outcome, Sink},
    ids::Ids,
    limits::{MAX_LOOKAHEAD, MAX_SEARCHED_PER_BYTE},
    options::{LateIds, Options, Parallel, StopAfter, UnknownTools},
    tools::Tools,
    used_ids::{Claim, UsedIds},
};

/// Which call is open, and whether its events are reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Open {
    No,
    Call(u32),
    /// A call that is parsed but not reported, for example a second call where one is allowed.
    Muted,
}

/// The place where a body begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BodyPlace {
    Answer,
    /// In code or quotes of the answer, where the opener may be only mentioned.
    Quoted,
    /// In a thought, where it may be only mentioned, too.
    Thought,
}

/// The calls of one message. Gives them numbers and ids, and applies [`Options`] and [`Tools`].
///
/// One call is open at a time. A call that must not be emitted is also opened, but its events are
/// dropped.
#[derive(Debug, Clone)]
pub struct Calls {
    pub(crate) tools: Tools,
    pub(crate) options: Options,
    /// Stream offset of the first byte of the text an engine is being fed.
    pub(crate) at: u64,
    /// Stream offset after the opener of the active body.
    pub(crate) begun_at: u64,
    /// Stream offset at which the first call of the active body became malformed or ended, or 0.
    pub(crate) decided_at: u64,
    next: u32,
    open: Open,
    /// Ids used in this message. Allocated with the first call, because most messages have none.
    used_ids: Option<Box<UsedIds>>,
    /// Bytes examined by searches that did not find the end of a value.
    searched: u32,
    /// Bytes of the text being fed that an earlier search had already examined.
    known: u32,
    /// Bytes of the text being fed that were examined a second time.
    again: u32,
    /// Whether the stream has ended, so that the text being fed is the last.
    pub(crate) ended: bool,
    /// Whether the stream was cut, so that the model did not end its message.
    pub(crate) cut: bool,
    /// Whether diagnostics and arguments are dropped, because the text belongs to a malformed call.
    pub(crate) quiet: bool,
    /// Where the active body began.
    pub(crate) place: BodyPlace,
    /// Whether the active body is certainly a call.
    committed: bool,
    /// Whether a call of this message was complete.
    complete: bool,
    /// Whether a marker announced the last call and only calls followed it.
    pub(crate) announced: bool,
    /// The stages before the sink. Allocated with the first call.
    stages: Option<Box<ArgumentStages>>,
    /// Whether members are compared by their keys.
    unique_keys: bool,
}

impl Calls {
    /// Creates the state of a message without calls.
    #[must_use]
    pub fn new(tools: Tools, options: Options) -> Self {
        Self {
            tools,
            options,
            at: 0,
            begun_at: 0,
            decided_at: 0,
            next: 0,
            open: Open::No,
            used_ids: None,
            searched: 0,
            known: 0,
            ended: false,
            cut: false,
            quiet: false,
            place: BodyPlace::Answer,
            committed: false,
            again: 0,
            complete: false,
            announced: false,
            stages: None,
            unique_keys: false,
        }
    }

    /// Drops members whose key came before in their object. The first one counts.
    pub(crate) fn with_unique_keys(self) -> Self {
        Self { unique_keys: true, ..self }
    }

    /// Restores the state of a new value. Tools and options are kept.
    pub fn reset(&mut self) {
        (self.at, self.next, self.open, self.committed) = (0, 0, Open::No, false);
        (self.complete, self.announced) = (false, false);
        self.stages = None;
        (self.searched, self.ended, self.cut, self.quiet) = (0, false, false, false);
        self.used_ids = None;
    }

    /// Returns the options.
    #[must_use]
    pub const fn options(&self) -> &Options {
        &self.options
    }

    /// Returns the declared tools.
    #[must_use]
    pub const fn tools(&self) -> &Tools {
        &self.tools
    }

    /// Takes the ids of later calls from `ids`.
    pub fn set_ids(&mut self, ids: Ids) {
        self.options.ids = ids;
    }

    /// Takes the used ids out, so that a copy of `self` does not copy them.
    pub(crate) fn take_used_ids(&mut self) -> Option<Box<UsedIds>> {
        self.used_ids.take()
    }

    /// Puts back the used ids and returns them.
    pub(crate) fn put_used_ids(&mut self, ids: Option<Box<UsedIds>>) -> &mut UsedIds {
        self.used_ids = ids;
        self.used_ids.get_or_insert_default()
    }

    /// Starts a new body at stream offset `at`.
    pub fn begin(&mut self, at: u64) {
        (self.at, self.begun_at) = (at, at);
        (self.committed, self.decided_at) = (false, 0);
    }

    /// Ends the active body. A call is open then only after a panic of the sink; it has no end.
    pub(crate) fn end_body(&mut self) {
        (self.committed, self.open) = (false, Open::No);
    }

    pub(crate) fn committed(&self) -> bool {
        self.committed
    }

    /// Returns whether a search for the end of a value may start at `offset` of the text being fed.
    /// Failed searches may examine only [`MAX_SEARCHED_PER_BYTE`] times the bytes of the stream.
    pub(crate) fn may_search(&self, offset: usize) -> bool {
        let read = self.at + (offset + MAX_LOOKAHEAD) as u64;
        u64::from(self.searched) <= MAX_SEARCHED_PER_BYTE * read
    }

    /// Counts a failed search that examined `bytes`.
    pub(crate) fn count_search(&mut self, bytes: usize) {
        self.searched = self.searched.saturating_add(u32::try_from(bytes).unwrap_or(u32::MAX));
    }

    /// Counts bytes of the text being fed that an earlier search had already examined.
    pub(crate) fn count_known(&mut self, bytes: usize) {
        self.known = self.known.saturating_add(u32::try_from(bytes).unwrap_or(u32::MAX));
    }

    /// Counts bytes that were examined a second time while they were written.
    pub(crate) fn count_second_read(&mut self, bytes: usize) {
        self.again = self.again.saturating_add(u32::try_from(bytes).unwrap_or(u32::MAX));
    }

    /// Returns how many of the `offered` bytes being fed were examined.
    pub(crate) fn looked_at(&self, offered: usize) -> usize {
        offered.saturating_sub(self.known as usize).saturating_add(self.again as usize)
    }

    /// Starts the counters of the next text that is fed.
    pub(crate) fn begin_feed(&mut self) {
        (self.known, self.again) = (0, 0);
    }

    /// Whether a call is open.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.open != Open::No
    }

    /// Starts a call, and marks the body as certain. `offset` is relative to the text being fed.
    pub fn start(&mut self, name: &str, id: Option<&str>, offset: usize, sink: &mut dyn Sink) {
        debug_assert!(!self.is_open(), "a call began inside another");
        self.committed = true;
        let unknown = !self.tools.admits(name);
        let declared = if unknown { self.tools.declared_in(name).map(String::from) } else { None };
        let unknown = unknown && declared.is_none();
        if declared.is_some() || self.stages.is_some() {
            self.stages.get_or_insert_default().renamed = declared.is_some();
        }
        let name = declared.as_deref().unwrap_or(name);
        if !self.options.wanted.admits(name) {
            self.mute(DiagnosticKind::UnwantedCall, offset, sink);
            return;
        }
        if unknown && self.options.unknown_tools == UnknownTools::Drop {
            self.mute(DiagnosticKind::UndeclaredTool, offset, sink);
            return;
        }
        if self.next > 0 && self.options.parallel == Parallel::One || self.stops() {
            self.mute(DiagnosticKind::ParallelCall, offset, sink);
            return;
        }
        let index = self.next;
        self.next = self.next.saturating_add(1);
        self.open = Open::Call(index);
        if self.unique_keys {
            let (at, most) = (self.at + offset as u64, self.options.limits.name);
            let stages = self.stages.get_or_insert_default();
            stages.keys.get_or_insert_default().begin(at, most);
        }
        let id = self.unique_id(id, (name, index), offset, sink);
        let at = self.at + offset as u64;
        sink.trace(Trace::Part { part: CallPart::Named, call: index, at });
        sink.event(Event::CallStart { index, id: &id, name });
        if unknown && self.options.unknown_tools == UnknownTools::Report {
            self.diagnose(DiagnosticKind::UndeclaredTool, offset, 0, sink);
        }
    }

    /// Returns the index of the open call, or of the next one.
    pub(crate) fn current(&self) -> u32 {
        match self.open {
            Open::Call(index) => index,
            Open::No | Open::Muted => self.next,
        }
    }

    /// Returns whether the rest of the message must be ignored ([`StopAfter::FirstCall`]).
    pub(crate) fn stops(&self) -> bool {
        self.complete && self.options.stop == StopAfter::FirstCall
    }

    /// Marks the active body as certain, although it contains no call.
    pub(crate) fn commit(&mut self) {
        self.committed = true;
    }

    /// Ends the active body as a section without calls, whose tags end at stream offset `from`.
    /// Returns the number of bytes between the opener and `from`.
    pub(crate) fn no_call(&self, from: u64, sink: &mut dyn Sink) -> usize {
        let from = from.max(self.begun_at);
        sink.event(Diagnostic::new(DiagnosticKind::EmptyList, from, 0).into());
        usize::try_from(from.saturating_sub(self.begun_at)).unwrap_or(usize::MAX)
    }

    /// Opens a call that is parsed but not reported.
    pub(crate) fn mute(&mut self, kind: DiagnosticKind, offset: usize, sink: &mut dyn Sink) {
        self.committed = true;
        self.open = Open::Muted;
        self.diagnose(kind, offset, 0, sink);
    }

    /// Returns the wire's id, or a generated one. The result is unique within the message.
    fn unique_id(
        &mut self,
        native: Option<&str>,
        (name, index): (&str, u32),
        offset: usize,
        sink: &mut dyn Sink,
    ) -> String {
        let native = native.filter(|id| !id.is_empty());
        let ids = &self.options.ids;
        let wanted = native.map_or_else(|| ids.id(name, index), String::from);
        let (id, claim) =
            self.used_ids.get_or_insert_default().claim(wanted, || ids.id(name, index));
        if claim == Claim::Changed && native.is_some() {
            self.diagnose(DiagnosticKind::DuplicateId, offset, 0, sink);
        }
        id
    }

    /// Handles the open call's id, if the wire has it after the call was started.
    pub(crate) fn late_id(&mut self, id: &str, offset: usize, sink: &mut dyn Sink) {
        match self.open {
            Open::Call(index) if self.options.late_ids == LateIds::Tell && !id.is_empty() => {
                let id = self.unique_id(Some(id), ("", index), offset, sink);
                sink.event(Event::CallId { index, id: &id, at: self.at + offset as u64 });
            }
            _ => self.diagnose(DiagnosticKind::LateId, offset, 0, sink),
        }
    }

    /// Records that the character at `offset` of the text being fed makes the open call malformed, or
    /// is after its end. Only the first such character of a body is recorded.
    pub(crate) fn decides_at(&mut self, offset: usize) {
        if self.decided_at == 0 && matches!(self.open, Open::Call(_)) {
            self.decided_at = self.at + offset as u64;
        }
    }

    /// Ends the open call, if there is one.
    pub fn end(&mut self, outcome: Outcome, sink: &mut dyn Sink) {
        if let Open::Call(index) = self.open {
            if let Some(ArgumentStages { keys, decoder, .. }) = self.stages.as_deref_mut() {
                let mut keyed = KeyedOutput { index, keys: keys.as_mut() };
                if let Some(decoder) = decoder {
                    decoder.flush(&mut |fragment: &str| keyed.put(fragment, sink));
                }
            }
            let is_changed = self.stages.as_deref().is_some_and(ArgumentStages::has_changed);
            let outcome = match self.keyed_outcome(outcome, index, sink) {
                Outcome::Complete if is_changed => Outcome::Repaired,
                outcome => outcome,
            };
            sink.event(Event::CallEnd { index, outcome });
            self.complete |= outcome.runs();
        }
        self.open = Open::No;
    }

    /// Reports a diagnostic at `offset` of the text being fed.
    pub fn diagnose(&self, kind: DiagnosticKind, offset: usize, bytes: u64, sink: &mut dyn Sink) {
        if self.quiet {
            return;
        }
        let call = match self.open {
            Open::Call(index) => Some(index),
            Open::No | Open::Muted => None,
        };
        let diagnostic = Diagnostic::new(kind, self.at + offset as u64, bytes).about(call);
        sink.event(diagnostic.into());
    }
}
