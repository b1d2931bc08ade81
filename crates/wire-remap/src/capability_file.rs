//! Capability tables in TOML.
//!
//! ```toml
//! [tables.brackets]
//! nonce = "k3x9"                        # optional, as are mode, escape, truncated, garbled
//! blocks = [{ canonical = ["<tool_call>", "</tool_call>"], wire = ["[[DO]]", "[[/DO]]"] }]
//!
//! [[routes]]
//! provider = "ollama"                   # default "*"
//! model = "qwen3.6*"
//! remap = "brackets"                    # or "hermes", "hermes-plain", "off"
//! because = "measured 2026-06-01"
//! ```
//!
//! `nonce`, `mode`, `escape`, `truncated`, `garbled` and `provider` are optional.

use alloc::{
    collections::BTreeMap,
    format,
    string::{String, ToString},
    vec::Vec,
};

use serde::Deserialize;

use crate::{
    capability::{CapabilityError, CapabilityRow, CapabilityTable},
    error::RemapTableError,
    pair::{Mode, Truncated},
    table::RemapTable,
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CapabilityFile {
    #[serde(default)]
    tables: BTreeMap<String, TableRows>,
    #[serde(default)]
    routes: Vec<RouteRow>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TableRows {
    #[serde(default)]
    blocks: Vec<BlockRow>,
    #[serde(default)]
    pairs: Vec<[String; 2]>,
    mode: Option<ModeName>,
    escape: Option<char>,
    truncated: Option<TruncatedName>,
    #[serde(default)]
    garbled: bool,
    nonce: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BlockRow {
    canonical: [String; 2],
    wire: [String; 2],
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum ModeName {
    Exact,
    Plain,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum TruncatedName {
    Ignore,
    Diagnose,
    Recover,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RouteRow {
    provider: Option<String>,
    model: String,
    remap: String,
    #[serde(default)]
    because: String,
}

impl TableRows {
    fn build(self) -> Result<RemapTable, RemapTableError> {
        let mut builder = RemapTable::builder();
        for BlockRow { canonical: [open, close], wire: [wire_open, wire_close] } in &self.blocks {
            builder = builder.block((open, wire_open), (close, wire_close));
        }
        for [canonical, wire] in &self.pairs {
            builder = builder.pair(canonical, wire);
        }
        if let Some(ModeName::Plain) = self.mode {
            builder = builder.mode(Mode::Plain);
        }
        if let Some(escape) = self.escape {
            builder = builder.escape(escape);
        }
        builder = match self.truncated {
            Some(TruncatedName::Ignore) => builder.truncated(Truncated::Ignore),
            Some(TruncatedName::Recover) => builder.truncated(Truncated::Recover),
            Some(TruncatedName::Diagnose) | None => builder,
        };
        if self.garbled {
            builder = builder.accept_garbled();
        }
        if let Some(nonce) = &self.nonce {
            builder = builder.nonce(nonce);
        }
        builder.build()
    }
}

impl CapabilityTable {
    /// Reads a table from TOML. `[tables.NAME]` declares a remap table, and `[[routes]]` a row. A
    /// route's `remap` is `off`, `hermes`, `hermes-plain` or the name of a table in the file.
    ///
    /// # Errors
    ///
    /// Returns an error if the text is not TOML of that shape, has unknown keys or an invalid
    /// table, or has a route that names an unknown table.
    pub fn from_toml(text: &str) -> Result<Self, CapabilityError> {
        let fail = |row, message| CapabilityError { row, message };
        let file: CapabilityFile =
            toml::from_str(text).map_err(|error| fail(None, error.to_string()))?;
        let mut tables = BTreeMap::new();
        tables.insert("hermes".to_string(), RemapTable::hermes());
        tables.insert("hermes-plain".to_string(), RemapTable::hermes_plain());
        for (name, table) in file.tables {
            if name == "off" || tables.contains_key(&name) {
                return Err(fail(None, format!("table {name:?}: the name is already used")));
            }
            let built = table.build();
            let table = built.map_err(|error| fail(None, format!("table {name:?}: {error}")))?;
            tables.insert(name, table);
        }
        let mut routes = Self::new();
        for (row, route) in file.routes.into_iter().enumerate() {
            let table = match &*route.remap {
                "off" => None,
                name => Some(tables.get(name).cloned().ok_or_else(|| {
                    fail(Some(row), format!("remap: expected off or a table, found {name:?}"))
                })?),
            };
            let provider = route.provider.as_deref().unwrap_or("*");
            let (model, because) = (&*route.model, &*route.because);
            routes.push(CapabilityRow { provider, model, table, because })?;
        }
        Ok(routes)
    }
}
