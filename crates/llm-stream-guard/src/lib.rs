//! Converts the raw text stream of open-weight models into typed events.
//!
//! A [`Profile`] describes how a model family writes reasoning and tool calls. Find a profile by a
//! model's id or a family's name. A [`Guard`] reads text by a profile, in pieces of any size, with
//! one cursor over the message. A `<think>` inside a call's arguments is therefore data, and a call
//! inside reasoning is a call. [`guard_text`] applies a guard to any `Stream` of text. [`chat`]
//! removes markup from chat-completion chunks.
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use llm_stream_guard::{End, Event, Guard};
//! let mut guard = Guard::for_model("Qwen/Qwen3-8B")?.build()?;
//! let mut seen = Vec::new();
//! let mut sink = |event: Event<'_>| seen.push(event.to_owned());
//! for chunk in ["<think>look it up</th", "ink>\n<tool_call>{\"name\": \"find\", ", "\"arguments\": {}}</tool_call>"] {
//!     guard.push(chunk, &mut sink)?;
//! }
//! guard.finish(End::Stop, &mut sink)?;
//! assert_eq!(seen.len(), 4); // reasoning; call start, arguments, end
//! # Ok(())
//! # }
//! ```
//! # Types by task
//!
//! | task | types |
//! |---|---|
//! | find the family of a model | [`Profile`], [`resolve_model`] with [`ModelMatch`] and [`UnknownModel`] |
//! | find the family of a checkpoint or a text | [`identify()`] with [`Identification`], [`AddedTokens`] ([`AddedToken`]) and [`CheckpointError`]; [`detect()`] with [`Detection`] and its [`Candidate`]s |
//! | build a guard | [`GuardBuilder`]: [`ReasoningOptions`], [`CallOptions`] with [`Delivery`], [`BrokenBlock`], [`CallsInCode`] and [`ArgumentTypes`], [`Limits`], [`StopStrings`] ([`StopString`], [`Shown`]); [`BuildError`] |
//! | build a guard from data | [`GuardSettings`] with [`LimitSettings`] and [`TokenSettings`]; [`Word`], [`SettingsError`] |
//! | apply what a request demands | [`AnswerRules`], [`ToolChoice`], [`BadPayload`]; [`RequestError`], [`Rejected`] |
//! | put tools into the prompt | [`move_tools_to_prompt`], [`PromptToolsError`] |
//! | receive the result | [`Sink`], [`Event`], [`Outcome`], [`Diagnostic`]; [`Message`] for a whole text, [`MessageEnd`] with [`OpenAtEnd`], [`Stopped`] |
//! | read rows of whole texts | [`RowReader`] with [`CompileRow`], [`RowSettings`] ([`RowSetting`]), [`RowCounts`], [`RowError`] |
//! | guard a `Stream` | [`guard_text`], [`Guarded`]; [`Stage`] for machines of your own |
//! | count and observe | [`Stats`], [`Observer`], `TracingObserver` (feature `tracing`) |
//! | give token ids, and get roles | [`Token`], [`RoleReader`], [`RoleSpan`], [`RoleCounts`]; [`NoRoles`] if a stage changes the text |
//! | follow arguments while they arrive | [`ArgumentsView`], [`ArgumentsChange`] |
//! | withhold or change blocks of text | [`Jailer`], [`JailedStream`], [`JailedError`] |
//! | rewrite chunks of chat completions | [`chat`] |
//! | keep a record of a stream, redact it | [`lifecycle`] |
//! | find out why a text came out as it did | [`explain`] |
#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod arguments_view;
pub mod chat;
pub mod explain;
mod guard;
mod identify;
mod jailed;
mod jailer;
mod json;
pub mod lifecycle;
mod limits;
mod observe;
mod profile;
mod prompt_tools;
mod reasoning;
mod record;
mod remap_request;
mod roles;
mod rows;
mod servers;
mod settings;
mod stages;
mod stop;
mod stream;

