//! The rules for an answer, as a builder's settings define them.

use think_filter::{Format, Start};
use toolcall_parsers::{Grammar, Parallel, Tools};

use super::{GuardBuilder, ToolChoice};
use crate::reasoning::Reasoning;

/// The rules for the calls of an answer, and where the answer begins. Programs that constrain a
/// model's output use them.
///
/// ```
/// use llm_stream_guard::{Guard, Start, ToolChoice};
/// use serde_json::json;
///
/// let body = json!({"tool_choice": "required", "tools": [
///     {"type": "function", "function": {"name": "tide", "parameters": {"type": "object"}}}]});
/// let builder = Guard::for_model("Qwen/QwQ-32B")?.request(&body);
/// let rules = builder.rules();
/// assert!(rules.tools.get("tide").is_some());
/// assert_eq!((rules.choice, rules.start), (ToolChoice::Required, Start::Reasoning));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct AnswerRules {
    /// The tools that may be called.
    pub tools: Tools,
    /// Whether calls are required, allowed or forbidden.
    pub choice: ToolChoice,
    /// Whether several calls may be made.
    pub parallel: Parallel,
    /// Where the prompt ends: in the answer, or in reasoning.
    pub start: Start,
    /// Whether an answer that starts in the content may still begin with a thought: the models
    /// reason, and neither the prompt nor the request is known to have closed or switched it off.
    pub may_think: bool,
}

impl AnswerRules {
    /// Creates rules that require a call of one of these tools, from the answer's beginning on and
    /// without a thought.
    #[must_use]
    pub fn required(tools: &Tools) -> Self {
        let (choice, parallel, start) = (ToolChoice::Required, Parallel::Any, Start::Content);
        Self { tools: tools.clone(), choice, parallel, start, may_think: false }
    }
}

impl GuardBuilder {
    /// Returns the rules that the guard will read the answer by. Unknown names and malformed
    /// requests are ignored here and are errors of [`GuardBuilder::build`].
    #[must_use]
    pub fn rules(&self) -> AnswerRules {
        let grammar = self.profile.grammar().ok().flatten();
        let told = self.profile.reasoning_format().ok().flatten();
        let told = told.or_else(|| grammar.filter(Grammar::has_messages).map(Reasoning::Channels));
        let told = told.filter(|told| match told {
            Reasoning::Format(format) => !Format::is_passthrough(format),
            _ => true,
        });
        let (start, may_think) = match (told, self.reasoning.start, &self.prompt) {
            (None, ..) => (Start::Content, false),
            (_, Some(start), _) => (start, false),
            (Some(told), None, Some(prompt)) => {
                let start = told.start_after(prompt);
                (start, start == Start::Reasoning || !told.closes_in(prompt))
            }
            (_, None, None) => {
                (self.asked.start(&self.profile), self.asked.may_think(&self.profile))
            }
        };
        let (tools, choice) = (self.tools.clone(), self.choice.clone());
        AnswerRules { tools, choice, parallel: self.calls.parallel, start, may_think }
    }
}
