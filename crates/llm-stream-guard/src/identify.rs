//! Identification of families: from recordings ([`detect()`]) and from the files of a checkpoint
//! ([`identify`]).

mod added_tokens;
mod checkpoint;
#[cfg(feature = "jinja")]
mod context;
#[cfg(feature = "toml")]
mod derive;
mod detect;
mod gguf;
mod identification;
mod job;
mod markers;
mod markup;
mod probe;
mod prompt;
mod reading;
#[cfg(feature = "jinja")]
mod render;
mod rules;
mod stripped;
mod token_lengths;
mod turns;
mod worker;

#[cfg(all(feature = "jinja", feature = "toml"))]
pub use self::derive::derive_trusted;
#[cfg(feature = "toml")]
pub use self::derive::{DeriveError, DerivedFamily, derive_rendered};
pub(crate) use self::stripped::stripped;
pub(crate) use self::token_lengths::TokenLengths;
pub use self::{
    added_tokens::{AddedToken, AddedTokens},
    checkpoint::{Checkpoint, CheckpointError},
    detect::{Candidate, Certainty, Detection, detect},
    identification::{Identification, identify},
    prompt::{PromptError, PromptTemplate},
    worker::Worker,
};
#[cfg(feature = "jinja")]
pub use self::{identification::identify_trusted, worker::serve_renderings};
