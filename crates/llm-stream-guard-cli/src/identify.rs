//! `identify`: finds the family of a checkpoint's model.

use std::{env, io::Write, path::PathBuf};

use llm_stream_guard::{Checkpoint, Worker, serve_renderings};

use crate::{
    args::IdentifyArgs,
    error::{Error, misuse},
};

/// Prints the family of the checkpoint's model, with the evidence. Returns whether one was found.
/// Another process of this command renders the chat template, so that it can be killed.
///
/// # Errors
/// The files cannot be read or have no template, or the output cannot be written.
pub(crate) fn identify(args: &IdentifyArgs, out: &mut dyn Write) -> Result<bool, Error> {
    let Some(path) = &args.path else {
        return serve_renderings().map(|()| true).map_err(misuse);
    };
    let checkpoint = Checkpoint::read(path).map_err(misuse)?;
    let found = worker().identify(&checkpoint);
    if args.json {
        writeln!(out, "{}", serde_json::to_string(&found).map_err(misuse)?)?;
    } else {
        writeln!(out, "{found}")?;
    }
    out.flush()?;
    Ok(found.profile.is_some() || !found.families.is_empty())
}

/// Returns the worker that renders templates: another process of this command. Where the path of the
/// command is unknown, as in a root without `/proc`, it is the name under which it was started.
pub(crate) fn worker() -> Worker {
    let started = || env::args_os().next().map(PathBuf::from).unwrap_or_default();
    Worker::new(env::current_exe().unwrap_or_else(|_| started())).args(["identify", "--worker"])
}
