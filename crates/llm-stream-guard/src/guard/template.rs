//! Guards that read a message by the checkpoint's response template.

use std::sync::Arc;

use jail_match::{
    Channel, Counters, Dangling, Edge, End, Event, Held, InlineTags, LimitPolicy, Limits, Sink,
    Span, Trace, Whitespace,
};
use response_templates::{NoAnchor, ResponseTemplate, TemplateParser};
use think_filter::Withheld;
use toolcall_parsers::{
    ArgumentTypes, BadPayload, BrokenBlock, Calls, CallsInCode, Ids, InReasoning,
};

use super::{
    BuildError, Delivery, Guard, GuardBuilder, ToolChoice,
    collapse::Watch,
    cursor::Cursor,
    input::{Input, TextInput},
    output::Output,
};
use crate::{observe::Foreign, stages::withholding::Withholding, stop::StopStrings};

/// The parser of a response template, with its counters.
#[derive(Debug, Clone)]
pub(super) struct TemplateCursor {
    parser: TemplateParser,
    counters: Counters,
    /// Boundaries of the template, which traces refer to by number.
    edges: Arc<[Edge]>,
}

impl TemplateCursor {
    pub(super) fn reset(&mut self) {
        self.parser.reset();
        self.counters = Counters::default();
    }

    pub(super) fn push(&mut self, text: &str, sink: &mut dyn Sink) {
        self.counters.bytes_in += text.len() as u64;
        self.counted(sink, |parser, sink| parser.push(text, sink));
    }

    pub(super) fn finish(&mut self, end: End, sink: &mut dyn Sink) {
        self.counted(sink, |parser, sink| parser.finish(end, sink));
    }

    pub(super) fn next_message(&mut self, sink: &mut dyn Sink) {
        self.parser.next_message(sink);
    }

    pub(super) fn held(&self) -> Held {
        self.parser.held()
    }

    pub(super) fn buffered(&self) -> usize {
        self.parser.buffered()
    }

    /// Returns the channel of the open field, `Some(None)` if that is a field of calls.
    pub(super) fn open_channel(&self) -> Option<Option<Channel>> {
        let field = self.parser.open_field()?;
        Some(self.parser.template().channel(field))
    }

    /// Returns the offset of the first byte that is still kept.
    pub(super) fn settled(&self) -> u64 {
        self.counters.bytes_in.saturating_sub(self.held().bytes as u64)
    }

    pub(super) fn counters(&self) -> &Counters {
        &self.counters
    }

    pub(super) fn edges(&self) -> &[Edge] {
        &self.edges
    }

    pub(super) fn calls(&self) -> &Calls {
        self.parser.calls()
    }

    pub(super) fn set_ids(&mut self, ids: Ids) {
        self.parser.set_ids(ids);
    }

    fn counted(
        &mut self,
        sink: &mut dyn Sink,
        step: impl FnOnce(&mut TemplateParser, &mut dyn Sink),
    ) {
        let mut counting = Counting { sink, reasoning: 0 };
        step(&mut self.parser, &mut counting);
        self.counters.reasoning_bytes += counting.reasoning;
        self.counters.examined = self.parser.work();
        self.counters.held_max = self.counters.held_max.max(self.parser.held().bytes);
    }
}

/// A counter of reasoning bytes before another sink.
struct Counting<'s> {
    sink: &'s mut dyn Sink,
    reasoning: u64,
}

impl Sink for Counting<'_> {
    fn event(&mut self, event: Event<'_>) {
        if let Event::Reasoning(text) = event {
            self.reasoning += text.len() as u64;
        }
        self.sink.event(event);
    }

    fn account(&mut self, span: Span) {
        self.sink.account(span);
    }

    fn trace(&mut self, trace: Trace) {
        self.sink.trace(trace);
    }
}

