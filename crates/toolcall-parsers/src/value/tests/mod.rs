//! Rows of text in each dialect and what becomes of them, the same at every cut.

mod harness;
mod json;
mod literal;
mod python;
mod random;
mod text;
mod typed;
