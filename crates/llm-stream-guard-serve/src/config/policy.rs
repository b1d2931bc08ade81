//! Closed sets of values: the server, the family, and what happens to unusual requests.

use std::str::FromStr;

use llm_stream_guard::Server;
use serde::{Deserialize, Serialize, de::Error as _};

use super::FamilyName;

/// What server upstream is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ServerName {
    /// What its list of models says.
    #[serde(rename = "auto")]
    Auto,
    /// vLLM.
    #[serde(rename = "vllm")]
    Vllm,
    /// SGLang.
    #[serde(rename = "sglang")]
    Sglang,
    /// llama.cpp.
    #[serde(rename = "llama.cpp")]
    LlamaCpp,
    /// Ollama.
    #[serde(rename = "ollama")]
    Ollama,
    /// One that sends what the model wrote without being asked.
    #[serde(rename = "plain")]
    Plain,
}

impl ServerName {
    /// The server, if it is told and one that must be asked for raw text.
    #[must_use]
    pub fn told(self) -> Option<Server> {
        match self {
            Self::Auto | Self::Plain => None,
            Self::Vllm => Some(Server::Vllm),
            Self::Sglang => Some(Server::Sglang),
            Self::LlamaCpp => Some(Server::LlamaCpp),
            Self::Ollama => Some(Server::Ollama),
        }
    }
}

/// Whether upstream's answers may end without a finish reason and `[DONE]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BareEnd {
    /// Such an answer was cut: upstream failed.
    Fail,
    /// Such an answer is whole, for servers that never say that they are done.
    Accept,
}

/// One family for all models, or each by its id.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Choice {
    /// By the model's id.
    #[default]
    Auto,
    /// This one.
    One(Box<FamilyName>),
}

impl FromStr for Choice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "auto" => Ok(Self::Auto),
            name => name.parse().map(|name| Self::One(Box::new(name))),
        }
    }
}

impl Serialize for Choice {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Auto => serializer.serialize_str("auto"),
            Self::One(name) => name.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Choice {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

/// What becomes of a request for a model whose family is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UnknownModel {
    /// Request and answer pass; their text is not read.
    Pass,
    /// The request is refused.
    Refuse,
}

/// What becomes of tools and items of messages and responses that chat completions have no word
/// for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UnsupportedTools {
    /// They are left out, counted and logged.
    Drop,
    /// The request is refused.
    Refuse,
}

/// What becomes of text completions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Completions {
    /// Request and answer pass; their text is not read.
    Pass,
    /// The answer is guarded.
    Guard,
}
