//! Writes the JavaScript that loads a compiled module, and the module it loads.
//!
//! ```text
//! bundler MODULE.wasm DIRECTORY NAME      writes NAME.js and NAME_bg.wasm, a module of JavaScript
//! bundler MODULE.wasm DIRECTORY --script  writes script.js, for a page without modules
//! ```
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

use std::{env::args_os, ffi::OsString};

use anyhow::Context as _;
use wasm_bindgen_cli_support::Bindgen;

fn main() -> anyhow::Result<()> {
    let mut arguments = args_os().skip(1).map(OsString::into_string);
    let mut argument = |what: &'static str| {
        arguments.next().and_then(Result::ok).with_context(|| format!("expected {what}"))
    };
    let (module, directory) = (argument("a module")?, argument("a directory")?);
    let name = argument("a name or `--script`")?;
    let mut bindgen = Bindgen::new();
    bindgen.input_path(module).typescript(false).omit_default_module_path(true);
    match name.as_str() {
        "--script" => bindgen.out_name("script").no_modules(true)?.generate(directory),
        name => bindgen.out_name(name).web(true)?.generate(directory),
    }
}
