//! GBNF: the grammars of llama.cpp, and the EBNF of XGrammar.
//!
//! Code points are written with four or eight digits, because XGrammar reads all digits after `\x`.

use core::fmt::Write as _;
use std::sync::Arc;

use serde_json::{Value, json};

use super::state_name;
use crate::grammar::{
    class::CharClass,
    dfa::Dfa,
    ir::{Node, Rules},
};

/// The number by which llama.cpp's server identifies triggers that are words.
const TRIGGER_WORD: u8 = 1;

/// A grammar that becomes active at one of several texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LazyGbnf {
    /// The grammar, from the beginning of a trigger on.
    pub grammar: String,
    /// The texts at which the grammar becomes active.
    pub triggers: Vec<String>,
}

impl LazyGbnf {
    /// Returns the fields of a request to llama.cpp's server.
    #[must_use]
    pub fn request_fields(&self) -> Value {
        let triggers = self.triggers.iter();
        let triggers: Vec<Value> =
            triggers.map(|text| json!({"type": TRIGGER_WORD, "value": text})).collect();
        json!({"grammar": self.grammar, "grammar_lazy": true, "grammar_triggers": triggers})
    }
}

/// Returns the grammar of the rules.
pub(in crate::grammar) fn write(rules: &Rules) -> String {
    let mut writer = Writer { rules, automata: Vec::new(), out: String::new() };
    writer.out.push_str("root ::= ");
    writer.node(&rules.start, false);
    writer.out.push('\n');
    writer.finish()
}

/// Returns the grammar of `head` and, after it, the rule of this name, which `more` defines.
pub(in crate::grammar) fn write_before(head: &Node, (rule, more): (&str, &str)) -> String {
    let rules = Rules { rules: Vec::new(), start: Node::default() };
    let mut writer = Writer { rules: &rules, automata: Vec::new(), out: String::new() };
    writer.out.push_str("root ::= ");
    writer.node(head, true);
    let _ = writeln!(writer.out, " {rule}");
    writer.finish() + more
}

struct Writer<'g> {
    rules: &'g Rules,
    automata: Vec<Arc<Dfa>>,
    out: String,
}

impl Writer<'_> {
    /// Writes the rules and the automata, and returns the text.
    fn finish(mut self) -> String {
        let rules = self.rules;
        for rule in &rules.rules {
            let _ = write!(self.out, "{} ::= ", rule.name);
            self.node(&rule.node, false);
            self.out.push('\n');
        }
        let mut written = 0;
        while let Some(dfa) = self.automata.get(written).cloned() {
            self.automaton(written, &dfa);
            written += 1;
        }
        self.out
    }

    fn node(&mut self, node: &Node, is_part: bool) {
        match node {
            Node::Text(text) => self.out.push_str(&literal(text)),
            Node::Char(class) => self.out.push_str(&char_class(class)),
            Node::Seq(parts) if parts.is_empty() => self.out.push_str("\"\""),
            Node::Seq(parts) => self.joined(parts, (" ", false)),
            Node::Choice(parts) => self.joined(parts, (" | ", is_part)),
            Node::Repeat(part, least, most) => {
                self.grouped(part);
                self.out.push_str(&repetition(*least, *most));
            }
            Node::Rule(number) => {
                let name = self.rules.rules.get(*number).map_or("root", |rule| &rule.name);
                self.out.push_str(name);
            }
            Node::Dfa(dfa) => {
                let known = self.automata.iter().position(|it| it == dfa);
                let number = known.unwrap_or(self.automata.len());
                if known.is_none() {
                    self.automata.push(dfa.clone());
                }
                self.out.push_str(&state_name(number, 0));
            }
        }
    }

    fn joined(&mut self, parts: &[Node], (between, in_parentheses): (&str, bool)) {
        self.out.push_str(if in_parentheses { "(" } else { "" });
        for (n, part) in parts.iter().enumerate() {
            self.out.push_str(if n > 0 { between } else { "" });
            self.node(part, true);
        }
        self.out.push_str(if in_parentheses { ")" } else { "" });
    }

    /// Writes a part so that a repetition after it counts for all of it.
    fn grouped(&mut self, part: &Node) {
        let is_one = matches!(part, Node::Char(_) | Node::Rule(_));
        self.out.push_str(if is_one { "" } else { "(" });
        self.node(part, false);
        self.out.push_str(if is_one { "" } else { ")" });
    }

    fn automaton(&mut self, number: usize, dfa: &Dfa) {
        for (n, state) in dfa.states.iter().enumerate() {
            let is_last =
                |to: usize| dfa.states.get(to).is_some_and(|it| it.accepts && it.edges.is_empty());
            if n > 0 && is_last(n) {
                continue;
            }
            let ways = state.edges.iter().map(|(class, to)| match is_last(*to) {
                true => char_class(class),
                false => format!("{} {}", char_class(class), state_name(number, *to)),
            });
            let empty = state.accepts.then(|| "\"\"".to_owned());
            let ways: Vec<_> = ways.chain(empty).collect();
            let _ = writeln!(self.out, "{} ::= {}", state_name(number, n), ways.join(" | "));
        }
    }
}

pub(super) fn repetition(least: u32, most: Option<u32>) -> String {
    match (least, most) {
        (0, None) => "*".to_owned(),
        (1, None) => "+".to_owned(),
        (0, Some(1)) => "?".to_owned(),
        (least, None) => format!("{{{least},}}"),
        (least, Some(most)) if least == most => format!("{{{least}}}"),
        (least, Some(most)) => format!("{{{least},{most}}}"),
    }
}

fn literal(text: &str) -> String {
    let mut out = String::from('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            _ if c.is_control() => push_code(c, &mut out),
            _ => out.push(c),
        }
    }
    out.push('"');
    out
}

fn char_class(class: &CharClass) -> String {
    if class.is_negated() && class.ranges().is_empty() {
        return "[\\u0000-\\U0010FFFF]".to_owned();
    }
    let mut out = String::from(if class.is_negated() { "[^" } else { "[" });
    for &(from, to) in class.ranges() {
        push_char(from, &mut out);
        if from != to {
            out.push('-');
            push_char(to, &mut out);
        }
    }
    out.push(']');
    out
}

fn push_char(c: char, out: &mut String) {
    match c {
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        '"' | '\\' | '[' | ']' | '^' | '-' => push_code(c, out),
        _ if c.is_control() || c > '\u{7e}' => push_code(c, out),
        _ => out.push(c),
    }
}

/// Writes the code point; writing to a string cannot fail.
fn push_code(c: char, out: &mut String) {
    let code = u32::from(c);
    let _ = match code {
        0..=0xFFFF => write!(out, "\\u{code:04X}"),
        _ => write!(out, "\\U{code:08X}"),
    };
}
