//! Grammars from files: families declared at run time.

use alloc::string::{String, ToString};
use core::fmt;

use serde::Deserializer;

use crate::Grammar;

impl Grammar {
    /// Reads a grammar from JSON, and checks it.
    ///
    /// ```
    /// use toolcall_parsers::{End, Grammar, Parser, parse};
    /// let grammar = Grammar::from_json(r#"{
    ///     "name": "shouted",
    ///     "openers": [{"marker": "CALL!", "shapes": [{"json": {"container": "object",
    ///         "item": {"keys": {"name": ["do"], "arguments": ["with"]}}, "closers": ["!DONE"]}}]}]
    /// }"#)?;
    /// let parser = Parser::new(grammar.into())?;
    /// let wire = r#"So. CALL! {"do": "ring", "with": {"times": 2}} !DONE"#;
    /// let message = parse(&parser, wire, End::Stop)?;
    /// assert_eq!((message.content.as_str(), message.calls[0].name.as_str()), ("So. ", "ring"));
    ///
    /// let error = Grammar::from_json(r#"{"name": "x", "openers": [{"marker": ""}]}"#).unwrap_err();
    /// assert_eq!(error.field(), "openers[0]");
    /// assert!(error.to_string().contains("missing field `shapes`"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Text that is not JSON, a field that is unknown, missing or of another type, a value no
    /// family can have: the error names the field.
    pub fn from_json(text: &str) -> Result<Self, GrammarError> {
        let mut json = serde_json::Deserializer::from_str(text);
        let grammar = read(&mut json)?;
        json.end().map_err(|error| GrammarError::new("", error))?;
        Ok(grammar)
    }

    /// Reads a grammar from TOML, and checks it.
    ///
    /// # Errors
    /// As [`Grammar::from_json`].
    #[cfg(feature = "toml")]
    pub fn from_toml(text: &str) -> Result<Self, GrammarError> {
        let toml = toml::Deserializer::parse(text);
        read(toml.map_err(|error| GrammarError::new("", error))?)
    }
}

fn read<'de, D>(input: D) -> Result<Grammar, GrammarError>
where
    D: Deserializer<'de, Error: fmt::Display>,
{
    let grammar: Grammar = serde_path_to_error::deserialize(input).map_err(|error| {
        let path = error.path().to_string();
        GrammarError::new(if path == "." { "" } else { &path }, error.inner())
    })?;
    grammar.check()?;
    Ok(grammar)
}

/// What is wrong with a grammar, and where. The fault is its author's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrammarError {
    field: String,
    problem: String,
}

impl GrammarError {
    pub(super) fn new(field: &str, problem: impl fmt::Display) -> Self {
        Self { field: field.to_string(), problem: problem.to_string() }
    }

    /// The field, such as `openers[0].marker`; empty if it is no single one.
    #[must_use]
    pub fn field(&self) -> &str {
        &self.field
    }
}

impl fmt::Display for GrammarError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { field, problem } = self;
        match field.as_str() {
            "" => write!(f, "{}", problem.trim_end()),
            _ => write!(f, "`{field}`: {}", problem.trim_end()),
        }
    }
}

impl core::error::Error for GrammarError {}
