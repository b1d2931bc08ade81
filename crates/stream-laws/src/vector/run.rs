//! Running a case: every cut must give the expected result, and the same events in the same order.

use core::fmt;

use super::{
    case::VectorCase,
    compare::{Mismatch, check_record, differ},
};
use crate::{
    cuts::{Cut, CutPlan},
    machine::{ByteMachine, StreamMachine, run, run_bytes},
    record::{RecordedEvent, RunRecord},
};

/// A failure of a case: the cut and the difference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The id of the case that failed.
    pub id: String,
    /// The first cut that showed it; `None`: it failed before any.
    pub cut: Option<CutInput>,
    /// The expected and the actual result.
    pub mismatch: Box<Mismatch>,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { id, cut, mismatch } = self;
        write!(f, "{id}: {mismatch}")?;
        cut.map_or(Ok(()), |cut| write!(f, "\n  cut:      {cut}"))
    }
}

impl core::error::Error for Failure {}

/// A cut, and through which entry point its pieces went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CutInput {
    /// The way the input was cut.
    pub cut: Cut,
    /// Whether the pieces were bytes, which may end inside a scalar.
    pub bytes: bool,
}

impl CutInput {
    /// Returns the pieces of `wire`.
    pub fn pieces<'w>(&self, wire: &'w str) -> Vec<&'w [u8]> {
        match self.bytes {
            true => self.cut.byte_pieces(wire.as_bytes()).collect(),
            false => self.cut.pieces(wire).map(str::as_bytes).collect(),
        }
    }
}

impl From<Cut> for CutInput {
    fn from(cut: Cut) -> Self {
        Self { cut, bytes: false }
    }
}

impl fmt::Display for CutInput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", if self.bytes { "bytes, " } else { "" }, self.cut)
    }
}

/// Runs `case` at every cut of `plan` that falls between scalars.
///
/// `make_machine` makes a machine set up as the case asks: family, tools, policies, end.
///
/// # Errors
/// Returns the first cut with another result than the expected one, or with other events than the
/// whole wire gave.
pub fn run_case<M: StreamMachine>(
    case: &VectorCase,
    make_machine: impl Fn() -> M,
    plan: CutPlan,
) -> Result<(), Failure> {
    let machine = make_machine();
    let whole = judge(case, Cut::Whole.into(), &run(&machine, &case.wire, Cut::Whole), None)?;
    plan.text(&case.wire).try_for_each(|cut| {
        judge(case, cut.into(), &run(&machine, &case.wire, cut), Some(&whole)).map(drop)
    })
}

/// As [`run_case`], then at every cut of `plan` through the byte entry point, which may fall
/// inside a scalar.
///
/// # Errors
/// See [`run_case`].
pub fn run_case_bytes<M: ByteMachine>(
    case: &VectorCase,
    make_machine: impl Fn() -> M,
    plan: CutPlan,
) -> Result<(), Failure> {
    run_case(case, &make_machine, plan)?;
    let machine = make_machine();
    let wire = case.wire.as_bytes();
    let whole = judge(case, Cut::Whole.into(), &run(&machine, &case.wire, Cut::Whole), None)?;
    plan.bytes(wire).try_for_each(|cut| {
        let input = CutInput { cut, bytes: true };
        judge(case, input, &run_bytes(&machine, wire, cut), Some(&whole)).map(drop)
    })
}

fn judge(
    case: &VectorCase,
    cut: CutInput,
    record: &RunRecord,
    whole: Option<&Vec<RecordedEvent>>,
) -> Result<Vec<RecordedEvent>, Failure> {
    let fail =
        |mismatch| Failure { id: case.id.clone(), cut: Some(cut), mismatch: Box::new(mismatch) };
    let coalesced = record
        .coalesced()
        .map_err(|empty| fail(differ("events", &"no empty event", &empty.to_string())))?;
    check_record(case, &coalesced).map_err(fail)?;
    let Some(whole) = whole else { return Ok(coalesced.events) };
    let same = whole.iter().zip(&coalesced.events).take_while(|(one, other)| one == other).count();
    let (expected, got) = (whole.get(same), coalesced.events.get(same));
    if expected != got {
        return Err(fail(differ(format!("event {same}"), &expected, &got)));
    }
    Ok(coalesced.events)
}
