//! Reading one value: where it ends, what is trimmed, and writing it out as JSON.
//!
//! A string is written while it arrives. What is held back: a prefix of a tag that may end the
//! value (left to the driver), whitespace that may have to be trimmed, and the text behind a tag
//! that ends the value only together with what follows.

use alloc::string::String;

use super::{
    head::{HeadReader, Names, Read},
    shape::{Quoting, TaggedShape, Then, Trim},
};
use crate::{
    calls::Calls,
    engine::text::{Is, Undecided, any, is, space},
    event::{CallSink, DiagnosticKind},
    json::{escape::escape, scan::JsonScan},
    typing::{Fit, Types, json_or_string, typed},
};

/// Whitespace that is held, at most, in the hope that it ends up between tags.
const MAX_GAP: usize = 1024;
const CDATA_OPEN: &str = "<![CDATA[";
const CDATA_CLOSE: &str = "]]>";

/// What becomes of a value's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
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

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
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
    mode: Mode,
    phase: Phase,
    key: String,
    /// No parameter of the call was written before.
    first: bool,
    /// Nothing but what the head's trimming takes has come.
    blank: bool,
    /// A CDATA section may begin.
    cdata_here: bool,
    line_start: bool,
    /// Whitespace at the end, to be dropped if the value ends here.
    edge: String,
    /// Length of the whitespace run at the end.
    run: usize,
    /// Text that is part of the value unless what follows makes a tag of it.
    pending: String,
    gap: usize,
    collected: String,
    /// The value outgrew its limit and became a string.
    outgrown: bool,
    dropped: u64,
    next: HeadReader,
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
    pub(super) fn begin<S: CallSink + ?Sized>(
        &mut self,
        key: &str,
        mode: Mode,
        first: bool,
        calls: &Calls,
        sink: &mut S,
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

    fn write_key<S: CallSink + ?Sized>(&self, calls: &Calls, sink: &mut S) {
        calls.arguments(if self.first { "{\"" } else { ", \"" }, sink);
        escape(&self.key, |piece| calls.arguments(piece, sink));
        calls.arguments("\": ", sink);
    }

    pub(super) fn feed<S: CallSink + ?Sized>(
        &mut self,
        shape: &TaggedShape,
        text: &str,
        calls: &Calls,
        sink: &mut S,
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

    fn text<S: CallSink + ?Sized>(
        &mut self,
        shape: &TaggedShape,
        text: &str,
        i: &mut usize,
        calls: &Calls,
        sink: &mut S,
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

    fn cdata<S: CallSink + ?Sized>(
        &mut self,
        text: &str,
        i: &mut usize,
        calls: &Calls,
        sink: &mut S,
    ) -> Option<Fed> {
        let mut from = *i;
        while let Some(hit) = memchr::memchr(b']', &text.as_bytes()[from..]) {
            let at = from + hit;
            match is(&text[at..], CDATA_CLOSE) {
                Is::No => from = at + 1,
                Is::Maybe => {
                    self.put(&text[*i..at], calls, sink);
                    return Some(Fed::More { used: at });
                }
                Is::Yes => {
                    self.put(&text[*i..at], calls, sink);
                    *i = at + CDATA_CLOSE.len();
                    (self.phase, self.cdata_here, self.run) = (Phase::Text, true, 0);
                    return None;
                }
            }
        }
        self.put(&text[*i..], calls, sink);
        Some(Fed::More { used: text.len() })
    }

    fn next_parameter<S: CallSink + ?Sized>(
        &mut self,
        shape: &TaggedShape,
        text: &str,
        i: &mut usize,
        calls: &Calls,
        sink: &mut S,
    ) -> Option<Fed> {
        let limit = calls.options.limits.name;
        let attribute = shape.string_attribute.as_deref();
        let rest = &text[*i..];
        match self.next.feed(&shape.parameter, attribute, Names::Parameter, limit, rest) {
            Read::More { used } => {
                self.pending.push_str(&rest[..used]);
                Some(Fed::More { used: *i + used })
            }
            Read::Done { used, then } => {
                Some(Fed::Closed { used: *i + used, by: By::NextParameter(then) })
            }
            Read::Bad { at } => {
                self.pending.push_str(&rest[..at]);
                *i += at;
                self.release(shape, calls, sink);
                None
            }
        }
    }

    fn call_close<S: CallSink + ?Sized>(
        &mut self,
        shape: &TaggedShape,
        text: &str,
        i: &mut usize,
        calls: &Calls,
        sink: &mut S,
    ) -> Option<Fed> {
        let gap = space(&text[*i..]);
        if self.gap + gap <= MAX_GAP {
            self.gap += gap;
            self.pending.push_str(&text[*i..*i + gap]);
            *i += gap;
            let closers = shape.wrapper.as_ref().map_or(&[][..], |wrapper| &wrapper.close);
            match any(&text[*i..], closers) {
                _ if *i == text.len() => return Some(Fed::More { used: *i }),
                Err(Undecided) => return Some(Fed::More { used: *i }),
                Ok(Some(n)) => {
                    let used = *i + closers[n].len();
                    return Some(Fed::Closed { used, by: By::Wrapper });
                }
                Ok(None) => {}
            }
        }
        self.release(shape, calls, sink);
        None
    }

    /// What looked like a tag is text of the value.
    fn release<S: CallSink + ?Sized>(&mut self, shape: &TaggedShape, calls: &Calls, sink: &mut S) {
        self.phase = Phase::Text;
        let mut pending = core::mem::take(&mut self.pending);
        self.push(shape, &pending, calls, sink);
        pending.clear();
        self.pending = pending;
    }

    /// Takes in text of the value, less what is trimmed.
    fn push<S: CallSink + ?Sized>(
        &mut self,
        shape: &TaggedShape,
        text: &str,
        calls: &Calls,
        sink: &mut S,
    ) {
        if text.is_empty() {
            return;
        }
        self.line_start = text.ends_with('\n');
        self.cdata_here = self.cdata_here && text.trim_ascii().is_empty();
        match shape.trim {
            Trim::None => self.put(text, calls, sink),
            Trim::OneNewline => {
                let skip = usize::from(self.blank && text.starts_with('\n'));
                self.blank = false;
                let text = &text[skip..];
                if text.is_empty() {
                    return;
                }
                self.put_edge(calls, sink);
                let body = text.strip_suffix('\n').unwrap_or(text);
                self.put(body, calls, sink);
                self.edge.push_str(&text[body.len()..]);
            }
            Trim::Full => {
                let text = if self.blank { text.trim_ascii_start() } else { text };
                let body = text.trim_ascii_end();
                if !body.is_empty() {
                    self.put_edge(calls, sink);
                    self.put(body, calls, sink);
                    (self.blank, self.run) = (false, 0);
                }
                let space = &text[body.len()..];
                self.edge.push_str(space);
                self.run += space.len();
                if self.run > MAX_GAP {
                    self.put_edge(calls, sink);
                }
            }
        }
    }

    fn put_edge<S: CallSink + ?Sized>(&mut self, calls: &Calls, sink: &mut S) {
        let mut edge = core::mem::take(&mut self.edge);
        self.put(&edge, calls, sink);
        edge.clear();
        self.edge = edge;
    }

    fn put<S: CallSink + ?Sized>(&mut self, text: &str, calls: &Calls, sink: &mut S) {
        match self.mode {
            Mode::String => escape(text, |piece| calls.arguments(piece, sink)),
            Mode::Typed(_) | Mode::Json | Mode::Guess => self.collected.push_str(text),
            Mode::Drop => self.dropped += text.len() as u64,
        }
    }

    /// The value ended, at `offset` in the text being fed; whether it was written.
    pub(super) fn close<S: CallSink + ?Sized>(
        &mut self,
        offset: usize,
        calls: &Calls,
        sink: &mut S,
    ) -> bool {
        let mut mistyped = self.outgrown;
        match self.mode {
            Mode::String => calls.arguments("\"", sink),
            Mode::Drop => {
                calls.diagnose(DiagnosticKind::DuplicateParameter, offset, self.dropped, sink);
            }
            Mode::Typed(_) | Mode::Json | Mode::Guess => {
                self.write_key(calls, sink);
                let out = |piece: &str| calls.arguments(piece, sink);
                let fit = match self.mode {
                    Mode::Typed(types) => typed(&self.collected, types, out),
                    _ => json_or_string(&self.collected, out),
                };
                mistyped = fit == Fit::No && self.mode != Mode::Guess;
            }
        }
        self.collected.clear();
        if mistyped {
            calls.diagnose(DiagnosticKind::Mistyped, offset, 0, sink);
        }
        self.mode != Mode::Drop
    }

    /// Whether the end of the stream ends the value rather than cutting it.
    pub(super) fn ends_here(&self) -> bool {
        self.phase == Phase::CallClose
    }

    /// Closes a value that the end of the stream cut, if that takes no guess; whether anything
    /// of it is written.
    pub(super) fn repair<S: CallSink + ?Sized>(&mut self, calls: &Calls, sink: &mut S) -> bool {
        match self.mode {
            Mode::String => {
                calls.arguments("\"", sink);
                return true;
            }
            Mode::Typed(types) if !types.has(Types::STRING) => {}
            Mode::Json => {}
            _ => return false,
        }
        let text = self.collected.trim_ascii();
        let array = text.starts_with('[') && self.admits(Types::ARRAY);
        let object = text.starts_with('{') && self.admits(Types::OBJECT);
        let mut scan = JsonScan::new();
        let mut valid = String::new();
        scan.feed(text, |piece| valid.push_str(piece));
        match scan.closing() {
            Some(closing) if (array || object) && valid.len() >= text.len() => {
                self.write_key(calls, sink);
                calls.arguments(&valid, sink);
                calls.arguments(&closing, sink);
                true
            }
            _ => false,
        }
    }

    fn admits(&self, types: Types) -> bool {
        match self.mode {
            Mode::Typed(admitted) => admitted.has(types),
            _ => true,
        }
    }
}

/// The tags that may end a value, and the bytes they begin with.
struct Stops<'s> {
    bytes: [u8; 3],
    others: [Option<(&'s str, Phase)>; 3],
}

impl<'s> Stops<'s> {
    fn of(shape: &'s TaggedShape) -> Self {
        let first = |text: &str| text.as_bytes().first().copied().unwrap_or(0);
        let own = first(&shape.value_close);
        let next = shape.parameter.open.first().filter(|_| shape.implicit.next_parameter);
        let close = shape.call_close.first().filter(|_| shape.implicit.call_close);
        let cdata = (shape.quoting == Quoting::Cdata).then_some((CDATA_OPEN, Phase::Cdata));
        let others = [
            cdata,
            next.map(|literal| (literal.as_ref(), Phase::NextParameter)),
            close.map(|literal| (literal.as_ref(), Phase::CallClose)),
        ];
        let mut bytes = [own; 3];
        // CDATA's `<` goes unnoticed only in a grammar whose tags do not begin with it.
        for (byte, other) in bytes[1..].iter_mut().zip(&others[1..]) {
            if let Some((literal, _)) = other {
                *byte = first(literal);
            }
        }
        Self { bytes, others }
    }

    fn find(&self, text: &[u8]) -> Option<usize> {
        let [a, b, c] = self.bytes;
        if a == b && a == c { memchr::memchr(a, text) } else { memchr::memchr3(a, b, c, text) }
    }
}
