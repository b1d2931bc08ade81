//! Vectors with a response template of their own: what the reference implementation makes of a
//! wire, and templates that it refuses.

mod case;
mod view;

pub(crate) use case::TemplateCase;
