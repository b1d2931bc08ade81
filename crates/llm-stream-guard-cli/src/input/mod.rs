//! Input as it arrives: which form it has, its lines.

mod detect;
mod lines;

pub use detect::{Detector, HEAD, Patience};
pub use lines::{Line, Lines, MAX_LINE};
