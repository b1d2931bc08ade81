//! What begins calls, as the reader of tagged values must know it.

use alloc::{string::String, vec::Vec};

use super::{
    Compiler,
    tokens::{Token, expand},
    trie::attributes,
};
use crate::{
    family::Form,
    machine::{
        arguments::{
            parameters::heads::{Head, Piece},
            tag::Tag,
        },
        plan::FieldKind,
    },
};

impl Compiler<'_> {
    /// The heads of a form's calls: with what begins their section, and alone.
    pub(super) fn heads(&self, form: &Form) -> Vec<Head> {
        let calls: Vec<Vec<Token>> =
            form.calls.iter().flat_map(|call| expand(&call.parts, form)).collect();
        let sections = form.sections.iter().flat_map(|section| expand(&section.parts, form));
        let before = |mut section: Vec<Token>| {
            section.truncate(section.iter().position(|token| *token == Token::Calls).unwrap_or(0));
            section
        };
        let mut around: Vec<Vec<Token>> = sections.map(before).collect();
        around.push(Vec::new());
        let wholes = around.iter().flat_map(|before| {
            calls.iter().filter_map(|call| self.head(form, before.iter().chain(call)))
        });
        wholes.collect()
    }

    /// The head that `tokens` begin with, if a tag begins it and a name stands in it.
    fn head<'t>(&self, form: &Form, tokens: impl Iterator<Item = &'t Token>) -> Option<Head> {
        let (mut pieces, mut named) = (Vec::new(), false);
        let tag =
            |text: &str| Tag::exact(self.trie.spell(text, form).into_iter().map(String::from));
        let tokens = tokens.take_while(|token| !matches!(token, Token::Arguments(_)));
        let mut tokens = tokens.filter(|token| !matches!(token, Token::Space(_))).peekable();
        while let Some(token) = tokens.next() {
            pieces.push(match token {
                Token::Tag(text) => Piece::Tag(tag(text)),
                Token::Field(FieldKind::Name | FieldKind::Declared, _) => {
                    named = true;
                    Piece::Name
                }
                Token::Field(FieldKind::Attributes(kinds), _) => {
                    let end = match tokens.next() {
                        Some(Token::Tag(text)) => tag(text),
                        _ => return None,
                    };
                    let name = kinds.iter().position(|(_, kind)| *kind == FieldKind::Name)?;
                    named = true;
                    Piece::Attributes(attributes(kinds, Vec::from([end])), name)
                }
                Token::Field(..) => Piece::Other,
                _ => return None,
            });
        }
        let head = Head { pieces };
        (named && head.opener().is_some_and(Tag::has_letters)).then_some(head)
    }
}
