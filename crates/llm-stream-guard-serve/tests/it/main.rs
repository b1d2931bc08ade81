//! The proxy between clients and upstreams that do as a script says.

mod answers;
mod dialects;
mod failures;
mod logs;
mod requests;
mod soak;
mod support;
mod untouched;
