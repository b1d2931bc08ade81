//! The configuration: one TOML file, of which every line may be left out.

mod files;
mod model;
mod output;
mod own;
mod span;
mod upstream;

use std::{
    collections::BTreeMap,
    net::{Ipv4Addr, SocketAddr},
    path::{Path, PathBuf},
    str::FromStr,
};

use llm_stream_guard::Server;
use serde::{Deserialize, Serialize, de::Error as _};

pub use self::{
    model::{FamilyName, Model, Remap, Start, read_template},
    output::{BrokenCalls, CallDelivery, Output, ReasoningName},
    own::{OwnFamily, family_file, read_family},
    span::Span,
    upstream::Upstream,
};

/// Everything the proxy can be told.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Where to listen.
    pub listen: SocketAddr,
    /// The server whose answers are guarded.
    pub upstream: Upstream,
    /// Certificates (PEM) of authorities to trust besides the system's, for `https`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ca: Option<PathBuf>,
    /// What that server is.
    pub server: ServerName,
    /// Whether its answers may end without a finish reason and `[DONE]`.
    pub bare_end: BareEnd,
    /// One family for all models, or `auto`.
    pub profile: Choice,
    /// What becomes of requests for a model whose family is not known.
    pub unknown_model: UnknownModel,
    /// What becomes of tools and items that chat completions have no word for.
    pub unsupported_tools: UnsupportedTools,
    /// What becomes of text completions whose request does not say.
    pub completions: Completions,
    /// How answers are written.
    pub output: Output,
    /// How long to wait.
    pub timeouts: Timeouts,
    /// How much to take.
    pub limits: Limits,
    /// Streams that had diagnostics are kept, if it says where.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub record: Option<Record>,
    /// Families of models whose ids do not tell: patterns of ids, in which `*` stands for anything.
    pub models: Models,
}

/// Families by patterns of model ids.
pub type Models = BTreeMap<String, Model>;

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

/// How long to wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Timeouts {
    /// For a connection to upstream.
    pub connect: Span,
    /// For upstream's first byte, which it sends when it has read the prompt or, of an answer
    /// that is not streamed, written all of it.
    pub first_byte: Span,
    /// For each further byte of either side, and between two requests of a connection.
    pub idle: Span,
    /// For a connection's first request, and for the head of each.
    pub head: Span,
    /// For all of the body of a request that is to be guarded.
    pub body: Span,
    /// For a client to take a piece of its answer.
    pub write: Span,
    /// Until a comment tells a client that its stream is alive.
    pub keep_alive: Span,
    /// For open streams to end when the proxy is told to.
    pub shutdown: Span,
}

/// How much to take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Bytes of a request's body.
    pub body: usize,
    /// Bytes of a request's head; at least [`Limits::LEAST_HEAD`], less counts as that.
    pub head: u32,
    /// Bytes of an answer that is not streamed.
    pub answer: usize,
    /// Choices of an answer.
    pub choices: usize,
    /// Bytes of memory that the bodies of all requests take together while they are read.
    pub bodies: usize,
}

/// Where streams that had diagnostics are kept: what upstream sent, nothing of the request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// The directory.
    pub dir: PathBuf,
    /// Bytes of all files together.
    #[serde(default = "Record::most")]
    pub most: u64,
    /// Bytes of each.
    #[serde(default = "Record::each")]
    pub each: usize,
}

impl Record {
    /// In a directory, 64 MiB in all and 1 MiB each.
    #[must_use]
    pub fn to(dir: impl Into<PathBuf>) -> Self {
        Self { dir: dir.into(), most: Self::most(), each: Self::each() }
    }

    const fn most() -> u64 {
        64 << 20
    }

    const fn each() -> usize {
        1 << 20
    }
}

impl Default for Config {
    fn default() -> Self {
        Self {
            listen: (Ipv4Addr::LOCALHOST, 8080).into(),
            upstream: Upstream::local(8000),
            ca: None,
            server: ServerName::Auto,
            bare_end: BareEnd::Fail,
            profile: Choice::Auto,
            unknown_model: UnknownModel::Pass,
            unsupported_tools: UnsupportedTools::Drop,
            completions: Completions::Pass,
            output: Output::default(),
            timeouts: Timeouts::default(),
            limits: Limits::default(),
            record: None,
            models: Models::new(),
        }
    }
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            connect: Span::seconds(10),
            first_byte: Span::seconds(600),
            idle: Span::seconds(120),
            head: Span::seconds(30),
            body: Span::seconds(300),
            write: Span::seconds(120),
            keep_alive: Span::seconds(15),
            shutdown: Span::seconds(30),
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self { body: 64 << 20, head: 64 << 10, answer: 64 << 20, choices: 16, bodies: 1 << 30 }
    }
}

