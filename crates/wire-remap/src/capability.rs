//! Which route needs which regime.
//!
//! A reserved token is a property of a route, not of a model's name alone: the same weights behind
//! another runtime may be prompted differently. So rows name a provider and a model, both globs,
//! and the first row that matches decides.

use alloc::{
    borrow::ToOwned,
    string::{String, ToString},
    vec::Vec,
};
use core::fmt;

use crate::{glob::Glob, regime::Regime, table::RemapTable};

/// A row: routes and what they need.
#[derive(Debug, Clone)]
struct Row {
    provider: Glob,
    model: Glob,
    table: Option<RemapTable>,
    because: String,
}

/// Picks a [`Regime`] by provider and model.
///
/// ```
/// use wire_remap::CapabilityTable;
/// let routes = CapabilityTable::hermes_families();
/// assert!(routes.regime("ollama", "Qwen3.6:27b").table().is_some());
/// assert!(routes.regime("openai", "gpt-5").table().is_none());
/// ```
#[derive(Debug, Clone, Default)]
pub struct CapabilityTable {
    rows: Vec<Row>,
}

impl CapabilityTable {
    /// A table without rows: every route is off.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Model families whose tokenizers reserve `<tool_call>`: Qwen 2.5 and 3 and their coders,
    /// QwQ, Hermes 2 Pro to 4, however their versions are written; models that only embed or rank,
    /// and DeepSeek's distilled ones, are off. Any provider.
    #[must_use]
    pub fn hermes_families() -> Self {
        let why = "`<tool_call>` is one reserved token of this tokenizer";
        let mut routes = Self::new();
        // Reasoning models distilled into Qwen's weights speak their own format.
        for (model, because) in [
            ("*embed*", "it writes no text"),
            ("*rerank*", "it writes no text"),
            ("*deepseek*qwen*", "it speaks DeepSeek's format"),
        ] {
            routes.add("*", model, None, because);
        }
        for model in [
            "*qwen2.5*",
            "*qwen2p5*",
            "*qwen2_5*",
            "*qwen-2.5*",
            "*qwen-2p5*",
            "*qwen_2.5*",
            "*qwen3*",
            "*qwen-3",
            "*qwen-3-*",
            "*qwen-3.*",
            "*qwen-3:*",
            "*qwen_3*",
            "*qwq*",
            "*hermes?2?pro*",
            "*hermes2pro*",
            "*hermes-2-theta*",
            "*hermes-3*",
            "*hermes_3*",
            "*hermes3*",
            "*hermes-4*",
            "*hermes_4*",
            "*hermes4*",
        ] {
            routes.add("*", model, Some(RemapTable::hermes()), why);
        }
        routes
    }

    /// Adds a row behind the others: `table` for a route that needs it, `None` to switch the
    /// route off. `because` says how that is known.
    ///
    /// # Errors
    ///
    /// When a pattern is longer than [`Glob::MAX_LEN`]; nothing is added.
    pub fn push(
        &mut self,
        provider: &str,
        model: &str,
        table: Option<RemapTable>,
        because: &str,
    ) -> Result<(), CapabilityError> {
        let glob = |pattern: &str| {
            let row = self.rows.len();
            Glob::new(pattern).ok_or_else(|| CapabilityError {
                row: Some(row),
                message: "pattern is longer than 127 characters".to_string(),
            })
        };
        let (provider, model) = (glob(provider)?, glob(model)?);
        self.rows.push(Row { provider, model, table, because: because.to_owned() });
        Ok(())
    }

    #[expect(clippy::expect_used, reason = "called with the patterns of this file alone")]
    fn add(&mut self, provider: &str, model: &str, table: Option<RemapTable>, because: &str) {
        self.push(provider, model, table, because).expect("the pattern is short");
    }

    /// Puts the rows of `other` behind these.
    pub fn extend(&mut self, other: Self) {
        self.rows.extend(other.rows);
    }

    /// The regime of a route: that of the first row that matches, off if none does.
    ///
    /// Ask once per request and keep the answer for the response.
    #[must_use]
    pub fn regime(&self, provider: &str, model: &str) -> Regime {
        match self.row(provider, model).and_then(|row| row.table.clone()) {
            Some(table) => Regime::on(table),
            None => Regime::off(),
        }
    }

    /// How the answer of [`regime`](Self::regime) is known; `None` if no row matches.
    #[must_use]
    pub fn because(&self, provider: &str, model: &str) -> Option<&str> {
        self.row(provider, model).map(|row| &*row.because)
    }

    fn row(&self, provider: &str, model: &str) -> Option<&Row> {
        self.rows.iter().find(|row| row.provider.matches(provider) && row.model.matches(model))
    }

    /// The number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
}

/// Why rows were refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CapabilityError {
    pub(crate) row: Option<usize>,
    pub(crate) message: String,
}

impl CapabilityError {
    /// The offending row, counted from 0; `None` when the fault is elsewhere.
    #[must_use]
    pub fn row(&self) -> Option<usize> {
        self.row
    }
}

impl fmt::Display for CapabilityError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.row {
            Some(row) => write!(f, "capability table: route {row}: {}", self.message),
            None => write!(f, "capability table: {}", self.message),
        }
    }
}

impl core::error::Error for CapabilityError {}
