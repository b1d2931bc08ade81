//! `derive`: writes the file of a family that a chat template shows.

use std::io::Write;

use llm_stream_guard::Checkpoint;

use crate::{
    args::DeriveArgs,
    error::{Error, misuse},
    identify::worker,
};

/// Prints the file of the family that the checkpoint's chat template shows. Another process of this
/// command renders the template, so that it can be killed.
///
/// # Errors
/// The files cannot be read or have no template, the template shows no family, or the output cannot
/// be written.
pub(crate) fn derive(args: &DeriveArgs, out: &mut dyn Write) -> Result<(), Error> {
    let checkpoint = Checkpoint::read(&args.path).map_err(misuse)?;
    let derived = worker()
        .derive(&checkpoint)
        .map_err(|refusal| misuse(format!("{}: {refusal}", args.path.display())))?;
    out.write_all(derived.file.as_bytes())?;
    out.flush()?;
    Ok(())
}
