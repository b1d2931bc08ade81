//! The receiver of an input's parts.

use llm_stream_guard::End;

use super::shown::Remark;

/// A receiver of an input's parts.
pub trait Intake {
    /// Takes raw bytes of choice 0.
    fn bytes(&mut self, bytes: &[u8]);

    /// Takes the data of one event called `name`, or one line of JSON.
    fn json(&mut self, name: &str, data: &[u8]);

    /// Takes a note about the input itself.
    fn note(&mut self, note: Remark<'_>);

    /// Ends the input, with `end` if the caller knows it, and `broken` if reading failed.
    fn finish(&mut self, end: Option<End>, broken: bool);
}
