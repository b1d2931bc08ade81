//! The configuration: one TOML file whose lines are all optional.

mod bounds;
mod check;
mod checkpoint;
mod endpoint;
mod listen;
mod model;
mod output;
mod pattern;
mod place;
mod policy;
mod settings;
mod span;
mod upstream;

use std::{
    collections::BTreeMap,
    net::{Ipv4Addr, SocketAddr},
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

pub use self::{
    bounds::{ProxyLimits, Record, Timeouts},
    checkpoint::CheckpointTokens,
    endpoint::{Endpoint, EndpointName, Endpoints},
    listen::listen_address,
    model::{FamilyName, Model, Remap, ToolsIn, read_template},
    output::{Output, ReasoningName},
    policy::{BareEnd, Completions, FamilyChoice, ServerName, ToolGrammar, UnknownModelPolicy},
    settings::ModelSettings,
    span::TimeSpan,
    upstream::Upstream,
};
pub(crate) use self::{
    check::{COPIES, Checked, DEFAULT},
    pattern::IdPattern,
};
pub use crate::dialect::UnsupportedTools;

/// The configuration of the proxy.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Address to listen on.
    #[serde(deserialize_with = "listen::read")]
    pub listen: SocketAddr,
    /// Address to answer `/metrics` on. The default is [`Config::listen`].
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "listen::read_some"
    )]
    pub metrics_listen: Option<SocketAddr>,
    /// The server whose answers are guarded.
    pub upstream: Upstream,
    /// Certificates (PEM) of authorities to trust besides the system's, for `https`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ca: Option<PathBuf>,
    /// Kind of the inference server.
    pub server: ServerName,
    /// The environment variable with the key of that server. If it is not set, the server gets the
    /// keys of clients.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key_env: Option<String>,
    /// Whether its answers may end without a finish reason and `[DONE]`.
    pub bare_end: BareEnd,
    /// One family for all models, or `auto`.
    pub profile: FamilyChoice,
    /// The checkpoint of the models. Answers are then read by token ids, if the server sends them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<CheckpointTokens>,
    /// Policy for requests for a model without a known family.
    pub unknown_model: UnknownModelPolicy,
    /// Policy for tools and items without an equivalent in chat completions.
    pub unsupported_tools: UnsupportedTools,
    /// Whether vLLM, SGLang and llama.cpp are constrained to write the calls that requests demand.
    pub tool_grammar: ToolGrammar,
    /// Policy for text completions whose request does not choose.
    pub completions: Completions,
    /// The form of answers.
    pub output: Output,
    /// Time limits of requests.
    pub timeouts: Timeouts,
    /// Size limits of requests.
    pub limits: ProxyLimits,
    /// Where to keep streams with diagnostics. `None` keeps no streams.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub record: Option<Record>,
    /// Further servers, by the names that [`Model::upstream`] gives them.
    pub upstreams: Endpoints,
    /// Families, servers and other names of models, by patterns of ids. In a pattern, `*` matches
    /// any text.
    pub models: Models,
}

/// Settings of models, by patterns of their ids.
pub type Models = BTreeMap<String, Model>;

impl Default for Config {
    fn default() -> Self {
        Self {
            listen: (Ipv4Addr::LOCALHOST, 8080).into(),
            metrics_listen: None,
            upstream: Upstream::local(8000),
            ca: None,
            server: ServerName::Auto,
            key_env: None,
            bare_end: BareEnd::Fail,
            profile: FamilyChoice::Auto,
            checkpoint: None,
            unknown_model: UnknownModelPolicy::Pass,
            unsupported_tools: UnsupportedTools::Drop,
            tool_grammar: ToolGrammar::Send,
            completions: Completions::Pass,
            output: Output::default(),
            timeouts: Timeouts::default(),
            limits: ProxyLimits::default(),
            record: None,
            upstreams: Endpoints::new(),
            models: Models::new(),
        }
    }
}

impl Config {
    /// Reads a file.
    ///
    /// # Errors
    /// The file cannot be read, is malformed, or has an invalid value. The error names file, line,
    /// column, field and the expected values.
    pub fn read(path: &Path) -> Result<Self, String> {
        place::read(path)
    }

    /// Returns the whole configuration in the form of its file.
    #[must_use]
    pub fn to_toml(&self) -> String {
        // Strings, numbers and tables with string keys are always valid TOML.
        toml::to_string(self).unwrap_or_default()
    }
}

/// Reads a file of [`Models`]: lines such as `"team/chat-*" = "qwen3"`.
///
/// # Errors
/// As [`Config::read`].
pub fn read_models(path: &Path) -> Result<Models, String> {
    place::read(path)
}

#[cfg(test)]
mod tests {
    use super::{Config, Models, TimeSpan, place::parse};

    #[test]
    fn printed_toml_parses_to_the_same_configuration() {
        let text = "upstream = \"http://gpu:8000/v1/\"\nprofile = \"qwen3\"\n[timeouts]\nidle = \"90s\"\n\
                    [models]\n\"a-*\" = \"hermes\"\nb = { profile = \"Qwen/Qwen3-8B\", remap = \"hermes\" }\n";
        let config: Config = parse(text).unwrap();
        assert_eq!(config.upstream.to_string(), "http://gpu:8000");
        assert_eq!(config.timeouts.idle, TimeSpan::seconds(90));
        assert_eq!(parse::<Config>(&config.to_toml()).as_ref(), Ok(&config));
    }

    #[test]
    fn configuration_in_the_manual_is_valid() {
        let manual = include_str!("../../../docs/serve.md");
        let block = manual.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next());
        let config: Config = parse(block.unwrap()).unwrap();
        assert_eq!(config.models.len(), 4);
        let printed = config.to_toml();
        assert_eq!(parse::<Config>(&printed).as_ref(), Ok(&config));
    }

    #[test]
    fn parse_errors_name_line_and_field() {
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
