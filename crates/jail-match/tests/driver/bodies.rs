//! Small bodies for the driver, and the driver as a machine of the laws.

use jail_match::{
    BodyId, BodyParsers, Channel, Driver, DriverSettings, End, Event, Feed, Opener, Outcome,
    Refutation, Resume, Sink, Span, SpanKind, Table, Verdict,
};
use stream_laws::{HeldBytes, HeldReason, RunRecord, StreamMachine};

/// A body that commits at `:`, is refuted at `!` and ends at [`CLOSER`]. At `;` it is markup, and
/// at `?` its opener is. If the stream cuts it, it is markup.
pub(crate) const CALL: BodyId = 0;
/// A body as [`CALL`], except that it is read again if refuted: then it commits at `.` and is
/// refuted at `?`. If the stream cuts it, it is text.
pub(crate) const TWICE: BodyId = 1;
/// A header that enters reasoning at `;`, switches to it at `:`, and is refuted at `!` and at the
/// end of the line. Never commits.
pub(crate) const HEADER: BodyId = 2;
/// A body that commits at once and is done after `.`.
pub(crate) const EAGER: BodyId = 3;

/// A body as [`EAGER`] that drops the rest of the message.
pub(crate) const HALTING: BodyId = 4;

pub(crate) const CLOSER: &str = "</call>";

/// The decision of a body about one scalar after its opener.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sign {
    Commit,
    Refute,
    Done(Resume),
    /// The opener is markup, and the rest is text.
    Text,
}

pub(crate) fn sign(body: BodyId, reading: u8, scalar: char) -> Option<Sign> {
    match (body, reading, scalar) {
        (HEADER, _, ';') => Some(Sign::Done(Resume::Enter(Channel::REASONING))),
        (HEADER, _, ':') => Some(Sign::Done(Resume::Switch(Channel::REASONING))),
        (TWICE, 1, '.') | (CALL | TWICE, 0, ':') => Some(Sign::Commit),
        (TWICE, 1, '?') | (_, 0, '!') | (HEADER, _, '\n') => Some(Sign::Refute),
        (CALL, 0, '?') => Some(Sign::Text),
        (CALL, 0, ';') => Some(Sign::Done(Resume::SameChannel)),
        _ => None,
    }
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Tiny {
    body: BodyId,
    reading: u8,
    committed: bool,
    calls: u32,
}

impl Tiny {
    fn start(&mut self, out: &mut dyn Sink) {
        self.committed = true;
        let (index, id) = (self.calls, format!("id{}", self.calls));
        out.event(Event::CallStart { index, id: &id, name: "tiny" });
    }

    fn end(&mut self, out: &mut dyn Sink) {
        out.event(Event::CallEnd { index: self.calls, outcome: Outcome::Complete });
        self.calls += 1;
    }
}

impl BodyParsers for Tiny {
    fn begin(&mut self, opener: Opener) {
        (self.body, self.reading, self.committed) = (opener.body, 0, false);
    }

    fn feed(&mut self, text: &str, sink: &mut dyn Sink) -> Feed {
        let mut from = 0;
        let eager = matches!(self.body, EAGER | HALTING);
        if eager && !self.committed {
            self.start(sink);
        }
        if !self.committed {
            let found = text.char_indices().find_map(|(at, scalar)| {
                sign(self.body, self.reading, scalar).map(|found| (at + scalar.len_utf8(), found))
            });
            match found {
                None => return Verdict::Undecided.after(text.len()),
                Some((used, Sign::Refute)) => return Verdict::RESCAN.after(used),
                Some((used, Sign::Text)) => {
                    return Verdict::Refuted(Refutation::Markup { len: 0 }).after(used);
                }
                Some((used, Sign::Done(then))) => return Verdict::Empty(then).after(used),
                Some((used, Sign::Commit)) => {
                    self.start(sink);
                    from = used;
                }
            }
        }
        let closer = if eager { "." } else { CLOSER };
        if let Some(at) = text[from..].find(closer) {
            self.end(sink);
            let then = if self.body == HALTING { Resume::Halt } else { Resume::SameChannel };
            return Verdict::Complete(then).after(from + at + closer.len());
        }
        let kept = (1..closer.len()).rev().find(|&n| text[from..].ends_with(&closer[..n]));
        Verdict::Certain.after(text.len() - kept.unwrap_or(0))
    }

    fn retry(&mut self) -> bool {
        self.reading += 1;
        self.body == TWICE && self.reading == 1
    }

    fn finish(&mut self, tail: &str, _: End, sink: &mut dyn Sink) -> Feed {
        if self.committed {
            self.end(sink);
            return Verdict::Complete(Resume::SameChannel).after(tail.len());
        }
        let empty = Verdict::Empty(Resume::SameChannel);
        if self.body == TWICE { Verdict::RESCAN } else { empty }.after(tail.len())
    }
}

/// A record as the driver's sink.
pub(crate) struct Out<'a>(pub(crate) &'a mut RunRecord);

impl Sink for Out<'_> {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Diagnostic(it) => self.0.diagnostic(it.kind.name(), it.at, it.bytes),
            Event::CallStart { index, id, name } => self.0.call_start(index, id.to_owned(), name),
            Event::CallEnd { index, .. } => self.0.call_end(index, "done"),
            event => {
                let (channel, text) = event.as_text().expect("bodies write no other events");
                self.0.text(channel.index() as u8, text);
            }
        }
    }

    fn account(&mut self, span: Span) {
        let kind = match span.kind {
            SpanKind::Markup => stream_laws::RecordedSpanKind::Markup,
            SpanKind::Framing => stream_laws::RecordedSpanKind::Framing,
            SpanKind::Body => stream_laws::RecordedSpanKind::Call,
            SpanKind::Dropped => stream_laws::RecordedSpanKind::Dropped,
        };
        self.0.span(kind, span.at, span.len);
    }
}

/// The driver with [`Tiny`] bodies.
#[derive(Debug, Clone)]
pub(crate) struct Cursor {
    pub(crate) driver: Driver,
    pub(crate) bodies: Tiny,
}

impl Cursor {
    pub(crate) fn new(table: Table, settings: DriverSettings) -> Self {
        Self { driver: Driver::new(table, settings), bodies: Tiny::default() }
    }
}

impl StreamMachine for Cursor {
    fn push(&mut self, chunk: &str, out: &mut RunRecord) {
        // Tests of the error policy do not use this machine.
        self.driver.push(chunk, &mut self.bodies, &mut Out(out)).expect("no error policy");
    }

    fn finish(&mut self, out: &mut RunRecord) {
        self.driver.finish(End::Stop, &mut self.bodies, &mut Out(out)).expect("no error policy");
    }

    fn reset(&mut self) {
        self.driver.reset();
        self.bodies = Tiny::default();
    }

    fn held(&self) -> HeldBytes {
        held(self.driver.held())
    }

    fn work(&self) -> u64 {
        self.driver.counters().examined
    }

    fn state_size(&self) -> usize {
        self.driver.buffered()
    }
}

pub(crate) fn held(held: jail_match::Held) -> HeldBytes {
    let kind = match held.kind {
        jail_match::HeldKind::Nothing => HeldReason::None,
        jail_match::HeldKind::Marker => HeldReason::Marker,
        jail_match::HeldKind::Candidate => HeldReason::Candidate,
        jail_match::HeldKind::Whitespace => HeldReason::Whitespace,
        jail_match::HeldKind::Call => HeldReason::Call,
        other => panic!("a driver holds nothing because of {other:?}"),
    };
    HeldBytes { bytes: held.bytes, kind }
}
