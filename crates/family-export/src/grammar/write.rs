//! Writers of grammars, one for each target.

mod gbnf;
mod lark;
mod regex;
mod structural;

use serde_json::Value;

pub use self::gbnf::LazyGbnf;
pub(super) use self::gbnf::{write as gbnf, write_before};
use super::{CallGrammar, ir::Node};
use crate::ExportError;

impl CallGrammar {
    /// Returns the grammar in GBNF, as llama.cpp reads it from the request's field `grammar`.
    /// XGrammar reads the same text.
    #[must_use]
    pub fn gbnf(&self) -> String {
        gbnf::write(&self.rules)
    }

    /// Returns the grammar in GBNF with the texts at which it becomes active.
    ///
    /// # Errors
    /// Returns an error if calls have no marker, or the grammar admits other text before calls.
    pub fn lazy_gbnf(&self) -> Result<LazyGbnf, ExportError> {
        let triggers = triggers(&self.rules.start, self)?;
        Ok(LazyGbnf { grammar: self.gbnf(), triggers })
    }

    /// Returns the structural tag of XGrammar, which vLLM and SGLang take in requests.
    #[must_use]
    pub fn structural_tag(&self) -> Value {
        structural::write(&self.rules)
    }

    /// Returns the grammar in llguidance's Lark. `special` lists markers that are single tokens of
    /// the model's vocabulary, such as `<|tool_call|>`; other text is written as text.
    ///
    /// # Errors
    /// Returns an error if an expression would be too long.
    pub fn lark(&self, special: &[&str]) -> Result<String, ExportError> {
        lark::write(&self.rules, special)
    }

    /// Returns the grammar as a regular expression over the whole answer.
    ///
    /// # Errors
    /// Returns an error if values may nest without end, or an expression would be too long.
    pub fn regex(&self) -> Result<String, ExportError> {
        regex::write(&self.rules)
    }
}

/// Returns the tags that the calls begin with.
fn triggers(start: &Node, grammar: &CallGrammar) -> Result<Vec<String>, ExportError> {
    let mut heads = Vec::new();
    add_heads(start, grammar, &mut heads)?;
    let mut triggers: Vec<String> = Vec::new();
    for head in heads {
        let known = grammar.markup.iter().filter(|tag| head.starts_with(tag.as_str()));
        let Some(trigger) = known.max_by_key(|tag| tag.len()) else {
            return Err(ExportError::new("its calls begin without a marker"));
        };
        if !triggers.contains(trigger) {
            triggers.push(trigger.clone());
        }
    }
    Ok(triggers)
}

fn add_heads(
    node: &Node,
    grammar: &CallGrammar,
    heads: &mut Vec<String>,
) -> Result<(), ExportError> {
    match node {
        Node::Text(text) => heads.push(text.clone()),
        Node::Choice(parts) => {
            for part in parts {
                add_heads(part, grammar, heads)?;
            }
        }
        Node::Seq(parts) => match parts.first() {
            Some(first) => add_heads(first, grammar, heads)?,
            None => return Err(ExportError::new("its calls may be empty")),
        },
        Node::Rule(number) => add_heads(grammar.rules.rule(*number), grammar, heads)?,
        Node::Char(_) | Node::Repeat(..) | Node::Dfa(_) => {
            return Err(ExportError::new("its answers begin with other text than calls"));
        }
    }
    Ok(())
}

/// Returns the name of the rule for a state of an automaton.
pub(super) fn state_name(dfa: usize, state: usize) -> String {
    format!("text-{dfa}-{state}")
}
