//! The matcher and the jail as machines of the laws. Markers and blocks are recorded as calls.

use jail_match::{
    HeldKind as Kind, Jail, JailEvent, JailSignal, Jailed as Block, LimitError, Matcher,
    MatcherEvent,
};
use stream_laws::{CONTENT, HeldBytes, HeldReason, RecordedSpanKind, RunRecord, StreamMachine};

use crate::bodies::held;

#[derive(Debug, Clone)]
pub(crate) struct Plain {
    matcher: Matcher,
    found: u32,
}

impl Plain {
    pub(crate) fn new(markers: &[String]) -> Self {
        Self { matcher: Matcher::new(markers), found: 0 }
    }
}

fn found(n: &mut u32, found: MatcherEvent<'_>, out: &mut RunRecord) {
    match found {
        MatcherEvent::Text(text) => out.text(CONTENT, text),
        MatcherEvent::Marker { id, text } => {
            out.call_start(*n, format!("{n}: {id}"), text);
            out.call_end(*n, "found");
            *n += 1;
        }
    }
}

impl StreamMachine for Plain {
    fn push(&mut self, chunk: &str, out: &mut RunRecord) {
        self.matcher.push(chunk, |one| found(&mut self.found, one, out));
    }

    fn finish(&mut self, out: &mut RunRecord) {
        self.matcher.finish(|one| found(&mut self.found, one, out));
    }

    fn reset(&mut self) {
        self.matcher.reset();
        self.found = 0;
    }

    fn held(&self) -> HeldBytes {
        HeldBytes::new(HeldReason::Marker, self.matcher.held().len())
    }

    fn work(&self) -> u64 {
        self.matcher.examined()
    }

    fn state_size(&self) -> usize {
        self.matcher.held().len()
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Jailed {
    jail: Jail,
    found: u32,
    /// Whether a limit ended the stream: later calls return the same error.
    failed: bool,
}

impl Jailed {
    pub(crate) fn new(jail: Jail) -> Self {
        Self { jail, found: 0, failed: false }
    }

    fn note(&mut self, result: Result<(), LimitError>, out: &mut RunRecord) {
        if let Err(error) = result
            && !std::mem::replace(&mut self.failed, true)
        {
            out.failure(format!("failed: {}", error.kind.name()), error.at, error.bytes);
        }
    }
}

fn jailed(n: &mut u32, event: JailEvent<'_>, out: &mut RunRecord) {
    let mut block = |kind, block: Block<'_>| {
        let Block { pair, at, start, body, end } = block;
        let whole = format!("{kind} {pair} {at}|{start}|{body}|{}", end.unwrap_or(""));
        out.call_start(*n, format!("{n}"), whole);
        out.call_end(*n, "jailed");
        *n += 1;
    };
    match event {
        JailEvent::Text(text) => out.text(CONTENT, text),
        JailEvent::Jailed(one) => {
            block("jailed", one);
            // Correct for blocks from which no inner block was released.
            let len = one.start.len() + one.body.len() + one.end.map_or(0, str::len);
            out.span(RecordedSpanKind::Call, one.at, len as u64);
        }
        JailEvent::Tapped(one) => block("tapped", one),
        JailEvent::Signal(signal) => match signal {
            JailSignal::Opened { pair, at, depth } => {
                out.diagnostic(format!("opened {pair}, depth {depth}"), at, 0);
            }
            JailSignal::Closed { pair, at, bytes, why } => {
                out.diagnostic(format!("closed {pair}: {}", why.name()), at, bytes);
            }
            JailSignal::Dropped { at, bytes, why } => {
                out.diagnostic(why.name(), at, bytes);
                out.span(RecordedSpanKind::Dropped, at, bytes);
            }
            JailSignal::Limit { kind, at, bytes, then } => {
                out.diagnostic(format!("{}: {then:?}", kind.name()), at, bytes);
            }
            other => panic!("a signal without a test: {other:?}"),
        },
        other => panic!("an event without a test: {other:?}"),
    }
}

impl StreamMachine for Jailed {
    fn push(&mut self, chunk: &str, out: &mut RunRecord) {
        let pushed = self.jail.push(chunk, |event| jailed(&mut self.found, event, out));
        self.note(pushed, out);
    }

    fn finish(&mut self, out: &mut RunRecord) {
        let finished = self.jail.finish(|event| jailed(&mut self.found, event, out));
        self.note(finished, out);
    }

    fn reset(&mut self) {
        self.jail.reset();
        (self.found, self.failed) = (0, false);
    }

    fn held(&self) -> HeldBytes {
        let got = self.jail.held();
        assert_eq!(got.bytes == 0, got.kind == Kind::Nothing);
        held(got)
    }

    fn work(&self) -> u64 {
        self.jail.counters().examined
    }

    fn state_size(&self) -> usize {
        self.jail.buffered()
    }
}
