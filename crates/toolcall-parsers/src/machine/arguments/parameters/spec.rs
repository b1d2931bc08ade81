//! The compiled form of a form's `parameter` templates.

use alloc::{string::String, vec, vec::Vec};

use super::{call_heads::CallHead, path, value_tags::ValueTags};
use crate::{
    family::{Form, Types, Undeclared},
    machine::arguments::{
        CallEnds, attributes,
        tag::{self, TagTexts},
    },
    template::{Hole, Part, Template},
};

/// The reason why templates cannot be compiled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Unreadable(pub(crate) &'static str);

/// The positions at which the next parameter's header may end an open value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum HeadersIn {
    /// Nowhere. Values end with a marker token, so a header is data.
    Nowhere,
    /// At the start of a line.
    Lines,
    /// Anywhere: the header has several tags, which text does not contain, or the family writes no
    /// newlines.
    Text,
    /// Anywhere, because the tags are special tokens, which are always markup.
    Tokens,
}

impl HeadersIn {
    /// Returns whether a header may begin at a position in a value.
    pub(crate) fn may_begin(self, line_start: bool) -> bool {
        match self {
            Self::Nowhere => false,
            Self::Lines => line_start,
            Self::Text | Self::Tokens => true,
        }
    }
}

/// The content of a hole in a parameter's header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ParameterField {
    /// The parameter's name.
    Key,
    /// The JSON type of the value.
    Type,
    /// Whether the value is a string.
    StringFlag,
}

/// The white space that is removed at a value's start and end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Edges {
    /// No white space is removed.
    Kept,
    /// A newline at the start, and if there was one, a newline at the end.
    NewlinePairs,
    /// A newline at the start and a newline at the end, if present.
    Newlines,
    /// All white space is removed.
    Trimmed,
}

impl Edges {
    /// Returns the edges of a value that two templates write differently.
    pub(crate) fn with(self, other: Self) -> Self {
        match (self, other) {
            (one, two) if one == two => one,
            (Self::Trimmed, _) | (_, Self::Trimmed) => Self::Trimmed,
            _ => Self::NewlinePairs,
        }
    }
}

/// The specification of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ValueSpec {
    pub(crate) edges: Edges,
    /// Tags that end the value.
    pub(crate) ends: Vec<TagTexts>,
    /// The tag before the value. A repetition of it is skipped.
    pub(crate) again: Vec<TagTexts>,
    /// Pairs of tags around text in which other tags are data: CDATA.
    pub(crate) quotes: Vec<(TagTexts, TagTexts)>,
    /// The parameter's name, if the tags before the value decide it.
    pub(crate) key: Option<String>,
}

/// A state of the header's reader.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ParameterNode {
    /// One of `tags` follows. It leads to the node at the same index of `to`.
    Tags { tags: Vec<TagTexts>, to: Vec<usize> },
    /// Holes follow. Their ends lead to the nodes at the same indexes of `to`. From index `later`
    /// on, the ends are later tags, before which the proper end is missing.
    Holes {
        header: attributes::AttributeHeader,
        fields: Vec<ParameterField>,
        to: Vec<usize>,
        later: usize,
    },
    /// The header is complete.
    Value(ValueSpec),
}

/// The compiled `parameter` templates: the nodes of a header, and the texts that end calls.
#[derive(Debug, Clone)]
pub(crate) struct ParameterSpec {
    /// The nodes. The first one is before a header.
    pub(crate) nodes: Vec<ParameterNode>,
    /// The inner and closing tags of parameters.
    pub(crate) parts: Vec<TagTexts>,
    /// The tags that only end values.
    pub(crate) value_ends: Vec<TagTexts>,
    /// Texts that may separate parameters, besides white space.
    pub(crate) separators: Vec<TagTexts>,
    /// Two tags: the ends of the call and of its section, and the ends of its message.
    pub(crate) ends: Vec<TagTexts>,
    /// The ends after which the templates have another end tag.
    pub(crate) inner: TagTexts,
    /// Tokens that end the turn.
    pub(crate) turn: Vec<TagTexts>,
    /// Tags that may follow an end tag that also ends an open value. After the end of a message,
    /// only the first of them may.
    pub(crate) followers: Vec<TagTexts>,
    /// The heads of calls, which end an open value.
    pub(crate) heads: Vec<CallHead>,
    pub(crate) value_tags: ValueTags,
    pub(crate) headers: HeadersIn,
    /// Whether the templates write parameters' openers at the start of a line.
    pub(crate) writes_lines: bool,
    /// Whether a parameter's opener is a complete special token.
    pub(crate) opens_by_token: bool,
    /// Heads that begin no call, because they are text in place of tokens. In a value they quote one.
    pub(crate) typed_heads: Vec<CallHead>,
    pub(crate) types: Types,
    pub(crate) undeclared: Undeclared,
    /// Whether objects and lists are Python. Python may also begin as JSON does.
    pub(crate) python: bool,
}

