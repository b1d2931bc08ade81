//! The checkers, with one file for each law.

mod bounded;
mod chunk_invariance;
mod clean_arguments;
mod delivery;
mod held;
mod idle;
mod ids;
mod isolation;
mod linear;
mod no_leak;
mod nothing_lost;
mod prompt;
mod quoted_markup;
mod round_trip;
mod total;

pub use bounded::check_bounded;
pub use chunk_invariance::{check_byte_chunk_invariance, check_chunk_invariance};
pub use clean_arguments::check_clean_arguments;
pub use delivery::check_delivery;
pub use held::{TextForm, check_held};
pub use idle::check_idle;
pub use ids::check_ids;
pub use isolation::check_isolation;
pub use linear::{Work, check_linear, check_linear_push};
pub use no_leak::check_no_leak;
pub use nothing_lost::check_nothing_lost;
pub use prompt::{check_prompt, continuations, suffixes};
pub use quoted_markup::check_quoted_markup;
pub use round_trip::{EncodedCall, check_round_trip};
pub use total::{check_grammar, check_total, check_total_bytes};

use core::fmt::Display;

use crate::{
    record::RunRecord,
    violation::{Law, LawViolation},
};

/// Returns the record in the form the laws compare, or a violation of the law being checked.
fn coalesced(
    law: Law,
    cut: impl Display,
    input: impl AsRef<[u8]>,
    record: &RunRecord,
) -> Result<RunRecord, LawViolation> {
    record.coalesced().map_err(|empty| LawViolation::new(law, cut, input, empty))
}
