//! Grammars in Lark, as llguidance reads it.
//!
//! llguidance takes the longest match of a terminal and does not backtrack. A grammar without
//! recursion is therefore written as one terminal. In any other grammar each terminal is one
//! character or one special token, so that no terminal is the beginning of another.

use core::fmt::Write as _;
use std::{collections::BTreeMap, sync::Arc};

use super::{regex, state_name};
use crate::{
    ExportError,
    grammar::{
        dfa::{Dfa, until},
        ir::{Node, Rules},
    },
    limits::MAX_LARK_BYTES,
};

pub(super) fn write(rules: &Rules, special: &[&str]) -> Result<String, ExportError> {
    let has_token = rules.rules.iter().any(|rule| has_special(&rule.node, special))
        || has_special(&rules.start, special);
    if has_token || rules.recursive().into_iter().any(|is| is) {
        return Ok(
            CharRules { rules, special, automata: Vec::new(), terminals: BTreeMap::new() }.all()
        );
    }
    let expression = Expression::whole(rules, &rules.start);
    match expression.len() > MAX_LARK_BYTES {
        true => Err(ExportError::new("the expression of its grammar is too long")),
        false => Ok(format!("%llguidance {{}}\n\nstart: TEXT\nTEXT: {expression}\n")),
    }
}

fn has_special(node: &Node, special: &[&str]) -> bool {
    match node {
        Node::Text(text) => special.iter().any(|token| text.contains(token)),
        Node::Seq(parts) | Node::Choice(parts) => parts.iter().any(|it| has_special(it, special)),
        Node::Repeat(part, ..) => has_special(part, special),
        Node::Dfa(dfa) => special.iter().any(|token| dfa.text.end.contains(token)),
        Node::Char(_) | Node::Rule(_) => false,
    }
}

/// A writer of rules over single characters.
struct CharRules<'g> {
    rules: &'g Rules,
    special: &'g [&'g str],
    automata: Vec<Arc<Dfa>>,
    /// The terminals' numbers by their expressions.
    terminals: BTreeMap<String, usize>,
}

impl CharRules<'_> {
    fn all(mut self) -> String {
        let mut out = String::from("%llguidance {}\n\n");
        let start = self.node(&self.rules.start);
        let _ = writeln!(out, "start: {start}");
        for rule in &self.rules.rules {
            let node = self.node(&rule.node);
            let _ = writeln!(out, "{}: {node}", rule_name(&rule.name));
        }
        let mut written = 0;
        while let Some(dfa) = self.automata.get(written).cloned() {
            self.automaton(written, &dfa, &mut out);
            written += 1;
        }
        let mut terminals: Vec<_> = self.terminals.into_iter().collect();
        terminals.sort_by_key(|&(_, number)| number);
        for (expression, number) in terminals {
            let _ = writeln!(out, "T{number}: /{expression}/");
        }
        out
    }

    fn node(&mut self, node: &Node) -> String {
        match node {
            Node::Text(text) => self.text(text),
            Node::Char(class) => self.terminal(regex::char_class(class)),
            Node::Seq(parts) => {
                let parts: Vec<_> = parts.iter().map(|part| self.node(part)).collect();
                if parts.is_empty() { "\"\"".to_owned() } else { parts.join(" ") }
            }
            Node::Choice(parts) => {
                let parts: Vec<_> = parts.iter().map(|part| self.node(part)).collect();
                format!("({})", parts.join(" | "))
            }
            Node::Repeat(part, least, most) => {
                let part = self.node(part);
                format!("({part}){}", super::gbnf::repetition(*least, *most))
            }
            Node::Rule(number) => {
                self.rules.rules.get(*number).map_or_else(String::new, |it| rule_name(&it.name))
            }
            Node::Dfa(dfa) => self.free_text(dfa),
        }
    }

    /// Returns the name of an automaton's first state. A special token that ends the text is not a
    /// part of it, because text cannot contain special tokens.
    fn free_text(&mut self, dfa: &Arc<Dfa>) -> String {
        let end = &dfa.text.end;
        if let Some(token) = self.special.iter().find(|token| end.ends_with(**token)) {
            let before = end.strip_suffix(*token).unwrap_or_default();
            let not = &dfa.text.not;
            let not: Vec<_> =
                not.iter().filter(|it| !self.special.contains(&it.as_str())).cloned().collect();
            let text = until(&not, "");
            let text = self.node(&Node::seq([text, before.into()]));
            return format!("{text} {token}");
        }
        let known = self.automata.iter().position(|it| it == dfa);
        let number = known.unwrap_or(self.automata.len());
        if known.is_none() {
            self.automata.push(dfa.clone());
        }
        rule_name(&state_name(number, 0))
    }

    fn automaton(&mut self, number: usize, dfa: &Dfa, out: &mut String) {
        for (n, state) in dfa.states.iter().enumerate() {
            let mut ways = Vec::new();
            for (class, to) in &state.edges {
                let class = self.terminal(regex::char_class(class));
                ways.push(format!("{class} {}", rule_name(&state_name(number, *to))));
            }
            if state.accepts || ways.is_empty() {
                ways.push("\"\"".to_owned());
            }
            let _ = writeln!(out, "{}: {}", rule_name(&state_name(number, n)), ways.join(" | "));
        }
    }

    /// Returns the name of a terminal.
    fn terminal(&mut self, expression: String) -> String {
        let next = self.terminals.len();
        let number = *self.terminals.entry(expression).or_insert(next);
        format!("T{number}")
    }

    /// Returns text, a terminal for each character and special token.
    fn text(&mut self, text: &str) -> String {
        let mut written = Vec::new();
        let mut rest = text;
        while let Some(c) = rest.chars().next() {
            let tokens = self.special.iter().filter(|token| rest.starts_with(**token));
            let (part, length) = match tokens.max_by_key(|token| token.len()) {
                Some(token) => ((*token).to_owned(), token.len()),
                None => {
                    let mut one = String::new();
                    regex::push_text(c.encode_utf8(&mut [0; 4]), &mut one);
                    (self.terminal(one), c.len_utf8())
                }
            };
            written.push(part);
            rest = rest.get(length..).unwrap_or_default();
        }
        match written.is_empty() {
            true => "\"\"".to_owned(),
            false => written.join(" "),
        }
    }
}

