//! The call machine: section, header, arguments, end; fault, resynchronisation, end of stream and
//! repair, once for every family.
//!
//! [`compile`] turns a family's templates into a [`plan::Plan`]; [`call::Machine`] reads by it,
//! after one opener after the other.

mod after_parameters;
mod answer;
pub(crate) mod arguments;
pub(crate) mod call;
pub(crate) mod compile;
mod ending;
pub(crate) mod field;
mod header;
mod held;
mod message_header;
pub(crate) mod messages;
mod object;
pub(crate) mod output;
pub(crate) mod plan;
mod raw;
mod reading;
mod resync;
mod section;
mod siblings;