impl ParameterSpec {
    /// Compiles a form's `parameter` templates.
    pub(crate) fn compile(
        form: &Form,
        ends: CallEnds,
        headers: HeadersIn,
    ) -> Result<Self, Unreadable> {
        let mut nodes = vec![ParameterNode::Tags { tags: Vec::new(), to: Vec::new() }];
        let mut several = true;
        for template in &form.parameters {
            for path in path::paths(template, &form.spellings)? {
                several &= path::has_several_tags(&path);
                path::insert(&mut nodes, path)?;
            }
        }
        path::skip_ends(&mut nodes);
        let calls = form.calls.iter().flat_map(Template::holes);
        let separators = calls.filter_map(|hole| match hole {
            Hole::Parameters { separator } if !separator.trim_ascii().is_empty() => {
                Some(TagTexts::new(separator.trim_ascii(), &form.spellings))
            }
            _ => None,
        });
        let CallEnds { call, inner, section, turn, openers, messages, heads } = ends;
        let outermost = TagTexts::exact(messages.iter().cloned());
        let call = call.into_iter().filter(|end| !messages.contains(end));
        let own = TagTexts::exact(call.chain(section));
        let mut spec = Self {
            parts: parts(&nodes),
            value_ends: value_ends(&nodes),
            nodes,
            separators: separators.collect(),
            followers: vec![TagTexts::exact(openers), own.clone(), outermost.clone()],
            ends: vec![own, outermost],
            inner: TagTexts::exact(inner.into_iter().filter(|end| !messages.contains(end))),
            turn: vec![TagTexts::exact(turn)],
            heads,
            value_tags: ValueTags::default(),
            headers,
            writes_lines: writes_lines(form),
            opens_by_token: false,
            typed_heads: Vec::new(),
            types: form.types,
            undeclared: form.undeclared.unwrap_or(match form.types {
                Types::Schema => Undeclared::Text,
                Types::Wire => Undeclared::Json,
            }),
            python: false,
        };
        // Special tokens without bars (`<param`) also occur in text.
        let barred = |text: &str| text.starts_with("<|") || text.starts_with("<｜");
        spec.headers = match headers {
            HeadersIn::Tokens if !spec.openers().iter().flat_map(TagTexts::texts).all(barred) => {
                HeadersIn::Text
            }
            HeadersIn::Lines if several || !spec.writes_lines => HeadersIn::Text,
            headers => headers,
        };
        let by_token =
            spec.openers().iter().flat_map(TagTexts::texts).all(|text| text.ends_with('>'));
        spec.opens_by_token = spec.headers == HeadersIn::Tokens && by_token;
        spec.value_tags = ValueTags::new(&spec);
        Ok(spec)
    }

    /// Drops tags that are data if the family's other tags are marker tokens.
    ///
    /// - If values end with tokens, headers and heads without a token do not end them.
    /// - If a token opens a section of one call, a head without its section is not a call.
    ///
    /// Heads as text, which `spelled` has, only quote calls.
    pub(crate) fn drop_typed_markup(&mut self, spelled: Vec<CallHead>) {
        let mut values = self.nodes.iter().filter_map(|node| match node {
            ParameterNode::Value(value) => Some(value),
            _ => None,
        });
        let ends_by_tokens =
            |value: &ValueSpec| !value.ends.is_empty() && value.ends.iter().all(TagTexts::is_token);
        let all_do = values.clone().next().is_some() && values.all(ends_by_tokens);
        if all_do && !self.openers().iter().any(TagTexts::is_token) {
            self.headers = HeadersIn::Nowhere;
        }
        let opens = self.heads.iter().any(|head| !head.lacks_section && head.has_token());
        let stays = |head: &CallHead| head.has_token() || !(all_do || opens && head.lacks_section);
        if !all_do {
            let heads = spelled.into_iter().zip(&self.heads);
            let typed = heads.filter(|(_, head)| head.has_token() || !stays(head));
            self.typed_heads = typed.map(|(spelled, _)| spelled).collect();
        }
        self.heads.retain(stays);
    }

