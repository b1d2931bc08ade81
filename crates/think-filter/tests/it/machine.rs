//! The filter as a machine of the laws.

use jail_match::{Driver, DriverSettings, Event, NoBodies, Sink, Span, Table};
use stream_laws::{
    ByteMachine, CONTENT, Cut, CutPlan, HeldBytes, HeldReason, REASONING, RunRecord, StreamMachine,
    check_chunk_invariance, continuations, run,
};
use think_filter::{End, Format, Piece, ThinkFilter, Whitespace, format};

/// Kinds of diagnostics that count dropped bytes.
pub(crate) const DROPS: &[&str] = &["cut_opener"];

/// Continuations of a tag with a suffix, with the tag's last byte.
pub(crate) const SUFFIXED: [&str; 5] = [":a>x", "a>x", ">x", ":6124c78e>x", "6124c78e>x"];

/// Returns all markers of a format.
pub(crate) fn markers(format: &Format) -> Vec<String> {
    let answer = format.answer.iter().map(|wrapper| &wrapper.marker);
    let remark = format.remark.iter().flat_map(|(open, close)| [open, close]);
    let all = format.open.iter().chain(&format.close).chain(&format.label).chain(answer);
    all.chain(remark).map(|marker| marker.clone().into_owned()).collect()
}

/// Returns the continuations that may decide about held text, for the markers of a format.
pub(crate) fn witnesses(markers: &[String]) -> Vec<String> {
    let markers: Vec<&str> = markers.iter().map(String::as_str).collect();
    continuations(&markers, &[&["x", " x", "\nx"], &*markers].concat())
}

#[derive(Debug, Clone)]
pub(crate) struct Think(pub(crate) ThinkFilter, End);

impl Think {
    /// Returns the filter of a registered format that keeps whitespace.
    pub(crate) fn named(name: &str) -> Self {
        let format = format(name).expect("a registered format");
        let builder = ThinkFilter::builder(format).whitespace(Whitespace::Verbatim);
        builder.build().expect("a good format").into()
    }

    pub(crate) fn ending(filter: ThinkFilter, end: End) -> Self {
        Self(filter, end)
    }
}

impl From<ThinkFilter> for Think {
    fn from(filter: ThinkFilter) -> Self {
        Self(filter, End::Stop)
    }
}

pub(crate) fn write(piece: Piece<'_>, out: &mut RunRecord) {
    match piece {
        Piece::Content(text) => out.text(CONTENT, text),
        Piece::Reasoning(text) => out.text(REASONING, text),
        Piece::ReasoningStart | Piece::ReasoningEnd => {}
    }
}

impl StreamMachine for Think {
    fn push(&mut self, chunk: &str, out: &mut RunRecord) {
        self.0.push(chunk, |piece| write(piece, out)).expect("no error policy");
    }

    fn finish(&mut self, out: &mut RunRecord) {
        self.0.finish(self.1, |piece| write(piece, out)).expect("no error policy");
    }

    fn reset(&mut self) {
        self.0.reset();
    }

    fn held(&self) -> HeldBytes {
        held(self.0.held())
    }

    fn work(&self) -> u64 {
        self.0.counters().examined
    }

    fn state_size(&self) -> usize {
        self.0.held().bytes
    }
}

impl ByteMachine for Think {
    fn push_bytes(&mut self, chunk: &[u8], out: &mut RunRecord) {
        self.0.push_bytes(chunk, |piece| write(piece, out)).expect("no error policy");
    }
}

fn held(held: think_filter::Held) -> HeldBytes {
    let kind = match held.kind {
        think_filter::HeldKind::Nothing => HeldReason::None,
        think_filter::HeldKind::Marker => HeldReason::Marker,
        think_filter::HeldKind::Whitespace => HeldReason::Whitespace,
        think_filter::HeldKind::Utf8 => HeldReason::Utf8,
        // The laws have no kind for withheld reasoning.
        think_filter::HeldKind::Reasoning => HeldReason::Candidate,
        other => panic!("a filter holds nothing because of {other:?}"),
    };
    HeldBytes { bytes: held.bytes, kind }
}

/// The filter as a machine that records the starts and ends of spans as brackets on another
/// channel.
#[derive(Debug, Clone)]
pub(crate) struct Spanned(pub(crate) ThinkFilter);

