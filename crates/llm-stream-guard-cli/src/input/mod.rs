//! Input as it arrives: which form it has, its lines, its events.

mod detect;
mod lines;
mod sse;

pub use detect::{Detector, HEAD, Patience};
pub use lines::{Line, Lines, MAX_LINE};
pub use sse::{SseItem, SseReader};
