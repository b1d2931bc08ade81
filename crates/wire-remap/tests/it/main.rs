//! Behaviour of `wire-remap`, through its public API.

mod capabilities;
mod collapse;
mod exactness;
mod json_text;
mod places;
mod plain;
mod requests;
mod responses;
mod streaming;
mod support;
mod switching;
mod tables;
mod truncated;
