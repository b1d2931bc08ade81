//! Tests of values in each dialect: tables of text and results, which are equal at every cut.

mod harness;
mod json;
mod literal;
mod python;
mod random;
mod text;
mod typed;
