//! A guard whose checkpoint brings its own grammar.

use std::sync::Arc;

use jail_match::{
    Counters, Dangling, Edge, End, Event, InlineTags, LimitPolicy, Limits, Sink, Span, Trace,
};
use response_templates::{NoAnchor, ResponseTemplate, TemplateParser, TemplateSettings};
use think_filter::Withheld;

use super::{
    BadPayload, BrokenBlock, BuildError, Guard, GuardBuilder, ToolChoice,
    builder::GuardTraits,
    collapse::Watch,
    cursor::Cursor,
    input::{Input, TextInput},
    output::Output,
};
use crate::{observe::Foreign, stages::withholding::Withholding, stop::StopStrings};

/// The parser of a template, and what it counts.
#[derive(Debug, Clone)]
pub(super) struct TemplateCursor {
    pub(super) parser: TemplateParser,
    pub(super) counters: Counters,
    /// The boundaries, as traces name them.
    pub(super) edges: Arc<[Edge]>,
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

/// Counts reasoning on its way.
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
    /// A [response template](ResponseTemplate) in place of the profile's formats; see
    /// [`crate::Profile::from_response_template`]. A setting of how text and calls are read that
    /// does nothing for templates is an error of [`GuardBuilder::build`].
    #[must_use]
    pub fn response_template(mut self, template: ResponseTemplate) -> Self {
        self.template = Some(template);
        self
    }

    /// Sets how the response template is read. Without a template, it is an error of
    /// [`GuardBuilder::build`].
    ///
    /// [`GuardBuilder::limits`] override the limits of held text: `candidate` for bytes that may be
    /// part of a boundary, `whitespace` for bytes that may end a text.
    #[must_use]
    pub fn template_settings(mut self, settings: TemplateSettings) -> Self {
        self.template_settings = Some(settings);
        self
    }

    /// The template that reads the message, if one does.
    pub(super) fn template(&self) -> Result<Option<ResponseTemplate>, BuildError> {
        match (&self.template, &self.profile.response_template) {
            (Some(template), _) => Ok(Some(template.clone())),
            (None, Some(text)) => {
                ResponseTemplate::from_json(text).map(Some).map_err(BuildError::Template)
            }
            (None, None) if self.template_settings.is_some() => {
                Err(BuildError::NoTemplate { option: "template_settings" })
            }
            (None, None) => Ok(None),
        }
    }

    /// As [`GuardBuilder::compile`], where a template reads the message.
    pub(super) fn compile_template(self, template: &ResponseTemplate) -> Result<Guard, BuildError> {
        let cursor = Cursor::Template(Box::new(self.template_cursor(template)?));
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
        let withheld = self.nonempty.map(|limit| Withheld::new(Some(limit), None));
        let withheld = withheld.map(|withheld| Withholding::new(withheld, &[]));
        let output = Output::new(self.delivery, self.atomic_limit, withheld, self.jailer, stats);
        let special = self.profile.needs_special_tokens;
        let Self { estimate, atomic_limit, .. } = self;
        let traits = GuardTraits { estimate, special, atomic_limit };
        Ok(Guard::around(input, cursor, output, traits))
    }

    /// The cursor that reads by `template`.
    fn template_cursor(&self, template: &ResponseTemplate) -> Result<TemplateCursor, BuildError> {
        if let Some(option) = self.unused() {
            return Err(BuildError::NotWithTemplate { option });
        }
        let mut settings = self.template_settings.unwrap_or_default();
        if self.limits != Limits::default() {
            settings.hold = self.limits.candidate;
            settings.blanks = self.limits.whitespace;
        }
        if self.asked.continued {
            // The text of the message so far has no anchor.
            settings.no_anchor = NoAnchor::Read;
        }
        let mut options = self.options.clone();
        if self.choice != ToolChoice::Auto {
            options.wanted = self.choice.wanted();
        }
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

    /// An option that is set, and does nothing where a template reads the message.
    fn unused(&self) -> Option<&'static str> {
        let guided = matches!(self.choice, ToolChoice::Required | ToolChoice::Named(_));
        let limits = Limits::default();
        [
            ("format", self.format.is_some()),
            ("grammar", self.grammar.is_some()),
            ("token_suffix", self.token_suffix.is_some()),
            ("marker_tokens", !self.marker_tokens.is_empty()),
            ("remap", self.remap.is_some() || self.profile.remap.is_some()),
            ("start", self.start.is_some()),
            ("whitespace", self.whitespace != self.profile.whitespace.into()),
            ("tool_in_reasoning", self.in_reasoning != self.profile.tool_in_reasoning),
            ("tool_choice", guided),
            ("bad_payload", self.bad_payload != BadPayload::default()),
            ("broken_block", self.broken_block != BrokenBlock::default()),
            ("reasoning_limit", self.reasoning_limit.is_some()),
            ("max_blocks", self.spans.is_some()),
            ("unclosed", self.unclosed.is_some()),
            ("inline_tags", self.inline_tags != InlineTags::default()),
            ("dangling", self.dangling != Dangling::default()),
            ("limits.depth", self.limits.depth != limits.depth),
            ("limits.policy", self.limits.policy != LimitPolicy::default()),
        ]
        .into_iter()
        .find_map(|(option, set)| set.then_some(option))
    }
}

impl Guard {
    /// The parser of the response template, if one reads the message: its regions and its message
    /// object, where [`TemplateSettings::keep_regions`] asks for them.
    #[must_use]
    pub fn template(&self) -> Option<&TemplateParser> {
        match &self.cursor {
            Cursor::Template(template) => Some(&template.parser),
            Cursor::Family(_) => None,
        }
    }
}
