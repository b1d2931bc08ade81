//! Options about calls.

use toolcall_parsers::{InReasoning, Options, Tools};

use super::{BadPayload, BrokenBlock, Delivery, GuardBuilder, ToolChoice};

impl GuardBuilder {
    /// The tools the request declared. Building refuses them where the profile reads no calls, unless
    /// the choice is not left to the model.
    #[must_use]
    pub fn tools(self, tools: Tools) -> Self {
        Self { tools, ..self }
    }

    /// Sets the policies for calls. The policy for late ids follows from the delivery.
    #[must_use]
    pub fn options(self, options: Options) -> Self {
        Self { options, ..self }
    }

    /// Sets the request's rule about calls.
    #[must_use]
    pub fn tool_choice(self, choice: ToolChoice) -> Self {
        Self { choice, ..self }
    }

    /// Sets the policy for a payload that is not calls where calls are required.
    #[must_use]
    pub fn bad_payload(self, bad_payload: BadPayload) -> Self {
        Self { bad_payload, ..self }
    }

    /// Sets the policy for a block of calls whose first call is malformed or cut.
    #[must_use]
    pub fn broken_block(self, broken_block: BrokenBlock) -> Self {
        Self { broken_block, ..self }
    }

    /// Sets the effect of a tool call's opener inside reasoning, in place of the profile's.
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
