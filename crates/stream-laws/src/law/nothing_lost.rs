//! The law L2: text events and accounted spans together are the input, each byte once.

use super::coalesced;
use crate::{
    cuts::CutPlan,
    machine::{StreamMachine, run},
    record::{RecordedSpanKind, RunRecord},
    violation::{Law, LawViolation, excerpt},
};

/// Checks L2 under every cut of `plan`.
///
/// `drops` names the kinds of diagnostic that count dropped bytes. Together they must count the
/// bytes of the [`RecordedSpanKind::Dropped`] spans.
///
/// # Errors
/// Returns an error for spans that overlap, leave the input or split a scalar, for text that is not
/// the input without the spans, and for drops that are miscounted.
pub fn check_nothing_lost<M: StreamMachine>(
    machine: &M,
    input: &str,
    drops: &[&str],
    plan: CutPlan,
) -> Result<(), LawViolation> {
    for cut in plan.text(input) {
        let record = coalesced(Law::NothingLost, cut, input, &run(machine, input, cut))?;
        judge(&record, input, drops)
            .map_err(|detail| LawViolation::new(Law::NothingLost, cut, input, detail))?;
    }
    Ok(())
}

fn judge(record: &RunRecord, input: &str, drops: &[&str]) -> Result<(), String> {
    let expected = without_spans(record, input)?;
    let got = record.all_text();
    if got != expected {
        let same = expected.bytes().zip(got.bytes()).take_while(|(left, right)| left == right);
        return Err(format!(
            "text and accounted spans do not add up, from byte {} of the text on\n  \
             expected: {}\n  got:      {}\n  spans: {:?}",
            same.count(),
            excerpt(expected.as_bytes()),
            excerpt(got.as_bytes()),
            record.spans,
        ));
    }
    let dropped = record.spans.iter().filter(|span| span.kind == RecordedSpanKind::Dropped);
    let dropped: u64 = dropped.map(|span| span.len).sum();
    let counted = record.diagnostics.iter().filter(|one| drops.contains(&one.kind.as_str()));
    let counted: u64 = counted.map(|one| one.bytes).sum();
    if dropped != counted {
        return Err(format!(
            "{dropped} bytes dropped, {counted} counted in diagnostics {drops:?}: {:?}",
            record.diagnostics
        ));
    }
    Ok(())
}

/// Returns the input without the record's spans, which must be sorted.
fn without_spans(record: &RunRecord, input: &str) -> Result<String, String> {
    let (mut rest, mut at) = (String::new(), 0);
    for span in &record.spans {
        let range = span.range();
        let (start, end) = (range.start as usize, range.end as usize);
        if start < at {
            return Err(format!("{span:?} overlaps a span that ends at {at}"));
        }
        let (Some(between), Some(_)) = (input.get(at..start), input.get(start..end)) else {
            return Err(format!("{span:?} leaves the input or splits a scalar"));
        };
        rest.push_str(between);
        at = end;
    }
    rest.push_str(&input[at..]);
    Ok(rest)
}
