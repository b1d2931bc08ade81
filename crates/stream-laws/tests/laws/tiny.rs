//! A small machine that obeys every law, and a fault for each way of breaking one.
//!
//! `<think>`..`</think>` is reasoning, `<call:NAME>JSON</call>` a call. One scalar at a time
//! enters `pending`, which is all that is ever held.

use std::sync::{Arc, Mutex};

use stream_laws::{
    ByteMachine, COMPLETE, CONTENT, HeldBytes, HeldReason, REASONING, RecordedSpanKind, RunRecord,
    StreamMachine, json,
};

/// Longest name and longest arguments.
pub(crate) const LIMIT: usize = 64;

/// What is wrong with a machine; one line of it each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Fault {
    #[default]
    None,
    /// L1: what is held at the end of a chunk is released.
    ForgetsAtChunkEnd,
    /// L1: a diagnostic for each chunk that reaches a call.
    NotesEachChunk,
    /// L1: what was dropped is reported when the chunk ends.
    NotesLate,
    /// L1: reset keeps the mode.
    ResetKeepsMode,
    /// L1: copies share the mode; also L9.
    SharesMode,
    /// L1 for bytes: a scalar that was cut is replaced.
    LossyBytes,
    /// L2: a newline after reasoning vanishes.
    SwallowsNewline,
    /// L2: a refuted candidate comes out twice.
    Duplicates,
    /// L2: dropped bytes are reported one short.
    Miscounts,
    /// L2: spans of markup start one byte early.
    SpansOverlap,
    /// L3: blanks wait for the next scalar for no reason.
    HoldsBlanks,
    /// L11: what is held is denied.
    DeniesHolding,
    /// L11: what is held inside a call is denied.
    DeniesArguments,
    /// L11: of what is held, no more than the last chunk is told.
    TellsLastChunk,
    /// L4: everything ever seen is kept.
    KeepsHistory,
    /// L5: everything seen is looked at again for each chunk.
    Rescans,
    /// L5: no work is counted.
    CountsNothing,
    /// L6.
    PanicsOnNul,
    /// L6: any arguments are complete.
    CompletesAnything,
    /// L6: calls share an id.
    RepeatsIds,
    /// L6: a call cut by the end of the stream stays open.
    NeverEnds,
    /// L6: an empty text at the end of reasoning.
    EmptyText,
    /// L7: arguments lose their capitals.
    Lowercases,
    /// L7: only the first call is a call.
    OneCallOnly,
    /// L8: the closer of reasoning stays in the reasoning.
    LeaksCloser,
    /// L12: the last name stays.
    KeepsName,
    /// L12: the end of the stream is told again.
    EndsTwice,
    /// L13: a call without arguments has its closer for one.
    TakesCloser,
    /// L14: calls of different responses share ids.
    RepeatsResponses,
    /// L15: the opener of reasoning ends a call that quotes it.
    EndsAtOpener,
    /// L10: atomic calls lose their arguments when they do not complete.
    AtomicForgets,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Delivery {
    Streaming,
    Atomic,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Content,
    Reasoning,
    /// After `<call:`, before the `>` that commits.
    Name,
    Arguments,
    /// After arguments beyond the limit, before the closer.
    Dropping,
}

#[derive(Debug, Clone)]
pub(crate) struct Tiny {
    fault: Fault,
    delivery: Delivery,
    mode: Mode,
    shared: Arc<Mutex<Mode>>,
    pending: String,
    utf8: Vec<u8>,
    name: String,
    arguments: String,
    history: String,
    /// Offset of the first pending byte.
    at: u64,
    dropped: u64,
    calls: u32,
    /// The number of the response, which ids begin with.
    response: u32,
    late: Vec<(u64, u64)>,
    last_chunk: usize,
    work: u64,
}

impl Tiny {
    pub(crate) fn new(fault: Fault, delivery: Delivery) -> Self {
        Self {
            fault,
            delivery,
            mode: Mode::Content,
            shared: Arc::new(Mutex::new(Mode::Content)),
            pending: String::new(),
            utf8: Vec::new(),
            name: String::new(),
            arguments: String::new(),
            history: String::new(),
            at: 0,
            dropped: 0,
            calls: 0,
            response: 0,
            late: Vec::new(),
            last_chunk: 0,
            work: 0,
        }
    }

    pub(crate) fn good() -> Self {
        Self::new(Fault::None, Delivery::Streaming)
    }

    pub(crate) fn with(fault: Fault) -> Self {
        Self::new(fault, Delivery::Streaming)
    }

    pub(crate) fn of_response(fault: Fault, number: u32) -> Self {
        let response = if fault == Fault::RepeatsResponses { 0 } else { number };
        Self { response, ..Self::with(fault) }
    }

