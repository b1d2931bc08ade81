//! The arguments of `derive`.

use std::path::PathBuf;

use clap::Args;

/// Arguments of `derive`.
#[derive(Debug, Args)]
pub(crate) struct DeriveArgs {
    /// A checkpoint's folder, or one file of it: `tokenizer_config.json`, a chat template, a GGUF file
    pub(crate) path: PathBuf,
}
