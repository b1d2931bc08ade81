//! The grammar of an answer whose form the request sets, with the thought before it.
//!
//! ```text
//! {"type": "object"}
//!   structural tag: sequence of the thought and XGrammar's own format of the schema
//!   GBNF:           root ::= thought? object
//! ```

use std::sync::Arc;

use llm_stream_guard::{AnswerRules, Profile, Start};
use serde_json::{Value, json};
use toolcall_parsers::family::{Escapes, Spacing};

use super::{
    ir::{Node, Rules},
    markup,
    members::share,
    notes::Notes,
    shape::{Object, Reader, Shape},
    thought::{ThoughtGrammar, without_bracket},
    values::{Style, Syntax, Values},
    write::{gbnf, write_before},
};
use crate::{ExportError, answer_format::AnswerFormat};

/// The name of the answer in notes.
const ANSWER: &str = "answer";

/// The beginning of the names of rules that a request's own grammar defines.
const PREFIX: &str = "answer-";

/// A thought, and after it an answer in the form that the request sets.
#[derive(Debug, Clone)]
pub(crate) struct FormatGrammar {
    /// The structural tag of XGrammar.
    pub(crate) tag: Value,
    /// The GBNF, or the reason why it would not be the same form.
    pub(crate) gbnf: Result<String, ExportError>,
    /// The valid answers that the GBNF does not admit, each as a phrase.
    pub(crate) narrowed: Vec<String>,
}

/// Returns the grammar of a thought and an answer of this format.
///
/// If the prompt opened the thought, JSON may also begin at once: a server may have closed the
/// thought without the guard's knowledge. The thought then begins with no bracket, so that the two
/// cannot be confused.
///
/// # Errors
/// The models of the profile write no thought that a grammar expresses.
pub(crate) fn format_grammar(
    profile: &Profile,
    rules: &AnswerRules,
    format: &AnswerFormat,
) -> Result<FormatGrammar, ExportError> {
    let thought = ThoughtGrammar::of(profile)?.filter(ThoughtGrammar::is_plain);
    let thought = thought.ok_or_else(|| ExportError::new("its thought is no text before it"))?;
    let mut not = thought.markers();
    let family = profile.grammar().map_err(|error| ExportError::new(error.to_string()))?;
    if let Some(family) = &family {
        not.extend(markup::tags(family.family()));
    }
    let not = markup::least(not);
    let mut notes = Notes::default();
    let own = Own::of(format, &mut notes);
    let none = || ExportError::new("its thought has no markers");
    let head = match rules.start {
        Start::Content => Node::optional(thought.own(&not).ok_or_else(none)?),
        Start::Reasoning => {
            let rest = thought.rest(&not).ok_or_else(none)?;
            if own.begins_with_bracket { Node::optional(without_bracket(rest)) } else { rest }
        }
    };
    let part = |node: &Node| {
        let alone = Rules { rules: Vec::new(), start: node.clone() };
        json!({"type": "grammar", "grammar": gbnf(&alone)})
    };
    let answer = match format {
        AnswerFormat::Json(schema) => json!({"type": "json_schema", "json_schema": schema}),
        AnswerFormat::Choice(texts) => part(&choice(texts)),
        AnswerFormat::Regex(pattern) => json!({"type": "regex", "pattern": pattern}),
        AnswerFormat::Grammar(text) => json!({"type": "grammar", "grammar": text}),
        AnswerFormat::Tag(tag) => tag.clone(),
    };
    let elements = [part(&head), answer];
    let tag = json!({"type": "structural_tag",
        "format": {"type": "sequence", "elements": elements}});
    let gbnf = match (own.rules, format) {
        (Some(_), _) if !notes.widened.is_empty() => {
            let what = notes.widened.join("; ");
            Err(ExportError::new(format!("the grammar of its schema does not check: {what}")))
        }
        (Some(rules), _) => Ok(gbnf(&Rules { start: head.then(rules.start), rules: rules.rules })),
        (None, AnswerFormat::Grammar(text)) => {
            Ok(write_before(&head, (&format!("{PREFIX}root"), &prefixed(text))))
        }
        (None, _) => Err(ExportError::new("its form can be written for XGrammar only")),
    };
    Ok(FormatGrammar { tag, gbnf, narrowed: notes.narrowed })
}

