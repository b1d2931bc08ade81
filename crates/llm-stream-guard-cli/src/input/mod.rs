//! The lines of the input.

mod lines;

pub(crate) use lines::{Line, Lines};
