//! `detect`: finds the families whose models may have written a recording.

use std::{
    io::{self, Read as _, Write},
    path::Path,
};

use llm_stream_guard::{Certainty, Detection};

use crate::{
    args::DetectArgs,
    error::{Error, misuse},
    limits::MAX_DETECTED_BYTES,
    parse::{self, detection},
};

/// Prints the families whose models may have written the file, with the evidence. Returns whether
/// any was found.
///
/// # Errors
/// The file cannot be read, or the output cannot be written.
pub(crate) fn detect(args: &DetectArgs, out: &mut dyn Write) -> Result<bool, Error> {
    let fault = |error: io::Error| misuse(format!("{}: {error}", args.file.display()));
    let mut head = Vec::new();
    match args.file.as_path() {
        path if path == Path::new("-") => {
            io::stdin().lock().take(MAX_DETECTED_BYTES).read_to_end(&mut head)
        }
        path => parse::open(path)?.0.take(MAX_DETECTED_BYTES).read_to_end(&mut head),
    }
    .map_err(fault)?;
    let detection = detection(&head, args.input)?;
    if args.json {
        writeln!(out, "{}", serde_json::to_string(&detection).map_err(misuse)?)?;
    } else {
        out.write_all(as_text(&detection).as_bytes())?;
    }
    out.flush()?;
    Ok(detection.certainty > Certainty::Unknown)
}

/// Returns a line for the answer, then one for each set of families.
fn as_text(detection: &Detection) -> String {
    let mut text = match detection.candidates.first() {
        Some(best) if detection.certainty > Certainty::Unknown => {
            format!("{} ({})\n", best.families[0], detection.certainty)
        }
        Some(_) => "unknown: nothing speaks for a family alone\n".to_owned(),
        None => "unknown: nothing looks like a family's markup\n".to_owned(),
    };
    if let [first, ..] = &detection.stripped[..] {
        text.push_str(&format!(
            "  this looks like `{first}` without its special tokens: ask the server to keep them \
             (`skip_special_tokens: false`)\n"
        ));
    }
    for candidate in &detection.candidates {
        text.push_str(&format!("  {}: {candidate}\n", candidate.families.join(", ")));
    }
    text
}
