//! Templates and machines that tests share.

use jail_match::{Span, SpanKind};
use response_templates::{End, Event, HeldKind, Parser, Settings, Sink, Template};
use stream_laws::{Held, Machine, Record};

/// A template whose fields are `fields`.
pub(crate) fn template(fields: &str) -> Template {
    let text = format!(r#"{{"start_anchor": "<bot>", "fields": {{{fields}}}}}"#);
    Template::from_json(&text).unwrap_or_else(|error| panic!("{error}"))
}

/// Reasoning, calls in JSON, and the rest.
pub(crate) const PLAIN: &str = r#"
    "thinking": {"open": "<t>", "close": "</t>"},
    "tool_calls": {"open": "<c>", "close": "</c>", "repeats": true, "content": "json",
                   "transform": {"type": "function", "function": "{content}"}},
    "content": {"close": "<end>"}"#;

/// Calls whose name is in the opener.
pub(crate) const NAMED: &str = r#"
    "reasoning_content": {"open_pattern": "\\s*<t>\\s*", "close_pattern": "\\s*</t>\\s*"},
    "tool_calls": {"open_pattern": "\\s*<c (?P<name>\\w+)>", "close_pattern": "</c>|$",
                   "repeats": true, "content": "json",
                   "transform": {"type": "function",
                                 "function": {"name": "{name}", "arguments": "{content}"}}},
    "content": {}"#;

/// Parameters in tags, and reasoning whose opener is nowhere.
pub(crate) const TAGGED: &str = r#"
    "reasoning": {"open_pattern": "(?=[\\s\\S]*?</t>)", "close_pattern": "</t>\\s*"},
    "tool_calls": {"open_pattern": "<c (?P<name>\\w+)>", "close_pattern": "(?=<c )|</c>",
                   "repeats": true, "content": "xml-inline",
                   "content_args": {"tag_pattern": "<(?P<key>\\w+)>(?P<value>.*?)</>"},
                   "transform": {"type": "function",
                                 "function": {"name": "{name}", "arguments": "{content}"}}},
    "content": {"open": "<s>", "close_pattern": "</s>(?!!)"}"#;

/// A parser as a machine of the laws.
#[derive(Debug, Clone)]
pub(crate) struct TemplateMachine(pub(crate) Parser);

impl TemplateMachine {
    pub(crate) fn of(fields: &str) -> Self {
        Self(Parser::new(&template(fields)))
    }

    pub(crate) fn with(fields: &str, set: impl FnOnce(&mut Settings)) -> Self {
        let mut settings = Settings::default();
        set(&mut settings);
        Self(Parser::new(&template(fields)).settings(settings))
    }
}

/// Writes what a parser emits into a record.
struct Recorder<'r>(&'r mut Record);

impl Sink for Recorder<'_> {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::CallStart { index, id, name } => self.0.call_start(index, id, name),
            Event::CallArguments { index, fragment } => self.0.call_arguments(index, fragment),
            Event::CallEnd { index, outcome } => self.0.call_end(index, outcome.name()),
            Event::Diagnostic(it) => self.0.diagnostic(it.kind.name(), it.at, it.bytes),
            event => {
                if let Some((channel, text)) = event.as_text() {
                    self.0.text(channel.index() as u8, text);
                }
            }
        }
    }

    fn account(&mut self, span: Span) {
        let kind = match span.kind {
            SpanKind::Markup => stream_laws::SpanKind::Markup,
            SpanKind::Framing => stream_laws::SpanKind::Framing,
            SpanKind::Body => stream_laws::SpanKind::Call,
            SpanKind::Dropped => stream_laws::SpanKind::Dropped,
        };
        self.0.span(kind, span.at, span.len);
    }
}

impl Machine for TemplateMachine {
    fn push(&mut self, chunk: &str, out: &mut Record) {
        self.0.push(chunk, &mut Recorder(out));
    }

    fn finish(&mut self, out: &mut Record) {
        self.0.finish(End::Stop, &mut Recorder(out));
    }

    fn reset(&mut self) {
        self.0.reset();
    }

    fn held(&self) -> Held {
        let held = self.0.held();
        let kind = match held.kind {
            HeldKind::Marker => stream_laws::HeldKind::Marker,
            HeldKind::Whitespace => stream_laws::HeldKind::Whitespace,
            HeldKind::Call => stream_laws::HeldKind::Call,
            _ => stream_laws::HeldKind::None,
        };
        Held::new(kind, held.bytes)
    }

    fn work(&self) -> u64 {
        self.0.work()
    }

    fn state_size(&self) -> usize {
        self.0.buffered()
    }
}
