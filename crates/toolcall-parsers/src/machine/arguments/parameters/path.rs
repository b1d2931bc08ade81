//! Compilation of a `parameter` template into a path of tags and holes, and insertion of paths into
//! the trie.
//!
//! ```text
//! <arg_key>{key}</arg_key>\n<arg_value>{value}</arg_value>
//! Tag("<arg_key>") Holes(Text, [Key]) Tag("</arg_key>") Tag("<arg_value>") Value(end "</arg_value>")
//! ```

use alloc::{
    borrow::ToOwned,
    string::{String, ToString},
    vec,
    vec::Vec,
};

use super::spec::{Edges, ParameterField, ParameterNode, Unreadable, ValueSpec};
use crate::{
    machine::arguments::{
        attributes::{self, Holes, Names},
        tag::{TagTexts, cut},
    },
    template::{self, Part, Template, Trim},
};

/// A part of a parameter's path.
#[derive(Debug, Clone)]
pub(super) enum PathPiece {
    Tag(TagTexts),
    Holes(Holes, Vec<(String, ParameterField)>),
    Value(ValueSpec),
}

/// A part of a template without groups.
#[derive(Debug, Clone)]
enum Flat {
    Text(String),
    Hole(ParameterField),
    /// The parameter's name, which is not on the wire.
    Key(String),
    Value(Trim),
}

/// Returns the paths of a template, with each group present or absent.
pub(super) fn paths(
    template: &Template,
    spellings: &[(String, Vec<String>)],
) -> Result<Vec<Vec<PathPiece>>, Unreadable> {
    let mut all = vec![Vec::new()];
    flatten(&template.parts, &mut all)?;
    all.iter().map(|flat| path(flat, spellings)).collect()
}

/// Returns whether a parameter with this path has more than two tags.
pub(super) fn has_several_tags(path: &[PathPiece]) -> bool {
    path.iter().filter(|piece| matches!(piece, PathPiece::Tag(_))).count() > 2
}

fn flatten(parts: &[Part], all: &mut Vec<Vec<Flat>>) -> Result<(), Unreadable> {
    for part in parts {
        let flat = match part {
            Part::Group(parts) => {
                let mut with = all.clone();
                flatten(parts, &mut with)?;
                all.extend(with);
                continue;
            }
            Part::Literal(text) => Flat::Text(text.clone()),
            Part::Hole(template::Hole::Key) => Flat::Hole(ParameterField::Key),
            Part::Hole(template::Hole::KeyMeant(key)) => Flat::Key(key.clone()),
            Part::Hole(template::Hole::Type) => Flat::Hole(ParameterField::Type),
            Part::Hole(template::Hole::StringFlag) => Flat::Hole(ParameterField::StringFlag),
            Part::Hole(template::Hole::Value(trim)) => Flat::Value(*trim),
            Part::Hole(_) => return Err(Unreadable("a hole that is not part of a parameter")),
        };
        for path in all.iter_mut() {
            match (path.last_mut(), &flat) {
                (Some(Flat::Text(before)), Flat::Text(text)) => before.push_str(text),
                _ => path.push(flat.clone()),
            }
        }
    }
    Ok(())
}

fn path(all: &[Flat], spellings: &[(String, Vec<String>)]) -> Result<Vec<PathPiece>, Unreadable> {
    let tag = |text: &str| PathPiece::Tag(TagTexts::new(text, spellings));
    let mut path: Vec<PathPiece> = Vec::new();
    let meant = all.iter().find_map(|part| match part {
        Flat::Key(key) => Some(key.clone()),
        _ => None,
    });
    let flat: Vec<&Flat> = all.iter().filter(|part| !matches!(part, Flat::Key(_))).collect();
    // The syntax of the next hole, and the quote around the last one.
    let (mut how, mut quote) = ((Holes::Text, String::new()), None);
    for (n, part) in flat.iter().enumerate() {
        match part {
            Flat::Text(text) => {
                let mut text = text.as_str();
                if let Some(quote) = quote.take() {
                    text = text.strip_prefix(quote).unwrap_or(text);
                }
                if matches!(flat.get(n.saturating_add(1)), Some(Flat::Hole(_))) {
                    (text, how, quote) = split_before_hole(text);
                }
                path.extend(cut(text).map(tag));
            }
            // It is no part of the wire.
            Flat::Key(_) => {}
            Flat::Hole(field) => match path.last_mut() {
                Some(PathPiece::Holes(Holes::Attributes, fields)) => {
                    fields.push((how.1.clone(), *field));
                }
                Some(PathPiece::Tag(_)) => {
                    path.push(PathPiece::Holes(how.0, vec![(how.1.clone(), *field)]));
                }
                _ => return Err(Unreadable("a hole without a tag before it")),
            },
            Flat::Value(trim) => {
                let around = (flat.get(n.wrapping_sub(1)), flat.get(n.saturating_add(1)));
                let (Some(Flat::Text(before)), Some(Flat::Text(following))) = around else {
                    return Err(Unreadable("a value without tags around it"));
                };
                let edges = match trim {
                    Trim::All => Edges::Trimmed,
                    Trim::Shown if before.ends_with('\n') => Edges::Newlines,
                    Trim::Shown => Edges::Kept,
                };
                let mut ends: Vec<TagTexts> =
                    cut(following).map(|end| TagTexts::new(end, spellings)).collect();
                let quotes = match (ends.len(), path.len()) {
                    (1, _) => Vec::new(),
                    (2, 2..) => match path.pop() {
                        Some(PathPiece::Tag(open)) => vec![(open, ends.remove(0))],
                        _ => return Err(Unreadable("a value with two end tags and one start tag")),
                    },
                    _ => return Err(Unreadable("a value with too many end tags")),
                };
                // A tag of punctuation only may be the start of the value.
                let again = match path.last() {
                    Some(PathPiece::Tag(tag)) if tag.has_letters() => vec![tag.clone()],
                    _ => Vec::new(),
                };
                path.push(PathPiece::Value(ValueSpec { edges, ends, again, quotes, key: meant }));
                return Ok(path);
            }
        }
    }
    Err(Unreadable("a parameter without a value"))
}

