//! Explains a failed case: the effect of each piece of its wire at the failing cut.

use llm_stream_guard::{
    End, GuardStage, Profile, Utf8,
    explain::{Explainer, Explanation},
};
use stream_laws::vector::Failure;

use super::{AnyCase, CaseLine, case};

/// Returns the explanation of the cut at which `line` failed, or `None` if it failed without a cut.
pub(super) fn explained(
    line: &CaseLine,
    failure: &Failure,
    own: &[Profile],
) -> Option<Explanation> {
    let cut = failure.cut?;
    let (name, builder, end, wire) = match line.case.as_ref().ok()? {
        AnyCase::Family(case) => {
            let builder = case::builder_with(case, own).ok()?;
            (case.family.as_str(), builder, case::end(case), case.wire.as_str())
        }
        AnyCase::Template(case) => {
            let (builder, wire) = case.builder()?;
            ("response_template", builder, End::Stop, wire)
        }
    };
    let mut explainer = Explainer::new(name, builder.stage(GuardStage::Stats).build().ok()?);
    let (mut utf8, mut text) = (Utf8::default(), String::new());
    for piece in cut.pieces(wire) {
        utf8.push(piece, |part| text.push_str(part));
        explainer.push(&text, None);
        text.clear();
    }
    Some(explainer.finish(end))
}
