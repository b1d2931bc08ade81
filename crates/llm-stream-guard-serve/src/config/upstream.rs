//! The address of upstream.

use std::{fmt, str::FromStr};

use axum::http::{Uri, uri::PathAndQuery};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

/// The address of a server, such as `http://127.0.0.1:8000`. Its path is put before the paths of
/// requests. A final `/v1` is removed, because request paths already have it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Upstream {
    base: Uri,
    prefix: String,
    /// Whether the text had a name and password, which are dropped.
    credentials: bool,
}

impl Upstream {
    /// Returns the address of `path` at upstream; `path` may have a query.
    ///
    /// # Errors
    /// The two together are not a valid address.
    pub fn join(&self, path: &str) -> Result<Uri, axum::http::Error> {
        let path: PathAndQuery = format!("{}{path}", self.prefix).parse()?;
        let mut parts = self.base.clone().into_parts();
        parts.path_and_query = Some(path);
        Ok(Uri::from_parts(parts)?)
    }

    /// Returns whether the address uses `https`.
    #[must_use]
    pub fn is_https(&self) -> bool {
        self.base.scheme_str() == Some("https")
    }

    /// Returns whether the address was written with a name and password. The credentials are not
    /// kept.
    pub(crate) fn has_credentials(&self) -> bool {
        self.credentials
    }

    /// Creates the address of a server on this machine.
    #[must_use]
    pub fn local(port: u16) -> Self {
        let base = Uri::builder().scheme("http").authority(format!("127.0.0.1:{port}"));
        // A number and constants always make a valid address.
        let base = base.path_and_query("/").build().unwrap_or_default();
        Self { base, prefix: String::new(), credentials: false }
    }
}

impl FromStr for Upstream {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = hidden(text);
        let fault =
            || format!("expected an address such as `http://127.0.0.1:8000`, found `{found}`");
        let base: Uri = text.parse().map_err(|_| fault())?;
        let known = matches!(base.scheme_str(), Some("http" | "https"));
        // The parser drops what follows `#`.
        if !known || base.query().is_some() || text.contains('#') {
            return Err(fault());
        }
        let authority = base.authority().map_or("", |authority| authority.as_str());
        let (credentials, host) = authority.rsplit_once('@').unwrap_or(("", authority));
        // The last colon begins a port, unless it belongs to an address in brackets.
        let port = host.rsplit_once(':').filter(|(_, port)| !port.ends_with(']'));
        if port.map_or(host, |(name, _)| name).is_empty() {
            return Err(fault());
        }
        if port.is_some_and(|(_, port)| port.parse::<u16>().map_or(true, |port| port == 0)) {
            return Err(format!("expected a port from 1 to 65535, found `{found}`"));
        }
        if base.scheme_str() == Some("https") && !cfg!(feature = "tls") {
            return Err("`https` needs a build with the feature `tls`".into());
        }
        let credentials = !credentials.is_empty() || authority.contains('@');
        let host = host.parse().map_err(|_| fault())?;
        let path = base.path().trim_end_matches('/');
        let prefix = path.strip_suffix("/v1").unwrap_or(path).to_owned();
        let mut parts = base.into_parts();
        parts.authority = Some(host);
        parts.path_and_query = Some(PathAndQuery::from_static("/"));
        let base = Uri::from_parts(parts).map_err(|_| fault())?;
        Ok(Self { base, prefix, credentials })
    }
}

/// Hides the name and password that an address may hold.
fn hidden(address: &str) -> String {
    let (scheme, rest) = address.split_once("://").unwrap_or(("", address));
    let end = rest.find('/').unwrap_or(rest.len());
    let (authority, path) = rest.split_at_checked(end).unwrap_or((rest, ""));
    match authority.rsplit_once('@') {
        Some((_, host)) if scheme.is_empty() => format!("{host}{path}"),
        Some((_, host)) => format!("{scheme}://{host}{path}"),
        None => address.to_owned(),
    }
}

impl fmt::Display for Upstream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let authority = self.base.authority().map_or("", |authority| authority.as_str());
        write!(f, "{}://{authority}{}", self.base.scheme_str().unwrap_or("http"), self.prefix)
    }
}

impl Serialize for Upstream {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Upstream {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}