/// Splits a literal before a hole. Returns the text before the hole's attribute, the syntax and
/// name of the hole, and its quote.
fn split_before_hole(text: &str) -> (&str, (Holes, String), Option<char>) {
    let quote = text.chars().next_back().filter(|last| matches!(last, '"' | '\''));
    let bare = quote.map_or(text, |_| &text[..text.len().saturating_sub(1)]);
    let Some(name) = bare.strip_suffix('=') else {
        return (text, (Holes::Text, String::new()), None);
    };
    let word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let before = name.trim_end_matches(word);
    if before.len() < name.len() && before.ends_with(|c: char| c.is_ascii_whitespace()) {
        return (before, (Holes::Attributes, name[before.len()..].to_string()), quote);
    }
    (bare, (Holes::Assigned, String::new()), quote)
}

/// Adds a path to the trie.
pub(super) fn insert(
    nodes: &mut Vec<ParameterNode>,
    path: Vec<PathPiece>,
) -> Result<(), Unreadable> {
    const TWO: Unreadable = Unreadable("two parameters that cannot be distinguished");
    let mut at = 0;
    let mut pieces = path.into_iter().peekable();
    while let Some(piece) = pieces.next() {
        let new = nodes.len();
        match (&mut nodes[at], piece) {
            (ParameterNode::Holes { header, fields, .. }, PathPiece::Holes(holes, more)) => {
                if header.holes != holes || holes != Holes::Attributes && fields[0] != more[0].1 {
                    return Err(TWO);
                }
                for (attribute, field) in more {
                    if !header.fields.iter().any(|hole| hole.attribute == attribute) {
                        let names = names(field);
                        header.fields.push(attributes::AttributeHole { attribute, names });
                        fields.push(field);
                    }
                }
            }
            (
                ParameterNode::Tags { tags, to }
                | ParameterNode::Holes {
                    header: attributes::AttributeHeader { ends: tags, .. },
                    to,
                    ..
                },
                PathPiece::Tag(tag),
            ) => {
                if let Some(known) = tags.iter().position(|known| *known == tag) {
                    at = to[known];
                    continue;
                }
                tags.push(tag);
                let next = pieces.peek().ok_or(TWO)?;
                to.push(new);
                at = new;
                nodes.push(begin(next));
            }
            (ParameterNode::Value(known), PathPiece::Value(value)) if known.key == value.key => {
                known.edges = known.edges.with(value.edges);
                let new = value.ends.into_iter().filter(|end| !known.ends.contains(end));
                let new: Vec<TagTexts> = new.collect();
                known.ends.extend(new);
                known.again.extend(value.again);
                known.quotes.extend(value.quotes);
            }
            _ => return Err(TWO),
        }
    }
    Ok(())
}

/// Allows the tag before a value to end a text hole whose end tag is missing.
pub(super) fn skip_ends(nodes: &mut [ParameterNode]) {
    for at in 0..nodes.len() {
        let skipping = tags_before_values(nodes, at);
        if let Some(ParameterNode::Holes { header, to, later, .. }) = nodes.get_mut(at) {
            *later = header.ends.len();
            for (tag, node) in skipping {
                header.ends.push(tag);
                to.push(node);
            }
        }
    }
}

/// Returns the tags between the text hole at `at` and a value, and the value's node.
fn tags_before_values(nodes: &[ParameterNode], at: usize) -> Vec<(TagTexts, usize)> {
    let Some(ParameterNode::Holes { header, to, .. }) = nodes.get(at) else { return Vec::new() };
    let tags = to.iter().filter_map(|&node| match nodes.get(node) {
        Some(ParameterNode::Tags { tags, to }) if header.holes == Holes::Text => {
            Some(tags.iter().zip(to))
        }
        _ => None,
    });
    let is_value = |node: usize| matches!(nodes.get(node), Some(ParameterNode::Value(_)));
    let before = tags.flatten().filter(|(_, node)| is_value(**node));
    before.map(|(tag, &node)| (tag.clone(), node)).collect()
}

/// Returns an empty node for `piece`.
fn begin(piece: &PathPiece) -> ParameterNode {
    match piece {
        PathPiece::Tag(_) => ParameterNode::Tags { tags: Vec::new(), to: Vec::new() },
        PathPiece::Holes(holes, fields) => {
            let hole = |(attribute, field): &(String, ParameterField)| attributes::AttributeHole {
                attribute: attribute.to_owned(),
                names: names(*field),
            };
            ParameterNode::Holes {
                header: attributes::AttributeHeader {
                    holes: *holes,
                    fields: fields.iter().map(hole).collect(),
                    ends: Vec::new(),
                },
                fields: fields.iter().map(|&(_, field)| field).collect(),
                to: Vec::new(),
                later: usize::MAX,
            }
        }
        PathPiece::Value(value) => ParameterNode::Value(ValueSpec {
            edges: value.edges,
            ends: Vec::new(),
            again: Vec::new(),
            quotes: Vec::new(),
            key: value.key.clone(),
        }),
    }
}

/// Returns the class of texts that a field admits.
fn names(field: ParameterField) -> Names {
    match field {
        ParameterField::Key | ParameterField::Type => Names::Line,
        ParameterField::StringFlag => Names::Flag,
    }
}
