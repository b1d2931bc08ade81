//! The parser as the laws see it, and rows of wire text with what comes out.

use alloc::{format, string::String};

use stream_laws::{
    Cut, CutPlan, Held, HeldKind, Machine, Record, SpanKind, check_chunk_invariance,
    check_nothing_lost, check_total,
};

use crate::{End, Event, Parser};

/// A parser as the laws see it.
#[derive(Clone)]
pub(super) struct Law(pub(super) Parser);

/// What a machine writes, as the laws read it.
struct Recorder<'r>(&'r mut Record);

impl jail_match::Sink for Recorder<'_> {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::CallStart { index, id, name } => self.0.call_start(index, id, name),
            Event::CallArguments { index, fragment } => self.0.call_arguments(index, fragment),
            Event::CallEnd { index, outcome } => self.0.call_end(index, outcome.name()),
            Event::Diagnostic(it) => self.0.diagnostic(it.kind.name(), it.at, it.bytes),
            event => {
                let (channel, text) = event.as_text().expect("text is all there is besides");
                self.0.text(channel.index() as u8, text);
            }
        }
    }
    fn account(&mut self, span: jail_match::Span) {
        let kind = match span.kind {
            jail_match::SpanKind::Markup => SpanKind::Markup,
            jail_match::SpanKind::Framing => SpanKind::Framing,
            jail_match::SpanKind::Body => SpanKind::Call,
            jail_match::SpanKind::Dropped => SpanKind::Dropped,
        };
        self.0.span(kind, span.at, span.len);
    }
}

impl Machine for Law {
    fn push(&mut self, chunk: &str, out: &mut Record) {
        self.0.push(chunk, &mut Recorder(out)).expect("no limit is an error");
    }
    fn finish(&mut self, out: &mut Record) {
        self.0.finish(End::Stop, &mut Recorder(out)).expect("no limit is an error");
    }
    fn reset(&mut self) {
        self.0.reset();
    }
    fn held(&self) -> Held {
        Held::new(HeldKind::Call, self.0.held().bytes)
    }
    fn work(&self) -> u64 {
        self.0.counters().examined
    }
    fn state_size(&self) -> usize {
        self.0.buffered()
    }
}

pub(super) fn builder(family: &str) -> crate::ParserBuilder {
    Parser::builder(crate::grammar(family).expect("registered"))
}

pub(super) fn parser(family: &str) -> Law {
    Law(builder(family).build().expect("sound"))
}

/// A message in a line: `name{arguments}` between `«` and `»`, the outcome before `»` unless
/// complete, diagnostics as `#kind:bytes`.
pub(super) fn line(record: &Record) -> String {
    let record = record.coalesced().expect("no empty events");
    let mut line = String::new();
    for event in &record.events {
        match event {
            stream_laws::Event::Text { text, .. } => line.push_str(text),
            stream_laws::Event::CallStart { name, .. } => line += &format!("«{name}"),
            stream_laws::Event::CallArguments { fragment, .. } => line.push_str(fragment),
            stream_laws::Event::CallEnd { outcome, .. } if outcome == stream_laws::COMPLETE => {
                line.push('»');
            }
            stream_laws::Event::CallEnd { outcome, .. } => line += &format!(" {outcome}»"),
        }
    }
    for diagnostic in &record.diagnostics {
        line += &format!(" #{}", diagnostic.kind);
        if diagnostic.bytes > 0 {
            line += &format!(":{}", diagnostic.bytes);
        }
    }
    line
}

pub(super) fn check(machine: &Law, wire: &str, expected: &str) {
    let whole = stream_laws::run(machine, wire, Cut::Whole);
    assert_eq!(line(&whole), expected, "wire: {wire}");
    let plan = CutPlan::standard(7);
    check_chunk_invariance(machine, wire, plan).unwrap();
    check_nothing_lost(machine, wire, &["cut_opener"], plan).unwrap();
    check_total(machine, wire, plan).unwrap();
}

pub(super) fn check_rows(machine: &Law, rows: &[(&str, &str)]) {
    for (wire, expected) in rows {
        check(machine, wire, expected);
    }
}

/// Values of `a` in `[f(a=...)]`, with the JSON that comes out.
pub(super) fn check_values(machine: &Law, rows: &[(&str, &str)]) {
    for (python, json) in rows {
        check(machine, &format!("[f(a={python})]"), &format!("«f{{\"a\": {json}}}»"));
        check(
            machine,
            &format!("[f(a={python} , b = [ {python} , {{'k':{python}}},],)]"),
            &format!("«f{{\"a\": {json}, \"b\": [{json}, {{\"k\": {json}}}]}}»"),
        );
    }
}
