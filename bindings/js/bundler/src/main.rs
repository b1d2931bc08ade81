//! Writes the JavaScript that loads a compiled module, and the module it loads.
//!
//! ```text
//! bundler MODULE.wasm DIRECTORY   writes guard.js, script.js and guard_bg.wasm to DIRECTORY
//! ```
//!
//! `guard.js` is a module of JavaScript. `script.js` is the same for a page without modules.
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

use std::{env::args_os, ffi::OsStr, fs, path::Path};

use anyhow::Context as _;
use wasm_bindgen_cli_support::Bindgen;

fn main() -> anyhow::Result<()> {
    let mut arguments = args_os().skip(1);
    let module = arguments.next().context("expected a module")?;
    let directory = arguments.next().context("expected a directory")?;
    let directory = Path::new(&directory);
    // The module names the file that loads it, so that both have one name at first.
    bindings(&module)?.no_modules(true)?.generate(directory)?;
    fs::rename(directory.join("guard.js"), directory.join("script.js"))?;
    bindings(&module)?.web(true)?.generate(directory)
}

fn bindings(module: &OsStr) -> anyhow::Result<Bindgen> {
    let mut bindgen = Bindgen::new();
    bindgen.input_path(module).out_name("guard").typescript(false).omit_default_module_path(true);
    Ok(bindgen)
}
