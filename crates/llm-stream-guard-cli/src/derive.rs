//! `derive`: writes the file of a family that a chat template shows.

use std::{env, io::Write};

use llm_stream_guard::{Checkpoint, Worker};

use crate::{
    args::DeriveArgs,
    error::{Error, misuse},
};

/// Prints the file of the family that the checkpoint's chat template shows. Another process of this
/// command renders the template, so that it can be killed.
///
/// # Errors
/// The files cannot be read or have no template, the template shows no family, or the output cannot
/// be written.
pub(crate) fn derive(args: &DeriveArgs, out: &mut dyn Write) -> Result<(), Error> {
    let checkpoint = Checkpoint::read(&args.path).map_err(misuse)?;
    let worker = Worker::new(env::current_exe().map_err(misuse)?).args(["identify", "--worker"]);
    let derived = worker
        .derive(&checkpoint)
        .map_err(|refusal| misuse(format!("{}: {refusal}", args.path.display())))?;
    out.write_all(derived.file.as_bytes())?;
    out.flush()?;
    Ok(())
}
