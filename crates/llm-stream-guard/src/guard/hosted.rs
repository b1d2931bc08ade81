//! The interface of a guard inside a chat guard or a jailed stream.

use std::sync::Arc;

use think_filter::Start;
use toolcall_parsers::{BrokenBlock, Calls, Grammar, Outcome};
use wire_remap::Regime;

use super::{Guard, GuardBuilder, ReasoningOptions, ToolChoice, tokens::Path};
use crate::observe::{Foreign, Observer, StatsCollector};

/// The regime without remapping.
static OFF: Regime = Regime::off();

impl Guard {
    /// Returns this guard with `observer` in place of the one that it was built with, if any.
    /// Building a guard costs more than reading a short answer. A server with many requests of one
    /// kind therefore builds a guard once and gives each answer a clone with another observer.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use std::sync::{Arc, atomic::{AtomicU32, Ordering}};
    /// use llm_stream_guard::{Event, Guard, GuardStage, Observer, profile};
    ///
    /// #[derive(Default)]
    /// struct Calls(AtomicU32);
    ///
    /// impl Observer for Calls {
    ///     fn call_started(&self, _: u32) {
    ///         self.0.fetch_add(1, Ordering::Relaxed);
    ///     }
    /// }
    ///
    /// let kept = Guard::builder(&profile("hermes")?).stage(GuardStage::Stats).build()?;
    /// let calls = Arc::new(Calls::default());
    /// let mut guard = kept.clone().observed(calls.clone());
    /// let text = r#"<tool_call>{"name": "tide", "arguments": {}}</tool_call>"#;
    /// guard.push(text, &mut |_: Event<'_>| {})?;
    /// assert_eq!(calls.0.load(Ordering::Relaxed), 1);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn observed(mut self, observer: Arc<dyn Observer + Send + Sync>) -> Self {
        let stats = match self.output.stats.take() {
            Some(stats) => *stats,
            None => {
                let foreign = Foreign::beside(self.edges(), self.grammar());
                StatsCollector::default().watching(foreign)
            }
        };
        self.output.stats = Some(Box::new(stats.observed(observer)));
        self.path = Path::of(&self.input, &self.output, &self.utf8);
        self
    }

    /// Whether a call that began is kept back until it ends.
    pub(crate) fn withholds_call(&self) -> bool {
        self.output.withholds_call()
    }

    /// Applies at least `policy` to later blocks. Response templates have no blocks.
    pub(crate) fn add_broken_block(&mut self, policy: BrokenBlock) {
        self.cursor.add_broken_block(policy);
    }

    /// Delivers each later call at its end, as [`super::Delivery::Atomic`] does.
    pub(crate) fn deliver_at_end(&mut self) {
        self.output.deliver_at_end(self.atomic_limit());
        self.path = Path::Staged;
    }

    /// Returns the maximum bytes of arguments that are kept of a call delivered at its end.
    pub(crate) fn atomic_limit(&self) -> usize {
        self.atomic_limit as usize
    }

    /// Returns how the request was remapped.
    pub(crate) fn regime(&self) -> &Regime {
        self.input.wire.as_ref().map_or(&OFF, |wire| wire.regime())
    }

    /// Returns the calls of the message, with the declared tools and the options.
    pub(crate) fn calls(&self) -> &Calls {
        self.cursor.calls()
    }

    /// Makes this the guard of a choice, and reports the choice to its observer.
    pub(crate) fn observe_choice(&mut self, choice: u32) {
        self.count(|stats| stats.of_choice(choice));
    }

    /// Reports a call that the server made to the observer, and counts it.
    pub(crate) fn server_call(&mut self, index: u32, outcome: Outcome) {
        self.count(|stats| stats.server_call(index, outcome));
    }

    /// Reports a breach of the protocol by the server to the observer.
    pub(crate) fn violation(&mut self, name: &'static str) {
        self.count(|stats| stats.violation(name));
    }

    /// Counts reasoning that the server separated.
    pub(crate) fn server_reasoning(&mut self) {
        self.count(|stats| stats.server_reasoning());
    }

    /// Reports the likely causes of faults of the message that ended.
    pub(crate) fn find_causes(&mut self) {
        self.count(|stats| stats.find_causes());
    }

    /// Numbers ids after `calls` calls of the message that were read elsewhere.
    pub(crate) fn number_ids_after(&mut self, calls: u32) {
        let ids = self.calls().options().ids.clone();
        let earlier = ids.earlier().saturating_add(calls);
        self.cursor.set_ids(ids.after(earlier));
    }

    /// Returns the number of received bytes that were not emitted and are not known to be markup.
    pub(crate) fn undecided(&self) -> usize {
        let (utf8, input) = (self.utf8.held(), self.input.held());
        [utf8, input, self.cursor.undecided(), self.output.texts()].iter().sum()
    }

    /// Returns the number of texts that a jail removed from the content.
    pub(crate) fn taken_out(&self) -> u64 {
        self.jailer().map_or(0, |jailer| jailer.taken_out())
    }
}

impl Guard {
    /// Returns the option that moves text away from the place of its bytes, if one is set.
    pub(crate) fn moves_text(&self) -> Option<&'static str> {
        let output = &self.output;
        let moved = [
            ("remap", self.input.wire.is_some()),
            ("format.prepend", self.input.puts_first()),
            ("delivery", output.atomic.is_some()),
            ("nonempty_content` or `unclosed", output.withheld.is_some()),
            ("jail", output.jail.is_some()),
        ];
        moved.into_iter().find_map(|(option, set)| set.then_some(option))
    }
}

impl GuardBuilder {
    /// Returns a guard of `grammar` for text that this guard removes, with this guard's rules about
    /// calls.
    pub(crate) fn of_blocks(&self, grammar: Grammar) -> Self {
        let reasoning =
            ReasoningOptions { start: Some(Start::default()), ..ReasoningOptions::default() };
        Self {
            tools: self.tools.clone(),
            calls: self.calls.clone(),
            limits: self.limits,
            choice: self.choice.clone(),
            reasoning,
            ..Self::new(&self.profile)
        }
        .of_grammar(grammar)
    }

    /// Reads calls by `grammar`, in place of the profile's.
    pub(crate) fn of_grammar(mut self, grammar: Grammar) -> Self {
        self.profile.grammar = Some(grammar);
        self
    }

    /// Sets a reasoning format by its name, in place of the profile's.
    pub(crate) fn reasoning_named(mut self, name: String) -> Self {
        self.profile.reasoning = Some(name);
        self
    }

    /// Whether calls are required, in which case the text is one payload.
    pub(crate) fn requires_calls(&self) -> bool {
        !matches!(self.choice, ToolChoice::Auto | ToolChoice::None)
    }
}
