//! Inference servers, and the server of a model.

use std::{collections::BTreeMap, fmt, path::PathBuf, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

use super::{ServerName, Upstream};

/// An inference server besides the first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Endpoint {
    /// Address of the server.
    pub url: Upstream,
    /// The kind of the server.
    #[serde(default = "auto")]
    pub server: ServerName,
    /// Certificates (PEM) of authorities to trust besides the system's, for `https`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ca: Option<PathBuf>,
    /// The environment variable that holds the key of the server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_env: Option<String>,
}

/// Inference servers by the names that [`super::Model::upstream`] gives them.
pub type Endpoints = BTreeMap<String, Endpoint>;

impl Endpoint {
    /// Creates an endpoint with this address and default settings.
    #[must_use]
    pub fn at(url: Upstream) -> Self {
        Self { url, server: auto(), ca: None, key_env: None }
    }
}

const fn auto() -> ServerName {
    ServerName::Auto
}

/// The inference server of a model: a name from [`super::Config::upstreams`], or an address.
#[derive(Debug, Clone, PartialEq)]
pub enum EndpointName {
    /// The name of an upstream.
    Named(String),
    /// The address of an upstream.
    At(Upstream),
}

impl FromStr for EndpointName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.contains("://") {
            true => text.parse().map(Self::At),
            false => Ok(Self::Named(text.to_owned())),
        }
    }
}

impl fmt::Display for EndpointName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Named(name) => f.write_str(name),
            Self::At(url) => url.fmt(f),
        }
    }
}

impl Serialize for EndpointName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for EndpointName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}
