//! Building a guard: a profile's names looked up, its table compiled.

mod calls;
mod tokens;

use std::sync::Arc;

use jail_match::{
    Dangling, Driver, DriverSettings, EdgeEvents, InlineTags, Limits, MarkerTokens, ReasoningLimit,
    Table, Utf8, Whitespace,
};
use response_templates::{ResponseTemplate, TemplateSettings};
use stream_lifecycle::Clock;
use think_filter::{Format, Start, TokenEstimate, Unclosed, Withheld, four_bytes_a_token};
use toolcall_parsers::{Grammar, InReasoning, LateIds, Options, ToolCallParser, Tools};

use wire_remap::{CollapseLimits, Regime};

use super::{
    BadPayload, BrokenBlock, BuildError, Delivery, Guard, ToolChoice,
    choice::GuidedGrammar,
    collapse::Watch,
    cursor::{Cursor, FamilyCursor},
    input::{Input, TextInput},
    output::Output,
    payload::GuidedParser,
    remap_stage::{self, RemapStage},
    request::Asked,
    tokens::{Path, TokenStage},
};
use crate::{
    jailer::Jailer,
    observe::{Foreign, Observer, StatsCollector},
    profile::{self, Profile},
    reasoning::{Reasoning, reasoning},
    stages::withholding::Withholding,
    stop::{StopString, StopStrings},
};

/// A builder of [`Guard`] values.
#[derive(Debug, Clone)]
pub struct GuardBuilder {
    pub(super) profile: Profile,
    pub(super) format: Option<Format>,
    pub(super) grammar: Option<Grammar>,
    pub(super) remap: Option<Regime>,
    pub(super) tools: Tools,
    pub(super) options: Options,
    pub(super) start: Option<Start>,
    pub(super) whitespace: Whitespace,
    pub(super) limits: Limits,
    pub(super) in_reasoning: InReasoning,
    pub(super) delivery: Delivery,
    pub(super) atomic_limit: usize,
    pub(super) token_suffix: Option<String>,
    pub(super) nonempty: Option<usize>,
    pub(super) unclosed: Option<(Unclosed, usize)>,
    pub(super) spans: Option<u32>,
    pub(super) inline_tags: InlineTags,
    pub(super) dangling: Dangling,
    pub(super) stop: Vec<StopString>,
    pub(super) jailer: Option<Jailer>,
    pub(super) stats: Option<StatsCollector>,
    pub(super) choice: ToolChoice,
    pub(super) bad_payload: BadPayload,
    pub(super) broken_block: BrokenBlock,
    pub(super) prompt: Option<String>,
    pub(super) reasoning_limit: Option<ReasoningLimit>,
    pub(super) estimate: TokenEstimate,
    pub(super) collapse: Option<CollapseLimits>,
    pub(super) asked: Asked,
    pub(super) marker_tokens: Arc<[Box<str>]>,
    pub(super) template: Option<ResponseTemplate>,
    pub(super) template_settings: Option<TemplateSettings>,
}

impl GuardBuilder {
    pub(super) fn new(profile: &Profile) -> Self {
        Self {
            format: None,
            grammar: None,
            remap: None,
            tools: Tools::none(),
            options: Options::default(),
            start: None,
            whitespace: profile.whitespace.into(),
            limits: Limits::default(),
            in_reasoning: profile.tool_in_reasoning,
            delivery: Delivery::default(),
            atomic_limit: 1 << 20,
            token_suffix: None,
            nonempty: None,
            unclosed: None,
            spans: None,
            inline_tags: InlineTags::default(),
            dangling: Dangling::default(),
            stop: Vec::new(),
            jailer: None,
            stats: None,
            choice: ToolChoice::Auto,
            bad_payload: BadPayload::BestEffort,
            broken_block: BrokenBlock::Emit,
            prompt: None,
            reasoning_limit: None,
            estimate: four_bytes_a_token,
            collapse: None,
            asked: Asked::default(),
            marker_tokens: Arc::default(),
            template: None,
            template_settings: None,
            profile: profile.clone(),
        }
    }

