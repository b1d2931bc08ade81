//! The input: its format and its lines.

mod detect;
mod lines;

pub(crate) use detect::{Detector, Patience};
pub(crate) use lines::{Line, Lines};
