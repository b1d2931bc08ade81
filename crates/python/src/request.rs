//! Requests for servers, which are asked for the raw text of the model.

use family_export::raw_request;
use llm_stream_guard::{Answer, Ids, Server, remap_request, request_token_ids};
use pyo3::{prelude::*, types::PyDict};

use crate::{
    convert::{to_json, to_python},
    settings::{Settings, fault},
};

/// The servers by the names that Python programs use.
const SERVERS: [(&str, Server); 4] = [
    ("vllm", Server::Vllm),
    ("sglang", Server::Sglang),
    ("llama.cpp", Server::LlamaCpp),
    ("ollama", Server::Ollama),
];

/// Returns the body of a request for `server`, whether the server then answers with raw text, and
/// the reason why no grammar was made for the calls that the request demands.
#[pyfunction]
#[pyo3(signature = (body, server, **settings))]
pub(crate) fn forward_request<'py>(
    py: Python<'py>,
    body: &Bound<'py, PyAny>,
    server: &str,
    settings: Option<&Bound<'py, PyDict>>,
) -> PyResult<(Bound<'py, PyAny>, bool, Option<String>)> {
    let Some((_, server)) = SERVERS.iter().find(|(name, _)| *name == server) else {
        let names = SERVERS.map(|(name, _)| name).join(", ");
        return Err(fault(format!("server: `{server}` is not one of {names}")));
    };
    let mut body = to_json(body).map_err(|error| fault(format!("body: {error}")))?;
    let settings = Settings::new(settings)?;
    let profile = settings.profile()?;
    let builder = settings.builder(&profile, Ids::counting());
    let has_ids = settings.has_token_ids();
    let remapped = py.detach(|| {
        let raw = raw_request(&mut body, (&builder, &profile), *server);
        if has_ids && raw.0 == Answer::Raw {
            // Ids in the answer are not removed: a program that gave marker tokens may use them.
            let _ = request_token_ids(&mut body, *server);
        }
        remap_request(&mut body, &profile).map(|()| raw)
    });
    let (answer, no_grammar) = remapped.map_err(fault)?;
    let no_grammar = no_grammar.map(|error| error.to_string());
    Ok((to_python(py, &body)?, answer == Answer::Raw, no_grammar))
}

/// Returns the body of a request with its tools, and earlier calls and results, as text of its
/// messages.
#[pyfunction]
#[pyo3(signature = (body, **settings))]
pub(crate) fn move_tools_to_prompt<'py>(
    py: Python<'py>,
    body: &Bound<'py, PyAny>,
    settings: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let mut body = to_json(body).map_err(|error| fault(format!("body: {error}")))?;
    let profile = Settings::new(settings)?.profile()?;
    py.detach(|| llm_stream_guard::move_tools_to_prompt(&mut body, &profile)).map_err(fault)?;
    to_python(py, &body)
}
