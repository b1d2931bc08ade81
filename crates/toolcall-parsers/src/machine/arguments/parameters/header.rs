//! Reading of a parameter's header, by the trie of all its forms.
//!
//! ```text
//! <arg_key>city</arg_key>\n<arg_value>     key `city`, then the node of the value
//! <parameter=city>                         the same in another family
//! ```

use alloc::string::String;

use super::spec::{ParameterField, ParameterNode, ParameterSpec, ValueSpec};
use crate::{
    cursor::{TextCursor, Undecided, after_blanks, first_found},
    limits::MAX_HEADER_EXTRA,
    machine::arguments::{
        attributes::{AttributeRead, HeaderReader, Holes},
        tag::longest,
    },
};

/// The result of reading a header's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum HeaderStep {
    /// The header continues. Text after the cursor is offered again.
    More,
    /// The header is complete. This node is the value's specification.
    Value(usize),
    /// The header has a key but no value: another header is after the cursor.
    Again,
    /// The character after the cursor is not allowed there.
    Bad,
}

/// A reader of parameter headers, in any number of chunks.
#[derive(Debug, Clone, Default)]
pub(in super::super) struct ParameterHeader {
    node: usize,
    /// The opener, until other text is read. A repetition of it is skipped.
    opener: Option<usize>,
    holes: HeaderReader,
    key: String,
    /// The name of the value's type on the wire.
    kind: String,
    /// Whether the value is a string, if the wire marks it.
    string: Option<bool>,
    bytes: usize,
    /// Whether an inner tag of the header may be missing.
    may_lack: bool,
    /// Whether the header lacks one of its tags.
    lacks_tag: bool,
}

impl ParameterHeader {
    /// Starts a header. `opener` is the index of its first tag in the first node.
    pub(in super::super) fn begin(&mut self, spec: &ParameterSpec, opener: usize) {
        self.key.clear();
        self.kind.clear();
        (self.string, self.bytes, self.opener) = (None, 0, Some(opener));
        (self.may_lack, self.lacks_tag) = (false, false);
        if let Some(ParameterNode::Tags { to, .. }) = spec.nodes.first() {
            self.enter(spec, to[opener]);
        }
    }

    /// Allows the header to lack the tag after the key or the tag before the value.
    pub(in super::super) fn may_lack_tag(&mut self) {
        self.may_lack = true;
    }

    /// Returns whether an inner tag is missing.
    pub(in super::super) fn lacks_tag(&self) -> bool {
        self.lacks_tag
    }

    pub(in super::super) fn key(&self) -> &str {
        &self.key
    }

    pub(in super::super) fn kind(&self) -> &str {
        &self.kind
    }

    pub(in super::super) fn string(&self) -> Option<bool> {
        self.string
    }

    /// Returns whether a header that cannot continue with `rest` is a header with a missing tag.
    /// Its key must be known and enclosed by two of its tags.
    pub(in super::super) fn is_torn(
        &self,
        spec: &ParameterSpec,
        rest: &str,
        is_known: impl Fn(&str) -> bool,
    ) -> Result<bool, Undecided> {
        if !self.key.is_empty() {
            return Ok(is_known(&self.key));
        }
        let ParameterNode::Holes { header, to, .. } = &spec.nodes[self.node] else {
            return Ok(false);
        };
        if !self.holes.value(0).is_some_and(is_known) || header.holes == Holes::Assigned {
            return Ok(false);
        }
        if header.holes == Holes::Attributes {
            return Ok(true);
        }
        let following = to.iter().filter_map(|&node| match &spec.nodes[node] {
            ParameterNode::Tags { tags, .. } => Some(longest(rest, tags)),
            _ => None,
        });
        Ok(first_found(following)?.is_some())
    }

    fn enter(&mut self, spec: &ParameterSpec, node: usize) {
        self.node = node;
        match &spec.nodes[node] {
            ParameterNode::Holes { header, .. } => self.holes.begin(header),
            ParameterNode::Value(ValueSpec { key: Some(key), .. }) => self.key.clone_from(key),
            _ => {}
        }
    }

    /// Reads the header up to its end. `limit` is the maximum length of the key. The header may
    /// exceed it by [`MAX_HEADER_EXTRA`].
    pub(in super::super) fn feed(
        &mut self,
        spec: &ParameterSpec,
        limit: usize,
        cursor: &mut TextCursor<'_>,
    ) -> HeaderStep {
        let start = cursor.at;
        let room =
            limit.saturating_add(MAX_HEADER_EXTRA).saturating_sub(self.bytes).saturating_add(start);
        // The limit must not depend on how the text is cut into chunks.
        let end = (room..cursor.text.len()).find(|&at| cursor.text.is_char_boundary(at));
        let text = &cursor.text[..end.unwrap_or(cursor.text.len())];
        let mut offered = TextCursor { text, at: start };
        let step = self.walk(spec, limit, &mut offered);
        cursor.at = offered.at;
        self.bytes = self.bytes.saturating_add(cursor.at.saturating_sub(start));
        if step == HeaderStep::More && end.is_some() { HeaderStep::Bad } else { step }
    }

