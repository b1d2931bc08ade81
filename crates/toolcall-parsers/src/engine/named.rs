//! Named calls: a header that holds the name (and perhaps an id), then the arguments as JSON.

mod field;
mod raw;
mod shape;

use alloc::string::String;

use jail_match::{AtEnd, End, Feed};

pub(crate) use self::field::fits;
use self::field::{declared, visible};
pub use self::shape::{Field, FieldKind, NamedShape, Next, Raw, Section, Stop};
use super::{
    arguments::Arguments,
    step::Step,
    text::{BLANKS, Is, Undecided, any, find, is, longest, space},
    uncommitted,
};
use crate::{
    calls::Calls,
    event::{CallSink, DiagnosticKind, Outcome},
    grammar::Certainty,
    json::scan::Scanned,
    options::Repair,
    tools::Tools,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// In a section, before a call.
    Section,
    Field(u8),
    /// Before arguments that may be JSON or plain text.
    Either,
    Arguments,
    /// In arguments that are plain text.
    Raw,
    /// Before the closing literal with this number.
    Close(usize),
    Broken,
}

/// The machine.
#[derive(Debug, Clone)]
pub(crate) struct NamedEngine {
    certainty: Certainty,
    state: State,
    in_section: bool,
    /// Bytes of the current field so far.
    field: String,
    name: String,
    id: String,
    arguments: Arguments,
    calls_seen: u32,
    /// Bytes of text between the section's opener and its first call, whitespace aside.
    noise: u64,
    dropped: u64,
}

impl NamedEngine {
    pub(crate) fn new(shape: &NamedShape, certainty: Certainty, marker: &str) -> Self {
        let in_section =
            shape.section.as_ref().is_some_and(|s| s.open.iter().any(|open| open == marker));
        Self {
            certainty,
            state: if in_section { State::Section } else { State::Field(0) },
            in_section,
            field: String::new(),
            name: String::new(),
            id: String::new(),
            arguments: Arguments::new(),
            calls_seen: 0,
            noise: 0,
            dropped: 0,
        }
    }

    pub(crate) fn held(&self) -> usize {
        self.arguments.held()
    }

    pub(crate) fn feed(
        &mut self,
        shape: &NamedShape,
        text: &str,
        calls: &mut Calls,
        sink: &mut dyn CallSink,
    ) -> Feed {
        // Almost every chunk of a long call is the inside of a string.
        if self.state == State::Arguments && self.arguments.passes(text) {
            calls.arguments(text, sink);
            return Feed::More { used: text.len() };
        }
        let mut i = 0;
        loop {
            let step = match self.state {
                State::Arguments => self.feed_arguments(text, &mut i, calls, sink),
                State::Field(n) => self.field(shape, n, text, &mut i, calls, sink),
                State::Section => self.section(shape, text, &mut i, calls, sink),
                State::Either => self.either(shape, text, i, calls, sink),
                State::Raw => self.raw(shape, text, &mut i, calls, sink),
                State::Close(n) => self.close(shape, n, text, &mut i),
                State::Broken => self.skip(shape, text, &mut i, calls, sink),
            };
            if let Step::Return(feed) = step {
                return feed;
            }
        }
    }

    pub(crate) fn finish(
        &mut self,
        shape: &NamedShape,
        tail: &str,
        end: End,
        calls: &mut Calls,
        sink: &mut dyn CallSink,
    ) -> AtEnd {
        if !calls.committed() {
            return uncommitted(self.certainty);
        }
        if calls.is_open() {
            if let (Some(raw), State::Either | State::Raw) = (&shape.raw, self.state) {
                self.finish_raw(raw, tail, end, calls, sink);
                return AtEnd::Closed { used: tail.len() };
            }
            match self.arguments.closing() {
                Some(text) if calls.options.repair == Repair::Close => {
                    calls.arguments(&text, sink);
                    calls.end(Outcome::Repaired, sink);
                }
                _ => calls.end(Outcome::Incomplete, sink),
            }
            return AtEnd::Closed { used: tail.len() };
        }
        match self.state {
            State::Close(_) => AtEnd::Closed { used: 0 },
            State::Section => AtEnd::Closed { used: 0 },
            _ => {
                let bytes = self.dropped + self.field.len() as u64 + tail.len() as u64;
                calls.diagnose(DiagnosticKind::Skipped, tail.len(), bytes, sink);
                AtEnd::Closed { used: tail.len() }
            }
        }
    }

    fn bad(
        &mut self,
        text: &str,
        i: &mut usize,
        at: usize,
        calls: &mut Calls,
        sink: &mut dyn CallSink,
    ) -> Step {
        if !calls.committed() {
            return Step::not_mine(text, at);
        }
        if calls.is_open() {
            calls.end(Outcome::Malformed, sink);
        }
        self.state = State::Broken;
        self.dropped = self.field.len() as u64;
        self.field.clear();
        *i = at;
        Step::Go
    }

