//! Vectors with their own response template: the reference implementation's message for a wire, or
//! a template that it refuses.

mod case;
mod view;

pub(crate) use case::TemplateCase;
