//! Settings with a fixed set of values: the server, the family, and policies for unusual requests.

use std::str::FromStr;

use llm_stream_guard::Server;
use serde::{Deserialize, Serialize, de::Error as _};

use super::FamilyName;

/// The kind of the inference server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ServerName {
    /// The kind that its list of models suggests.
    #[serde(rename = "auto")]
    Auto,
    /// The server of vLLM itself.
    #[serde(rename = "vllm")]
    Vllm,
    /// The server of SGLang.
    #[serde(rename = "sglang")]
    Sglang,
    /// The server of llama.cpp.
    #[serde(rename = "llama.cpp")]
    LlamaCpp,
    /// The server of Ollama.
    #[serde(rename = "ollama")]
    Ollama,
    /// A server that sends the model's raw text by default.
    #[serde(rename = "plain")]
    Plain,
}

impl ServerName {
    /// Returns the server, if it is configured and must be asked for raw text.
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
    /// Treats such an answer as cut, because upstream failed.
    Fail,
    /// Accepts such an answer as whole, for servers that never signal their end.
    Accept,
}

/// One family for all models, or a family for each model's id.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum FamilyChoice {
    /// Selects the family by the model's id.
    #[default]
    Auto,
    /// This family for all models.
    One(Box<FamilyName>),
}

impl FromStr for FamilyChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "auto" => Ok(Self::Auto),
            name => name.parse().map(|name| Self::One(Box::new(name))),
        }
    }
}

impl Serialize for FamilyChoice {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Auto => serializer.serialize_str("auto"),
            Self::One(name) => name.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for FamilyChoice {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

/// Policy for a request for a model without a known family.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UnknownModelPolicy {
    /// Request and answer pass; their text is not read.
    Pass,
    /// The request is refused.
    Refuse,
}

/// Policy for text completions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Completions {
    /// Request and answer pass; their text is not read.
    Pass,
    /// The answer is guarded.
    Guard,
}

/// Whether servers are constrained to write the calls that requests demand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolGrammar {
    /// Sends a grammar of the family's calls with requests for a required or named call, and with
    /// those that declare a strict tool.
    Send,
    /// Sends requests without grammars.
    Off,
}