    /// Sets where the stream begins, in place of the profile's start. Without a start and a prompt,
    /// the first closer of reasoning that nothing opened ends reasoning that a prompt may have
    /// opened.
    #[must_use]
    pub fn start(self, start: Start) -> Self {
        Self { start: Some(start), ..self }
    }

    /// Sets the rendered prompt, or its last turn: the stream begins in the channel where the
    /// prompt ends, unless [`GuardBuilder::start`] is set. See [`Reasoning::start_after`].
    #[must_use]
    pub fn prompt(self, prompt: &str) -> Self {
        Self { prompt: Some(prompt.to_owned()), ..self }
    }

    /// Watches for a model that repeats its opener instead of making a call; off by default.
    ///
    /// Openers of the remapping in use count, or of [`wire_remap::RemapTable::hermes`] without one:
    /// canonical, as on the wire, and their fragments. [`Guard::collapse`] returns the first
    /// collapse. A collapse that ends the stream ends the message as aborted after the opener that
    /// completed it. Under the error policy every later push fails, too.
    #[must_use]
    pub fn collapse(self, limits: CollapseLimits) -> Self {
        Self { collapse: Some(limits), ..self }
    }

    /// Sets the policy for white space around markup, in place of the profile's.
    #[must_use]
    pub fn whitespace(self, whitespace: Whitespace) -> Self {
        Self { whitespace, ..self }
    }

    /// Bounds on what is held.
    #[must_use]
    pub fn limits(self, limits: Limits) -> Self {
        Self { limits, ..self }
    }

    /// A reasoning format in place of the profile's.
    #[must_use]
    pub fn format(self, format: Format) -> Self {
        Self { format: Some(format), ..self }
    }

    /// A tool-call grammar in place of the profile's.
    #[must_use]
    pub fn grammar(self, grammar: Grammar) -> Self {
        Self { grammar: Some(grammar), ..self }
    }

    /// The suffix that the checkpoint's tokenizer puts into the tags of calls and reasoning:
    /// `:6124c78e` where it writes `<tool_calls:6124c78e>`.
    #[must_use]
    pub fn token_suffix(self, suffix: impl Into<String>) -> Self {
        Self { token_suffix: Some(suffix.into()), ..self }
    }

    /// Strings that end the message, looked for in the raw text before anything is recognised:
    /// inside calls and reasoning, too. What follows the first is dropped and counted.
    #[must_use]
    pub fn stop(self, strings: impl IntoIterator<Item = StopString>) -> Self {
        Self { stop: strings.into_iter().collect(), ..self }
    }

    /// A jail around content: what is left when reasoning and calls were taken out, so that its
    /// marks are not looked for in those, and none spans one. Offsets it reports count content.
    ///
    /// Its limit with the error policy ends the guard; content after it in the same chunk is
    /// not emitted.
    #[must_use]
    pub fn jail(self, jailer: Jailer) -> Self {
        Self { jailer: Some(jailer), ..self }
    }

    /// Reports events to `observer`, and counts as [`GuardBuilder::stats`] does. Clones of the
    /// guard report to the same observer.
    #[must_use]
    pub fn observer(self, observer: Arc<dyn Observer + Send + Sync>) -> Self {
        let stats = self.stats.unwrap_or_default().observed(observer);
        Self { stats: Some(stats), ..self }
    }

    /// Counts as [`GuardBuilder::stats`] does, and measures with `clock` how long jails are open.
    #[must_use]
    pub fn clock(self, clock: impl Clock + 'static) -> Self {
        let stats = self.stats.unwrap_or_default().timed(Arc::new(clock));
        Self { stats: Some(stats), ..self }
    }

    /// Counts what happens, for [`Guard::stats`]. Without it and an observer nothing is counted.
    #[must_use]
    pub fn stats(self) -> Self {
        Self { stats: self.stats.or_else(|| Some(StatsCollector::default())), ..self }
    }

