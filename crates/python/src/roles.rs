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
    learnt: Option<Learnt>,
    /// Whether each token has a byte whose role is learnt.
    mask: Vec<bool>,
}

/// The roles of tokens that a model learns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Learnt(u8);

/// The names of roles, in the order of the bits of [`Learnt`].
const ROLES: [&str; 6] = ["content", "reasoning", "call_name", "arguments", "markup", "dropped"];

impl Learnt {
    /// Returns the roles with these names.
    pub(crate) fn of(names: &[String]) -> PyResult<Self> {
        let bit = |name: &String| {
            let at = ROLES.iter().position(|role| role == name);
            let unknown = || fault(format!("learn: `{name}` is not one of {}", ROLES.join(", ")));
            at.map(|at| 1 << at).ok_or_else(unknown)
        };
        let bits = names.iter().map(bit).collect::<PyResult<Vec<u8>>>()?;
        Ok(Self(bits.into_iter().fold(0, |all, bit| all | bit)))
    }

    fn has(self, role: TokenRole) -> bool {
        ROLES.iter().position(|name| *name == role.name()).is_some_and(|at| self.0 >> at & 1 == 1)
    }
}

impl Roles {
    /// Creates empty roles, with a mask of the tokens that are learnt.
    pub(crate) fn learning(learnt: Option<Learnt>) -> Self {
        Self { learnt, ..Self::default() }
    }

    /// Returns whether each token is learnt, if that was asked for.
    pub(crate) fn mask(&self) -> impl Iterator<Item = bool> {
        self.mask.iter().copied()
    }

    fn add(&mut self, span: RoleSpan) {
        let at = usize::try_from(span.token).unwrap_or(usize::MAX);
        if let Some(learnt) = self.learnt {
            let is_learnt = learnt.has(span.role);
            match self.mask.get_mut(at) {
                Some(known) => *known |= is_learnt,
                None => self.mask.push(is_learnt),
            }
        }
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

/// Feeds the tokens of a message to a new guard. `roles` and `sink` receive roles and events.
///
/// # Errors
/// The guard hits a limit.
pub(crate) fn roles<'t>(
    reader: &mut RoleReader,
    Tokens { texts, markers }: Tokens<'_, impl Iterator<Item = &'t str>>,
    end: End,
    (roles, sink): (&mut Roles, &mut impl Sink),
) -> Result<(), LimitError> {
    for text in texts {
        let marker = markers.contains(&text);
        let kind = if marker { TokenKind::Marker } else { TokenKind::Text };
        reader.push(Token { id: 0, text, kind }, sink, |span| roles.add(span))?;
    }
    reader.finish(end, sink, |span| roles.add(span))
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
    let mut found = Roles::default();
    let read = py.detach(|| {
        let texts = tokens.iter().map(String::as_str);
        let tokens = Tokens { texts, markers: &markers };
        let mut ignored = |_: llm_stream_guard::Event<'_>| {};
        roles(&mut reader, tokens, end, (&mut found, &mut ignored))
    });
    read.map_err(|error| stream_error(py, error, py.None()))?;
    Ok(found.iter().map(|role| PyString::intern(py, role.name())).collect())
}
