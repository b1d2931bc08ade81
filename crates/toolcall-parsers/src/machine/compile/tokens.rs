//! Expansion of templates into tokens: tags, white space, fields and holders.
//!
//! ```text
//! <f name="{name}">{arguments}</f>
//!    Tag("<f")  Field(Attributes([name]))  Tag(">")  Arguments(Arguments(Json))  Tag("</f>")
//! ```

use alloc::{
    borrow::ToOwned,
    boxed::Box,
    string::{String, ToString},
    vec::Vec,
};

use crate::{
    family::{Form, WhitespaceRule},
    machine::plan::{FieldKind, Quotes},
    template::{Dialect, Hole, Part},
};

/// A token of an expanded template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    /// Literal text. White space may precede it.
    Tag(String),
    /// White space in the template, classified by its first character.
    Space(ShownTokens),
    /// A field of the call's header.
    Field(FieldKind, Quotes),
    /// A fixed name, which is not a separate text on the wire.
    Meant(String),
    /// The calls of a section.
    Calls,
    /// The hole with the arguments.
    Arguments(Holder),
}

/// The first character of white space in a template.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ShownTokens {
    Newline,
    Blank,
}

/// The hole with a call's arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Holder {
    Object(Dialect),
    Arguments(Dialect),
    Raw(String),
    Parameters,
    Elements,
}

/// A part of a template whose groups were expanded: a literal or a hole.
#[derive(Debug, Clone, Copy)]
enum TokenPiece<'t> {
    Literal(&'t str),
    Hole(&'t Hole),
}

/// Returns every reading of `parts`, with each group present or absent. The reading with all groups
/// is the first.
pub(super) fn expand(parts: &[Part], form: &Form) -> Vec<Vec<Token>> {
    let mut ways: Vec<Vec<TokenPiece<'_>>> = Vec::from([Vec::new()]);
    expand_into(parts, &mut ways);
    let exact = form.whitespace == WhitespaceRule::Exact;
    let mut all: Vec<Vec<Token>> = Vec::new();
    for way in ways {
        let tokens = tokens(&way, exact);
        if !all.contains(&tokens) {
            all.push(tokens);
        }
    }
    all
}

fn expand_into<'t>(parts: &'t [Part], ways: &mut Vec<Vec<TokenPiece<'t>>>) {
    for part in parts {
        match part {
            Part::Literal(text) => {
                ways.iter_mut().for_each(|way| way.push(TokenPiece::Literal(text)));
            }
            Part::Hole(hole) => ways.iter_mut().for_each(|way| way.push(TokenPiece::Hole(hole))),
            Part::Group(parts) => {
                let without = ways.clone();
                expand_into(parts, ways);
                ways.extend(without);
            }
        }
    }
}

fn tokens(way: &[TokenPiece<'_>], exact: bool) -> Vec<Token> {
    // Join literals that became adjacent because a group is absent.
    let mut pieces: Vec<Result<String, &Hole>> = Vec::new();
    for piece in way {
        match (piece, pieces.last_mut()) {
            (TokenPiece::Literal(text), Some(Ok(last))) => last.push_str(text),
            (TokenPiece::Literal(text), _) => pieces.push(Ok((*text).to_owned())),
            // A fixed name is literal text on the wire.
            (TokenPiece::Hole(Hole::NameIs(name)), Some(Ok(last))) => {
                last.push_str(name);
                pieces.insert(0, Err(hole(piece)));
            }
            (TokenPiece::Hole(Hole::NameIs(name)), _) => {
                pieces.push(Ok(name.clone()));
                pieces.insert(0, Err(hole(piece)));
            }
            (TokenPiece::Hole(hole), _) => pieces.push(Err(hole)),
        }
    }
    let mut out = Vec::new();
    let mut at = 0;
    while let Some(piece) = pieces.get(at) {
        at += 1;
        match piece {
            Ok(text) => {
                let mut rest = text.as_str();
                let mut attributes = Vec::new();
                let mut head = rest;
                // A hole between `name="` and `"` is an attribute.
                while let Some((before, key)) = attribute(rest).filter(|_| !exact)
                    && let (Some(Err(hole)), Some(Ok(next))) = (pieces.get(at), pieces.get(at + 1))
                    && let (Some(kind), Some(following)) = (field(hole), next.strip_prefix('"'))
                {
                    if attributes.is_empty() {
                        head = before;
                    }
                    attributes.push((Box::from(key), kind));
                    rest = following;
                    at += 2;
                }
                if attributes.is_empty() {
                    cut(rest, exact, &mut out);
                } else {
                    cut(head, exact, &mut out);
                    out.push(Token::Field(FieldKind::Attributes(attributes), Quotes::None));
                    cut(rest, exact, &mut out);
                }
            }
            Err(hole) => out.push(hole_token(hole, &out)),
        }
    }
    bracketed(out)
}

fn hole<'t>(piece: &TokenPiece<'t>) -> &'t Hole {
    match piece {
        TokenPiece::Hole(hole) => hole,
        TokenPiece::Literal(_) => &Hole::Label,
    }
}

/// Splits off the key of an attribute at the end of `text`: `<f name="` becomes `<f` and `name`.
fn attribute(text: &str) -> Option<(&str, &str)> {
    let text = text.strip_suffix("=\"")?;
    let part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let key = text.trim_end_matches(part).len();
    let before = text[..key].trim_ascii_end();
    (key < text.len() && before.len() < key).then_some((before, &text[key..]))
}

