//! The law L4: limits bound the memory, whatever the length of the stream.

use crate::{
    machine::StreamMachine,
    record::RunRecord,
    violation::{Law, LawViolation},
};

/// The minimum length of the input in multiples of the limit. A shorter input proves nothing.
const LONGER: usize = 2;

/// Checks L4: fed with `chunks`, then finished, live buffers never exceed `limit` bytes.
///
/// ```
/// # use stream_laws::{CONTENT, HeldBytes, StreamMachine, RunRecord, check_bounded};
/// # #[derive(Clone)] struct Echo;
/// # impl StreamMachine for Echo {
/// #     fn push(&mut self, chunk: &str, out: &mut RunRecord) { out.text(CONTENT, chunk); }
/// #     fn finish(&mut self, _: &mut RunRecord) {}
/// #     fn reset(&mut self) {}
/// #     fn held(&self) -> HeldBytes { HeldBytes::NOTHING }
/// #     fn work(&self) -> u64 { 0 }
/// #     fn state_size(&self) -> usize { 0 }
/// # }
/// check_bounded(&Echo, std::iter::repeat_n("<tool_call>", 10_000), 1024).unwrap();
/// ```
///
/// # Errors
/// Returns the first chunk after which [`StreamMachine::state_size`] or the held bytes exceed the
/// limit. Also returns an error if the input is too short to show the limit.
pub fn check_bounded<'t, M: StreamMachine>(
    machine: &M,
    chunks: impl IntoIterator<Item = &'t str>,
    limit: usize,
) -> Result<(), LawViolation> {
    let (mut machine, mut out) = (machine.clone(), RunRecord::default());
    let (mut fed, mut last) = (0, "");
    for (number, chunk) in chunks.into_iter().enumerate() {
        machine.push(chunk, &mut out);
        out.clear();
        (fed, last) = (fed + chunk.len(), chunk);
        let (state, held) = (machine.state_size(), machine.held().bytes);
        if state.max(held) > limit {
            return Err(LawViolation::new(
                Law::Bounded,
                format!("after chunk {number}, {fed} bytes in all"),
                chunk,
                format!("expected at most {limit} bytes, got a state of {state}, {held} held"),
            ));
        }
    }
    if fed < limit.saturating_mul(LONGER) {
        return Err(LawViolation::new(
            Law::Bounded,
            "as given",
            last,
            format!("{fed} bytes of input cannot show that {limit} bytes are the limit"),
        ));
    }
    Ok(())
}
