//! Integration tests of every registered family: its vectors, the laws of streams, the caller's
//! policies, and the encoder.

mod coverage;
mod damage;
mod damage_page;
mod dangling;
mod doubt;
mod guided;
mod headers;
mod in_code;
mod inserted;
mod laws;
mod limits;
mod not_calls;
mod policies;
mod proof;
mod quoted;
mod round_trip;
mod siblings;
mod small_scope;
mod support;
mod vectors;