    fn live(&self) -> &'static [&'static str] {
        match self.mode {
            Mode::Content => &["<think>", "<call:"],
            Mode::Reasoning => &["</think>"],
            Mode::Name => &[">"],
            Mode::Arguments if self.fault == Fault::EndsAtOpener => &["</call>", "<think>"],
            Mode::Arguments | Mode::Dropping => &["</call>"],
        }
    }

    /// Decides as much of `pending` as can be decided.
    fn settle(&mut self, out: &mut RunRecord) {
        while let Some(first) = self.pending.chars().next() {
            self.work += u64::from(self.fault != Fault::CountsNothing);
            let live = self.live();
            let blank = self.fault == Fault::HoldsBlanks && self.pending == " ";
            if live.contains(&self.pending.as_str()) {
                let marker = std::mem::take(&mut self.pending);
                self.at += marker.len() as u64;
                self.marker(&marker, out);
            } else if blank || live.iter().any(|marker| marker.starts_with(&self.pending)) {
                return;
            } else {
                self.pending.remove(0);
                self.literal(first, out);
            }
        }
    }

    fn marker(&mut self, marker: &str, out: &mut RunRecord) {
        let len = marker.len() as u64;
        let mut early = self.at - len;
        if self.fault == Fault::SpansOverlap {
            early = early.saturating_sub(1);
        }
        match self.mode {
            Mode::Content if marker == "<call:" => {
                self.mode = Mode::Name;
                return;
            }
            Mode::Content => self.mode = Mode::Reasoning,
            Mode::Reasoning => {
                if self.fault == Fault::LeaksCloser {
                    out.text(REASONING, marker);
                }
                if self.fault == Fault::EmptyText {
                    out.text(REASONING, "");
                }
                self.mode = Mode::Content;
            }
            Mode::Name => {
                let header = (self.name.len() + "<call:>".len()) as u64;
                out.span(RecordedSpanKind::Markup, self.at - header, header);
                if self.fault == Fault::OneCallOnly && self.calls > 0 {
                    self.mode = Mode::Dropping;
                    return;
                }
                self.mode = Mode::Arguments;
                if self.delivery == Delivery::Streaming {
                    self.start(out);
                }
                return;
            }
            Mode::Arguments => {
                if self.arguments.is_empty() {
                    let taken = self.fault == Fault::TakesCloser;
                    let arguments = if taken { "{\"closer\":\"</call>\"}" } else { "{}" };
                    arguments.chars().for_each(|scalar| self.grow(scalar, out));
                }
                let object = json::parse_object(&self.arguments).is_ok();
                let fine = object || self.fault == Fault::CompletesAnything;
                self.end(if fine { COMPLETE } else { "malformed" }, out);
            }
            Mode::Dropping => self.report_drop(out),
        }
        out.span(RecordedSpanKind::Markup, early, len);
    }

    fn literal(&mut self, scalar: char, out: &mut RunRecord) {
        let len = scalar.len_utf8() as u64;
        self.at += len;
        match self.mode {
            Mode::Content if scalar == '\n' && self.fault == Fault::SwallowsNewline => {}
            Mode::Content => out.text(CONTENT, scalar),
            Mode::Reasoning => out.text(REASONING, scalar),
            Mode::Name if self.name.len() < LIMIT && !"< \n".contains(scalar) => {
                self.name.push(scalar);
            }
            Mode::Name => {
                self.refute(out);
                self.at -= len;
                self.pending.insert(0, scalar);
            }
            Mode::Arguments if self.arguments.len() < LIMIT => {
                out.span(RecordedSpanKind::Call, self.at - len, len);
                self.grow(scalar, out);
            }
            Mode::Arguments => {
                self.end("malformed: too long", out);
                self.mode = Mode::Dropping;
                self.drop_bytes(len, out);
            }
            Mode::Dropping => self.drop_bytes(len, out),
        }
    }

    fn refute(&mut self, out: &mut RunRecord) {
        for _ in 0..=usize::from(self.fault == Fault::Duplicates) {
            out.text(CONTENT, format!("<call:{}", self.name));
        }
        self.name.clear();
        self.mode = Mode::Content;
    }

    fn start(&mut self, out: &mut RunRecord) {
        let number = if self.fault == Fault::RepeatsIds { 0 } else { self.calls };
        // An empty name would be a fault of its own.
        let name = if self.name.is_empty() { "unnamed" } else { &self.name };
        out.call_start(self.calls, format!("call_{}_{number}", self.response), name);
    }

    fn grow(&mut self, scalar: char, out: &mut RunRecord) {
        let lower = self.fault == Fault::Lowercases;
        let scalar = if lower { scalar.to_ascii_lowercase() } else { scalar };
        self.arguments.push(scalar);
        if self.delivery == Delivery::Streaming {
            out.call_arguments(self.calls, scalar);
        }
    }

    fn end(&mut self, outcome: &str, out: &mut RunRecord) {
        if self.delivery == Delivery::Atomic {
            self.start(out);
            let forgets = self.fault == Fault::AtomicForgets && outcome != COMPLETE;
            if !self.arguments.is_empty() && !forgets {
                out.call_arguments(self.calls, self.arguments.as_str());
            }
        }
        out.call_end(self.calls, outcome);
        self.calls += 1;
        self.name.clear();
        self.arguments.clear();
        self.mode = Mode::Content;
    }

    fn drop_bytes(&mut self, len: u64, out: &mut RunRecord) {
        out.span(RecordedSpanKind::Dropped, self.at - len, len);
        self.dropped += len;
    }

    fn report_drop(&mut self, out: &mut RunRecord) {
        let short = u64::from(self.fault == Fault::Miscounts);
        let bytes = std::mem::take(&mut self.dropped) - short;
        if self.fault == Fault::NotesLate {
            self.late.push((self.at, bytes));
        } else {
            out.diagnostic("dropped", self.at, bytes);
        }
        self.mode = Mode::Content;
    }
}

