//! The builder of jailed streams.

use std::{sync::Arc, time::Duration};

use jail_match::{JailBuilder, JailPair, Jailed, OnFail};
use stream_lifecycle::Clock;
use think_filter::Start;
use toolcall_parsers::{Grammar, Tools, family::OwnMarkers};

use super::{JailedError, JailedStream, sequences::Sequences};
use crate::{
    chat::{Annotations, ChatOptions},
    guard::{BlockParser, Delivery, Guard, GuardBuilder, ReasoningOptions},
    jailer::{HostLimits, Jailer, ParseBlocks, Replacement},
    profile::Profile,
};

/// A builder of [`JailedStream`]s: a [`GuardBuilder`] with additional rules of jails.
#[derive(Debug, Clone)]
pub struct JailedStreamBuilder {
    sequences: Sequences,
    rules: JailBuilder,
    block_limits: HostLimits,
    parser: Option<String>,
    guard: GuardBuilder,
    pub(super) chat: ChatOptions,
    pub(super) annotations: Annotations,
}

impl Default for JailedStreamBuilder {
    fn default() -> Self {
        let reasoning =
            ReasoningOptions { start: Some(Start::default()), ..ReasoningOptions::default() };
        let guard = Guard::builder(&Profile::named("jailed")).delivery(Delivery::Atomic);
        Self {
            sequences: Sequences::default(),
            rules: JailBuilder::default(),
            block_limits: HostLimits::default(),
            parser: None,
            guard: guard.reasoning(reasoning),
            chat: ChatOptions::default(),
            annotations: Annotations::default(),
        }
    }
}

impl JailedStreamBuilder {
    /// Changes the guard inside the jail: its options, delivery and stages.
    #[must_use]
    pub fn guard(self, change: impl FnOnce(GuardBuilder) -> GuardBuilder) -> Self {
        Self { guard: change(self.guard), ..self }
    }

    /// Adds a start sequence, which any of the end sequences closes.
    #[must_use]
    pub fn jail_start_sequence(mut self, sequence: impl Into<String>) -> Self {
        self.sequences.starts.push(sequence.into());
        self
    }

    /// Adds start sequences.
    #[must_use]
    pub fn jail_start_sequences<T: Into<String>>(
        mut self,
        sequences: impl IntoIterator<Item = T>,
    ) -> Self {
        self.sequences.starts.extend(sequences.into_iter().map(Into::into));
        self
    }

    /// Adds an end sequence.
    #[must_use]
    pub fn jail_end_sequence(mut self, sequence: impl Into<String>) -> Self {
        self.sequences.ends.push(sequence.into());
        self
    }

    /// Adds several end sequences.
    #[must_use]
    pub fn jail_end_sequences<T: Into<String>>(
        mut self,
        sequences: impl IntoIterator<Item = T>,
    ) -> Self {
        self.sequences.ends.extend(sequences.into_iter().map(Into::into));
        self
    }

    /// Adds a start sequence and the end bound to it.
    ///
    /// A block is withheld until it ends. Without a parser it is then emitted unchanged, in one
    /// piece, unless [`JailedStreamBuilder::on_jailed`] replaces it. To drop or strip blocks, give
    /// the pair as a [`JailedStreamBuilder::rule`] with a [`jail_match::Release`].
    #[must_use]
    pub fn jail_pair(mut self, start: impl Into<String>, end: impl Into<String>) -> Self {
        self.sequences.pairs.push((start.into(), end.into()));
        self
    }

    /// Adds a kind of block that no parser reads, with its own nesting, quotes, expressions, limits
    /// and release. With a parser, the rule applies to content next to calls.
    #[must_use]
    pub fn rule(self, pair: JailPair) -> Self {
        self.rules(|rules| rules.rule(pair))
    }

    /// Changes the settings of all rules: depth, count, and when inner blocks are released.
    #[must_use]
    pub fn rules(self, change: impl FnOnce(JailBuilder) -> JailBuilder) -> Self {
        Self { rules: change(self.rules), ..self }
    }

