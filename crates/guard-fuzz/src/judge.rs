//! The checks that every target makes of a machine.

use jail_match::Sink;
use llm_stream_guard::Event;
use stream_laws::{
    ByteMachine, Cut, CutPlan, LawViolation, RunRecord, StreamMachine, check_byte_chunk_invariance,
    check_chunk_invariance, check_total, check_total_bytes,
};

/// The maximum number of examinations of each byte that counts as linear. A byte is searched,
/// matched and fed, and again for each refuted candidate that contained it, up to the driver's
/// limit.
const LOOKS: u64 = 160;

/// The allowed work of a machine for each input byte.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Most {
    /// The allowed number of examinations of the byte.
    pub(crate) looks: u64,
    /// The allowed number of held bytes.
    pub(crate) held: usize,
}

/// The allowance of a machine that holds a part of the input unchanged.
pub(crate) const LINEAR: Most = Most { looks: LOOKS, held: 1 };

/// The allowance of a machine that holds decoded text. In the JSON of a call, a byte may become an
/// escape of six bytes, and a remapped delimiter may become a longer one.
pub(crate) const REWRITTEN: Most = Most { looks: LOOKS, held: 6 };

/// The length of the stream over which memory is measured.
const STREAM: usize = 128 * 1024;

/// The length of the stream's chunks, chosen so that no marker has the same place in every chunk.
const CHUNK: usize = 61;

/// Panics with the violation, as fuzz targets do.
#[track_caller]
pub(crate) fn demand(result: Result<(), LawViolation>) {
    if let Err(violation) = result {
        panic!("{violation}");
    }
}

/// Checks that the output does not depend on cuts, that nothing panics and that work is linear.
#[track_caller]
pub(crate) fn text<M: StreamMachine>(machine: &M, text: &str, plan: CutPlan) {
    events(machine, text, plan);
    cost(machine, text, LINEAR);
}

/// Checks that the output does not depend on cuts and that any text is accepted.
#[track_caller]
pub(crate) fn events<M: StreamMachine>(machine: &M, text: &str, plan: CutPlan) {
    demand(check_chunk_invariance(machine, text, plan));
    demand(check_total(machine, text, plan));
}

/// Checks the same as [`events`] for bytes.
#[track_caller]
pub(crate) fn bytes<M: ByteMachine>(machine: &M, bytes: &[u8], plan: CutPlan) {
    demand(check_byte_chunk_invariance(machine, bytes, plan));
    demand(check_total_bytes(machine, bytes, plan));
}

/// Checks the allowance `most` in the smallest pieces and in one, and that nothing is held after
/// the end.
#[track_caller]
pub(crate) fn cost<M: StreamMachine>(machine: &M, text: &str, most: Most) {
    for cut in [Cut::Whole, Cut::EachScalar] {
        let (mut machine, mut out) = (machine.clone(), RunRecord::default());
        let before = machine.work();
        let mut fed = 0;
        for piece in cut.pieces(text) {
            machine.push(piece, &mut out);
            fed += piece.len();
            let held = machine.held();
            assert!(held.bytes <= most.held * fed, "{held:?} of {fed} bytes, {cut} of {text:?}");
        }
        machine.finish(&mut out);
        let held = machine.held();
        assert_eq!(held.bytes, 0, "{held:?} behind the end, {cut} of {text:?}");
        let work = machine.work() - before;
        let looks = most.looks * (text.len() as u64 + 64);
        assert!(work <= looks, "{cut}: {work} looks at {} bytes of {text:?}", text.len());
    }
}

/// A sink that only counts calls.
#[derive(Debug, Default)]
pub(crate) struct Nowhere {
    pub(crate) calls: u64,
}

impl Sink for Nowhere {
    fn event(&mut self, event: Event<'_>) {
        self.calls += u64::from(matches!(event, Event::CallStart { .. }));
    }
}

/// Returns the maximum heap that `push` uses at any time while `text` is repeated in chunks.
///
/// Memory that is in use before the first chunk does not count.
pub(crate) fn heap(text: &str, mut push: impl FnMut(&str)) -> u64 {
    if text.is_empty() {
        return 0;
    }
    let spent = allocation_counter::measure(|| {
        let mut fed = 0;
        while fed < STREAM {
            let mut rest = text;
            while !rest.is_empty() {
                let (chunk, more) = rest.split_at(boundary(rest, CHUNK));
                push(chunk);
                (fed, rest) = (fed + chunk.len(), more);
            }
        }
    });
    spent.bytes_max
}

/// Returns the last end of a scalar up to `most`, or the first end.
fn boundary(text: &str, most: usize) -> usize {
    let ends = text.char_indices().map(|(at, scalar)| at + scalar.len_utf8());
    ends.enumerate().take_while(|&(n, end)| n == 0 || end <= most).last().map_or(0, |(_, end)| end)
}
