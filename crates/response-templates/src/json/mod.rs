//! JSON as the reference implementation reads it. Integers may have any size, `NaN` and `Infinity`
//! are numbers, members keep their order, and the last of several members with one name counts.

mod number;
mod parse;
mod scan;
mod value;

pub(crate) use number::{parse_float, parse_int, whole};
pub(crate) use parse::{decode, decode_into, parse};
pub use scan::NotJson;
pub(crate) use scan::{Container, Scanner, Token, TokenKind};
pub use value::{Integer, JsonObject, JsonTree};
pub(crate) use value::{escaped, quoted};
