//! Laws of the exported grammars.

mod grammar_laws;
mod law;
mod page;
mod schema;