/// An answer's format in the intermediate form, where it can be written so.
struct Own {
    rules: Option<Rules>,
    begins_with_bracket: bool,
}

impl Own {
    fn of(format: &AnswerFormat, notes: &mut Notes) -> Self {
        match format {
            AnswerFormat::Json(schema) => {
                let mut reader = Reader::new(schema, ANSWER, notes);
                let shape = reader.shape(schema, 0);
                let definitions = reader.definitions;
                let mut values = Values::new(notes);
                values.definitions = definitions;
                let leaves = values.leaves(&shape);
                let begins_with_bracket = leaves.iter().all(is_container);
                let start = values.value(&shape, &json_style(), None);
                let start = share(start, &mut values.rules);
                Self { rules: Some(Rules { rules: values.rules, start }), begins_with_bracket }
            }
            AnswerFormat::Choice(texts) => {
                let rules = Rules { rules: Vec::new(), start: choice(texts) };
                Self { rules: Some(rules), begins_with_bracket: false }
            }
            AnswerFormat::Regex(_) | AnswerFormat::Grammar(_) | AnswerFormat::Tag(_) => {
                Self { rules: None, begins_with_bracket: false }
            }
        }
    }
}

fn is_container(shape: &Shape) -> bool {
    match shape {
        Shape::Array(..) | Shape::Object(Object { .. }) => true,
        Shape::Const(value) => value.is_array() || value.is_object(),
        _ => false,
    }
}

/// Returns the usual spelling of JSON, with a blank after colons and commas.
fn json_style() -> Style {
    Style {
        syntax: Syntax::Json,
        spacing: Spacing::Spaced,
        escapes: Escapes::Needed,
        quote: String::new(),
        not: Arc::from([]),
        python_words: false,
    }
}

fn choice(texts: &[String]) -> Node {
    Node::choice(texts.iter().map(|text| Node::Text(text.clone())))
}

/// Returns a grammar in GBNF with [`PREFIX`] before the names of its rules. Texts in quotes, classes
/// in brackets, tokens, counts and remarks are unchanged.
fn prefixed(grammar: &str) -> String {
    let mut out = String::with_capacity(grammar.len().saturating_mul(2));
    let mut rest = grammar;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '"' => quoted(rest, '"'),
            '[' => quoted(rest, ']'),
            '<' => rest.find('>').map_or(rest.len(), |at| at + 1),
            '{' => rest.find('}').map_or(rest.len(), |at| at + 1),
            '#' => rest.find('\n').unwrap_or(rest.len()),
            first if is_word(first) => {
                out.push_str(PREFIX);
                rest.find(|c| !is_word(c)).unwrap_or(rest.len())
            }
            first => first.len_utf8(),
        };
        let (head, tail) = rest.split_at(length);
        out.push_str(head);
        rest = tail;
    }
    out.push('\n');
    out
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_')
}

/// Returns the length of a text that ends at `end`, its first character and escapes skipped.
fn quoted(text: &str, end: char) -> usize {
    let mut is_escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            c if c == end => return at + c.len_utf8(),
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::prefixed;

    #[test]
    fn only_names_of_rules_get_a_prefix() {
        let grammar = "root ::= \"a \\\"b\" word{1,2} [a-z\\]] # no word\nword ::= . \"x\" | root";
        assert_eq!(
            prefixed(grammar),
            "answer-root ::= \"a \\\"b\" answer-word{1,2} [a-z\\]] # no word\n\
             answer-word ::= . \"x\" | answer-root\n"
        );
    }
}
