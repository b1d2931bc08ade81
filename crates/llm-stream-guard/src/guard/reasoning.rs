//! Options about reasoning: where it ends, its limit, and when it becomes the answer.

use jail_match::{Dangling, InlineTags, ReasoningLimit};
use think_filter::{TokenEstimate, Unclosed};

use super::GuardBuilder;

impl GuardBuilder {
    /// Emits the reasoning as content if the answer is empty: the stream stopped by itself
    /// without visible content and without a call.
    ///
    /// The same text never goes to two channels. Reasoning is therefore withheld until visible
    /// content or a call begins, or until it exceeds `limit` bytes and stays reasoning. No
    /// reasoning streams before that, and up to `limit` bytes are kept. A stream cut by a length
    /// limit, and a message that a boundary ends, keep their reasoning.
    #[must_use]
    pub fn force_nonempty_content(self, limit: usize) -> Self {
        Self { nonempty: Some(limit), ..self }
    }

    /// Sets the policy for the last span of reasoning if the message ends inside it: the answer may
    /// be in the span, its closer forgotten. By default it is reasoning.
    ///
    /// Each span is withheld until its closer, a call, the end of the message, or more than `limit`
    /// bytes, which make it reasoning. Spans are not withheld under [`Unclosed::Reasoning`].
    /// Reasoning that a server separated is not affected.
    #[must_use]
    pub fn unclosed(self, unclosed: Unclosed, limit: usize) -> Self {
        Self { unclosed: Some((unclosed, limit)), ..self }
    }

    /// The most spans of reasoning in a message: openers beyond are text. The span that the prompt
    /// opened is one. Any number unless set.
    #[must_use]
    pub fn max_blocks(self, most: u32) -> Self {
        Self { spans: Some(most), ..self }
    }

    /// Sets whether openers of reasoning in the text count after a server has separated reasoning
    /// ([`crate::Guard::aside`], which a chat guard calls). By default they count.
    #[must_use]
    pub fn inline_tags(self, inline_tags: InlineTags) -> Self {
        Self { inline_tags, ..self }
    }

    /// Sets the policy for a marker of reasoning or calls that a token limit cuts. By default it is
    /// text, except where only markup is possible.
    #[must_use]
    pub fn dangling(self, dangling: Dangling) -> Self {
        Self { dangling, ..self }
    }

    /// The most reasoning the message may hold. No limit by default: reasoning is not kept.
    #[must_use]
    pub fn reasoning_limit(self, limit: ReasoningLimit) -> Self {
        Self { reasoning_limit: Some(limit), ..self }
    }

    /// Sets the estimate that [`crate::Guard::reasoning_tokens`] uses. The default is four bytes
    /// per token.
    #[must_use]
    pub fn token_estimate(self, estimate: TokenEstimate) -> Self {
        Self { estimate, ..self }
    }

    /// A reasoning format by its name, in place of the profile's.
    pub(crate) fn reasoning_named(mut self, name: String) -> Self {
        self.profile.reasoning = Some(name);
        self
    }

    /// An option that is set, and does nothing without tags of reasoning.
    pub(super) fn of_tags(&self) -> Option<&'static str> {
        let inline = self.inline_tags != InlineTags::default();
        let set = [
            ("unclosed", self.unclosed.is_some()),
            ("max_blocks", self.spans.is_some()),
            ("inline_tags", inline),
        ];
        set.into_iter().find_map(|(option, set)| set.then_some(option))
    }
}
