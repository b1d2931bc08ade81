//! The law L5: work grows in proportion to the input, whatever the chunks. Work is counted, not
//! timed.

use crate::{
    cuts::Cut,
    machine::StreamMachine,
    record::RunRecord,
    violation::{Law, LawViolation},
};

/// The bounds within which work counts as linear.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Work {
    /// Length of the shorter input, in bytes. The longer input is four times as long.
    pub bytes: usize,
    /// Examined bytes allowed for each byte of input.
    pub per_byte: u64,
    /// The allowed growth of work when the input doubles, in percent.
    pub growth_percent: u64,
}

impl Default for Work {
    /// Returns bounds of 4 KiB, 8 examinations of each byte, and growth by 2.2.
    fn default() -> Self {
        Self { bytes: 4096, per_byte: 8, growth_percent: 220 }
    }
}

/// Checks L5 on inputs that `input` makes for a given length: whole, one scalar at a time, and in
/// random pieces.
///
/// # Errors
/// Returns work above `bounds`, or a machine that does not count its work.
pub fn check_linear<M: StreamMachine>(
    machine: &M,
    input: impl Fn(usize) -> String,
    bounds: Work,
) -> Result<(), LawViolation> {
    let cuts = [Cut::Whole, Cut::EachScalar, Cut::Random { seed: 5 }];
    cuts.into_iter().try_for_each(|cut| check_under(cut, machine, &input, bounds))
}

/// Checks L5 on the same inputs, pushed whole only, for tests of long or many inputs.
///
/// # Errors
/// Returns work above `bounds`, or a machine that does not count its work.
pub fn check_linear_push<M: StreamMachine>(
    machine: &M,
    input: impl Fn(usize) -> String,
    bounds: Work,
) -> Result<(), LawViolation> {
    check_under(Cut::Whole, machine, &input, bounds)
}

fn check_under<M: StreamMachine>(
    cut: Cut,
    machine: &M,
    input: &impl Fn(usize) -> String,
    bounds: Work,
) -> Result<(), LawViolation> {
    let mut before: Option<(usize, u64)> = None;
    let lengths = [1, 4].map(|times| bounds.bytes.max(1) * times);
    // The lengths of random pieces depend on the input's length, so their work is not compared.
    let compared = !matches!(cut, Cut::Random { .. });
    for bytes in lengths.into_iter().skip(usize::from(!compared)) {
        let input = input(bytes);
        let work = examined(machine, &input, cut);
        judge(bounds, input.len(), work, before)
            .map_err(|detail| LawViolation::new(Law::Linear, cut, &input, detail))?;
        before = Some((input.len(), work));
    }
    Ok(())
}

fn examined<M: StreamMachine>(machine: &M, input: &str, cut: Cut) -> u64 {
    let (mut machine, mut out) = (machine.clone(), RunRecord::default());
    let before = machine.work();
    for piece in cut.pieces(input) {
        machine.push(piece, &mut out);
        out.clear();
    }
    machine.finish(&mut out);
    machine.work().saturating_sub(before)
}

fn judge(
    bounds: Work,
    bytes: usize,
    work: u64,
    before: Option<(usize, u64)>,
) -> Result<(), String> {
    if work == 0 {
        return Err(format!("{bytes} bytes of input and no work counted"));
    }
    let allowed = bounds.per_byte * bytes as u64;
    if work > allowed {
        return Err(format!("expected at most {allowed} bytes examined, got {work}"));
    }
    // Work is compared per byte, because inputs may differ from the given length. The length was
    // doubled twice.
    if let Some((shorter, less)) = before {
        let doubled = 4 * u128::from(work) * shorter as u128 * 100 * 100;
        let growth = u128::from(bounds.growth_percent).pow(2);
        if doubled > growth * u128::from(less) * bytes as u128 {
            return Err(format!(
                "work grows faster than the input: {less} for {shorter} bytes, {work} for {bytes}"
            ));
        }
    }
    Ok(())
}