pub use arguments_view::{ArgumentsChange, ArgumentsStep, ArgumentsView};
pub use guard::{
    AnswerRules, BuildError, CallOptions, Delivery, Guard, GuardBuilder, GuardStage, MessageEnd,
    OpenAtEnd, ReasoningOptions, RequestError, Token, TokenKind, ToolChoice,
};
#[cfg(all(feature = "jinja", feature = "toml"))]
pub use identify::derive_trusted;
pub use identify::{
    AddedToken, AddedTokens, Candidate, Certainty, Checkpoint, CheckpointError, Detection,
    Identification, PromptError, PromptTemplate, Worker, detect, identify,
};
#[cfg(feature = "toml")]
pub use identify::{DeriveError, DerivedFamily, derive_rendered};
#[cfg(feature = "jinja")]
pub use identify::{identify_trusted, serve_renderings};
pub use jailed::{JailedError, JailedStream, JailedStreamBuilder};
pub use jailer::{Jailer, Replacement};
#[cfg(feature = "tracing")]
pub use observe::TracingObserver;
pub use observe::{Observer, Stats};
#[cfg(feature = "toml")]
pub use profile::{FamilyFileError, family_file};
pub use profile::{
    ModelMatch, Profile, UnknownModel, all_names, named_profile, profile, profile_for_model,
    profiles, resolve_model,
};
pub use prompt_tools::{PromptToolsError, move_tools_to_prompt};
pub use reasoning::{Reasoning, reasoning, reasoning_aliases, reasoning_formats};
pub use remap_request::{RemapRequestError, remap_request};
pub use roles::{NoRoles, RoleCounts, RoleReader, RoleSpan, TokenRole, loss_mask};
pub use rows::{CompileRow, RowCounts, RowError, RowReader, RowSetting, RowSettings};
pub use servers::{Answer, Server, forward_request, request_token_ids};
pub use settings::{GuardSettings, LimitSettings, SettingsError, TokenSettings, Word};
pub use stop::{EmptyStop, Shown, StopString, StopStrings, Stopped};
pub use stream::{Guarded, Stage, guard_text};

pub use jail_match::{
    Alias, Counters, Dangling, End, Held, HeldKind, Jail, JailError, LimitError, LimitPolicy,
    Limits, ReasoningLimit, Utf8, Whitespace,
};
pub use think_filter::{Format, InlineTags, Start, Unclosed};
pub use toolcall_parsers::{
    ArgumentTypes, BadPayload, BrokenBlock, Call, CallLimits, CallsInCode, Diagnostic,
    DiagnosticKind, Event, Grammar, Ids, InReasoning, Message, Outcome, OwnedEvent, Parallel,
    Rejected, Repair, Sink, StopAfter, Tolerance, Tools, UnknownName, UnknownTools,
};

/// Decoder and encoder of server-sent events. Decoded events keep their original bytes.
pub use sse_events as sse;
pub use stream_lifecycle::{Clock, TryItem};
pub use wire_remap::{Collapse, CollapseAction, CollapseLimits};

/// The crates that this crate is built on.
#[cfg(feature = "response-templates")]
pub use response_templates;
pub use {jail_match, think_filter, toolcall_parsers, wire_remap};

/// Examples from other pages of the project, compiled and run as documentation tests.
#[cfg(doctest)]
mod pages {
    #[doc = include_str!("../../../README.md")]
    struct Readme;
    #[doc = include_str!("../README.md")]
    struct CrateReadme;
    #[doc = include_str!("../../../docs/adding-a-family.md")]
    struct AddingAFamily;
    #[doc = include_str!("../../../docs/how-to-gateway.md")]
    struct Gateway;
    #[doc = include_str!("../../../docs/how-to-pipeline.md")]
    struct Pipeline;
    #[doc = include_str!("../../../docs/servers.md")]
    struct Servers;
    #[doc = include_str!("../../../docs/systems.md")]
    struct Systems;
    #[doc = include_str!("../../../docs/tokens.md")]
    struct Tokens;
    #[doc = include_str!("../../../docs/tutorial-rust.md")]
    struct Tutorial;
}
