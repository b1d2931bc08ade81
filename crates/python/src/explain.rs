//! Explains a recording: the fate of its text, chunk by chunk, and the reasons.

use std::time::Duration;

use llm_stream_guard::{
    GuardStage, Ids,
    explain::{Explained, Explainer, Report, page},
};
use pyo3::{prelude::*, types::PyDict};

use crate::{
    convert::{end, to_python},
    settings::{Settings, fault},
};

/// Explains a recording: a list of texts, each with its time in seconds or `None`. `how` is the end
/// of the recording, and its name if the result should be an HTML page.
#[pyfunction]
#[pyo3(signature = (chunks, how, **settings))]
pub(crate) fn explain<'py>(
    py: Python<'py>,
    chunks: Vec<(String, Option<f64>)>,
    how: (String, Option<String>),
    settings: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let (settings, end) = (Settings::new(settings)?, self::end(&how.0)?);
    let profile = settings.profile()?;
    let builder = settings.builder(&profile, Ids::counting()).stage(GuardStage::Stats);
    let guard = builder.build().map_err(fault)?;
    let explanation = py.detach(|| {
        let mut explainer = Explainer::new(profile.name, guard);
        for (text, time) in chunks {
            let time = time.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
            explainer.push(&text, time);
        }
        explainer.finish(end)
    });
    let Some(file) = how.1 else { return to_python(py, &explanation) };
    let report = Report { file, explanations: vec![Explained { choice: 0, explanation }] };
    Ok(page(&report).map_err(fault)?.into_pyobject(py)?.into_any())
}
