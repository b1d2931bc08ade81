//! Construction of the trie of headers.

use alloc::{boxed::Box, string::String, vec::Vec};

use jail_match::{Anchor, Newlines};

use super::{CompileError, anchor};
use crate::{
    family::{At, CommitOn, Form, NewlineRule},
    limits::MAX_NEWLINES,
    machine::arguments::{attributes, tag::TagTexts as EndTag},
    machine::field::name_starts,
    machine::plan::{
        Arguments, BlankRule, BlankStop, Bracket, EndTags, FieldKind, HeaderField, HeaderTag, Leaf,
        LeafId, Missing, NodeId, Opener, Quotes, Section, SectionId, Start, TrieNode,
    },
};

/// A trie of headers under construction.
#[derive(Default)]
pub(super) struct Trie {
    pub(super) nodes: Vec<TrieNode>,
    pub(super) leaves: Vec<Leaf>,
    pub(super) sections: Vec<Section>,
    pub(super) openers: Vec<Opener>,
    /// The nodes of calls without a marker, by their position in a message.
    bare: Vec<(At, NodeId)>,
    /// The node of the body of a call message.
    pub(super) body: Option<NodeId>,
    /// The position of the current form's openers in a message.
    marked: At,
}

impl Trie {
    /// Returns an error if the indices do not fit in 16 bits.
    pub(super) fn fits(&self) -> Result<(), CompileError> {
        let all = [self.nodes.len(), self.leaves.len(), self.sections.len()];
        if all.iter().any(|len| *len > usize::from(NodeId::MAX)) {
            return Err(CompileError::new("more than 65535 tags, calls or sections"));
        }
        Ok(())
    }

    fn node(&mut self) -> NodeId {
        self.nodes.push(TrieNode::default());
        self.nodes.len().saturating_sub(1) as NodeId
    }

    /// Sets whether calls are inside messages with headers.
    pub(super) fn message_body(&mut self, in_messages: bool) {
        self.body = in_messages.then(|| self.node());
    }

    /// Returns the node of the body of a call message.
    pub(super) fn message_node(&self) -> Option<NodeId> {
        self.body
    }

    /// Sets the position of the next form's openers in a message.
    pub(super) fn anchors(&mut self, marked: At) {
        self.marked = marked;
    }

    /// Returns all spellings of `tag`, the one in the template first.
    pub(super) fn spell(&self, tag: &str, form: &Form) -> Vec<Box<str>> {
        let mut spellings = Vec::from([String::from(tag)]);
        let mut rules: Vec<_> = form.spellings.iter().collect();
        rules.sort_by_key(|(text, _)| core::cmp::Reverse(text.len()));
        for (text, others) in rules {
            for n in 0..spellings.len() {
                if spellings[n].contains(text.as_str()) {
                    for other in others {
                        let other = spellings[n].replace(text.as_str(), other);
                        if !spellings.contains(&other) {
                            spellings.push(other);
                        }
                    }
                }
            }
        }
        spellings.into_iter().map(String::into_boxed_str).collect()
    }

    /// Returns the node after the opener `tag`.
    pub(super) fn open(&mut self, tag: &str, form: &Form) -> NodeId {
        let at = anchor(self.marked);
        let newlines = if form.newlines == NewlineRule::All { MAX_NEWLINES } else { 0 };
        let spellings = self.spell(tag, form);
        let known = self.openers.iter().find_map(|opener| match opener.start {
            Start::Node(node) if *opener.marker == *spellings[0] && opener.at == at => Some(node),
            _ => None,
        });
        let to = known.unwrap_or_else(|| self.node());
        for marker in spellings {
            let newlines = newlines.min(Newlines::MAX);
            self.add(Opener { marker, at, newlines, start: Start::Node(to) });
        }
        to
    }

    /// Adds an opener to which no newlines bind.
    fn opener(&mut self, marker: Box<str>, at: Anchor, start: Start) {
        self.add(Opener { marker, at, newlines: 0, start });
    }

    /// Adds an opener, unless the same marker is one at the same place.
    fn add(&mut self, opener: Opener) {
        let same = |known: &Opener| known.marker == opener.marker && known.at == opener.at;
        if !self.openers.iter().any(same) {
            self.openers.push(opener);
        }
    }

    /// Returns the node after `tag` at `node`.
    pub(super) fn tag(&mut self, node: NodeId, tag: &str, form: &Form) -> NodeId {
        let spellings = self.spell(tag, form);
        let tags = &self.nodes[usize::from(node)].tags;
        let known = tags.iter().find(|known| known.text == spellings[0]).map(|known| known.to);
        let to = known.unwrap_or_else(|| self.node());
        let tags = &mut self.nodes[usize::from(node)].tags;
        for text in spellings {
            if !tags.iter().any(|known| known.text == text) {
                tags.push(HeaderTag { text, to });
            }
        }
        to
    }

