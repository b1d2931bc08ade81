//! Tables that select the remap table of a route.
//!
//! A route is a provider and a model. Whether a token is reserved depends on both, because two
//! servers may prompt the same weights differently. A row therefore names both, as globs. The first
//! row that matches decides.

use alloc::{
    borrow::ToOwned,
    string::{String, ToString},
    vec::Vec,
};
use core::fmt;

use crate::{glob::Glob, regime::Regime, table::RemapTable};

/// A row of a [`CapabilityTable`]: the routes it matches, and the table they need.
#[derive(Debug, Clone)]
pub struct CapabilityRow<'a> {
    /// Glob of provider names. `*` matches any text, `?` one character, in either letter case.
    pub provider: &'a str,
    /// Glob of model names.
    pub model: &'a str,
    /// The table of these routes, or `None` for no remapping.
    pub table: Option<RemapTable>,
    /// The reason for the row, such as "measured on our prompts".
    pub because: &'a str,
}

/// A row with compiled patterns.
#[derive(Debug, Clone)]
struct CompiledRow {
    provider: Glob,
    model: Glob,
    table: Option<RemapTable>,
    because: String,
}

impl CompiledRow {
    /// Compiles a row. Returns `None` if a pattern is too long.
    fn new(row: CapabilityRow<'_>) -> Option<Self> {
        let CapabilityRow { provider, model, table, because } = row;
        let (provider, model) = (Glob::new(provider)?, Glob::new(model)?);
        Some(Self { provider, model, table, because: because.to_owned() })
    }
}

/// A table of routes that selects a [`Regime`] by provider and model.
///
/// ```
/// use wire_remap::CapabilityTable;
/// let routes = CapabilityTable::hermes_families();
/// assert!(routes.regime("ollama", "Qwen3.6:27b").table().is_some());
/// assert!(routes.regime("openai", "gpt-5").table().is_none());
/// ```
#[derive(Debug, Clone, Default)]
pub struct CapabilityTable {
    rows: Vec<CompiledRow>,
}

impl CapabilityTable {
    /// Creates a table without rows, in which every route is off.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns rows for the model families whose tokenizers reserve `<tool_call>`, of any provider.
    ///
    /// These are Qwen 2.5 and 3 with their coders, QwQ, and Hermes 2 Pro to 4, in every spelling of
    /// their versions. Embedding and ranking models are off, and so are DeepSeek's distilled
    /// models.
    #[must_use]
    pub fn hermes_families() -> Self {
        let why = "`<tool_call>` is one reserved token of this tokenizer";
        let hermes = RemapTable::hermes();
        let mut routes = Self::new();
        let mut add = |model, table, because| {
            let row = CapabilityRow { provider: "*", model, table, because };
            routes.rows.extend(CompiledRow::new(row));
        };
        // Reasoning models distilled into Qwen's weights write another format.
        for (model, because) in [
            ("*embed*", "it writes no text"),
            ("*rerank*", "it writes no text"),
            ("*deepseek*qwen*", "it speaks DeepSeek's format"),
        ] {
            add(model, None, because);
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
            add(model, Some(hermes.clone()), why);
        }
        routes
    }

    /// Adds a row after the others.
    ///
    /// ```
    /// use wire_remap::{CapabilityRow, CapabilityTable, RemapTable};
    /// let mut routes = CapabilityTable::new();
    /// let table = Some(RemapTable::hermes());
    /// let because = "measured on our prompts";
    /// routes.push(CapabilityRow { provider: "vllm", model: "*qwen*", table, because })?;
    /// assert!(routes.regime("vllm", "my-qwen-finetune").table().is_some());
    /// assert_eq!(routes.because("vllm", "my-qwen-finetune"), Some(because));
    /// # Ok::<(), wire_remap::CapabilityError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if a pattern has more than 127 characters, not counting `*`.
    pub fn push(&mut self, row: CapabilityRow<'_>) -> Result<(), CapabilityError> {
        let row = CompiledRow::new(row).ok_or_else(|| CapabilityError {
            row: Some(self.rows.len()),
            message: "pattern is longer than 127 characters".to_string(),
        })?;
        self.rows.push(row);
        Ok(())
    }

    /// Adds the rows of `other` after the present ones.
    pub fn extend(&mut self, other: Self) {
        self.rows.extend(other.rows);
    }

    /// Returns the regime of the first row that matches. Without such a row it is [`Regime::off`].
    ///
    /// Call this once per request and keep the regime for the response.
    #[must_use]
    pub fn regime(&self, provider: &str, model: &str) -> Regime {
        match self.row(provider, model).and_then(|row| row.table.clone()) {
            Some(table) => Regime::on(table),
            None => Regime::off(),
        }
    }

    /// Returns the reason that the first matching row gives, if there is such a row.
    #[must_use]
    pub fn because(&self, provider: &str, model: &str) -> Option<&str> {
        self.row(provider, model).map(|row| &*row.because)
    }

    fn row(&self, provider: &str, model: &str) -> Option<&CompiledRow> {
        self.rows.iter().find(|row| row.provider.matches(provider) && row.model.matches(model))
    }

    /// Returns the number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Returns whether the table has no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
}

/// An error: a capability table was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CapabilityError {
    pub(crate) row: Option<usize>,
    pub(crate) message: String,
}

impl CapabilityError {
    /// Returns the index of the faulty row, or `None` if the fault is elsewhere.
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