/// Returns the kind of header field that a hole is, if it is one.
fn field(hole: &Hole) -> Option<FieldKind> {
    Some(match hole {
        Hole::Name => FieldKind::Name,
        Hole::NameDeclared => FieldKind::Declared,
        Hole::Id(None) => FieldKind::Id,
        Hole::Id(Some(template)) => {
            let (mut prefix, mut separator) = (String::new(), String::new());
            let mut following = false;
            for part in &template.parts {
                let inner = match part {
                    Part::Group(parts) => parts.as_slice(),
                    part => core::slice::from_ref(part),
                };
                for part in inner {
                    match part {
                        Part::Literal(text) if following => separator.push_str(text),
                        Part::Literal(text) => prefix.push_str(text),
                        Part::Hole(Hole::Name) => following = true,
                        Part::Hole(_) | Part::Group(_) => {}
                    }
                }
            }
            FieldKind::IdWithName { prefix: prefix.into(), separator: separator.into() }
        }
        Hole::Label => FieldKind::Label,
        Hole::Index(_) => FieldKind::Index,
        _ => return None,
    })
}

fn hole_token(hole: &Hole, before: &[Token]) -> Token {
    if let Some(kind) = field(hole) {
        let quoted = matches!(before.last(), Some(Token::Tag(tag)) if tag.ends_with('='));
        return Token::Field(kind, if quoted { Quotes::Optional } else { Quotes::None });
    }
    match hole {
        Hole::Calls { .. } | Hole::Call => Token::Calls,
        Hole::Object(dialect) => Token::Arguments(Holder::Object(*dialect)),
        Hole::Arguments(dialect) => Token::Arguments(Holder::Arguments(*dialect)),
        Hole::Raw(key) => Token::Arguments(Holder::Raw(key.clone())),
        Hole::Parameters { .. } => Token::Arguments(Holder::Parameters),
        Hole::Elements => Token::Arguments(Holder::Elements),
        Hole::NameIs(name) | Hole::NameMeant(name) => Token::Meant(name.clone()),
        _ => Token::Field(FieldKind::Label, Quotes::None),
    }
}

/// Cuts literal text into tags, words and white space.
fn cut(text: &str, exact: bool, out: &mut Vec<Token>) {
    if exact {
        if !text.is_empty() {
            out.push(Token::Tag(text.to_string()));
        }
        return;
    }
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        if first.is_ascii_whitespace() {
            let shown = if first == '\n' { ShownTokens::Newline } else { ShownTokens::Blank };
            out.push(Token::Space(shown));
            rest = rest.trim_ascii_start();
            continue;
        }
        // A closing tag has no attributes, so a blank is part of it.
        let inside = if rest.starts_with("</") { rest.find('>').unwrap_or(0) } else { 0 };
        let blank = rest[inside..].find(|c: char| c.is_ascii_whitespace());
        let blank = blank.map_or(rest.len(), |at| inside + at);
        let word = &rest[..blank];
        let end = match word.strip_prefix('<') {
            // A special token and the word after it stay together, because other words may follow
            // the token elsewhere.
            Some(tag) if is_token(tag) => word.find("><").map_or(blank, |at| at + 1),
            Some(tag) => tag
                .find(['<', '>'])
                .map_or(blank, |at| at + 1 + usize::from(tag.as_bytes()[at] == b'>')),
            None if first == ']' => word.find("><").map_or(blank, |at| at + 1),
            None => word.find("><").map_or_else(|| word.find('<').unwrap_or(blank), |at| at + 1),
        };
        out.push(Token::Tag(rest[..end].to_string()));
        rest = &rest[end..];
    }
}

/// Returns whether `tag`, the text after `<`, is a special token with bars at both ends.
fn is_token(tag: &str) -> bool {
    let inside = tag.split('>').next().unwrap_or_default();
    tag.starts_with(['|', '｜']) && inside.len() < tag.len() && inside.ends_with(['|', '｜'])
}

/// Makes separate tags of the brackets around a section's calls, and of the parentheses around
/// keyword arguments.
fn bracketed(tokens: Vec<Token>) -> Vec<Token> {
    let mut out: Vec<Token> = Vec::with_capacity(tokens.len());
    // Whether a bracket precedes the calls.
    let mut opened = false;
    for token in tokens {
        let opens = match token {
            Token::Calls => Some('['),
            Token::Arguments(Holder::Arguments(_)) => Some('('),
            _ => None,
        };
        opened &= !matches!(token, Token::Calls);
        if let Some(bracket) = opens {
            let spaces = out.iter().rev().take_while(|t| matches!(t, Token::Space(_))).count();
            let at = out.len() - spaces;
            if let Some(Token::Tag(tag)) = at.checked_sub(1).and_then(|at| out.get_mut(at))
                && tag.len() > 1
                && tag.ends_with(bracket)
            {
                tag.pop();
                out.insert(at, Token::Tag(bracket.to_string()));
                opened = true;
            } else if let Some(Token::Tag(tag)) = at.checked_sub(1).and_then(|at| out.get(at)) {
                opened |= *tag == *bracket.to_string();
            }
        }
        let closes = match (&token, out.iter().rev().find(|t| !matches!(t, Token::Space(_)))) {
            (Token::Tag(tag), Some(Token::Calls)) => opened && tag.starts_with(']'),
            (Token::Tag(tag), Some(Token::Arguments(Holder::Arguments(_)))) => tag.starts_with(')'),
            _ => false,
        };
        match token {
            Token::Tag(tag) if closes && tag.len() > 1 => {
                out.push(Token::Tag(tag[..1].to_string()));
                out.push(Token::Tag(tag[1..].to_string()));
            }
            token => out.push(token),
        }
    }
    out
}
