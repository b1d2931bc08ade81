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
//! | read an error | [`Fault`], [`Kind`], [`Reported`] |
#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

/// The README's example, compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod alarm;
mod body;
mod catalog;
mod client;
mod config;
mod connection;
pub mod demo;
// Public for tests of this workspace.
#[doc(hidden)]
pub mod dialect;
mod elsewhere;
mod error;
mod exchange;
mod families;
mod guards;
mod headers;
mod idle;
mod ledger;
mod limits;
mod meter;
mod metrics;
// Public for the command, which reads by the same machine.
#[doc(hidden)]
pub mod parse;
mod path;
mod process;
mod proxy;
mod record;
mod routes;
mod server;
mod stream;
mod tool_grammar;
mod trace;

pub use config::{
    BareEnd, CheckpointTokens, Completions, Config, Endpoint, EndpointName, Endpoints,
    FamilyChoice, FamilyName, Model, ModelSettings, Models, Output, ProxyLimits, ReasoningName,
    Record, Remap, ServerName, TimeSpan, Timeouts, ToolGrammar, ToolsIn, UnknownModelPolicy,
    UnsupportedTools, Upstream, listen_address, read_models, read_template,
};
pub use error::{Fault, Kind, Reported};
pub use proxy::Proxy;
pub use server::{check_health, is_open, serve, serve_metrics};
