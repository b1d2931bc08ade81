//! Tables of text in each dialect with the expected result, the same at every cut.

mod harness;
mod json;
mod literal;
mod python;
mod random;
mod text;
mod typed;
