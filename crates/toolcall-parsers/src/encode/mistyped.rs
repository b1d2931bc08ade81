//! Values that parsers convert because the schema declares another type.
//!
//! ```text
//! schema {"l": array}    "[1]", a string    hermes reads a list
//! schema {"n": integer}  null               gemma4 reads a string
//! ```

use alloc::vec::Vec;

use super::input::{JsonNode, Members};
use crate::{
    encode::{EncodeErrorKind, error::EncodeFault},
    typing::{PathStep, TypeSet, by_name, declared_at},
};

/// Returns the fault of the first value that was read back as another one, if its type is not the
/// one that `schema` declares for it. If the arguments were not read back, returns that of the first
/// value with another type than declared.
pub(super) fn fault(
    given: &Members<'_>,
    back: Option<&Members<'_>>,
    schema: &serde_json::Value,
) -> Option<EncodeFault> {
    let is_mistyped = |path: &[PathStep<'_>], value: &JsonNode<'_>| {
        let declared = declared_at(schema, path.iter().copied());
        declared.is_some_and(|declared| !declared.has(type_of(value)))
    };
    let key = match back.and_then(|back| differing(given, back)) {
        Some((path, value)) => match path.first() {
            Some(PathStep::Member(key)) if is_mistyped(&path, value) => *key,
            _ => return None,
        },
        None => {
            let mut keys = given.iter().map(|(key, value)| (key.as_str(), value));
            keys.find(|(key, value)| is_mistyped(&[PathStep::Member(key)], value))?.0
        }
    };
    let why = "its schema declares another type, and it would be read back as another value";
    Some(EncodeFault::new(EncodeErrorKind::Value, why).for_key(key))
}

/// Returns the first value of `given` that `back` lacks, as deep as possible, and its path.
fn differing<'n, 't>(
    given: &'n Members<'t>,
    back: &Members<'_>,
) -> Option<(Vec<PathStep<'n>>, &'n JsonNode<'t>)> {
    let mut path = Vec::new();
    let (key, mut value, mut other) = first(given, back)?;
    path.push(PathStep::Member(key));
    loop {
        let inner = match (value, other) {
            (JsonNode::Object(given), JsonNode::Object(back)) => {
                first(given, back).map(|(key, value, other)| (PathStep::Member(key), value, other))
            }
            (JsonNode::Array(given), JsonNode::Array(back)) => given
                .iter()
                .zip(back)
                .enumerate()
                .find(|(_, (value, other))| value != other)
                .map(|(at, (value, other))| (PathStep::Element(at), value, other)),
            _ => None,
        };
        let Some((step, inner, counterpart)) = inner else { return Some((path, value)) };
        path.push(step);
        (value, other) = (inner, counterpart);
    }
}

/// Returns the first member with another value in `back`.
fn first<'n, 't, 'b>(
    given: &'n Members<'t>,
    back: &'b Members<'_>,
) -> Option<(&'n str, &'n JsonNode<'t>, &'b JsonNode<'b>)> {
    given.iter().zip(back).find(|((_, value), (_, other))| value != other).and_then(
        |((key, value), (name, other))| (key == name).then_some((key.as_str(), value, other)),
    )
}

fn type_of(value: &JsonNode<'_>) -> TypeSet {
    match value {
        JsonNode::Number(text) if !text.contains(['.', 'e', 'E']) => TypeSet::INTEGER,
        value => by_name(value.kind()),
    }
}
