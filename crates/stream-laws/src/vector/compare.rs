//! The comparison of a run's record with the expectation.

use core::fmt::{self, Debug};

use super::{
    case::{Arguments, ExpectedCall, Incomplete, VectorCase},
    so_far::{value_so_far, without_blanks},
};
use crate::{
    json,
    record::{CONTENT, REASONING, RecordedCall, RunRecord},
    violation::shorten,
};

/// The first difference between a record and the expectation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mismatch {
    /// The path of the difference in the expectation.
    pub field: String,
    /// The expected value, escaped and shortened.
    pub expected: String,
    /// The actual value, escaped and shortened.
    pub got: String,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { field, expected, got } = self;
        write!(f, "{field} differs\n  expected: {expected}\n  got:      {got}")
    }
}

impl core::error::Error for Mismatch {}

/// Checks a finished run of `case` against its expectation.
///
/// # Errors
/// Returns the first difference in this order: content, reasoning, complete calls, incomplete call.
pub fn check_record(case: &VectorCase, record: &RunRecord) -> Result<(), Mismatch> {
    let expect = &case.expect;
    same("content", expect.content.as_str(), &record.channel_text(CONTENT))?;
    same("reasoning", expect.reasoning.as_str(), &record.channel_text(REASONING))?;
    let calls = record.calls().map_err(|event| differ("events", &"a call that began", event))?;
    let (complete, broken): (Vec<_>, Vec<_>) = calls.iter().partition(|call| call.is_complete());
    for (number, (call, got)) in expect.calls.iter().zip(&complete).enumerate() {
        check_call(number, call, got)?;
    }
    if complete.len() != expect.calls.len() {
        let names: Vec<_> = expect.calls.iter().map(|call| call.name.as_str()).collect();
        return Err(differ("calls", &names, &calls));
    }
    match &expect.incomplete {
        Some(incomplete) => check_incomplete(incomplete, &broken),
        None => Ok(()),
    }
}

fn check_call(number: usize, call: &ExpectedCall, got: &RecordedCall) -> Result<(), Mismatch> {
    let field = |name: &str| format!("calls[{number}].{name}");
    same(field("name"), call.name.as_str(), &got.name)?;
    if let Some(id) = &call.id {
        same(field("id"), id.as_str(), &got.id)?;
    }
    match json::parse_object(&got.arguments) {
        Ok(value) if value == call.arguments => Ok(()),
        Ok(_) => Err(differ(field("arguments"), &call.arguments, &got.arguments)),
        Err(error) => Err(differ(
            field("arguments"),
            &call.arguments,
            &format_args!("{:?}, {error}", got.arguments),
        )),
    }
}

/// Checks that one of the calls that did not complete is the expected one.
fn check_incomplete(expected: &Incomplete, broken: &[&RecordedCall]) -> Result<(), Mismatch> {
    let as_said = |call: &&&RecordedCall| {
        call.name == expected.name
            && match &expected.arguments {
                Arguments::Any => true,
                Arguments::Prefix(text) => without_blanks(&call.arguments) == without_blanks(text),
                Arguments::SoFar(value) => value_so_far(&call.arguments).as_ref() == Some(value),
            }
    };
    match broken.iter().find(as_said) {
        Some(_) => Ok(()),
        None => Err(differ("incomplete", expected, &broken)),
    }
}

fn same(field: impl Into<String>, expected: &str, got: &str) -> Result<(), Mismatch> {
    if expected == got { Ok(()) } else { Err(differ(field, &expected, &got)) }
}

pub(super) fn differ(field: impl Into<String>, expected: &dyn Debug, got: &dyn Debug) -> Mismatch {
    let show = |value: &dyn Debug| shorten(&format!("{value:?}"));
    Mismatch { field: field.into(), expected: show(expected), got: show(got) }
}
