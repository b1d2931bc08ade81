//! JSON as the reference implementation reads it: integers of any size, `NaN` and `Infinity`,
//! members in their order, the last of two members of one name.

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
