//! The machine, which turns chunks of text into events, one region after the other.
//!
//! For a template in which `<t>` and `</t>` enclose the reasoning:
//!
//! ```text
//! Hi <t>why</t>      Content("Hi"), Reasoning("why")
//! ```

mod call;
mod emitter;
mod keys;
mod lines;
mod members;
mod parser;
mod plan;
mod quotes;
mod reader;
mod region;
mod rewrite;
mod run;
mod settings;
mod state;
mod tokens;
mod trim;
mod watch;

pub use parser::TemplateParser;
pub use settings::{Boundaries, MalformedPolicy, NoAnchor, TemplateSettings, UnusedOption};
