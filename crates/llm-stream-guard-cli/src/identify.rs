//! `identify`: which family a checkpoint's model is of.

use std::io::Write;

use llm_stream_guard::Checkpoint;

use crate::{
    args::IdentifyArgs,
    error::{Error, misuse},
};

/// Says which family the checkpoint's model is of, and why; whether one is known.
///
/// # Errors
/// Files that cannot be read or hold no template, an output that cannot be written.
pub fn identify(args: &IdentifyArgs, out: &mut dyn Write) -> Result<bool, Error> {
    let checkpoint = Checkpoint::read(&args.path).map_err(misuse)?;
    let found = llm_stream_guard::identify(&checkpoint);
    if args.json {
        writeln!(out, "{}", serde_json::to_string(&found).map_err(misuse)?)?;
    } else {
        writeln!(out, "{found}")?;
    }
    out.flush()?;
    Ok(found.profile.is_some() || !found.families.is_empty())
}
