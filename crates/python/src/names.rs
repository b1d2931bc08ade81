//! Finds families by name, by text, and by the files of a checkpoint.

use std::path::{Path, PathBuf};

use llm_stream_guard::{
    Checkpoint, Reasoning, Start, Worker, all_names, profiles, reasoning_formats, toolcall_parsers,
};
use pyo3::{exceptions::PyOSError, prelude::*, types::PyDict};

use crate::{
    convert::to_python,
    settings::{Settings, fault},
};

/// Returns the names of all families, sorted: of profiles, tool-call families and reasoning formats.
/// Further names that settings accept are `aliases`: names of models and of other projects.
#[pyfunction]
#[pyo3(signature = (*, aliases = false))]
pub(crate) fn families(aliases: bool) -> Vec<String> {
    if aliases {
        return all_names();
    }
    let mut names: Vec<String> = profiles().iter().map(|profile| profile.name.clone()).collect();
    names.extend(toolcall_parsers::families().map(|family| family.name.to_owned()));
    names.extend(reasoning_formats().iter().map(|format| format.name().to_owned()));
    names.sort_unstable();
    names.dedup();
    names
}

/// The profile that the settings name, as a dictionary.
#[pyfunction]
#[pyo3(signature = (**settings))]
pub(crate) fn profile<'py>(
    py: Python<'py>,
    settings: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    to_python(py, &Settings::new(settings)?.profile()?)
}

/// Opener and closer of the reasoning of the profile that the settings name, if it has such tags.
#[pyfunction]
#[pyo3(signature = (**settings))]
pub(crate) fn reasoning_tags(
    settings: Option<&Bound<'_, PyDict>>,
) -> PyResult<(Option<String>, Option<String>)> {
    let Some(Reasoning::Format(format)) = reasoning_of(settings)? else { return Ok((None, None)) };
    let first = |tags: &[_]| tags.first().map(ToString::to_string);
    Ok((first(&format.open), first(&format.close)))
}

/// Whether the last turn of a prompt leaves reasoning open, or `None` if the turn has none.
#[pyfunction]
#[pyo3(signature = (prompt, /, **settings))]
pub(crate) fn reasoning_after(
    prompt: &str,
    settings: Option<&Bound<'_, PyDict>>,
) -> PyResult<Option<bool>> {
    let Some(reasoning) = reasoning_of(settings)? else { return Ok(None) };
    if reasoning.start_after(prompt) == Start::Reasoning {
        return Ok(Some(true));
    }
    Ok(reasoning.closes_in(prompt).then_some(false))
}

/// Returns how the models of the settings' profile separate reasoning.
pub(crate) fn reasoning_of(settings: Option<&Bound<'_, PyDict>>) -> PyResult<Option<Reasoning>> {
    let profile = Settings::new(settings)?.profile()?;
    let found = profile.reasoning_format().map_err(fault)?;
    Ok(match (found, profile.token_suffix) {
        (Some(Reasoning::Format(format)), Some(suffix)) => {
            Some(Reasoning::Format(format.with_token_suffix(&suffix)))
        }
        (found, _) => found,
    })
}

/// The families whose models may have written these texts, and the profile that reads them best.
#[pyfunction]
pub(crate) fn detect(py: Python<'_>, texts: Vec<String>) -> PyResult<Bound<'_, PyAny>> {
    let found = py.detach(|| {
        let detection = llm_stream_guard::detect(texts.iter().map(String::as_str));
        let profile = detection.profile();
        (detection, profile)
    });
    to_python(py, &found)
}

/// Reads the files of a checkpoint.
///
/// # Errors
/// An `OSError` for a file that cannot be read, and a `SettingsError` for a malformed one.
pub(crate) fn read_checkpoint(path: &Path) -> PyResult<Checkpoint> {
    Checkpoint::read(path).map_err(|error| match error {
        llm_stream_guard::CheckpointError::Io(..) => PyOSError::new_err(error.to_string()),
        _ => fault(error),
    })
}

/// Identifies the family of a checkpoint's model. `command` renders the chat template; without it,
/// the template is not rendered.
#[pyfunction]
pub(crate) fn identify(
    py: Python<'_>,
    path: PathBuf,
    command: Vec<String>,
) -> PyResult<Bound<'_, PyAny>> {
    let checkpoint = read_checkpoint(&path)?;
    let found = py.detach(|| match command.split_first() {
        Some((program, args)) => Worker::new(program).args(args).identify(&checkpoint),
        None => llm_stream_guard::identify(&checkpoint),
    });
    to_python(py, &found)
}

/// Renders chat templates for the process that started this one, under limits on this process.
#[pyfunction]
pub(crate) fn serve_renderings(py: Python<'_>) -> PyResult<()> {
    Ok(py.detach(llm_stream_guard::serve_renderings)?)
}
