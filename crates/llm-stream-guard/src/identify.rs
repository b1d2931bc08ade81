//! Which family is it? What recordings tell, and what a checkpoint's files tell.

mod checkpoint;
#[cfg(feature = "jinja")]
mod context;
mod detect;
mod gguf;
mod identification;
mod markup;
#[cfg(feature = "jinja")]
mod probe;
mod reading;
#[cfg(feature = "jinja")]
mod render;
mod rules;

pub use self::{
    checkpoint::{Checkpoint, CheckpointError},
    detect::{Candidate, Certainty, Detection, detect},
    identification::{Identification, identify},
};
