//! The spelling of single values.

use core::fmt::Write as _;

use serde_json::Value;
use toolcall_parsers::family::Escapes;

use super::{Style, Syntax, identifier};
use crate::grammar::{dfa::until, ir::Node};

impl Style {
    /// Returns the spelling of a member's key.
    pub(super) fn key(&self, key: &str) -> Node {
        Node::Text(match self.syntax {
            Syntax::Json => self.json_string(key),
            Syntax::Python => python_string(key),
            Syntax::Script if is_identifier(key) => key.to_owned(),
            Syntax::Script => json_text(&Value::from(key)),
            Syntax::Quoted | Syntax::AllQuoted if is_bare_key(key) => key.to_owned(),
            Syntax::Quoted | Syntax::AllQuoted => format!("{0}{key}{0}", self.quote),
        })
    }

    /// Returns a key that no schema names, of a syntax with bare keys.
    pub(super) fn bare_key(&self) -> Node {
        if self.syntax == Syntax::Script {
            return identifier();
        }
        let open = Node::Text(self.quote.clone());
        Node::choice([identifier(), Node::seq([open, until(&self.not, &self.quote)])])
    }

    /// Returns the spelling of a scalar.
    pub(in crate::grammar) fn constant(&self, value: &Value) -> Node {
        Node::Text(match (self.syntax, value) {
            (Syntax::Json, Value::String(text)) => self.json_string(text),
            (Syntax::Python, Value::String(text)) => python_string(text),
            (Syntax::Python, value) => python_word(value),
            (Syntax::AllQuoted, Value::String(text)) | (Syntax::Quoted, Value::String(text)) => {
                format!("{0}{text}{0}", self.quote)
            }
            (Syntax::AllQuoted, value) if self.python_words => {
                format!("{0}{1}{0}", self.quote, python_word(value))
            }
            (Syntax::AllQuoted, value) => format!("{0}{1}{0}", self.quote, json_text(value)),
            (_, value) => json_text(value),
        })
    }

    fn json_string(&self, text: &str) -> String {
        let json = json_text(&Value::from(text));
        match self.escapes {
            Escapes::Needed => json,
            Escapes::Ascii => {
                let mut ascii = String::new();
                for c in json.chars() {
                    match c {
                        '\0'..='\x7f' => ascii.push(c),
                        _ => {
                            for unit in c.encode_utf16(&mut [0; 2]) {
                                // Writing to a string cannot fail.
                                let _ = write!(ascii, "\\u{unit:04x}");
                            }
                        }
                    }
                }
                ascii
            }
        }
    }
}

/// Returns a value as compact JSON.
pub(in crate::grammar) fn json_text(value: &Value) -> String {
    value.to_string()
}

/// Returns a scalar as Python spells it.
pub(in crate::grammar) fn python_word(value: &Value) -> String {
    match value {
        Value::Null => "None".to_owned(),
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        value => json_text(value),
    }
}

/// Returns a string as Python's `repr` spells it.
fn python_string(text: &str) -> String {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    let mut out = String::from(quote);
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            _ if c == quote => out.extend(['\\', c]),
            // Writing to a string cannot fail.
            _ if c.is_control() => drop(write!(out, "\\x{:02x}", u32::from(c))),
            _ => out.push(c),
        }
    }
    out.push(quote);
    out
}

/// Whether a name is a letter or underscore, then letters, digits and underscores.
pub(in crate::grammar) fn is_identifier(name: &str) -> bool {
    let mut chars = name.chars();
    let first = chars.next().is_some_and(|c| c == '_' || c.is_alphabetic());
    first && chars.all(|c| c == '_' || c.is_alphanumeric())
}

fn is_bare_key(key: &str) -> bool {
    !key.is_empty() && key.chars().all(|c| !c.is_whitespace() && !":,{}[]<>\"'`".contains(c))
}
