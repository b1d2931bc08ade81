//! Boundaries: openers, closers and anchors.

use alloc::vec::Vec;

use super::{ErrorKind, TemplateError};
use crate::{
    json::{Object, Value},
    pattern::{Fault, FaultKind, Program, compile, literals},
};

/// A compiled boundary.
#[derive(Debug)]
pub(crate) struct Boundary {
    pub(crate) program: Program,
}

impl Boundary {
    /// The boundary at `literal` or at `pattern` of `object`, if there is one.
    pub(crate) fn read(
        object: &Object,
        literal: &str,
        pattern: &str,
    ) -> Result<Option<Self>, TemplateError> {
        let error = |kind| Err(TemplateError::new(kind, literal));
        let program = match (object.get(literal), object.get(pattern)) {
            (None, None) => return Ok(None),
            (Some(_), Some(_)) => return error(ErrorKind::LiteralAndPattern),
            (Some(value), None) => {
                let texts = match value {
                    Value::String(text) => Vec::from([text.as_str()]),
                    Value::Array(items) if items.is_empty() => return error(ErrorKind::EmptyList),
                    Value::Array(items) => {
                        let texts: Option<Vec<_>> = items.iter().map(Value::as_str).collect();
                        match texts {
                            Some(texts) => texts,
                            None => return error(ErrorKind::LiteralType),
                        }
                    }
                    _ => return error(ErrorKind::LiteralKind),
                };
                if texts.contains(&"") {
                    return error(ErrorKind::EmptyLiteral);
                }
                literals(texts).map_err(|fault| faulty(&fault, literal))?
            }
            (None, Some(value)) => expression(value, pattern)?,
        };
        if program.again {
            let kind = ErrorKind::Unsupported { feature: "a back-reference in a boundary" };
            return Err(TemplateError::new(kind, pattern));
        }
        Ok(Some(Self { program }))
    }
}

/// Compiles the expression that `value` is.
pub(crate) fn expression(value: &Value, key: &str) -> Result<Program, TemplateError> {
    let Some(text) = value.as_str() else {
        return Err(TemplateError::new(ErrorKind::Regex, key).detail("expected a string"));
    };
    compile(text).map_err(|fault| faulty(&fault, key))
}

fn faulty(fault: &Fault, key: &str) -> TemplateError {
    let error = |kind| TemplateError::new(kind, key).at(fault.at);
    match fault.kind {
        FaultKind::Invalid(what) => error(ErrorKind::Regex).detail(what),
        FaultKind::Unsupported(feature) => error(ErrorKind::Unsupported { feature }),
    }
}