    /// Adds the ends of another template with the same header and parameters.
    pub(crate) fn merge_ends(&mut self, other: Self) {
        merge_inner((&mut self.inner, &self.ends), (other.inner, &other.ends));
        tag::merge(&mut self.ends, other.ends);
        tag::merge(&mut self.followers, other.followers);
        self.value_tags = ValueTags::new(self);
    }

    /// Returns the tags that begin a parameter.
    pub(crate) fn openers(&self) -> &[TagTexts] {
        match self.nodes.first() {
            Some(ParameterNode::Tags { tags, .. }) => tags,
            _ => &[],
        }
    }

    /// Returns each tag after a key, with the tags between it and the value. The list is empty if
    /// the first tag alone is certain.
    pub(crate) fn inner_tags(&self) -> impl Iterator<Item = (&TagTexts, &[TagTexts])> {
        let holes = self.nodes.iter().filter_map(|node| match node {
            ParameterNode::Holes { header, to, later, .. } => {
                Some(header.ends.iter().zip(to).take(*later))
            }
            _ => None,
        });
        let tokens = self.opens_by_token;
        holes.flatten().filter_map(move |(close, &to)| match &self.nodes[to] {
            ParameterNode::Tags { tags, .. } => Some((close, tags.as_slice())),
            ParameterNode::Value(_) if tokens && close.has_letters() => Some((close, &[][..])),
            _ => None,
        })
    }

    /// Returns the tags directly before values.
    pub(crate) fn value_openers(&self) -> impl Iterator<Item = &TagTexts> {
        self.nodes.iter().flat_map(|node| match node {
            ParameterNode::Value(value) => value.again.as_slice(),
            _ => &[],
        })
    }

    /// Returns the value's specification at `node`.
    pub(crate) fn value(&self, node: usize) -> Option<&ValueSpec> {
        match self.nodes.get(node) {
            Some(ParameterNode::Value(value)) => Some(value),
            _ => None,
        }
    }
}

/// Adds the inner ends of another template. A tag that is the last end of one of the templates is
/// an inner end of neither.
pub(crate) fn merge_inner(
    (inner, ends): (&mut TagTexts, &[TagTexts]),
    (other, other_ends): (TagTexts, &[TagTexts]),
) {
    let is_last = |text: &str, inner: &TagTexts, ends: &[TagTexts]| {
        ends.iter().flat_map(TagTexts::texts).any(|end| end == text)
            && !inner.texts().any(|inner| inner == text)
    };
    let both = inner.texts().chain(other.texts());
    let kept =
        both.filter(|text| !is_last(text, inner, ends) && !is_last(text, &other, other_ends));
    let kept = TagTexts::exact(kept.map(String::from));
    *inner = kept;
}

/// Returns the tags that end values and are more than punctuation.
fn value_ends(nodes: &[ParameterNode]) -> Vec<TagTexts> {
    let mut ends: Vec<TagTexts> = Vec::new();
    for node in nodes {
        if let ParameterNode::Value(value) = node {
            let new = value.ends.iter().filter(|tag| tag.has_letters() && !ends.contains(tag));
            let new: Vec<_> = new.cloned().collect();
            ends.extend(new);
        }
    }
    ends
}

/// Returns whether the templates have newlines between parameters.
fn writes_lines(form: &Form) -> bool {
    let starts = |template: &Template| match template.parts.first() {
        Some(Part::Literal(text)) => text.starts_with('\n'),
        _ => false,
    };
    let ends = |template: &Template| match template.parts.last() {
        Some(Part::Literal(text)) => text.ends_with('\n'),
        _ => false,
    };
    let separated = |hole: &Hole| match hole {
        Hole::Parameters { separator } => separator.contains('\n'),
        _ => false,
    };
    form.parameters.iter().any(|template| starts(template) || ends(template))
        || form.calls.iter().flat_map(Template::holes).any(separated)
}

/// Returns the inner and closing tags of parameters that are more than punctuation.
fn parts(nodes: &[ParameterNode]) -> Vec<TagTexts> {
    let mut parts: Vec<TagTexts> = Vec::new();
    let tags = nodes.iter().skip(1).flat_map(|node| match node {
        ParameterNode::Tags { tags, .. } => [tags.as_slice(), &[]],
        ParameterNode::Holes { header, .. } => [header.ends.as_slice(), &[]],
        ParameterNode::Value(value) => [value.ends.as_slice(), value.again.as_slice()],
    });
    for tag in tags.flatten().filter(|tag| tag.has_letters()) {
        if !parts.contains(tag) {
            parts.push(tag.clone());
        }
    }
    parts
}
