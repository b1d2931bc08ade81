//! The call machine: section, header, arguments, end; fault, resynchronisation, end of stream and
//! repair, once for every family.

// The engines still run the parser; this note goes with them.
#![allow(dead_code, reason = "not yet wired to the parser")]

pub(crate) mod arguments;
pub(crate) mod cursor;
pub(crate) mod output;