    fn walk(
        &mut self,
        spec: &ParameterSpec,
        limit: usize,
        cursor: &mut TextCursor<'_>,
    ) -> HeaderStep {
        while let Some(opener) = self.opener.and_then(|n| spec.openers().get(n)) {
            match longest(cursor.rest(), core::slice::from_ref(opener)) {
                Err(Undecided) => return HeaderStep::More,
                Ok(Some((_, len))) => cursor.advance(len),
                Ok(None) => self.opener = None,
            }
        }
        loop {
            match &spec.nodes[self.node] {
                ParameterNode::Value(value) if self.lacks_tag => {
                    return match self.begins_value(spec, value, cursor.rest()) {
                        Err(Undecided) => HeaderStep::More,
                        Ok(true) => HeaderStep::Value(self.node),
                        Ok(false) => HeaderStep::Bad,
                    };
                }
                ParameterNode::Value(_) => return HeaderStep::Value(self.node),
                ParameterNode::Tags { tags, to } => {
                    cursor.skip_blanks();
                    match longest(cursor.rest(), tags) {
                        Err(Undecided) => return HeaderStep::More,
                        Ok(Some((n, len))) => {
                            cursor.advance(len);
                            self.enter(spec, to[n]);
                        }
                        Ok(None) => {
                            return match longest(cursor.rest(), spec.openers()) {
                                Err(Undecided) => HeaderStep::More,
                                Ok(Some(_)) if !self.key.is_empty() => HeaderStep::Again,
                                Ok(None)
                                    if self.may_lack
                                        && !self.lacks_tag
                                        && !cursor.rest().is_empty() =>
                                {
                                    let value = |node: &&usize| {
                                        matches!(spec.nodes[**node], ParameterNode::Value(_))
                                    };
                                    match to.iter().find(value) {
                                        Some(&node) => {
                                            self.lacks_tag = true;
                                            self.node = node;
                                            continue;
                                        }
                                        None => HeaderStep::Bad,
                                    }
                                }
                                Ok(_) => HeaderStep::Bad,
                            };
                        }
                    }
                }
                ParameterNode::Holes { header, fields, to, later } => {
                    match self.holes.feed(header, limit, cursor) {
                        AttributeRead::More => return HeaderStep::More,
                        AttributeRead::Bad => return HeaderStep::Bad,
                        AttributeRead::Done { end, len } if end >= *later && !self.may_lack => {
                            cursor.back(len);
                            return HeaderStep::Bad;
                        }
                        AttributeRead::Done { end, .. } if end >= *later && self.take(fields) => {
                            self.lacks_tag = true;
                            self.enter(spec, to[end]);
                        }
                        AttributeRead::Done { end, .. } if self.take(fields) => {
                            self.enter(spec, to[end]);
                        }
                        AttributeRead::Done { len, .. } => {
                            cursor.back(len);
                            return HeaderStep::Bad;
                        }
                    }
                }
            }
        }
    }

    /// Returns whether a value may begin with `rest` after a header that lacks a tag. Another tag
    /// there refutes it.
    fn begins_value(
        &self,
        spec: &ParameterSpec,
        value: &ValueSpec,
        rest: &str,
    ) -> Result<bool, Undecided> {
        let Some(rest) = after_blanks(rest) else { return Ok(true) };
        if rest.is_empty() {
            return Err(Undecided);
        }
        let (own, part) = (longest(rest, &value.ends)?, longest(rest, &spec.parts)?);
        let ends = [&spec.ends, &spec.followers].map(|tags| longest(rest, tags));
        Ok(first_found(ends)?.is_none() && (part.is_none() || own.is_some()))
    }

    /// Stores the texts of the holes. Returns whether they are valid.
    fn take(&mut self, fields: &[ParameterField]) -> bool {
        for (n, field) in fields.iter().enumerate() {
            let value = self.holes.value(n);
            match (field, value) {
                (ParameterField::Key, None | Some("")) => return false,
                (ParameterField::Key, Some(key)) => self.key.push_str(key),
                (ParameterField::Type, Some(kind)) => self.kind.push_str(kind),
                (ParameterField::StringFlag, Some("true")) => self.string = Some(true),
                (ParameterField::StringFlag, Some("false")) => self.string = Some(false),
                (ParameterField::StringFlag, Some(_)) => return false,
                (ParameterField::Type | ParameterField::StringFlag, None) => {}
            }
        }
        true
    }
}
