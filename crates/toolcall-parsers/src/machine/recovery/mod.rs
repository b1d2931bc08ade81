//! Recovery: damaged calls, and calls that the end of the stream cuts.
//!
//! The rules of `docs/semantics.md` by the file that handles them:
//!
//! | on the wire | file |
//! |---|---|
//! | a fault: the call is malformed, or the candidate is text | `resync`, `points` |
//! | the rest of a malformed call with tagged parameters | `skipped_call` |
//! | the rest of another malformed call; a malformed object in a list of calls | `fault` |
//! | text between two parameters, or between the last one and the call's end | `after_parameters` |
//! | the end of the stream inside a call | `ending` |
//! | a block that comes twice | `repeated_block` |
//! | the lost end of a value between tags | [`value`](super::arguments::value): `search`, `waiting`, `ending` |
//! | the head of another call in a value between tags | [`parameters`](super::arguments::parameters): `call_heads` |
//! | a lost or doubled tag around a key | [`parameters`](super::arguments::parameters): `path`, `header` |
//! | the lost end of a string in the family's own quotes, or of a bracket | [`value`](crate::value): `own_end`, `missing_end` |

mod after_parameters;
mod ending;
pub(super) mod fault;
mod points;
pub(crate) mod repeated_block;
mod resync;
pub(super) mod skipped_call;