impl GuardBuilder {
    /// Builds a guard as [`GuardBuilder::compile`] does, with a response template in place of a
    /// family.
    pub(super) fn compile_template(self, template: &ResponseTemplate) -> Result<Guard, BuildError> {
        let cursor = Cursor::from(self.template_cursor(template)?);
        let stop = (!self.stop.is_empty()).then(|| StopStrings::new(self.stop)).transpose()?;
        let stats = self.stats.map(|stats| {
            let none = std::iter::empty::<&str>();
            Box::new(stats.watching(Foreign::new(none)))
        });
        let input = Input {
            watch: self.collapse.map(|limits| Box::new(Watch::new(None, limits))),
            text: TextInput::new(stop, None::<&str>),
            ..Input::default()
        };
        let withheld =
            self.reasoning.nonempty_content.map(|limit| Withheld::new(Some(limit), None));
        let withheld = withheld.map(|withheld| Withholding::new(withheld, &[]));
        let atomic_limit = self.calls.atomic_limit;
        let output = Output::new(self.delivery, atomic_limit, withheld, self.jailer, stats);
        let special = self.profile.needs_special_tokens;
        Ok(Guard { special, ..Guard::around(input, cursor, output, atomic_limit) })
    }

    /// Creates the cursor that reads by `template`.
    fn template_cursor(&self, template: &ResponseTemplate) -> Result<TemplateCursor, BuildError> {
        if let Some(option) = self.unused() {
            return Err(BuildError::NotWithTemplate { option });
        }
        let mut settings = self.profile.template_settings;
        if self.limits != Limits::default() {
            settings.hold = self.limits.candidate;
            settings.blanks = self.limits.whitespace;
        }
        if self.asked.continued {
            // The text of the message so far has no anchor.
            settings.no_anchor = NoAnchor::Read;
        }
        let options = self.calls.clone().of_parser(&self.choice, Delivery::Streaming);
        let parser = TemplateParser::new(template).settings(settings).tools(self.tools.clone());
        let unused = |unused: response_templates::UnusedOption| BuildError::NotWithTemplate {
            option: unused.name,
        };
        let parser = parser.options(options).map_err(unused)?;
        let parser = match &self.prompt {
            Some(prompt) => parser.prompt(prompt),
            None => parser,
        };
        let edges = template.edges().into();
        Ok(TemplateCursor { parser, counters: Counters::default(), edges })
    }

    /// Returns the name of an option that is set but has no effect with a response template.
    fn unused(&self) -> Option<&'static str> {
        let Self { profile, calls, reasoning, limits, .. } = self;
        let guided = matches!(self.choice, ToolChoice::Required | ToolChoice::Named(_));
        [
            ("format", profile.format.is_some()),
            ("grammar", profile.grammar.is_some()),
            ("token_suffix", profile.token_suffix.is_some()),
            ("marker_tokens", !self.marker_tokens.is_empty()),
            ("remap", self.remap.is_some() || profile.remap.is_some()),
            ("start", reasoning.start.is_some()),
            ("whitespace", profile.whitespace != Whitespace::default()),
            ("tool_in_reasoning", profile.tool_in_reasoning != InReasoning::default()),
            ("tool_choice", guided),
            ("bad_payload", calls.bad_payload != BadPayload::default()),
            ("broken_block", calls.broken_block != BrokenBlock::default()),
            ("in_code", calls.in_code != CallsInCode::default()),
            ("argument_types", calls.argument_types != ArgumentTypes::default()),
            ("limit", reasoning.limit.is_some()),
            ("unclosed", reasoning.unclosed.is_some()),
            ("inline_tags", reasoning.inline_tags != InlineTags::default()),
            ("dangling", reasoning.dangling != Dangling::default()),
            ("limits.depth", limits.depth != Limits::default().depth),
            ("limits.policy", limits.policy != LimitPolicy::default()),
        ]
        .into_iter()
        .find_map(|(option, set)| set.then_some(option))
    }
}

impl Guard {
    /// Returns the parser of the response template, if one reads the message. The parser has the
    /// regions and the message object, if [`response_templates::TemplateSettings::keep_regions`] is
    /// set.
    #[must_use]
    pub fn template(&self) -> Option<&TemplateParser> {
        match &self.cursor {
            Cursor::Template(template) => Some(&template.parser),
            Cursor::Family(_) => None,
        }
    }
}
