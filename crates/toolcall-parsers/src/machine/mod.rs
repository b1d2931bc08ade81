//! The call machine, which reads the calls of every family.
//!
//! [`compile`] turns a family's templates into a [`plan::Plan`]. After each opener that the driver
//! finds, [`call::Machine`] reads a block of calls by the plan: section, headers, arguments and end
//! tags. It also handles faults and the end of the stream.
//!
//! Three examples, with the state at the start of each part. A fault leads from any state to
//! `Broken`.
//!
//! ```text
//! <tool_calls>        the opener, found by the driver
//! <function=          Header
//! ring                Field
//! >                   Header
//! <parameter=n>2…     Arguments
//! </function>         CallEnd(0), then Between
//! </tool_calls>       Between, then SectionEnd(1)
//!
//! <calls>[]           Header
//! </calls>            Empty: an end tag must follow
//!
//! <tool_calls>        the opener
//! I will call …       SkippedText, up to the first call or the section's end
//! ```

mod answer;
pub(crate) mod arguments;
pub(crate) mod call;
pub(crate) mod call_sink;
pub(crate) mod compile;
pub(crate) mod field;
mod header;
mod held;
mod message_header;
pub(crate) mod messages;
mod object;
pub(crate) mod plan;
mod raw;
mod readers;
mod reading;
pub(crate) mod recovery;
mod section;
mod state;
pub(crate) mod turn_ends;
