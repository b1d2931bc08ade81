//! The role of each token of a message.

use llm_stream_guard::{
    End, Guard, Ids, LimitError, NoRoles, RoleReader, RoleSpan, Sink, Token, TokenKind, TokenRole,
};
use pyo3::{
    prelude::*,
    types::{PyDict, PyString},
};

use crate::{
    convert::end,
    settings::{Settings, fault},
    stream_error,
};

/// Roles of tokens. A token has the role of most of its bytes, or the first of two equally frequent
/// roles.
#[derive(Debug, Default)]
pub(crate) struct Roles {
    tokens: Vec<(TokenRole, usize)>,
}

impl Roles {
    fn add(&mut self, span: RoleSpan) {
        let at = usize::try_from(span.token).unwrap_or(usize::MAX);
        match self.tokens.get_mut(at) {
            Some(known) if known.1 < span.bytes => *known = (span.role, span.bytes),
            Some(_) => {}
            None => self.tokens.push((span.role, span.bytes)),
        }
    }

    /// Returns the roles, in the order of the tokens.
    pub(crate) fn iter(&self) -> impl Iterator<Item = TokenRole> {
        self.tokens.iter().map(|(role, _)| *role)
    }
}

/// The tokens of a message: the texts, and which of them are markers.
pub(crate) struct Tokens<'t, I> {
    pub(crate) texts: I,
    pub(crate) markers: &'t [&'t str],
}

/// Feeds the tokens of a message to a new guard. `sink` receives the events.
///
/// # Errors
/// The guard hits a limit.
pub(crate) fn roles<'t>(
    reader: &mut RoleReader,
    Tokens { texts, markers }: Tokens<'_, impl Iterator<Item = &'t str>>,
    end: End,
    sink: &mut impl Sink,
) -> Result<Roles, LimitError> {
    let mut roles = Roles::default();
    for text in texts {
        let marker = markers.contains(&text);
        let kind = if marker { TokenKind::Marker } else { TokenKind::Text };
        reader.push(Token { id: 0, text, kind }, sink, |span| roles.add(span))?;
    }
    reader.finish(end, sink, |span| roles.add(span))?;
    Ok(roles)
}

/// Creates a reader for `guard`, or returns an error about the setting that prevents it.
pub(crate) fn reader(guard: Guard) -> PyResult<RoleReader> {
    RoleReader::new(guard).map_err(|error: NoRoles| fault(error))
}

/// Returns the name of each token's role.
#[pyfunction]
#[pyo3(signature = (tokens, how, **settings))]
pub(crate) fn token_roles<'py>(
    py: Python<'py>,
    tokens: Vec<String>,
    how: &str,
    settings: Option<&Bound<'py, PyDict>>,
) -> PyResult<Vec<Bound<'py, PyString>>> {
    let (settings, end) = (Settings::new(settings)?, end(how)?);
    let (_, guard) = settings.guard(Ids::counting())?;
    let (mut reader, markers) = (reader(guard)?, settings.marker_tokens());
    let found = py.detach(|| {
        let texts = tokens.iter().map(String::as_str);
        let tokens = Tokens { texts, markers: &markers };
        roles(&mut reader, tokens, end, &mut |_: llm_stream_guard::Event<'_>| {})
    });
    let found = found.map_err(|error| stream_error(py, error, py.None()))?;
    Ok(found.iter().map(|role| PyString::intern(py, role.name())).collect())
}
