//! The filter: the lead-only rules one by one, the options, the laws over every format, what is
//! held, and names.

mod laws;
mod lead_only;
mod machine;
mod mentions;
mod names;
mod options;
mod rules;
mod shown_tags;
mod soup;
mod spans;
mod start;
mod tolerance;
mod unclosed;
mod vectors;
mod whole;
