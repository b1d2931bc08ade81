//! Checkers for the laws of this workspace's streaming machines. Tests, fuzz targets and the
//! command line share them.
//!
//! A *law* is a property that every machine must have for every input, such as the same result for
//! every cut of the input into chunks. An adapter implements [`StreamMachine`] and writes the
//! machine's output into a [`RunRecord`]. A checker takes a new machine and clones it for each run.
//! It returns a [`LawViolation`] that names the law, the cut and the difference.
//!
//! | law | checker |
//! |---|---|
//! | L1 chunk invariance | [`check_chunk_invariance`], [`check_byte_chunk_invariance`] |
//! | L2 nothing lost | [`check_nothing_lost`] |
//! | L3 prompt | [`check_prompt`] |
//! | L4 bounded | [`check_bounded`] |
//! | L5 linear | [`check_linear`], [`check_linear_push`] |
//! | L6 total | [`check_total`], [`check_total_bytes`] |
//! | L7 round trip | [`check_round_trip`] |
//! | L8 no leak | [`check_no_leak`] |
//! | L9 isolation | [`check_isolation`] |
//! | L10 delivery | [`check_delivery`] |
//! | L11 held | [`check_held`] |
//! | L12 idle | [`check_idle`] |
//! | L13 clean arguments | [`check_clean_arguments`] |
//! | L14 ids | [`check_ids`] |
//! | L15 quoted markup | [`check_quoted_markup`] |
//!
//! | task | types |
//! |---|---|
//! | put a machine under test | [`StreamMachine`], [`ByteMachine`]; [`HeldBytes`] with its [`HeldReason`] |
//! | choose the cuts | [`CutPlan`], [`Cut`], [`Random`] |
//! | record a run | [`RunRecord`]: [`RecordedEvent`], [`RecordedCall`], [`RecordedSpan`] with its [`RecordedSpanKind`], [`RecordedDiagnostic`], [`RecordPlace`]; [`EmptyEvent`] is refused |
//! | bound work and check texts | [`Work`], [`TextForm`], [`EncodedCall`] |
//! | read a broken law | [`LawViolation`], [`Law`] |
//! | compare a page of the documentation with the code | [`check_page_part`] |
//! | compare JSON | [`json::JsonValue`], [`json::Number`], [`json::JsonError`] |
//!
//! The module [`vector`] runs recorded model outputs with their expected results.
//!
//! ```
//! use stream_laws::{CONTENT, CutPlan, HeldBytes, StreamMachine, RunRecord, check_chunk_invariance};
//!
//! /// Passes everything through.
//! #[derive(Clone, Default)]
//! struct Echo {
//!     seen: u64,
//! }
//!
//! impl StreamMachine for Echo {
//!     fn push(&mut self, chunk: &str, out: &mut RunRecord) {
//!         self.seen += chunk.len() as u64;
//!         if !chunk.is_empty() {
//!             out.text(CONTENT, chunk);
//!         }
//!     }
//!     fn finish(&mut self, _: &mut RunRecord) {}
//!     fn reset(&mut self) {}
//!     fn held(&self) -> HeldBytes {
//!         HeldBytes::NOTHING
//!     }
//!     fn work(&self) -> u64 {
//!         self.seen
//!     }
//!     fn state_size(&self) -> usize {
//!         0
//!     }
//! }
//!
//! check_chunk_invariance(&Echo::default(), "any text", CutPlan::standard(1)).unwrap();
//! ```

pub mod json;
pub mod vector;

mod cuts;
mod law;
mod machine;
mod page;
mod random;
mod record;
mod violation;

pub use cuts::{Cut, CutPlan};
pub use law::{
    EncodedCall, TextForm, Work, check_bounded, check_byte_chunk_invariance,
    check_chunk_invariance, check_clean_arguments, check_delivery, check_grammar, check_held,
    check_idle, check_ids, check_isolation, check_linear, check_linear_push, check_no_leak,
    check_nothing_lost, check_prompt, check_quoted_markup, check_round_trip, check_total,
    check_total_bytes, continuations, suffixes,
};
pub use machine::{ByteMachine, HeldBytes, HeldReason, StreamMachine, push_all, run, run_bytes};
pub use page::check_page_part;
pub use random::Random;
pub use record::{
    COMPLETE, CONTENT, EmptyEvent, REASONING, REPAIRED, RecordPlace, RecordedCall,
    RecordedDiagnostic, RecordedEvent, RecordedSpan, RecordedSpanKind, RunRecord, is_complete,
    unplaced,
};
pub use violation::{Law, LawViolation, difference};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
