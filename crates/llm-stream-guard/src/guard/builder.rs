//! The builder of a guard, which looks up a profile's names and compiles its marker table.

mod recognition;
mod tokens;

use std::sync::Arc;

use jail_match::{
    Driver, DriverSettings, EdgeEvents, Limits, MarkerTokens, Table, Utf8, Whitespace,
};
use think_filter::{Format, Start, Withheld};
use toolcall_parsers::{ToolCallParser, Tools};

use wire_remap::{CollapseLimits, Regime};

use super::{
    BuildError, CallOptions, Delivery, Guard, GuardStage, ReasoningOptions, ToolChoice,
    collapse::Watch,
    cursor::{Cursor, FamilyCursor},
    input::{Input, TextInput},
    output::Output,
    remap_stage::{self, RemapStage},
    request::Asked,
    tokens::{Path, TokenStage},
};
use crate::{
    jailer::Jailer,
    observe::{Foreign, StatsCollector, StrippedCalls},
    profile::Profile,
    stages::withholding::Withholding,
    stop::{StopString, StopStrings},
};

/// A builder of [`Guard`] values.
#[derive(Debug, Clone)]
pub struct GuardBuilder {
    pub(super) profile: Profile,
    pub(super) tools: Tools,
    pub(super) choice: ToolChoice,
    pub(super) delivery: Delivery,
    pub(super) reasoning: ReasoningOptions,
    pub(super) calls: CallOptions,
    pub(super) limits: Limits,
    pub(super) stop: Vec<StopString>,
    pub(super) prompt: Option<String>,
    pub(super) remap: Option<Regime>,
    pub(super) collapse: Option<CollapseLimits>,
    pub(super) jailer: Option<Jailer>,
    pub(super) stats: Option<StatsCollector>,
    pub(super) marker_tokens: Arc<[Box<str>]>,
    pub(super) asked: Asked,
}

impl GuardBuilder {
    pub(super) fn new(profile: &Profile) -> Self {
        Self {
            profile: profile.clone(),
            tools: Tools::none(),
            choice: ToolChoice::Auto,
            delivery: Delivery::default(),
            reasoning: ReasoningOptions::default(),
            calls: CallOptions::default(),
            limits: Limits::default(),
            stop: Vec::new(),
            prompt: None,
            remap: None,
            collapse: None,
            jailer: None,
            stats: None,
            marker_tokens: Arc::default(),
            asked: Asked::default(),
        }
    }

    /// Sets the rendered prompt, or its last turn. The stream begins in the channel in which the
    /// prompt ends, unless [`ReasoningOptions::start`] is set. See [`crate::Reasoning::start_after`].
    #[must_use]
    pub fn prompt(self, prompt: &str) -> Self {
        Self { prompt: Some(prompt.to_owned()), ..self }
    }

    /// Sets the tools that the request declared. If the profile reads no calls and the model may
    /// choose, [`GuardBuilder::build`] returns an error.
    #[must_use]
    pub fn tools(self, tools: Tools) -> Self {
        Self { tools, ..self }
    }

    /// Sets the request's rule about calls.
    #[must_use]
    pub fn tool_choice(self, choice: ToolChoice) -> Self {
        Self { choice, ..self }
    }

    /// Sets the strings that end the message. The raw text is searched, including calls and
    /// reasoning. Text after the first stop string is dropped and counted.
    #[must_use]
    pub fn stop(self, strings: impl IntoIterator<Item = StopString>) -> Self {
        Self { stop: strings.into_iter().collect(), ..self }
    }

    /// Sets how the events of a call are delivered.
    #[must_use]
    pub fn delivery(self, delivery: Delivery) -> Self {
        Self { delivery, ..self }
    }

    /// Sets the policies for reasoning.
    #[must_use]
    pub fn reasoning(self, reasoning: ReasoningOptions) -> Self {
        Self { reasoning, ..self }
    }

    /// Sets the policies for calls.
    #[must_use]
    pub fn calls(self, calls: CallOptions) -> Self {
        Self { calls, ..self }
    }

    /// Sets the bounds on held text.
    #[must_use]
    pub fn limits(self, limits: Limits) -> Self {
        Self { limits, ..self }
    }

    /// Adds a stage before or after the cursor, or replaces the one of its kind: a
    /// [`Jailer`], a [`Regime`] or [`wire_remap::RemapTable`], [`CollapseLimits`], or another
    /// [`GuardStage`].
    #[must_use]
    pub fn stage(mut self, stage: impl Into<GuardStage>) -> Self {
        match stage.into() {
            GuardStage::Remap(regime) => self.remap = Some(regime),
            GuardStage::Collapse(limits) => self.collapse = Some(limits),
            GuardStage::Jail(jailer) => self.jailer = Some(*jailer),
            GuardStage::Observer(observer) => {
                self.stats = Some(self.stats.unwrap_or_default().observed(observer));
            }
            GuardStage::Stats => self.stats = Some(self.stats.unwrap_or_default()),
        }
        self
    }