    /// Sets the delimiters that the request was remapped to, in place of the profile's: a table, or
    /// the regime that rewrote the request.
    ///
    /// Delimiters are mapped back before recognition, stop strings included, and offsets are those
    /// of the text mapped back. A decoded marker acts like the canonical one in its place, unless
    /// [`Regime::with_detection`] binds it to places where a tool format puts it.
    /// A literal marker (`[[~CALL]]`) is never markup. Damaged and mixed forms are reported as
    /// diagnostics.
    #[must_use]
    pub fn remap(self, regime: impl Into<Regime>) -> Self {
        Self { remap: Some(regime.into()), ..self }
    }

    /// Looks up the profile's names and compiles the table.
    ///
    /// # Errors
    /// An unknown reasoning format or tool-call family, a named tool that is not declared, an
    /// invalid marker, a limit of zero, an empty stop string, an option about reasoning tags
    /// without such tags, and the errors of [`GuardBuilder::model`] and [`GuardBuilder::request`].
    pub fn build(self) -> Result<Guard, BuildError> {
        self.heeding_request()?.compile()
    }

    /// Compiles what is said by now.
    fn compile(self) -> Result<Guard, BuildError> {
        self.limits.check()?;
        if let Some(template) = self.template()? {
            return self.compile_template(&template);
        }
        let of_tags = self.of_tags();
        let mut grammar = match &self.grammar {
            Some(grammar) => Some(grammar.clone()),
            None => self.profile.grammar()?,
        };
        let told = match (self.format.clone(), &self.profile.reasoning) {
            (Some(format), _) => Some(Reasoning::Format(format)),
            (None, Some(name)) => Some(reasoning(name)?),
            (None, None) => None,
        };
        let format = match told {
            Some(Reasoning::Format(format)) => Some(format),
            Some(Reasoning::Channels(channels)) => {
                let tools = grammar.get_or_insert_with(|| channels.clone()).name();
                if tools != channels.name() {
                    let (reasoning, tools) = (channels.name().to_owned(), tools.to_owned());
                    return Err(BuildError::TwoGrammars { reasoning, tools });
                }
                None
            }
            None => None,
        };
        let suffix = self.suffix_of_tags(grammar.as_ref(), format.as_ref());
        let format = format.map(|format| self.cased(format));
        let (grammar, format) = match &suffix {
            None => (grammar, format),
            Some(suffix) => (
                grammar.map(|grammar| grammar.with_token_suffix(suffix)),
                format.map(|format| format.with_token_suffix(suffix)),
            ),
        };
        let remap = match (self.remap, &self.profile.remap) {
            (Some(regime), _) => regime,
            (None, Some(name)) => profile::remap(name)?.into(),
            (None, None) => Regime::off(),
        };
        let stop = (!self.stop.is_empty()).then(|| StopStrings::new(self.stop)).transpose()?;
        let special = self.profile.needs_special_tokens
            || grammar.as_ref().is_some_and(|grammar| grammar.family().special_tokens)
            || format.as_ref().is_some_and(|format| format.special_tokens);
        let grammar = grammar.unwrap_or_default();
        let mut plan = GuidedGrammar::new(&self.choice, self.bad_payload, grammar, &self.tools)?;
        let mut options = self.options;
        if self.choice != ToolChoice::Auto {
            options.wanted = self.choice.wanted();
        }
        // Only who keeps a call can still put its id in.
        options.late_ids = match self.delivery {
            Delivery::Streaming => LateIds::Report,
            Delivery::Atomic => LateIds::Tell,
        };
        let channels = Some(plan.grammar.clone()).filter(Grammar::has_messages);
        let reasons = format.clone().map(Reasoning::Format);
        let reasons = reasons.or_else(|| channels.clone().map(Reasoning::Channels));
        let known = reasons.and_then(|told| match (self.start, &self.prompt) {
            (Some(start), _) => Some(told.opening(start)),
            (None, Some(prompt)) => Some(told.opening_after(prompt)),
            (None, None) => None,
        });
        let format = if known.is_some() { format.map(Format::with_known_start) } else { format };
        let mut opening = known.unwrap_or_else(|| self.profile.start.into());
        if format.as_ref().is_none_or(Format::is_passthrough) && channels.is_none() {
            opening = Start::Content.into();
        }
        if format.as_ref().is_none_or(Format::is_passthrough)
            && let Some(option) = of_tags
        {
            return Err(BuildError::NoTags { option });
        }
        let tags = format.as_ref().map(Format::edges).unwrap_or_default();
        let tokens = match self.marker_tokens.is_empty() {
            true => MarkerTokens::default(),
            false => {
                let tags = tags.iter().map(|edge| edge.marker.to_string());
                let literals = plan.grammar.literals().into_iter().chain(tags);
                MarkerTokens::used(self.marker_tokens.iter().map(|text| &**text), literals)
            }
        };
        if !tokens.is_empty() {
            plan.grammar = plan.grammar.with_marker_tokens(&tokens);
        }
        let mut edges = plan.edges(self.in_reasoning);
        edges.extend(tags);
        if let Some(table) = remap.table() {
            remap_stage::detect(&mut edges, table, &remap);
        }
        let stats = self.stats.map(|stats| {
            let headers = plan.grammar.openers();
            let own = edges.iter().map(|edge| edge.marker.as_ref()).chain(headers);
            Box::new(stats.watching(Foreign::new(own)))
        });
        let whitespace = if edges.is_empty() { Whitespace::Verbatim } else { self.whitespace };
        let shown = (!tokens.is_empty()).then(|| tokens::respell(&mut edges, &tokens));
        let table = Table::new(edges)?;
        let withheld = Withheld::new(self.nonempty, self.unclosed);
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
            .reasoning(self.reasoning_limit)
            .spans(self.spans)
            .inline_tags(self.inline_tags)
            .dangling(self.dangling)
            .edge_events(events);
        let bodies = ToolCallParser::new(plan.grammar, self.tools, options);
        let limit = self.limits.candidate;
        let prepend = format.and_then(|format| format.prepend);
        let input = Input {
            watch: self.collapse.map(|limits| Box::new(Watch::new(remap.table(), limits))),
            wire: remap.table().map(|table| Box::new(RemapStage::new(table, &remap))),
            text: TextInput::new(stop, prepend),
        };
        let output = Output {
            forms: remap.table().map(remap_stage::forms),
            tokens: shown.map(|shown| Box::new(TokenStage::new(tokens, shown))),
            ..Output::new(self.delivery, self.atomic_limit, withheld, self.jailer, stats)
        };
        let policies = (self.bad_payload, self.broken_block);
        let cursor = Cursor::Family(FamilyCursor {
            driver: Driver::new(table, settings),
            bodies: GuidedParser::new(bodies, plan.guided, policies, limit),
        });
        let Self { estimate, atomic_limit, .. } = self;
        let traits = GuardTraits { estimate, special, atomic_limit };
        Ok(Guard::around(input, cursor, output, traits))
    }
}

/// The settings of a guard that belong to no stage.
pub(super) struct GuardTraits {
    pub(super) estimate: TokenEstimate,
    pub(super) special: bool,
    /// Maximum bytes of arguments of a call that is delivered at its end.
    pub(super) atomic_limit: usize,
}

impl Guard {
    /// A guard with these stages around `cursor`.
    pub(super) fn around(
        input: Input,
        cursor: Cursor,
        output: Output,
        GuardTraits { estimate, special, atomic_limit }: GuardTraits,
    ) -> Self {
        let path = Path::of(&input, &output);
        let atomic_limit = u32::try_from(atomic_limit).unwrap_or(u32::MAX);
        let utf8 = Utf8::default();
        Self { path, utf8, input, cursor, output, estimate, special, atomic_limit }
    }
}
