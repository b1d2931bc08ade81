//! Derives the file of a family from a chat template.

use std::path::PathBuf;

use llm_stream_guard::{Checkpoint, Worker};
use pyo3::prelude::*;

use crate::{convert::to_json, names::read_checkpoint, settings::fault};

/// Returns the text of the file of the family that a checkpoint's chat template shows. `source` is
/// the path of the checkpoint, or the content of its `tokenizer_config.json`. `command` renders the
/// template.
#[pyfunction]
pub(crate) fn derive(
    py: Python<'_>,
    source: &Bound<'_, PyAny>,
    command: Vec<String>,
) -> PyResult<String> {
    let checkpoint = match source.extract::<PathBuf>() {
        Ok(path) => read_checkpoint(&path)?,
        Err(_) => Checkpoint::from_tokenizer_config(&to_json(source).map_err(fault)?),
    };
    let Some((program, args)) = command.split_first() else {
        return Err(fault("a template is rendered by another process, which needs an interpreter"));
    };
    let derived = py.detach(|| Worker::new(program).args(args).derive(&checkpoint));
    Ok(derived.map_err(fault)?.file)
}
