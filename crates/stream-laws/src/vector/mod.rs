//! Vectors: recorded model outputs with the result that they must give at every cut.
//!
//! A file of vectors is JSON Lines with one [`VectorCase`] on each line. `families/vectors/README.md` at the
//! root of the repository describes the format.
//!
//! 1. [`read_cases`] reads a file.
//! 2. [`run_case`] runs a machine over a case at every cut of a plan.
//! 3. [`check_record`] compares one run with the expectation.
//!
//! An adapter configures a machine by the fields of the case: grammar, policy, tools. It must
//! refuse values that it does not know.
//!
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
