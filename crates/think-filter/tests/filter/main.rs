//! The filter: the lead-only rules one by one, the laws over every format, and what is held.

mod laws;
mod lead_only;
mod machine;
mod rules;
