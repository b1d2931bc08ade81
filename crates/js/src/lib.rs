//! The WebAssembly module of the npm package `toolcall-parsers`.
//!
//! Settings and results are JSON texts, which JavaScript reads faster than it reads the module's
//! memory field by field. The package's JavaScript gives them types.
#![deny(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

pub mod arguments;
mod call_text;
#[cfg(feature = "chat")]
pub mod chat;
#[cfg(feature = "derive")]
pub mod derive;
mod events;
#[cfg(feature = "explain")]
pub mod explain;
#[cfg(feature = "family-files")]
mod family_files;
pub mod guard;
mod limits;
#[cfg(feature = "names")]
pub mod names;
mod profiles;
pub mod request;
mod settings;

use wasm_bindgen::JsValue;

/// Returns an exception with the text of `error`.
fn fault(error: impl std::fmt::Display) -> JsValue {
    JsValue::from_str(&error.to_string())
}

/// Returns an exception for a setting with which the core, which is smaller, `does_not` work.
fn not_in_core(setting: &str, does_not: &str) -> JsValue {
    let whole = "import the function from `toolcall-parsers` itself, not from `/core` or `/ai`";
    fault(format!("{setting}: the core {does_not}; {whole}"))
}
