//! What a builder is told of calls.

use toolcall_parsers::{InReasoning, Options, Tools};

use super::{BadPayload, BrokenBlock, Delivery, GuardBuilder, ToolChoice};

impl GuardBuilder {
    /// The tools the request declared. Building refuses them where the profile reads no calls, unless
    /// the choice is not left to the model.
    #[must_use]
    pub fn tools(self, tools: Tools) -> Self {
        Self { tools, ..self }
    }

    /// Policies for calls. What becomes of ids that come late follows from the delivery.
    #[must_use]
    pub fn options(self, options: Options) -> Self {
        Self { options, ..self }
    }

    /// What the request says about calls.
    #[must_use]
    pub fn tool_choice(self, choice: ToolChoice) -> Self {
        Self { choice, ..self }
    }

    /// What becomes of a payload that is not calls where calls are required.
    #[must_use]
    pub fn bad_payload(self, bad_payload: BadPayload) -> Self {
        Self { bad_payload, ..self }
    }

    /// What becomes of a block of calls whose first call breaks or is cut.
    #[must_use]
    pub fn broken_block(self, broken_block: BrokenBlock) -> Self {
        Self { broken_block, ..self }
    }

    /// What a tool opener inside reasoning does, if not what the profile says.
    #[must_use]
    pub fn tool_in_reasoning(self, in_reasoning: InReasoning) -> Self {
        Self { in_reasoning, ..self }
    }

    /// How the events of a call are delivered.
    #[must_use]
    pub fn delivery(self, delivery: Delivery) -> Self {
        Self { delivery, ..self }
    }

    /// The most bytes of arguments kept under atomic delivery. Default 1 MiB.
    #[must_use]
    pub fn atomic_limit(self, atomic_limit: usize) -> Self {
        Self { atomic_limit, ..self }
    }
}
