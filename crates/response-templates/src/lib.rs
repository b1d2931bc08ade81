//! A streaming parser for Hugging Face response templates.
//!
//! A checkpoint may describe its output in `tokenizer_config.json`, under `response_template`. The
//! description lists the fields of a message, the text that opens and closes each field, and how
//! the field's text becomes a value. A stretch of text between an opener and a closer is a
//! *region*. Text outside of all regions belongs to the *leftover* field, which has no opener.
//!
//! 1. [`ResponseTemplate`] loads such a description and checks all of it.
//! 2. [`TemplateParser`] reads the prompt and then one message, chunk by chunk, and emits events.
//! 3. [`TemplateParser::message`] returns the message as the reference implementation
//!    (`transformers`) does, if [`TemplateSettings::keep_regions`] is set.
//!
//! The result does not depend on where the text was cut.
//!
//! # Example
//!
//! The last turn of the prompt begins at `start_anchor` and has opened the reasoning. The call is
//! emitted while its JSON arrives.
//!
//! ```
//! use jail_match::{End, Event};
//! use response_templates::{ResponseTemplate, TemplateParser};
//!
//! let template = ResponseTemplate::from_json(r#"{"start_anchor": "<|bot|>", "fields": {
//!     "thinking": {"open": "<think>", "close": "</think>"},
//!     "tool_calls": {"open": "<call>", "close": "</call>", "repeats": true, "content": "json",
//!                    "transform": {"type": "function", "function": "{content}"}},
//!     "content": {"close": "<|end|>"}}}"#)?;
//! let mut parser = TemplateParser::new(&template).prompt("<|user|>Hi<|bot|><think>");
//! let (mut content, mut reasoning, mut arguments) = (String::new(), String::new(), String::new());
//! let mut sink = |event: Event<'_>| match event {
//!     Event::Content(text) => content.push_str(text),
//!     Event::Reasoning(text) => reasoning.push_str(text),
//!     Event::CallArguments { fragment, .. } => arguments.push_str(fragment),
//!     _ => {}
//! };
//! for chunk in ["Greet", ".</th", "ink>Hello!<call>{\"name\": \"wave\", \"argum", "ents\": {}}</call>"] {
//!     parser.push(chunk, &mut sink);
//! }
//! parser.finish(End::Stop, &mut sink);
//! assert_eq!((reasoning.as_str(), content.as_str(), arguments.as_str()), ("Greet.", "Hello!", "{}"));
//! # Ok::<(), response_templates::ResponseTemplateError>(())
//! ```
//!
//! # Types by task
//!
//! | task | types |
//! |---|---|
//! | load a template | [`ResponseTemplate`], [`ResponseTemplateError`] with its [`ErrorKind`] |
//! | configure a parser | [`TemplateSettings`]: [`Boundaries`], [`MalformedPolicy`], [`NoAnchor`]; [`UnusedOption`] if an option of calls has no effect |
//! | receive events | [`Sink`], [`Event`], [`Malformed`] |
//! | read the message | [`JsonTree`] with [`JsonObject`] and [`Integer`]; [`FieldRegion`], [`MissingFields`], [`MessageError`], [`NotJson`] |
//! # Events and message
//!
//! Events follow the order in which the model writes, and every region of a field has events. In
//! the message, the last region of a field replaces the earlier ones, unless the field repeats.
//!
//! # Patterns
//!
//! A boundary is a literal or a pattern in the syntax of Python. Patterns run as automata; a
//! feature that needs more, such as a back-reference, is refused when the template is loaded
//! ([`ErrorKind::Unsupported`]).
#![no_std]
#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod bare_keys;
mod call_list;
mod cast;
mod chars;
mod content;
mod json;
mod limits;
mod machine;
mod malformed;
mod message;
mod pattern;
mod template;
mod text;

/// The vocabulary of the driver, which all stages share.
pub use jail_match::{Channel, End, Event, Held, HeldKind, Sink};
pub use json::{Integer, JsonObject, JsonTree, NotJson};
pub use machine::{
    Boundaries, MalformedPolicy, NoAnchor, TemplateParser, TemplateSettings, UnusedOption,
};
pub use malformed::Malformed;
pub use message::{FieldRegion, MessageError, MissingFields};
pub use template::{ErrorKind, ResponseTemplate, ResponseTemplateError};
pub use toolcall_parsers::{Ids, Options, Tools};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
