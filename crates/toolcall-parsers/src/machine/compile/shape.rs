//! Properties of expanded templates, such as their first tags.

use alloc::{boxed::Box, string::String, vec::Vec};

use super::{tokens::Token, trie::Trie};
use crate::{
    family::{CommitOn, Form, Messages, is_token},
    template::Part,
};

/// Returns the special tokens of a message's header, in order.
pub(super) fn header_tokens(messages: &Messages) -> Vec<Box<str>> {
    let mut texts: Vec<&str> = Vec::new();
    let mut open = Vec::from([messages.header.parts.iter()]);
    while let Some(parts) = open.last_mut() {
        match parts.next() {
            Some(Part::Literal(text)) => texts.push(text.trim()),
            Some(Part::Group(inner)) => open.push(inner.iter()),
            Some(Part::Hole(_)) => {}
            None => drop(open.pop()),
        }
    }
    texts.extend(messages.body.iter().map(String::as_str));
    texts.into_iter().filter(|text| is_token(text)).map(Box::from).collect()
}

/// Returns the literal texts among `tokens`.
pub(super) fn texts(tokens: &[Token]) -> impl DoubleEndedIterator<Item = &str> {
    tokens.iter().filter_map(|token| match token {
        Token::Tag(tag) => Some(tag.as_str()),
        _ => None,
    })
}

/// Whether a section is its calls, without a text around them.
pub(super) fn is_plain(section: &[Token]) -> bool {
    matches!(section, [Token::Calls])
}

/// Returns whether the template begins with a bracket or a hole, not with a tag.
pub(super) fn is_bare(tokens: &[Token]) -> bool {
    match tokens.iter().find(|token| !matches!(token, Token::Meant(_) | Token::Space(_))) {
        Some(Token::Tag(tag)) => tag.bytes().all(|b| matches!(b, b'[' | b'{' | b'(')),
        _ => true,
    }
}

/// Returns whether `tag` begins a JSON object (`{"name`), unlike the tag `{call}`.
pub(super) fn is_object(tag: &str) -> bool {
    tag.strip_prefix('{').is_some_and(|key| key.is_empty() || key.starts_with(['"', '\'']))
}

/// Returns the evidence that makes a call of the template certain.
pub(super) fn committed_on(form: &Form, tokens: &[Token]) -> CommitOn {
    let bare = if is_bare(tokens) { CommitOn::DeclaredName } else { CommitOn::Marker };
    form.commit_on.unwrap_or(bare)
}

/// Returns all end tags of `sections`.
pub(super) fn ends_of(sections: &[Vec<Token>], trie: &Trie, form: &Form) -> Vec<Box<str>> {
    let mut ends = Vec::new();
    for section in sections {
        let hole = section.iter().position(|token| *token == Token::Calls);
        let suffix = hole.and_then(|at| section.get(at.saturating_add(1)..)).unwrap_or(&[]);
        ends.extend(texts(suffix).filter(|tag| *tag != "]").flat_map(|tag| trie.spell(tag, form)));
    }
    ends
}

/// Returns whether each of `calls` begins with a tag.
pub(super) fn are_tagged(calls: &[Vec<Token>]) -> bool {
    calls.iter().all(|call| is_tagged(call))
}

/// Returns whether the template begins with a tag.
pub(super) fn is_tagged(tokens: &[Token]) -> bool {
    let first = tokens.iter().find(|token| !matches!(token, Token::Meant(_)));
    matches!(first, Some(Token::Tag(_)))
}
