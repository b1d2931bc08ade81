//! The state that all engines share: the calls of a message, the declared tools, options and
//! offsets. Engines outside of this crate also write their calls through it.

use alloc::{boxed::Box, string::String};

use jail_match::{CallPart, Trace};

use crate::{
    decoded::Decoder,
    event::{Diagnostic, DiagnosticKind, Event, Outcome, Sink},
    ids::Ids,
    limits::{MAX_LOOKAHEAD, MAX_SEARCHED},
    options::{CallLimits, LateIds, Options, Parallel, StopAfter, UnknownTools},
    tools::{Tool, Tools},
    typing::has_containers,
    used_ids::{Claim, UsedIds},
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Open {
    No,
    Call(u32),
    /// A call whose events are not reported: a pseudo call, or one too many.
    Muted,
}

/// The way of the open call's JSON to the sink.
pub(crate) struct JsonOutput<'a> {
    open: Option<u32>,
    /// The decoder of the call's strings and the tool with the schema, if any string may be
    /// decoded.
    decoder: Option<(&'a mut Decoder, &'a Tool)>,
    limits: &'a CallLimits,
}

impl JsonOutput<'_> {
    /// Passes the next piece on.
    #[inline]
    pub(crate) fn put(&mut self, fragment: &str, sink: &mut dyn Sink) {
        let Some(index) = self.open.filter(|_| !fragment.is_empty()) else { return };
        let Some((decoder, tool)) = &mut self.decoder else {
            return sink.event(Event::CallArguments { index, fragment });
        };
        let mut out = |fragment: &str| sink.event(Event::CallArguments { index, fragment });
        if decoder.feed(fragment, &tool.parameters, self.limits, &mut out) {
            let reported = Diagnostic::new(DiagnosticKind::Tolerated, decoder.call_at, 0);
            sink.event(reported.about(Some(index)).into());
        }
    }
}

/// The calls of one message, and an engine's way to the sink: numbers, ids, and the restrictions of
/// [`Options`] and the declared [`Tools`].
///
/// One call is open at a time. A call that must not be emitted is opened, too, and its events are
/// dropped.
#[derive(Debug, Clone)]
pub struct Calls {
    pub(crate) tools: Tools,
    pub(crate) options: Options,
    /// Stream offset of the first byte of the text an engine is being fed.
    pub(crate) at: u64,
    /// Stream offset after the opener of the active body.
    pub(crate) begun_at: u64,
    /// Stream offset of the character that broke a call of the active body, the first that broke;
    /// 0 if none did.
    pub(crate) broke_at: u64,
    next: u32,
    open: Open,
    /// None before the first id: most messages of a choice have no call.
    used_ids: Option<Box<UsedIds>>,
    /// Bytes that searches for the end of a value looked at and found none in.
    searched: u32,
    /// Bytes of the text being fed that a search had looked at before.
    passed_over: u32,
    /// The stream ended: the text being fed is the last.
    /// Bytes of the text being fed that were looked at once more.
    again: u32,
    pub(crate) ended: bool,
    /// The active body is sure of itself.
    committed: bool,
    /// Whether a call is complete.
    complete: bool,
    /// A marker announced the last call, and nothing but calls came since.
    pub(crate) announced: bool,
    /// Decodes strings of arguments that hold arrays and objects. Made with the first call whose
    /// tool has a place for them.
    decoder: Option<Box<Decoder>>,
}

impl Calls {
    /// A message without calls.
    #[must_use]
    pub fn new(tools: Tools, options: Options) -> Self {
        Self {
            tools,
            options,
            at: 0,
            begun_at: 0,
            broke_at: 0,
            next: 0,
            open: Open::No,
            used_ids: None,
            searched: 0,
            passed_over: 0,
            ended: false,
            committed: false,
            again: 0,
            complete: false,
            announced: false,
            decoder: None,
        }
    }

    /// Resets the state to that of a new value.
    pub fn reset(&mut self) {
        (self.at, self.next, self.open, self.committed) = (0, 0, Open::No, false);
        (self.complete, self.announced) = (false, false);
        self.decoder = None;
        (self.searched, self.ended) = (0, false);
        self.used_ids = None;
    }

