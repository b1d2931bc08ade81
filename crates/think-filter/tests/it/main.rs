//! Tests of the filter: the rules for leading blocks, the options, the laws over every format, held
//! text, and names.

mod damage_page;
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
mod unclosed;
mod vectors;
mod whole;
