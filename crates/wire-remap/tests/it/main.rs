//! Behaviour of `wire-remap`, through its public API.

mod capabilities;
mod collapse;
mod exactness;
mod json_text;
mod places;
mod plain;
#[cfg(feature = "json")]
mod requests;
#[cfg(feature = "json")]
mod responses;
mod streaming;
mod support;
#[cfg(feature = "cache-key")]
mod switching;
mod tables;
mod truncated;
