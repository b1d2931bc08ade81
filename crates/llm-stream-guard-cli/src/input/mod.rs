//! Input as it arrives: which form it has, its lines.

mod detect;
mod lines;

pub(crate) use detect::{Detector, Patience};
pub(crate) use lines::{Line, Lines};