/// The text of a terminal: regular expressions between slashes, and operators around them.
#[derive(Default)]
struct Expression {
    out: String,
    /// A regular expression that is not written yet.
    open: String,
}

impl Expression {
    fn add(&mut self, rules: &Rules, node: &Node) {
        if self.out.len() > MAX_LARK_BYTES {
            return;
        }
        if !has_free_text(rules, node) {
            // Only free text cannot be written as an expression.
            let _ = regex::node(rules, node, &mut self.open);
            return;
        }
        match node {
            Node::Seq(parts) => parts.iter().for_each(|part| self.add(rules, part)),
            Node::Choice(parts) => {
                let parts: Vec<_> = parts.iter().map(|part| Self::whole(rules, part)).collect();
                self.push(&format!("({})", parts.join(" | ")));
            }
            Node::Repeat(part, least, most) => {
                let repetition = super::gbnf::repetition(*least, *most);
                self.push(&format!("({}){repetition}", Self::whole(rules, part)));
            }
            Node::Rule(number) => self.add(rules, rules.rule(*number)),
            Node::Dfa(dfa) => {
                let text = &dfa.text;
                let mut body = String::from("[\\s\\S]*");
                if let Some(only) = &text.body {
                    body.clear();
                    let _ = regex::node(rules, only, &mut body);
                }
                let mut end = String::new();
                regex::push_text(&text.end, &mut end);
                let is_any = text.body.is_none();
                let ends = [&text.end].into_iter().filter(|end| is_any && !end.is_empty());
                let not = text.not.iter().chain(ends).map(|text| {
                    let mut not = String::new();
                    regex::push_text(text, &mut not);
                    not
                });
                let not: Vec<String> = not.collect();
                if not.is_empty() {
                    self.open.push_str(&body);
                } else {
                    let not = not.join("|");
                    self.push(&format!("(/{body}/ & ~/[\\s\\S]*(?:{not})[\\s\\S]*/)"));
                }
                self.open.push_str(&end);
            }
            Node::Text(_) | Node::Char(_) => {}
        }
    }

    fn whole(rules: &Rules, node: &Node) -> String {
        let mut whole = Self::default();
        whole.add(rules, node);
        match whole.finish() {
            empty if empty.is_empty() => "\"\"".to_owned(),
            whole => whole,
        }
    }

    fn push(&mut self, text: &str) {
        self.close();
        self.out.push_str(text);
    }

    fn close(&mut self) {
        if !self.out.is_empty() && !self.out.ends_with(' ') {
            self.out.push(' ');
        }
        if !self.open.is_empty() {
            let open = core::mem::take(&mut self.open);
            self.out.push_str(&format!("/{open}/ "));
        }
    }

    fn finish(mut self) -> String {
        self.close();
        self.out.trim_end_matches(' ').to_owned()
    }
}

/// Returns whether a node without recursion has free text in it.
fn has_free_text(rules: &Rules, node: &Node) -> bool {
    match node {
        Node::Dfa(_) => true,
        Node::Seq(parts) | Node::Choice(parts) => parts.iter().any(|it| has_free_text(rules, it)),
        Node::Repeat(part, ..) => has_free_text(rules, part),
        Node::Rule(number) => has_free_text(rules, rules.rule(*number)),
        Node::Text(_) | Node::Char(_) => false,
    }
}

fn rule_name(name: &str) -> String {
    name.replace('-', "_")
}
