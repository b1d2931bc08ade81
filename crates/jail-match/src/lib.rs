//! Streaming marker matching.
#![no_std]
#![forbid(unsafe_code)]
#![allow(missing_docs)]
extern crate alloc;
mod marker;
mod matcher;
pub use marker::{Class, MAX_CLASSES, MarkerSet, MarkerSetBuilder, Probe};
pub use matcher::{Found, Matcher};