    /// Looks up the profile's names and compiles the table.
    ///
    /// # Errors
    /// Returns an error for an unknown reasoning format or tool-call family, an undeclared named
    /// tool, an invalid marker, a limit of zero, or an empty stop string. Options about reasoning
    /// tags without such tags, and a malformed [`GuardBuilder::request`], are also errors.
    pub fn build(self) -> Result<Guard, BuildError> {
        self.heeding_request()?.compile()
    }

    /// Compiles the guard from the current settings.
    fn compile(self) -> Result<Guard, BuildError> {
        self.limits.check()?;
        #[cfg(feature = "response-templates")]
        if let Some(template) = self.profile.response_template.clone() {
            return self.compile_template(&template);
        }
        let (grammar, format) = self.recognition()?;
        let remap = self.regime()?;
        let special = self.profile.needs_special_tokens
            || grammar.as_ref().is_some_and(|grammar| grammar.family().special_tokens)
            || format.as_ref().is_some_and(|format| format.special_tokens);
        let grammar = grammar.unwrap_or_default();
        let CallOptions { bad_payload, atomic_limit, .. } = self.calls;
        let unnamed = self.choice.grammar(bad_payload, grammar, &self.tools)?;
        let mut grammar = unnamed.for_tools(&self.tools);
        let (opening, format) = self.opening(format, &grammar)?;
        let stop = (!self.stop.is_empty()).then(|| StopStrings::new(self.stop)).transpose()?;
        let options = self.calls.of_parser(&self.choice, self.delivery);
        let may_be_json = self.asked.json && opening.start == Start::Reasoning;
        let tags = format.as_ref().map(Format::edges).unwrap_or_default();
        let tokens = match self.marker_tokens.is_empty() {
            true => MarkerTokens::default(),
            false => {
                let tags = tags.iter().map(|edge| edge.marker.to_string());
                // Tags with the names of tools are text: a vocabulary knows no tools.
                let literals = unnamed.with_forms(&self.tools).literals().into_iter().chain(tags);
                MarkerTokens::used(self.marker_tokens.iter().map(|text| &**text), literals)
            }
        };
        if !tokens.is_empty() {
            grammar = grammar.with_marker_tokens(&tokens);
        }
        let in_reasoning = self.profile.tool_in_reasoning;
        let mut edges = self.choice.edges(&grammar, &self.tools, in_reasoning);
        edges.extend(tags);
        if let Some(table) = remap.table() {
            remap_stage::detect(&mut edges, table, &remap);
        }
        let stats = self.stats.map(|stats| {
            let stats = stats.watching(Foreign::beside(&edges, Some(&grammar)));
            Box::new(match special {
                true => stats.watching_stripped(StrippedCalls::new(&self.tools)),
                false => stats,
            })
        });
        let whitespace =
            if edges.is_empty() { Whitespace::Verbatim } else { self.profile.whitespace };
        let shown = (!tokens.is_empty()).then(|| tokens::respell(&mut edges, &tokens));
        options.in_code.apply(&mut edges);
        let table = Table::new(edges)?;
        let withheld = Withheld::new(self.reasoning.nonempty_content, self.reasoning.unclosed);
        let events = match withheld.waits_for_closers() {
            true => EdgeEvents::Reported,
            false => EdgeEvents::Silent,
        };
        let withheld = (!withheld.is_off()).then(|| Withholding::new(withheld, table.edges()));
        let settings = DriverSettings::default()
            .start(opening.start.channel())
            .newlines(opening.newlines)
            .suffix(opening.suffix)
            .whitespace(whitespace)
            .limits(self.limits)
            .reasoning(self.reasoning.limit)
            .inline_tags(self.reasoning.inline_tags)
            .dangling(self.reasoning.dangling)
            .edge_events(events);
        let bodies = ToolCallParser::new(grammar, self.tools, options);
        let prepend = format.and_then(|format| format.prepend);
        let input = Input {
            watch: self.collapse.map(|limits| Box::new(Watch::new(remap.table(), limits))),
            wire: remap.table().map(|table| Box::new(RemapStage::new(table, &remap))),
            text: TextInput::new(stop, prepend).of_json(may_be_json),
        };
        let output = Output {
            forms: remap.table().map(remap_stage::forms),
            tokens: shown.map(|shown| Box::new(TokenStage::new(tokens, shown))),
            ..Output::new(self.delivery, atomic_limit, withheld, self.jailer, stats)
        };
        let cursor = Cursor::Family(FamilyCursor { driver: Driver::new(table, settings), bodies });
        Ok(Guard { special, ..Guard::around(input, cursor, output, atomic_limit) })
    }
}

impl Guard {
    /// Creates a guard with these stages around `cursor`.
    pub(super) fn around(
        input: Input,
        cursor: Cursor,
        output: Output,
        atomic_limit: usize,
    ) -> Self {
        let utf8 = Utf8::default();
        let path = Path::of(&input, &output, &utf8);
        let atomic_limit = u32::try_from(atomic_limit).unwrap_or(u32::MAX);
        Self { path, utf8, input, cursor, output, special: false, atomic_limit }
    }
}
