//! Strings in the syntax of a family.

use toolcall_parsers::family::Escapes;

use super::{Style, Syntax, Values};
use crate::grammar::{
    class::CharClass,
    dfa::{json_string, python_string, until},
    ir::Node,
};

impl Values<'_> {
    /// Returns a string with these bounds of its length.
    pub(super) fn string(&mut self, bounds: (u32, Option<u32>), style: &Style) -> Node {
        let is_bounded = bounds != (0, None);
        if matches!(style.syntax, Syntax::Quoted | Syntax::AllQuoted) {
            if is_bounded {
                self.notes.family_widened("lengths of strings between the family's quotes");
            }
            let open = Node::Text(style.quote.clone());
            return Node::seq([open, until(&style.not, &style.quote)]);
        }
        if !style.not.is_empty() {
            if is_bounded {
                self.notes.family_widened("lengths of strings inside lists and objects");
            }
            return match style.syntax {
                Syntax::Python => {
                    let quotes = ['\'', '"'].map(|quote| python_string(&style.not, quote));
                    Node::choice(quotes)
                }
                _ => json_string(&style.not),
            };
        }
        match style.syntax {
            Syntax::Python => Node::choice(['\'', '"'].map(|quote| {
                let refused =
                    [('\0', '\u{1f}'), ('\u{7f}', '\u{9f}'), (quote, quote), ('\\', '\\')];
                let hex = Node::Char(CharClass::from_ranges(&[('0', '9'), ('a', 'f')]));
                let escape = Node::choice([
                    Node::one_of("\\'\"nrt"),
                    Node::seq(["x".into(), hex.clone(), hex]),
                ]);
                string_of((&quote.to_string(), CharClass::not(&refused)), escape, bounds)
            })),
            _ => {
                let hex =
                    || Node::Char(CharClass::from_ranges(&[('0', '9'), ('a', 'f'), ('A', 'F')]));
                let of = |ranges: &[(char, char)]| Node::Char(CharClass::from_ranges(ranges));
                let plain = of(&[('0', '9'), ('a', 'c'), ('e', 'f'), ('A', 'C'), ('E', 'F')]);
                let code = Node::choice([
                    Node::seq([plain, hex(), hex(), hex()]),
                    Node::seq([Node::one_of("dD"), of(&[('0', '7')]), hex(), hex()]),
                    Node::seq([
                        Node::one_of("dD"),
                        of(&[('8', '9'), ('a', 'b'), ('A', 'B')]),
                        hex(),
                        hex(),
                        "\\u".into(),
                        Node::one_of("dD"),
                        of(&[('c', 'f'), ('C', 'F')]),
                        hex(),
                        hex(),
                    ]),
                ]);
                let escape =
                    Node::choice([Node::one_of("\"\\/bfnrt"), Node::seq(["u".into(), code])]);
                let mut refused = vec![('\0', '\u{1f}'), ('"', '"'), ('\\', '\\')];
                if style.escapes == Escapes::Ascii {
                    refused.push(('\u{80}', char::MAX));
                }
                string_of(("\"", CharClass::not(&refused)), escape, bounds)
            }
        }
    }
}

/// Returns a string of characters and escapes between quotes.
fn string_of(
    (quote, body): (&str, CharClass),
    escape: Node,
    (least, most): (u32, Option<u32>),
) -> Node {
    let one = Node::choice([Node::Char(body), Node::seq(["\\".into(), escape])]);
    let text = Node::Repeat(Box::new(one), least, most);
    Node::seq([quote.into(), text, quote.into()])
}