impl StreamMachine for Tiny {
    fn push(&mut self, chunk: &str, out: &mut RunRecord) {
        assert!(self.fault != Fault::PanicsOnNul || !chunk.contains('\0'), "met a NUL");
        if self.fault == Fault::SharesMode {
            self.mode = *self.shared.lock().unwrap();
        }
        if self.fault == Fault::NotesEachChunk && self.mode == Mode::Arguments {
            out.diagnostic("growing", self.at, 0);
        }
        for scalar in chunk.chars() {
            self.pending.push(scalar);
            self.settle(out);
        }
        if self.fault == Fault::ForgetsAtChunkEnd && !self.pending.is_empty() {
            let first = self.pending.remove(0);
            self.literal(first, out);
        }
        if matches!(self.fault, Fault::KeepsHistory | Fault::Rescans) {
            self.history.push_str(chunk);
        }
        if self.fault == Fault::Rescans {
            self.work += self.history.len() as u64;
        }
        for (at, bytes) in self.late.drain(..) {
            out.diagnostic("dropped", at, bytes);
        }
        self.last_chunk = chunk.len();
        *self.shared.lock().unwrap() = self.mode;
    }

    fn finish(&mut self, out: &mut RunRecord) {
        while let Some(first) = self.pending.chars().next() {
            self.pending.remove(0);
            self.literal(first, out);
        }
        match self.mode {
            Mode::Content | Mode::Reasoning => {}
            Mode::Name => self.refute(out),
            Mode::Arguments if self.fault == Fault::NeverEnds => {}
            Mode::Arguments => self.end("incomplete: end of stream", out),
            Mode::Dropping => self.report_drop(out),
        }
        if self.fault == Fault::KeepsName {
            self.name.push('x');
        }
        if self.fault == Fault::EndsTwice {
            out.diagnostic("end", self.at, 0);
        }
    }

    fn reset(&mut self) {
        let mode = self.mode;
        *self = Self { response: self.response, ..Self::new(self.fault, self.delivery) };
        if self.fault == Fault::ResetKeepsMode {
            self.mode = mode;
        }
    }

    fn held(&self) -> HeldBytes {
        if self.fault == Fault::DeniesHolding {
            return HeldBytes::NOTHING;
        }
        let told = self.fault == Fault::TellsLastChunk;
        let most = if told { self.last_chunk } else { usize::MAX };
        match self.mode {
            Mode::Content | Mode::Reasoning => {
                HeldBytes::new(HeldReason::Marker, self.pending.len().min(most))
            }
            Mode::Name => HeldBytes::new(HeldReason::Candidate, "<call:".len() + self.name.len()),
            Mode::Arguments if self.fault == Fault::DeniesArguments => HeldBytes::NOTHING,
            Mode::Arguments | Mode::Dropping => {
                HeldBytes::new(HeldReason::Call, self.pending.len())
            }
        }
    }

    fn work(&self) -> u64 {
        self.work
    }

    fn state_size(&self) -> usize {
        let buffers = [&self.pending, &self.name, &self.arguments, &self.history];
        buffers.iter().map(|buffer| buffer.len()).sum::<usize>() + self.utf8.len()
    }
}

impl ByteMachine for Tiny {
    fn push_bytes(&mut self, chunk: &[u8], out: &mut RunRecord) {
        if self.fault == Fault::LossyBytes {
            return self.push(&String::from_utf8_lossy(chunk), out);
        }
        self.utf8.extend_from_slice(chunk);
        let bytes = std::mem::take(&mut self.utf8);
        let mut rest = bytes.as_slice();
        while !rest.is_empty() {
            let (text, bad, cut) = match std::str::from_utf8(rest) {
                Ok(text) => (text, 0, false),
                Err(error) => {
                    let text = std::str::from_utf8(&rest[..error.valid_up_to()]).unwrap();
                    (text, error.error_len().unwrap_or(0), error.error_len().is_none())
                }
            };
            self.push(text, out);
            rest = &rest[text.len() + bad..];
            if bad > 0 {
                self.push("\u{FFFD}", out);
            } else if cut {
                self.utf8 = rest.to_vec();
                return;
            }
        }
    }
}
