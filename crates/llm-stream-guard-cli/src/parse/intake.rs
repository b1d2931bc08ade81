//! Where an input goes once it is taken apart.

use llm_stream_guard::End;

use crate::parse::shown::Note;

/// What the parts of an input go to.
pub trait Intake {
    /// Takes raw bytes of choice 0.
    fn bytes(&mut self, bytes: &[u8]);

    /// Takes the data of one event called `name`, or one line of JSON.
    fn json(&mut self, name: &str, data: &[u8]);

    /// Takes what is to be said about the input itself.
    fn note(&mut self, note: Note<'_>);

    /// Ends the input; `end` if the caller knows how, `broken` if reading failed.
    fn finish(&mut self, end: Option<End>, broken: bool);
}