    /// Sets the closure that replaces each block that no parser reads; see [`Jailer::on_jailed`].
    #[must_use]
    pub fn on_jailed(
        mut self,
        handler: impl Fn(&Jailed<'_>) -> Replacement + Send + Sync + 'static,
    ) -> Self {
        self.block_limits.handler = Some(Arc::new(handler));
        self
    }

    /// Sets the maximum number of chunks of such a block; see [`Jailer::chunk_limit`].
    #[must_use]
    pub fn chunk_limit(mut self, chunks: u64, over: OnFail) -> Self {
        self.block_limits.chunks = Some((chunks, over));
        self
    }

    /// Sets how long such a block may be open; see [`Jailer::time_limit`].
    #[must_use]
    pub fn time_limit(mut self, time: Duration, over: OnFail, clock: impl Clock + 'static) -> Self {
        self.block_limits.time = Some((time, over, Arc::new(clock)));
        self
    }

    /// Sets the tool-call family that parses withheld blocks.
    #[must_use]
    pub fn tool_call_parser(self, family: impl Into<String>) -> Self {
        Self { parser: Some(family.into()), ..self }
    }

    /// Keeps the family's own markers in addition to the start and end sequences.
    #[must_use]
    pub fn also_family_markers(mut self) -> Self {
        self.sequences.own = OwnMarkers::Kept;
        self
    }

    /// Sets the tools that the request declared.
    #[must_use]
    pub fn tools(self, tools: Tools) -> Self {
        self.guard(|guard| guard.tools(tools))
    }

    /// Sets the format of reasoning, in addition to the parser.
    #[must_use]
    pub fn reasoning_parser(self, format: impl Into<String>) -> Self {
        self.guard(|guard| guard.reasoning_named(format.into()))
    }

    /// Looks up the parser and compiles the sequences.
    ///
    /// # Errors
    /// An unknown parser; a faulty sequence or rule, by name; neither a parser nor a start;
    /// limits of blocks, or a closure for them, where a parser reads all there are; an option that
    /// would find calls outside of the sequences ([`JailedError::BetweenSequences`]).
    pub fn build(self) -> Result<JailedStream, JailedError> {
        let Self { sequences, rules, block_limits, parser, guard, chat, annotations } = self;
        let family = parser.as_deref().map(toolcall_parsers::grammar).transpose();
        let (guard, rules, between) = match family.map_err(JailedError::Parser)? {
            None => (guard, sequences.rules(rules), None),
            Some(family) if sequences.frame(&family) => {
                let refused = [
                    (sequences.own == OwnMarkers::Kept, "also_family_markers"),
                    (guard.requires_calls(), "tool_choice"),
                ];
                if let Some((_, option)) = refused.into_iter().find(|(set, _)| *set) {
                    return Err(JailedError::BetweenSequences(option));
                }
                if rules.pairs() == 0 && block_limits.handler.is_some() {
                    return Err(JailedError::NoBlocks("on_jailed"));
                }
                let parser = BlockParser::new(guard.of_blocks(family).build()?, rules.pairs());
                // The tools apply only to blocks, because text between blocks is not read as calls.
                let guard = guard.tools(Tools::none());
                (guard, sequences.rules(rules), Some(Box::new(parser) as Box<dyn ParseBlocks>))
            }
            Some(family) => {
                sequences.check()?;
                (guard.of_grammar(sequences.applied(family)?), rules, None)
            }
        };
        let is_between = between.is_some();
        let guard = if rules.is_empty() && parser.is_some() {
            if let Some(option) = block_limits.set() {
                return Err(JailedError::NoBlocks(option));
            }
            guard
        } else {
            guard.stage(Jailer::with(rules.build()?, block_limits).parsed(between))
        };
        let guard = guard.build()?;
        if is_between && guard.grammar().is_some_and(Grammar::has_messages) {
            return Err(JailedError::BetweenSequences("reasoning_parser"));
        }
        Ok(JailedStream { guard, chat, annotations })
    }
}