    /// In a section, before a call. Before the first one other text is noise, which goes with
    /// the markers; behind a call only blanks may stand, anything else is text again.
    fn section(
        &mut self,
        shape: &NamedShape,
        text: &str,
        i: &mut usize,
        calls: &mut Calls,
        sink: &mut dyn CallSink,
    ) -> Step {
        let Some(section) = &shape.section else { return Step::done(*i) };
        let markers =
            core::iter::once(&shape.open).chain(section.open.iter()).chain(section.close.iter());
        let markers = markers.map(|t| t.as_ref());
        let (at, n) = if self.calls_seen == 0 {
            match find(&text[*i..], markers) {
                Ok((at, n)) => {
                    self.noise += visible(&text[*i..*i + at]);
                    (*i + at, n)
                }
                Err(keep) => {
                    self.noise += visible(&text[*i..*i + keep]);
                    return Step::Return(Feed::More { used: *i + keep });
                }
            }
        } else {
            let at = *i + space(&text[*i..]);
            if at - *i > BLANKS {
                return Step::done(*i);
            }
            match longest(&text[at..], markers) {
                Err(Undecided) => return Step::Return(Feed::More { used: *i }),
                Ok(Some(n)) => (at, n),
                Ok(None) => return Step::done(*i),
            }
        };
        let opens = section.open.len();
        let literal = match n {
            0 => &shape.open,
            n if n <= opens => &section.open[n - 1],
            n => &section.close[n - 1 - opens],
        };
        *i = at + literal.len();
        if n == 0 {
            self.field.clear();
            self.state = State::Field(0);
        } else if n > opens {
            if self.calls_seen == 0 {
                calls.diagnose(DiagnosticKind::EmptyList, *i, self.noise, sink);
            }
            return Step::done(*i);
        }
        Step::Go
    }

    /// A header field, byte by byte: it ends at a stop and may hold nothing odd.
    fn field(
        &mut self,
        shape: &NamedShape,
        n: u8,
        text: &str,
        i: &mut usize,
        calls: &mut Calls,
        sink: &mut dyn CallSink,
    ) -> Step {
        let Some(field) = shape.header.get(usize::from(n)) else {
            let Some(name) = &shape.name else { return self.bad(text, i, *i, calls, sink) };
            self.name.clear();
            self.name.push_str(name);
            return self.next(shape, (Next::Arguments, *i), i, text, calls, sink);
        };
        if n == 0 && self.field.is_empty() && !shape.open.is_empty() {
            // A repeated opener goes with the first.
            let blank = *i + space(&text[*i..]);
            match is(&text[blank..], &shape.open) {
                Is::Yes => {
                    *i = blank + shape.open.len();
                    return Step::Go;
                }
                Is::Maybe => return Step::Return(Feed::More { used: blank }),
                Is::No => {}
            }
        }
        let mut at = *i;
        while at < text.len() {
            match longest(&text[at..], field.stops.iter().map(|stop| stop.text.as_ref())) {
                Err(Undecided) => break,
                Ok(Some(stop)) => {
                    let stop = &field.stops[stop];
                    self.field.push_str(&text[*i..at]);
                    let behind = at + stop.text.len();
                    if !self.take_field(&field.kind, &calls.tools) {
                        return self.bad(text, i, at, calls, sink);
                    }
                    *i = behind;
                    return self.next(shape, (stop.next, at), i, text, calls, sink);
                }
                Ok(None) => {
                    let scalar = text[at..].chars().next().unwrap_or('\0');
                    if self.field.is_empty() && at == *i && scalar.is_ascii_whitespace() {
                        at += 1;
                        *i = at;
                        continue;
                    }
                    let so_far = self.field.len() + (at - *i);
                    if !fits(&field.kind, &self.field, &text[*i..at], scalar)
                        || so_far >= calls.options.limits.name
                    {
                        self.field.push_str(&text[*i..at]);
                        return self.bad(text, i, at, calls, sink);
                    }
                    at += scalar.len_utf8();
                }
            }
        }
        self.field.push_str(&text[*i..at]);
        Step::Return(Feed::More { used: at })
    }