impl Limits {
    /// The least that [`Limits::head`] can be: what the HTTP library reads at once.
    pub const LEAST_HEAD: u32 = 8192;
}

impl Config {
    /// Reads a file.
    ///
    /// # Errors
    /// It cannot be read or is malformed: file, line, column and field.
    pub fn read(path: &Path) -> Result<Self, String> {
        let config: Self = read(path)?;
        let least = Limits::LEAST_HEAD;
        if config.limits.head < least {
            return Err(format!("{}: `limits.head`: expected at least {least}", path.display()));
        }
        Ok(config)
    }

    /// The whole configuration as a file says it.
    #[must_use]
    pub fn to_toml(&self) -> String {
        // Strings, numbers and tables with string keys: nothing TOML cannot hold.
        toml::to_string(self).unwrap_or_default()
    }
}

/// Reads a file of [`Models`]: lines such as `"team/chat-*" = "qwen3"`.
///
/// # Errors
/// As [`Config::read`].
pub fn read_models(path: &Path) -> Result<Models, String> {
    read(path)
}

fn read<T: for<'de> Deserialize<'de>>(path: &Path) -> Result<T, String> {
    let text = std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
    parse(&text).map_err(|problem| format!("{}, {problem}", path.display()))
}

/// Reads TOML; a fault tells line, column and field.
fn parse<T: for<'de> Deserialize<'de>>(text: &str) -> Result<T, String> {
    let toml = toml::Deserializer::parse(text).map_err(|error| located(text, "", &error))?;
    serde_path_to_error::deserialize(toml).map_err(|error| {
        let field = error.path().to_string();
        located(text, &field, error.inner())
    })
}

#[expect(
    clippy::arithmetic_side_effects,
    reason = "lines and columns of a text in memory, each at most its length and one"
)]
fn located(text: &str, field: &str, error: &toml::de::Error) -> String {
    let before = error.span().and_then(|span| text.get(..span.start));
    let place = before.map_or_else(Default::default, |before| {
        let line = before.matches('\n').count() + 1;
        let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
        format!("line {line}, column {column}: ")
    });
    let field =
        if field.is_empty() || field == "." { String::new() } else { format!("`{field}`: ") };
    format!("{place}{field}{}", error.message())
}

#[cfg(test)]
mod tests {
    use super::{Config, Models, Span, parse};

    #[test]
    fn what_is_printed_reads_as_the_same() {
        let text = "upstream = \"http://gpu:8000/v1/\"\nprofile = \"qwen3\"\n[timeouts]\nidle = \"90s\"\n\
                    [models]\n\"a-*\" = \"hermes\"\nb = { profile = \"Qwen/Qwen3-8B\", remap = \"hermes\" }\n";
        let config: Config = parse(text).unwrap();
        assert_eq!(config.upstream.to_string(), "http://gpu:8000");
        assert_eq!(config.timeouts.idle, Span::seconds(90));
        assert_eq!(parse::<Config>(&config.to_toml()).as_ref(), Ok(&config));
    }

    #[test]
    fn faults_tell_line_and_field() {
        let fault = |text: &str| parse::<Config>(text).unwrap_err();
        let error = fault("listen = \"127.0.0.1:1\"\n[timeouts]\nidle = \"soon\"\n");
        assert!(
            error.starts_with("line 3, column 8: `timeouts.idle`: expected a length"),
            "{error}"
        );
        let error = fault("[timeouts]\nslow = 1\n");
        assert!(error.starts_with("line 2, column 1: `timeouts.slow`: unknown field"), "{error}");
        let error = fault("upstream = \"gpu:8000\"\n");
        assert!(error.starts_with("line 1, column 12: `upstream`: expected an address"), "{error}");
        let error = parse::<Models>("a = \"qwen9000\"\n").unwrap_err();
        assert!(error.starts_with("line 1, column 5: `a`: unknown profile `qwen9000`"), "{error}");
        assert!(fault("[").starts_with("line 1"));
    }
}
