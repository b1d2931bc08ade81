//! The machine: text in pieces, events out, one region after the other.

mod call;
mod calls;
mod out;
mod parser;
mod plan;
mod reader;
mod region;
mod run;
mod settings;
mod state;
mod watch;

pub use parser::Parser;
pub use settings::{Boundaries, MalformedPolicy, NoAnchor, Settings, UnusedOption};
