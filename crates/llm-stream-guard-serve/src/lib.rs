//! A proxy in front of inference servers. Servers send the raw text of a model. Clients get
//! content, reasoning and tool calls, streamed or whole.
//!
//! [`Proxy::router`] returns an axum router, which is a tower service, for gateways that embed the
//! proxy. [`serve`] listens with a proxy. [`Config`] has all settings of both. The manual is in the
//! project's `docs/serve.md`.
//!
//! ```
//! use llm_stream_guard_serve::{Config, Proxy};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let config = Config { upstream: "http://127.0.0.1:8000".parse()?, ..Config::default() };
//! let guarded: axum::Router = Proxy::new(config)?.router();
//! let app = axum::Router::new().nest("/llm", guarded);
//! # let _ = app;
//! # Ok(())
//! # }
//! ```
//! # Types by task
//!
//! | task | types |
//! |---|---|
//! | name the inference servers | [`Upstream`], [`Endpoint`], [`EndpointName`], [`Endpoints`], [`ServerName`] |
//! | choose families for models | [`Model`] with [`ModelSettings`], [`Models`], [`FamilyName`], [`FamilyChoice`], [`UnknownModelPolicy`], [`CheckpointTokens`], [`Remap`], [`ToolsIn`] |
//! | shape answers | [`Output`], [`ReasoningName`], [`BareEnd`], [`Completions`], [`UnsupportedTools`], [`ToolGrammar`] |
//! | set limits | [`ProxyLimits`], [`Timeouts`], [`TimeSpan`], [`Record`] |
//! | translate between APIs | [`ApiDialect`](dialect::ApiDialect) with [`OllamaForm`](dialect::OllamaForm), [`UpstreamRequest`](dialect::UpstreamRequest), [`Machine`](dialect::Machine), [`WholeAnswer`](dialect::WholeAnswer) |
//! | read an error | [`Fault`], [`Kind`], [`Reported`] |
#![forbid(unsafe_code)]
#![cfg_attr(
    not(feature = "proxy"),
    allow(dead_code, reason = "the proxy uses the rest of the translation")
)]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

/// The README's example, compiled.
#[cfg(all(doctest, feature = "proxy"))]
#[doc = include_str!("../README.md")]
struct Readme;

#[cfg(feature = "proxy")]
mod alarm;
mod body;
#[cfg(feature = "proxy")]
mod catalog;
#[cfg(feature = "proxy")]
mod client;
#[cfg(feature = "proxy")]
mod config;
#[cfg(feature = "proxy")]
mod connection;
#[cfg(feature = "proxy")]
pub mod demo;
pub mod dialect;
#[cfg(feature = "proxy")]
mod elsewhere;
mod error;
#[cfg(feature = "proxy")]
mod exchange;
#[cfg(feature = "proxy")]
mod families;
#[cfg(feature = "proxy")]
mod generate;
#[cfg(feature = "proxy")]
mod guards;
#[cfg(feature = "proxy")]
mod headers;
#[cfg(feature = "proxy")]
mod idle;
#[cfg(feature = "proxy")]
mod ledger;
mod limits;
#[cfg(feature = "proxy")]
mod meter;
#[cfg(feature = "proxy")]
mod metrics;
// Public for the command, which reads by the same machine.
#[cfg(feature = "proxy")]
#[doc(hidden)]
pub mod parse;
#[cfg(feature = "proxy")]
mod path;
#[cfg(feature = "proxy")]
mod process;
#[cfg(feature = "proxy")]
mod proxy;
#[cfg(feature = "proxy")]
mod record;
#[cfg(feature = "proxy")]
mod routes;
#[cfg(feature = "proxy")]
mod server;
#[cfg(feature = "proxy")]
mod stream;
#[cfg(feature = "proxy")]
mod templates;
#[cfg(feature = "proxy")]
mod tool_grammar;
#[cfg(feature = "proxy")]
mod trace;

#[cfg(feature = "proxy")]
pub use config::{
    BareEnd, CheckpointTokens, Completions, Config, Endpoint, EndpointName, Endpoints,
    FamilyChoice, FamilyName, Model, ModelSettings, Models, Output, ProxyLimits, ReasoningName,
    Record, Remap, ServerName, TimeSpan, Timeouts, ToolGrammar, ToolsIn, UnknownModelPolicy,
    UnsupportedTools, Upstream, listen_address, read_models, read_template,
};
pub use error::{Fault, Kind, Reported};
#[cfg(feature = "proxy")]
pub use proxy::Proxy;
#[cfg(feature = "proxy")]
pub use server::{check_health, is_open, serve, serve_metrics};