fn write_spans(piece: Piece<'_>, out: &mut RunRecord) {
    const SPANS: u8 = 7;
    match piece {
        Piece::ReasoningStart => out.text(SPANS, "["),
        Piece::ReasoningEnd => out.text(SPANS, "]"),
        text => write(text, out),
    }
}

impl StreamMachine for Spanned {
    fn push(&mut self, chunk: &str, out: &mut RunRecord) {
        // An error of a limit is part of the result.
        if let Err(error) = self.0.push(chunk, |piece| write_spans(piece, out)) {
            out.diagnostics.clear();
            out.failure(error.kind.name(), error.at, error.bytes);
        }
    }

    fn finish(&mut self, out: &mut RunRecord) {
        let _ = self.0.finish(End::Stop, |piece| write_spans(piece, out));
    }

    fn reset(&mut self) {
        self.0.reset();
    }

    fn held(&self) -> HeldBytes {
        held(self.0.held())
    }

    fn work(&self) -> u64 {
        self.0.counters().examined
    }

    fn state_size(&self) -> usize {
        self.0.held().bytes
    }
}

/// Returns the output with each span of reasoning in brackets. Checks that it is the same for every
/// cut.
pub(crate) fn spans(filter: &ThinkFilter, text: &str) -> String {
    let spanned = Spanned(filter.clone());
    check_chunk_invariance(&spanned, text, CutPlan::standard(1)).unwrap();
    let whole = run(&spanned, text, Cut::Whole).coalesced().expect("no empty text");
    let text = |event: &stream_laws::RecordedEvent| match event {
        stream_laws::RecordedEvent::Text { text, .. } => text.clone(),
        other => panic!("{other:?} from a filter"),
    };
    whole.events.iter().map(text).collect()
}

/// The driver over a format's edges, as a machine that records the bytes that are not text.
#[derive(Debug, Clone)]
pub(crate) struct Accounted(Driver);

impl Accounted {
    pub(crate) fn new(format: &Format, whitespace: Whitespace) -> Self {
        Self::with(format, DriverSettings::default().whitespace(whitespace))
    }

    pub(crate) fn with(format: &Format, settings: DriverSettings) -> Self {
        let table = Table::new(format.edges()).expect("a good format");
        Self(Driver::new(table, settings))
    }

    /// Emits text that is held because it may become a tag.
    pub(crate) fn flush(&mut self, out: &mut RunRecord) {
        self.0.push_literal("", &mut NoBodies, &mut Out(out)).expect("no error policy");
    }
}

struct Out<'a>(&'a mut RunRecord);

impl Sink for Out<'_> {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Diagnostic(it) => self.0.diagnostic(it.kind.name(), it.at, it.bytes),
            event => {
                let (channel, text) = event.as_text().expect("a filter makes no calls");
                self.0.text(channel.index() as u8, text);
            }
        }
    }

    fn account(&mut self, span: Span) {
        let kind = match span.kind {
            jail_match::SpanKind::Dropped => stream_laws::RecordedSpanKind::Dropped,
            _ => stream_laws::RecordedSpanKind::Markup,
        };
        self.0.span(kind, span.at, span.len);
    }
}

impl StreamMachine for Accounted {
    fn push(&mut self, chunk: &str, out: &mut RunRecord) {
        self.0.push(chunk, &mut NoBodies, &mut Out(out)).expect("no error policy");
    }

    fn finish(&mut self, out: &mut RunRecord) {
        self.0.finish(End::Stop, &mut NoBodies, &mut Out(out)).expect("no error policy");
    }

    fn reset(&mut self) {
        self.0.reset();
    }

    fn held(&self) -> HeldBytes {
        held(self.0.held())
    }

    fn work(&self) -> u64 {
        self.0.counters().examined
    }

    fn state_size(&self) -> usize {
        self.0.buffered()
    }
}

/// Returns the output with reasoning in braces. Checks that it is the same for every cut.
pub(crate) fn shown(think: &Think, text: &str) -> String {
    check_chunk_invariance(think, text, CutPlan::standard(1)).unwrap();
    show(&run(think, text, Cut::Whole))
}

pub(crate) fn show(record: &RunRecord) -> String {
    let whole = record.coalesced().expect("no empty text");
    let piece = |event: &stream_laws::RecordedEvent| match event {
        stream_laws::RecordedEvent::Text { channel: CONTENT, text } => text.clone(),
        stream_laws::RecordedEvent::Text { text, .. } => format!("{{{text}}}"),
        other => panic!("{other:?} from a filter"),
    };
    whole.events.iter().map(piece).collect()
}