    /// Returns the options.
    #[must_use]
    pub const fn options(&self) -> &Options {
        &self.options
    }

    /// Takes the ids of later calls from `ids`.
    pub fn set_ids(&mut self, ids: Ids) {
        self.options.ids = ids;
    }

    pub(crate) fn take_used_ids(&mut self) -> Option<Box<UsedIds>> {
        self.used_ids.take()
    }

    pub(crate) fn put_used_ids(&mut self, ids: Option<Box<UsedIds>>) -> &mut UsedIds {
        self.used_ids = ids;
        self.used_ids.get_or_insert_default()
    }

    /// A new body begins at stream offset `at`.
    pub fn begin(&mut self, at: u64) {
        (self.at, self.begun_at) = (at, at);
        (self.committed, self.broke_at) = (false, 0);
    }

    /// The active body is over.
    pub(crate) fn end_body(&mut self) {
        self.committed = false;
    }

    pub(crate) fn committed(&self) -> bool {
        self.committed
    }

    /// Whether the end of a value may be searched for from `offset` of the text being fed on: the work of
    /// searches that fail is bounded by the length of the stream.
    pub(crate) fn may_search(&self, offset: usize) -> bool {
        let read = self.at + (offset + MAX_LOOKAHEAD) as u64;
        u64::from(self.searched) <= MAX_SEARCHED * read
    }

    /// Counts a search that found no end in `bytes`.
    pub(crate) fn count_search(&mut self, bytes: usize) {
        self.searched = self.searched.saturating_add(u32::try_from(bytes).unwrap_or(u32::MAX));
    }

    /// Counts bytes of the text being fed that a search had looked at before.
    pub(crate) fn pass_over(&mut self, bytes: usize) {
        self.passed_over =
            self.passed_over.saturating_add(u32::try_from(bytes).unwrap_or(u32::MAX));
    }

    /// Counts bytes that were looked at once more while they were written.
    pub(crate) fn look_again(&mut self, bytes: usize) {
        self.again = self.again.saturating_add(u32::try_from(bytes).unwrap_or(u32::MAX));
    }

    /// Returns the bytes examined of the text being fed, `offered` bytes long.
    pub(crate) fn looked_at(&self, offered: usize) -> usize {
        offered.saturating_sub(self.passed_over as usize).saturating_add(self.again as usize)
    }

    /// Begins to feed new text.
    pub(crate) fn begin_feed(&mut self) {
        (self.passed_over, self.again) = (0, 0);
    }