    /// Takes the field just read for what it is; false if it cannot be.
    fn take_field(&mut self, kind: &FieldKind, tools: &Tools) -> bool {
        let text = self.field.trim_ascii();
        let fine = match kind {
            FieldKind::Word(word) => text == word.as_ref(),
            FieldKind::Label => true,
            FieldKind::Id => {
                self.id.clear();
                self.id.push_str(text);
                true
            }
            FieldKind::Name => {
                self.name.clear();
                self.name.push_str(text);
                !text.is_empty()
            }
            FieldKind::Declared => match declared(text, tools) {
                Some(name) => {
                    let counts = |b: &u8| !b.is_ascii_whitespace() && !b.is_ascii_punctuation();
                    let count = |text: &str| text.bytes().filter(counts).count() as u64;
                    self.noise += count(text) - count(name);
                    self.name.clear();
                    self.name.push_str(name);
                    true
                }
                None => false,
            },
            FieldKind::IdWithName { prefix, separator } => {
                self.id.clear();
                self.id.push_str(text);
                let name = text.strip_prefix(prefix.as_ref()).unwrap_or(text);
                let name = match name.rsplit_once(separator.as_ref()) {
                    Some((name, n)) if n.bytes().all(|b| b.is_ascii_digit()) => name,
                    _ => name,
                };
                self.name.clear();
                self.name.push_str(name);
                !name.is_empty()
            }
        };
        // What is no field is counted as dropped.
        if fine {
            self.field.clear();
        }
        fine
    }

    fn next(
        &mut self,
        shape: &NamedShape,
        (next, stop): (Next, usize),
        i: &mut usize,
        text: &str,
        calls: &mut Calls,
        sink: &mut dyn CallSink,
    ) -> Step {
        if let Next::Field(n) = next {
            self.state = State::Field(n);
            return Step::Go;
        }
        if self.certainty == Certainty::Unmarked && !calls.tools.admits(&self.name) {
            return self.bad(text, i, stop, calls, sink);
        }
        if next == Next::ArgumentsHere {
            *i = stop;
        }
        calls.start(&self.name, Some(&self.id), *i, sink);
        if self.noise > 0 {
            calls.diagnose(DiagnosticKind::Noise, *i, self.noise, sink);
            self.noise = 0;
        }
        self.calls_seen += 1;
        self.id.clear();
        self.arguments = Arguments::new();
        self.state = if shape.raw.is_some() { State::Either } else { State::Arguments };
        Step::Go
    }

    fn feed_arguments(
        &mut self,
        text: &str,
        i: &mut usize,
        calls: &mut Calls,
        sink: &mut dyn CallSink,
    ) -> Step {
        let scanned = self.arguments.feed(&text[*i..], |fragment| calls.arguments(fragment, sink));
        match scanned {
            Scanned::More { used } => Step::Return(Feed::More { used: *i + used }),
            Scanned::End { used } => {
                *i += used;
                calls.end(Outcome::Complete, sink);
                self.state = State::Close(0);
                Step::Go
            }
            Scanned::Bad { at } => {
                let at = *i + at;
                self.bad(text, i, at, calls, sink)
            }
        }
    }

    fn close(&mut self, shape: &NamedShape, n: usize, text: &str, i: &mut usize) -> Step {
        let Some(literal) = shape.close.get(n) else {
            return self.closed(*i);
        };
        let at = *i + space(&text[*i..]);
        if at - *i > BLANKS {
            return self.closed(*i);
        }
        match is(&text[at..], literal) {
            Is::Yes => {
                *i = at + literal.len();
                self.state = State::Close(n + 1);
                Step::Go
            }
            Is::Maybe => Step::Return(Feed::More { used: *i }),
            Is::No => {
                // One of several literals may be missing, but not the order.
                match any(&text[at..], &shape.close[n + 1..]) {
                    Err(Undecided) => Step::Return(Feed::More { used: *i }),
                    Ok(Some(later)) => {
                        self.state = State::Close(n + 1 + later);
                        Step::Go
                    }
                    Ok(None) => self.closed(*i),
                }
            }
        }
    }

    /// A call is over.
    fn closed(&mut self, i: usize) -> Step {
        if self.in_section {
            self.state = State::Section;
            Step::Go
        } else {
            Step::done(i)
        }
    }

    /// Drops what follows a fault, up to the next closer or opener.
    fn skip(
        &mut self,
        shape: &NamedShape,
        text: &str,
        i: &mut usize,
        calls: &Calls,
        sink: &mut dyn CallSink,
    ) -> Step {
        let section = shape.section.iter().flat_map(|section| section.close.iter());
        let own = usize::from(!shape.close.is_empty());
        let last = shape.close.last();
        let stops = last.into_iter().chain(section).chain(calls.openers.iter());
        match find(&text[*i..], stops.map(|t| t.as_ref())) {
            Ok((at, n)) => {
                self.dropped += at as u64;
                *i += at;
                calls.diagnose(DiagnosticKind::Skipped, *i, self.dropped, sink);
                self.dropped = 0;
                if n < own {
                    *i += last.map_or(0, |literal| literal.len());
                    return self.closed(*i);
                }
                if self.in_section {
                    self.state = State::Section;
                    return Step::Go;
                }
                Step::done(*i)
            }
            Err(keep) => {
                self.dropped += keep as u64;
                Step::Return(Feed::More { used: *i + keep })
            }
        }
    }
}
