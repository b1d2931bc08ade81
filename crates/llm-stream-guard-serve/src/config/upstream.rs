//! Where upstream is.

use std::{fmt, str::FromStr};

use axum::http::{Uri, uri::PathAndQuery};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

/// The address of a server: `http://127.0.0.1:8000`. A path in front of the API's stays, but for
/// `/v1` at its end, which requests have themselves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Upstream {
    base: Uri,
    prefix: String,
}

impl Upstream {
    /// The address of `path` there, which may have a query.
    ///
    /// # Errors
    /// The two together are no address.
    pub fn join(&self, path: &str) -> Result<Uri, axum::http::Error> {
        let path: PathAndQuery = format!("{}{path}", self.prefix).parse()?;
        let mut parts = self.base.clone().into_parts();
        parts.path_and_query = Some(path);
        Ok(Uri::from_parts(parts)?)
    }

    /// Whether the way there is encrypted.
    #[must_use]
    pub fn is_https(&self) -> bool {
        self.base.scheme_str() == Some("https")
    }

    /// A server on this machine.
    #[must_use]
    pub fn local(port: u16) -> Self {
        let base = Uri::builder().scheme("http").authority(format!("127.0.0.1:{port}"));
        // A number and constants make an address.
        let base = base.path_and_query("/").build().unwrap_or_default();
        Self { base, prefix: String::new() }
    }
}

impl FromStr for Upstream {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let fault =
            || format!("expected an address such as `http://127.0.0.1:8000`, found `{text}`");
        let base: Uri = text.parse().map_err(|_| fault())?;
        let known = matches!(base.scheme_str(), Some("http" | "https"));
        if !known || base.authority().is_none() || base.query().is_some() {
            return Err(fault());
        }
        if base.scheme_str() == Some("https") && !cfg!(feature = "tls") {
            return Err("`https` needs a build with the feature `tls`".into());
        }
        let path = base.path().trim_end_matches('/');
        let prefix = path.strip_suffix("/v1").unwrap_or(path).to_owned();
        let mut parts = base.into_parts();
        parts.path_and_query = Some(PathAndQuery::from_static("/"));
        let base = Uri::from_parts(parts).map_err(|_| fault())?;
        Ok(Self { base, prefix })
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