    /// Whether a call is open.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.open != Open::No
    }

    /// Starts a call and commits the body. `offset` is relative to the text being fed.
    pub fn start(&mut self, name: &str, id: Option<&str>, offset: usize, sink: &mut dyn Sink) {
        debug_assert!(!self.is_open(), "a call began inside another");
        self.committed = true;
        if !self.options.wanted.admits(name) {
            self.mute(DiagnosticKind::UnwantedCall, offset, sink);
            return;
        }
        let unknown = !self.tools.admits(name);
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
        let id = self.unique_id(id, (name, index), offset, sink);
        let at = self.at + offset as u64;
        sink.trace(Trace::Part { part: CallPart::Named, call: index, at });
        sink.event(Event::CallStart { index, id: &id, name });
        if unknown && self.options.unknown_tools == UnknownTools::Report {
            self.diagnose(DiagnosticKind::UndeclaredTool, offset, 0, sink);
        }
    }

    /// Position of the open call, or of the next one.
    pub(crate) fn current(&self) -> u32 {
        match self.open {
            Open::Call(index) => index,
            Open::No | Open::Muted => self.next,
        }
    }

    /// Whether nothing more of the message counts.
    pub(crate) fn stops(&self) -> bool {
        self.complete && self.options.stop == StopAfter::FirstCall
    }

    /// Marks the active body as certain, although it contains no call.
    pub(crate) fn commit(&mut self) {
        self.committed = true;
    }

    /// Ends the active body as a block without calls, whose tags reach up to the offset `from`.
    /// Returns the number of bytes of the tags after the opener.
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

    /// The wire's id if it has one, else a generated one; no id comes twice in a message.
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

    /// The open call's id on the wire, which comes too late to begin with.
    pub(crate) fn late_id(&mut self, id: &str, offset: usize, sink: &mut dyn Sink) {
        match self.open {
            Open::Call(index) if self.options.late_ids == LateIds::Tell && !id.is_empty() => {
                let id = self.unique_id(Some(id), ("", index), offset, sink);
                sink.event(Event::CallId { index, id: &id, at: self.at + offset as u64 });
            }
            _ => self.diagnose(DiagnosticKind::LateId, offset, 0, sink),
        }
    }

    /// The next piece of the open call's arguments; nothing if it is empty.
    #[inline]
    pub fn arguments(&self, fragment: &str, sink: &mut dyn Sink) {
        if let Open::Call(index) = self.open
            && !fragment.is_empty()
        {
            sink.event(Event::CallArguments { index, fragment });
        }
    }

    /// Decodes strings of the open call's arguments from here on: a call of `tool` whose arguments
    /// come as JSON. `offset` is where the call is, in the text being fed.
    pub(crate) fn decode_strings(&mut self, tool: &str, offset: usize) {
        let reported = matches!(self.open, Open::Call(_));
        let of_name = |declared: &Tool| declared.name == tool;
        let Some(tool) = self.tools.iter().position(of_name).filter(|_| reported) else { return };
        if self.tools.iter().nth(tool).is_some_and(|tool| has_containers(&tool.parameters)) {
            let at = self.at + offset as u64;
            self.decoder.get_or_insert_default().begin(tool, at);
        }
    }

    /// Returns the decoder of the open call's strings, if any may be decoded.
    pub(crate) fn decoder(&self) -> Option<&Decoder> {
        self.decoder.as_deref().filter(|decoder| decoder.is_active())
    }

    /// The next piece of JSON of the open call's arguments: strings in it may be decoded.
    #[inline]
    pub(crate) fn json(&mut self, fragment: &str, sink: &mut dyn Sink) {
        self.json_output().1.put(fragment, sink);
    }

    /// The declared tools, and the way of the open call's JSON to the sink.
    #[inline]
    pub(crate) fn json_output(&mut self) -> (&Tools, JsonOutput<'_>) {
        let Self { tools, decoder, open, options, .. } = self;
        let open = match *open {
            Open::Call(index) => Some(index),
            Open::No | Open::Muted => None,
        };
        let decoder = decoder.as_deref_mut().filter(|decoder| decoder.is_active());
        let decoder = decoder.and_then(|it| tools.iter().nth(it.tool).map(|tool| (it, tool)));
        (tools, JsonOutput { open, decoder, limits: &options.limits })
    }

    /// Notes that the character at `offset` in the text being fed breaks the open call. Only the
    /// first reported call of a body counts.
    pub(crate) fn breaks_at(&mut self, offset: usize) {
        if self.broke_at == 0 && matches!(self.open, Open::Call(_)) {
            self.broke_at = self.at + offset as u64;
        }
    }

    /// Ends the open call, if there is one.
    pub fn end(&mut self, outcome: Outcome, sink: &mut dyn Sink) {
        if let Open::Call(index) = self.open {
            if let Some(decoder) = &mut self.decoder {
                let mut out = |fragment: &str| sink.event(Event::CallArguments { index, fragment });
                decoder.flush(&mut out);
            }
            sink.event(Event::CallEnd { index, outcome });
            self.complete |= matches!(outcome, Outcome::Complete | Outcome::Repaired);
        }
        self.open = Open::No;
    }

    /// Reports something at `offset` in the text being fed.
    pub fn diagnose(&self, kind: DiagnosticKind, offset: usize, bytes: u64, sink: &mut dyn Sink) {
        let call = match self.open {
            Open::Call(index) => Some(index),
            Open::No | Open::Muted => None,
        };
        let diagnostic = Diagnostic::new(kind, self.at + offset as u64, bytes).about(call);
        sink.event(diagnostic.into());
    }
}
