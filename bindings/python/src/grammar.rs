//! Grammars for engines that constrain the output of a model.

use family_export::call_grammar;
use llm_stream_guard::Ids;
use pyo3::{prelude::*, types::PyDict};

use crate::{
    convert::to_python,
    settings::{Settings, fault},
};

/// Returns the structural tag of the answers that the settings' request allows.
#[pyfunction]
#[pyo3(signature = (**settings))]
pub(crate) fn structural_tag<'py>(
    py: Python<'py>,
    settings: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let settings = Settings::new(settings)?;
    let profile = settings.profile()?;
    let rules = settings.builder(&profile, Ids::counting()).rules();
    let tag = py.detach(|| call_grammar(&profile, &rules).map(|grammar| grammar.structural_tag()));
    to_python(py, &tag.map_err(fault)?)
}
