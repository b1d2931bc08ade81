//! The heads of calls and the tags around parameters, for the reader of tagged values.

use alloc::{boxed::Box, string::String, vec::Vec};

use super::{
    Compiler,
    shape::texts,
    tokens::{Token, expand},
    trie::attributes,
};
use crate::{
    family::Form,
    machine::{
        arguments::{
            CallEnds as Structure,
            parameters::call_heads::{CallHead, CallHeadPart},
            tag::TagTexts,
        },
        plan::{EndTags, FieldKind},
    },
    template::{Hole, Template},
};

impl Compiler<'_> {
    /// Returns the tags around parameters, which can end an open value. `enclosed` is set if the
    /// call is in a section.
    pub(super) fn structure(
        &self,
        form: &Form,
        ends: &EndTags,
        (section, enclosed): (&[Box<str>], bool),
    ) -> Structure {
        let strings = |texts: &[Box<str>]| texts.iter().map(|t| String::from(&**t)).collect();
        let call: Vec<Box<str>> = ends.tags.iter().flatten().cloned().collect();
        let last = ends.tags.len().saturating_sub(usize::from(!enclosed));
        let inner: Vec<Box<str>> = ends.tags.iter().take(last).flatten().cloned().collect();
        let openers: Vec<Box<str>> = form
            .sections
            .iter()
            .chain(&form.calls)
            .flat_map(|template| self.expand(template, form))
            .filter_map(|tokens| texts(&tokens).next().map(|tag| self.trie.spell(tag, form)))
            .flatten()
            .filter(|tag| tag.len() > 1)
            .collect();
        let messages = self.family.messages.iter().flat_map(|messages| &messages.end);
        Structure {
            call: strings(&call),
            inner: strings(&inner),
            section: strings(section),
            turn: self.family.end_of_turn.clone(),
            openers: strings(&openers),
            messages: messages.cloned().collect(),
            heads: self.heads(form),
        }
    }

    /// Returns the heads of a form's calls, with and without the tags of their section.
    pub(super) fn heads(&self, form: &Form) -> Vec<CallHead> {
        let calls: Vec<Vec<Token>> =
            form.calls.iter().flat_map(|call| expand(&call.parts, form)).collect();
        let sections = form.sections.iter().flat_map(|section| expand(&section.parts, form));
        let before = |mut section: Vec<Token>| {
            section.truncate(section.iter().position(|token| *token == Token::Calls).unwrap_or(0));
            section
        };
        let around: Vec<Vec<Token>> = sections.map(before).collect();
        let heads = |before: &[Token]| -> Vec<CallHead> {
            calls.iter().filter_map(|call| self.head(form, before.iter().chain(call))).collect()
        };
        let mut heads_of_all: Vec<CallHead> =
            around.iter().flat_map(|before| heads(before)).collect();
        let holds_one = |section: &Template| section.holes().any(|hole| *hole == Hole::Call);
        let lacks_section = !form.sections.is_empty() && form.sections.iter().all(holds_one);
        heads_of_all.extend(heads(&[]).into_iter().map(|head| CallHead { lacks_section, ..head }));
        heads_of_all
    }

    /// Returns the head at the start of `tokens`, if it begins with a tag and contains a name.
    fn head<'t>(&self, form: &Form, tokens: impl Iterator<Item = &'t Token>) -> Option<CallHead> {
        let (mut pieces, mut named) = (Vec::new(), false);
        let tag =
            |text: &str| TagTexts::exact(self.trie.spell(text, form).into_iter().map(String::from));
        let tokens = tokens.take_while(|token| !matches!(token, Token::Arguments(_)));
        let mut tokens = tokens.filter(|token| !matches!(token, Token::Space(_))).peekable();
        while let Some(token) = tokens.next() {
            pieces.push(match token {
                Token::Tag(text) => CallHeadPart::Tag(tag(text)),
                Token::Field(FieldKind::Name | FieldKind::Declared, _) => {
                    named = true;
                    CallHeadPart::Name
                }
                Token::Field(FieldKind::Attributes(kinds), _) => {
                    let end = match tokens.next() {
                        Some(Token::Tag(text)) => tag(text),
                        _ => return None,
                    };
                    let name = kinds.iter().position(|(_, kind)| *kind == FieldKind::Name)?;
                    named = true;
                    CallHeadPart::Attributes(attributes(kinds, Vec::from([end])), name)
                }
                Token::Field(..) => CallHeadPart::Other,
                _ => return None,
            });
        }
        let head = CallHead { pieces, lacks_section: false };
        (named && head.opener().is_some_and(TagTexts::has_letters)).then_some(head)
    }
}