    /// Records that `tag`, the first tag of a section or call, led to `node`. A repetition is then
    /// skipped.
    pub(super) fn again(&mut self, node: NodeId, tag: &str, form: &Form) {
        // A doubled fence is a longer fence, not a repetition.
        if tag.contains(|c| c != '`') {
            let again = self.spell(tag, form);
            self.nodes[usize::from(node)].again = again;
        }
    }

    pub(super) fn blanks(&mut self, node: NodeId, blanks: BlankRule) {
        self.nodes[usize::from(node)].blanks = blanks;
    }

    /// Returns the node after a hole at `node`.
    pub(super) fn field(&mut self, node: NodeId, kind: &FieldKind, quotes: Quotes) -> NodeId {
        if let Some((field, to)) = &mut self.nodes[usize::from(node)].field {
            if let (FieldKind::Attributes(known), FieldKind::Attributes(more)) =
                (&mut field.kind, kind)
            {
                for (key, kind) in more {
                    if !known.iter().any(|(name, _)| name == key) {
                        known.push((key.clone(), kind.clone()));
                    }
                }
            }
            return *to;
        }
        let to = self.node();
        let field = HeaderField {
            kind: kind.clone(),
            quotes,
            stops: Vec::new(),
            blank_stop: BlankStop::None,
            header: None,
        };
        self.nodes[usize::from(node)].field = Some((field, to));
        to
    }

    /// Sets the white space that ends the field at `node`.
    pub(super) fn blank_stop(&mut self, node: NodeId, stop: BlankStop) {
        if let Some((field, _)) = &mut self.nodes[usize::from(node)].field
            && field.blank_stop != BlankStop::Any
        {
            field.blank_stop = stop;
        }
    }

    /// Adds a section at `node`, or merges it with an equal one.
    pub(super) fn section(&mut self, node: NodeId, section: Section) -> SectionId {
        let here = &self.nodes[usize::from(node)].sections;
        let same = here.iter().copied().find(|&id| {
            let known = &self.sections[usize::from(id)];
            (known.bracket, known.blanks, known.commit)
                == (section.bracket, section.blanks, section.commit)
        });
        if let Some(id) = same {
            merge(&mut self.sections[usize::from(id)].ends, section.ends);
            return id;
        }
        let calls = match section.bracket {
            Bracket::Square => self.node(),
            Bracket::None => node,
        };
        self.sections.push(Section { calls, ..section });
        let id = self.sections.len().saturating_sub(1) as SectionId;
        self.nodes[usize::from(node)].sections.push(id);
        id
    }

    /// Adds a leaf at `node`, or merges it with an equal one.
    pub(super) fn leaf(&mut self, node: NodeId, leaf: Leaf) {
        let same = self.nodes[usize::from(node)].leaves.iter().copied().find(|&id| {
            let known = &self.leaves[usize::from(id)];
            (known.form, &known.name, known.commit) == (leaf.form, &leaf.name, leaf.commit)
                && alike(&known.arguments, &leaf.arguments)
        });
        match same {
            Some(id) => {
                let known = &mut self.leaves[usize::from(id)];
                merge(&mut known.ends, leaf.ends);
                known.arguments.merge_ends(leaf.arguments);
            }
            None => {
                self.leaves.push(leaf);
                let id = self.leaves.len().saturating_sub(1) as LeafId;
                self.nodes[usize::from(node)].leaves.push(id);
            }
        }
    }

    /// Returns the node of the unmarked calls of `form`.
    pub(super) fn bare(&mut self, form: &Form) -> NodeId {
        if let Some((_, node)) = self.bare.iter().find(|(at, _)| *at == form.at) {
            return *node;
        }
        let node = self.node();
        self.bare.push((form.at, node));
        node
    }

    /// Separates later unmarked calls from those added so far.
    pub(super) fn forget_bare(&mut self) {
        self.bare.clear();
    }

    /// Adds the openers of unmarked calls, and of calls after a separator.
    pub(super) fn between(&mut self, form: &Form) {
        let Some(&(_, bare)) = self.bare.iter().find(|(at, _)| *at == form.at) else { return };
        let node = &self.nodes[usize::from(bare)];
        let object = |&leaf: &LeafId| {
            matches!(
                self.leaves[usize::from(leaf)].arguments,
                Arguments::Object(_) | Arguments::Value(_)
            )
        };
        let objects = node.leaves.iter().any(object);
        let lists = node.sections.clone();
        let named = node.field.is_some();
        let at = anchor(form.at);
        if objects {
            self.opener("{".into(), at, Start::Object(bare));
            if form.at == At::Lead {
                self.opener("{".into(), Anchor::AfterCall, Start::Object(bare));
            }
        }
        for section in lists {
            self.opener("[".into(), at, Start::List(section));
        }
        if named {
            for letter in name_starts() {
                self.opener(String::from(letter).into(), at, Start::Letter(bare));
            }
        }
        for separator in form.between.iter().map(|text| text.trim_ascii()) {
            let anywhere =
                |opener: &Opener| *opener.marker == *separator && opener.at == Anchor::Anywhere;
            if !separator.is_empty() && !self.openers.iter().any(anywhere) {
                self.opener(separator.into(), Anchor::AfterCall, Start::Node(bare));
            }
        }
    }

