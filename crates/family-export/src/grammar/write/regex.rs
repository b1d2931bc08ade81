//! Regular expressions, in the syntax that Rust's and Python's engines share.

use core::fmt::Write as _;

use super::gbnf::repetition;
use crate::{
    ExportError,
    grammar::{
        class::CharClass,
        dfa::Dfa,
        ir::{Node, Rules},
    },
    limits::MAX_REGEX_BYTES,
};

pub(super) fn write(rules: &Rules) -> Result<String, ExportError> {
    if rules.recursive().into_iter().any(|is| is) {
        return Err(ExportError::new(
            "its arguments may nest without end, which no regular expression holds them to",
        ));
    }
    let mut out = String::new();
    node(rules, &rules.start, &mut out)?;
    Ok(out)
}

/// Writes a node without recursion.
pub(super) fn node(rules: &Rules, node: &Node, out: &mut String) -> Result<(), ExportError> {
    if out.len() > MAX_REGEX_BYTES {
        return Err(ExportError::new("its regular expression is too long"));
    }
    match node {
        Node::Text(text) => push_text(text, out),
        Node::Char(class) => out.push_str(&char_class(class)),
        Node::Seq(parts) => {
            for part in parts {
                self::node(rules, part, out)?;
            }
        }
        Node::Choice(parts) => {
            out.push_str("(?:");
            for (n, part) in parts.iter().enumerate() {
                out.push_str(if n > 0 { "|" } else { "" });
                self::node(rules, part, out)?;
            }
            out.push(')');
        }
        Node::Repeat(part, least, most) => {
            out.push_str("(?:");
            self::node(rules, part, out)?;
            out.push(')');
            out.push_str(&repetition(*least, *most));
        }
        Node::Rule(number) => {
            out.push_str("(?:");
            self::node(rules, rules.rule(*number), out)?;
            out.push(')');
        }
        Node::Dfa(dfa) => out.push_str(&automaton(dfa)?),
    }
    Ok(())
}

/// A transition of an automaton, labelled with an expression, or `None` without a transition.
type Label = Option<String>;

/// Returns the expression of an automaton. States are eliminated one by one, the last first,
/// because most transitions lead back to the first states.
fn automaton(dfa: &Dfa) -> Result<String, ExportError> {
    let (count, last) = (dfa.states.len(), dfa.states.len());
    // The additional state is the end.
    let mut rows: Vec<Vec<Label>> = vec![vec![None; count + 1]; count];
    for (row, state) in rows.iter_mut().zip(&dfa.states) {
        for (class, to) in &state.edges {
            add(row, *to, char_class(class));
        }
        if state.accepts {
            add(row, last, String::new());
        }
    }
    let mut length = 0_usize;
    for out in (1..count).rev() {
        let Some(mut own) = rows.pop() else { break };
        let again = own.get_mut(out).and_then(Option::take).map(|again| format!("(?:{again})*"));
        let again = again.unwrap_or_default();
        for row in &mut rows {
            let Some(into) = row.get_mut(out).and_then(Option::take) else { continue };
            for (to, label) in own.iter().enumerate() {
                if let Some(label) = label {
                    let label = format!("{}{again}{}", group(&into), group(label));
                    length = length.saturating_add(label.len());
                    add(row, to, label);
                }
            }
            if length > MAX_REGEX_BYTES {
                let why = "the markup that its free text must not contain makes it too long";
                return Err(ExportError::new(why));
            }
        }
    }
    let row = rows.pop().unwrap_or_default();
    let label = |at: usize| row.get(at).cloned().flatten();
    let again = label(0).map(|again| format!("(?:{again})*")).unwrap_or_default();
    Ok(format!("{again}{}", group(&label(last).unwrap_or_default())))
}

/// Adds an alternative to a transition.
fn add(row: &mut [Label], to: usize, label: String) {
    if let Some(known) = row.get_mut(to) {
        *known = Some(match known.take() {
            Some(other) => format!("{other}|{label}"),
            None => label,
        });
    }
}

fn group(label: &str) -> String {
    if label.contains('|') { format!("(?:{label})") } else { label.to_owned() }
}

pub(super) fn char_class(class: &CharClass) -> String {
    match (class.ranges(), class.is_negated()) {
        (&[(from, to)], false) if from == to => {
            let mut one = String::new();
            push_char(from, &mut one);
            one
        }
        (&[], true) => "[\\s\\S]".to_owned(),
        (ranges, negated) => {
            let mut out = String::from(if negated { "[^" } else { "[" });
            for &(from, to) in ranges {
                push_char(from, &mut out);
                if from != to {
                    out.push('-');
                    push_char(to, &mut out);
                }
            }
            out.push(']');
            out
        }
    }
}

/// Writes text so that each character matches itself.
pub(super) fn push_text(text: &str, out: &mut String) {
    text.chars().for_each(|c| push_char(c, out));
}

/// Writes a character so that it matches itself.
fn push_char(c: char, out: &mut String) {
    match c {
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        _ if c.is_ascii_punctuation() && !"<>=\"',;:!@%`_".contains(c) => out.extend(['\\', c]),
        // Writing to a string cannot fail.
        '\0'..='\x1f' | '\x7f' => drop(write!(out, "\\x{:02x}", u32::from(c))),
        _ => out.push(c),
    }
}
