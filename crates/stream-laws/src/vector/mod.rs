//! Vectors: recorded wires with the result they must give, at every cut.
//!
//! A file of vectors is JSON Lines, one [`VectorCase`] a line; the format is described in
//! `vectors/README.md` at the root of the repository. [`read_cases`] reads it, [`run_case`] runs
//! a machine over a case at every cut of a plan and [`check_record`] judges one run.
//!
//! The adapter gives the fields their meaning for a machine: which grammar, which policy, which
//! tools. An adapter must refuse values it does not know.
//! ```
//! use stream_laws::vector::read_cases;
//!
//! let line = r#"{"id": "hermes/plain", "kind": "tools", "family": "hermes", "wire": "Hi",
//!     "expect": {"content": "Hi", "reasoning": "", "calls": []}}"#;
//! let cases = read_cases(&line.replace('\n', " "))?;
//! assert_eq!(cases[0].wire, "Hi");
//! # Ok::<(), stream_laws::vector::CaseError>(())
//! ```
//!
//! # Types by task
//!
//! | task | types |
//! |---|---|
//! | read a file | [`VectorCase`], [`CaseError`] |
//! | set up a machine | [`CaseKind`], [`CaseStart`], [`CaseFinish`], [`CaseWhitespace`], [`CaseTokens`] |
//! | judge a run | [`Expect`]: [`ExpectedCall`] with its [`Arguments`], [`Incomplete`]; [`Mismatch`] |
//! | report a failure | [`Failure`], [`CutInput`] |

mod case;
mod compare;
mod read;
mod run;
mod so_far;

pub use case::{
    Arguments, CaseFinish, CaseKind, CaseStart, CaseTokens, CaseWhitespace, Expect, ExpectedCall,
    Incomplete, OPTIONS, VectorCase,
};
pub use compare::{Mismatch, check_record};
pub use read::{CaseError, read_cases};
pub use run::{CutInput, Failure, run_case, run_case_bytes};
