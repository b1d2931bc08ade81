//! Hugging Face response templates, streamed.
//!
//! A checkpoint may say in `tokenizer_config.json`, under `response_template`, how it writes
//! reasoning, answer and tool calls. A [`Template`] is that, checked whole when it is loaded; a
//! [`Parser`] reads one message by it, in pieces, and gives the events of the other machines of this
//! workspace. The result is that of the reference implementation (`transformers`) for the whole
//! text, for every way to cut it.
//!
//! ```
//! use jail_match::{End, Event};
//! use response_templates::{Parser, Template};
//!
//! let template = Template::from_json(r#"{"start_anchor": "<|bot|>", "fields": {
//!     "thinking": {"open": "<think>", "close": "</think>"},
//!     "tool_calls": {"open": "<call>", "close": "</call>", "repeats": true, "content": "json",
//!                    "transform": {"type": "function", "function": "{content}"}},
//!     "content": {"close": "<|end|>"}}}"#)?;
//! let mut parser = Parser::new(&template).prompt("<|user|>Hi<|bot|><think>");
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
//! # Ok::<(), response_templates::TemplateError>(())
//! ```
//!
//! Two views are kept apart: events in the order in which the model writes, and
//! [`Parser::message`], the message object of the reference, in which the last region of a field
//! may replace the ones before.
#![no_std]
#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod cast;
mod chars;
mod content;
mod json;
mod machine;
mod malformed;
mod message;
mod pattern;
mod template;
mod text;

/// What is shared with every stage: the driver's vocabulary.
pub use jail_match::{Channel, End, Event, Held, HeldKind, Sink};
pub use json::{Integer, NotJson, Object, Value};
pub use machine::{Boundaries, MalformedPolicy, NoAnchor, Parser, Settings, UnusedOption};
pub use malformed::Malformed;
pub use message::{MessageError, Missing, Region, message};
pub use template::{ErrorKind, Template, TemplateError};
pub use toolcall_parsers::{Ids, Options, Tools};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
