//! Detects the family of inputs without a named one.

use std::{
    collections::BTreeMap,
    io::{self, Write as _},
};

use llm_stream_guard::{Detection, Guard, Profile, chat::Delta, explain::Patience};

use super::{ChatReader, InputFeed, Remark, Render};
use crate::{
    args::InputKind,
    error::{Error, misuse},
};

/// Detects the family of a recording.
///
/// # Errors
/// The guard that splits the input cannot be built.
pub(crate) fn detection(recording: &[u8], input: InputKind) -> Result<Detection, Error> {
    let mut texts = Texts::default();
    let guard = Guard::builder(&Profile::named("none")).build().map_err(misuse)?;
    let mut feed = InputFeed::new(input, Patience::Head, ChatReader::new(guard, None, &mut texts));
    feed.push(recording);
    feed.finish(None, false);
    Ok(llm_stream_guard::detect(texts.0.values().map(String::as_str)))
}

/// The text of each choice.
#[derive(Default)]
struct Texts(BTreeMap<u32, String>);

impl Render for Texts {
    fn note(&mut self, _: u32, _: Remark<'_>) -> io::Result<()> {
        Ok(())
    }

    fn delta(&mut self, choice: u32, delta: Delta<'_>) -> io::Result<()> {
        if let Delta::Content(text) = delta {
            self.0.entry(choice).or_default().push_str(text);
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns the detected profile of an input, and reports it on standard error with the evidence.
pub(crate) fn taken(detection: Detection) -> Profile {
    let (profile, best) = (detection.profile(), detection.candidates.first());
    let note = match (&profile, best) {
        (Some(profile), Some(best)) => {
            let others = match &best.families[..] {
                [_, others @ ..] if !others.is_empty() => {
                    format!("; read alike by {}", others.join(", "))
                }
                _ => String::new(),
            };
            format!("read as `{}` ({}): {best}{others}", profile.name, detection.certainty)
        }
        (_, Some(best)) => {
            let families = best.families.join(", ");
            format!("the text passes as content; it may be of {families}: {best}")
        }
        _ => "the text passes as content: nothing in it tells a family".to_owned(),
    };
    // A failure to print this cannot be reported.
    let _ = writeln!(io::stderr(), "note: no --family or --model: {note}");
    profile.unwrap_or_else(|| Profile::named("none"))
}
