//! What is done about reasoning: where it ends, how much there may be, when it is the answer.

use jail_match::{Dangling, InlineTags, ReasoningLimit};
use think_filter::{TokenEstimate, Unclosed};

use super::GuardBuilder;

impl GuardBuilder {
    /// Makes the reasoning the answer if there is no other: when the stream stopped of itself,
    /// nothing visible was emitted and no call, the reasoning is emitted as content.
    ///
    /// The same text never goes to two channels, so reasoning is withheld until something
    /// visible comes, a call begins, or it outgrew `limit` bytes, which makes it reasoning for
    /// good: no reasoning streams before that, and up to `limit` bytes are kept. A stream cut by
    /// a length limit, and a message that a boundary ends, keep their reasoning.
    #[must_use]
    pub fn force_nonempty_content(self, limit: usize) -> Self {
        Self { nonempty: Some(limit), ..self }
    }

    /// What becomes of the last span of reasoning if the message ends before it is closed: the
    /// answer may be in it, its closer forgotten. It is reasoning unless set.
    ///
    /// Each span is withheld until its closer, a call, the message's end, or more than `limit`
    /// bytes, which make it reasoning however it ends. It is not withheld under
    /// [`Unclosed::Reasoning`]. Of reasoning that a server told apart itself nothing is asked.
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

    /// Whether openers of reasoning in the text still count once a server told reasoning apart
    /// itself ([`crate::Guard::aside`]; a chat guard does so). They do unless set.
    #[must_use]
    pub fn inline_tags(self, inline_tags: InlineTags) -> Self {
        Self { inline_tags, ..self }
    }

    /// What becomes of a marker, of reasoning or calls, that a token limit cuts: it is text unless
    /// set, but where nothing else can stand.
    #[must_use]
    pub fn dangling(self, dangling: Dangling) -> Self {
        Self { dangling, ..self }
    }

    /// The most reasoning the message may hold. No limit by default: reasoning is not kept.
    #[must_use]
    pub fn reasoning_limit(self, limit: ReasoningLimit) -> Self {
        Self { reasoning_limit: Some(limit), ..self }
    }

    /// How [`crate::Guard::reasoning_tokens`] guesses; four bytes a token if not told.
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
