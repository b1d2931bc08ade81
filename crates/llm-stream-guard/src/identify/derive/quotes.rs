//! Values that quote the family's own markup.

use serde_json::json;

use super::{
    DeriveError,
    bodies::Bodies,
    prove::{Cuts, ProofReader},
    renderings::Renderings,
    samples::{ONE, Sample, call},
};

/// Returns samples whose values quote a whole call, the beginning of a call, and its end.
pub(super) fn samples(bodies: &Bodies) -> Vec<Sample> {
    let body = bodies.body(ONE).unwrap_or_default();
    let (head, _) = body.split_once("zfuncaz").unwrap_or_default();
    let opener = bodies.opener(head);
    let begin = head.len() - opener.len();
    let whole = body.get(begin..).unwrap_or_default().trim();
    let end = whole.rsplit_once(['\n', '<', '[']).map_or("", |(before, _)| &whole[before.len()..]);
    // Of a call with tags around the value, its end alone ends the value, too.
    [whole, opener.trim(), end.trim()]
        .into_iter()
        .filter(|text| !text.is_empty())
        .map(|text| {
            let value = format!("as in {text} and so on");
            let calls = vec![call("look_up", &json!({"query": value}), "Qr7tY2uI9")];
            Sample { calls, ..Sample::default() }
        })
        .collect()
}

/// Checks that values with the family's markup are read back.
///
/// # Errors
/// A value is read differently. The refusal has the wire and the result.
pub(super) fn survive(
    reader: &ProofReader<'_>,
    renderings: &Renderings<'_>,
    bodies: &Bodies,
) -> Result<(), DeriveError> {
    let wires = renderings.more(samples(bodies));
    // A template that refuses such a value says nothing about it.
    reader.reads(&wires, Cuts::All)
}