    /// Computes the ends of each field, and what makes calls certain at each node.
    pub(super) fn settle(&mut self) {
        for n in 0..self.nodes.len() {
            let Some((_, to)) = &self.nodes[n].field else { continue };
            let following = &self.nodes[usize::from(*to)];
            let mut stops: Vec<Box<str>> =
                following.tags.iter().map(|tag| tag.text.clone()).collect();
            for &leaf in &following.leaves {
                let leaf = &self.leaves[usize::from(leaf)];
                match &leaf.arguments {
                    Arguments::Value(_) => stops.push("{".into()),
                    Arguments::Parameters(spec) => {
                        let firsts = spec.openers().iter().flat_map(|tag| tag.texts());
                        stops.extend(firsts.map(Box::from));
                        stops.extend(leaf.ends.tags.iter().flatten().cloned());
                    }
                    Arguments::Raw { ends, .. } => stops.extend(ends.iter().cloned()),
                    _ => stops.extend(leaf.ends.tags.iter().flatten().cloned()),
                }
            }
            let ends = following.tags.iter().map(|tag| attribute_end(&tag.text)).collect();
            if let Some((field, _)) = &mut self.nodes[n].field {
                if let FieldKind::Attributes(kinds) = &field.kind {
                    field.header = Some(attributes(kinds, ends));
                }
                field.stops = stops;
            }
        }
        for n in 0..self.nodes.len() {
            self.nodes[n].commit = self.commit(n as NodeId);
        }
    }

    fn commit(&self, from: NodeId) -> CommitOn {
        let mut seen = alloc::vec![false; self.nodes.len()];
        let mut queue = Vec::from([from]);
        while let Some(at) = queue.pop() {
            if core::mem::replace(&mut seen[usize::from(at)], true) {
                continue;
            }
            let node = &self.nodes[usize::from(at)];
            let commits = node.leaves.iter().map(|&leaf| self.leaves[usize::from(leaf)].commit);
            if let Some(by_name) = commits.filter(|commit| commit.is_by_name()).min() {
                return by_name;
            }
            queue.extend(node.tags.iter().map(|tag| tag.to));
            queue.extend(node.field.as_ref().map(|(_, to)| *to));
            queue.extend(node.sections.iter().map(|&id| self.sections[usize::from(id)].calls));
        }
        CommitOn::Marker
    }
}

/// Returns the specification of attributes of `kinds`.
pub(super) fn attributes(
    kinds: &[(Box<str>, FieldKind)],
    ends: Vec<EndTag>,
) -> attributes::AttributeHeader {
    let hole = |(name, kind): &(Box<str>, FieldKind)| attributes::AttributeHole {
        attribute: String::from(&**name),
        names: match kind {
            FieldKind::Name => attributes::Names::Tool,
            _ => attributes::Names::Line,
        },
    };
    let fields = kinds.iter().map(hole).collect();
    attributes::AttributeHeader { holes: attributes::Holes::Attributes, fields, ends }
}

fn attribute_end(text: &str) -> EndTag {
    EndTag::exact([String::from(text)])
}

/// Returns whether two kinds of arguments at one node are read alike.
fn alike(one: &Arguments, other: &Arguments) -> bool {
    match (one, other) {
        (Arguments::Object(a), Arguments::Object(b))
        | (Arguments::Value(a), Arguments::Value(b))
        | (Arguments::Keywords(a), Arguments::Keywords(b)) => a == b,
        (Arguments::Raw { key: a, .. }, Arguments::Raw { key: b, .. }) => a == b,
        (one, other) => core::mem::discriminant(one) == core::mem::discriminant(other),
    }
}

/// Merges the end tags of two readings. If one has fewer tags, a missing tag is not reported.
fn merge(ends: &mut EndTags, other: EndTags) {
    if ends.tags.len() != other.tags.len() {
        ends.missing = Missing::Silent;
    }
    let (mut long, short) = if ends.tags.len() >= other.tags.len() {
        (core::mem::take(&mut ends.tags), other.tags)
    } else {
        (other.tags, core::mem::take(&mut ends.tags))
    };
    for tags in short {
        if long.iter().any(|known| known == &tags) {
            continue;
        }
        match long.first_mut() {
            Some(first) => first.extend(tags),
            None => long.push(tags),
        }
    }
    ends.tags = long;
}
