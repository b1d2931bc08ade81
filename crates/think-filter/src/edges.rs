//! The translation of a format to edges of the driver's table.
//!
//! | part of the format | edges |
//! |---|---|
//! | an opener `<think>` | `<think>` in content opens reasoning; a second one directly after it is removed |
//! | a closer `</think>` | `</think>` in reasoning closes it; in content it is removed as [`StrayClose`] says |

use alloc::vec::Vec;

use jail_match::{Anchor, Channel, Edge, LetterCase, Newlines, SuffixRule, Then, Uses};

use crate::{
    format::Format,
    rules::{
        DupOpen, MarkerCase, Openers, Pairing, Recur, StrayClose, StripRemarks, Text, TokenSuffix,
    },
};

/// The role of an edge in its format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// The edge opens a span of reasoning.
    Open,
    /// The edge removes a repeated opener.
    Echo,
    /// The edge closes a span of reasoning.
    Close,
    /// The edge removes a closer while no reasoning is open.
    Stray,
    /// The edge removes other markup: labels, wrappers of the answer, remarks.
    Other,
}

/// Edges with their roles, in the order of the table.
pub(crate) type RoleEdges = Vec<(Role, Edge)>;

impl Format {
    /// Returns the edges that recognise the format.
    #[must_use]
    pub fn edges(&self) -> Vec<Edge> {
        self.edges_by_role().into_iter().map(|(_, edge)| edge).collect()
    }

    pub(crate) fn edges_by_role(&self) -> RoleEdges {
        let mut edges = Vec::new();
        for (place, open) in self.open.iter().enumerate() {
            self.add_opener(open, self.pair(place), &mut edges);
        }
        for (place, close) in self.close.iter().enumerate() {
            self.add_closer(close, self.pair(place), &mut edges);
        }
        self.add_other(&mut edges);
        let case = match self.case {
            MarkerCase::Exact => LetterCase::Exact,
            MarkerCase::Insensitive => LetterCase::FoldAscii,
        };
        let finished = |edge: Edge| {
            let edge = edge.cased(case);
            if self.special_tokens { edge.of_tokens() } else { edge }
        };
        edges.into_iter().map(|(role, edge)| (role, finished(edge))).collect()
    }

    fn pair(&self, place: usize) -> u8 {
        match self.pairing {
            Pairing::Any => 0,
            Pairing::Own => u8::try_from(place.saturating_add(1)).unwrap_or(u8::MAX),
        }
    }

    fn suffix(&self) -> SuffixRule {
        match self.suffix {
            TokenSuffix::None => SuffixRule::None,
            TokenSuffix::Any => SuffixRule::Optional,
        }
    }

    fn add_opener(&self, open: &Text, pair: u8, edges: &mut RoleEdges) {
        let anchor = match self.openers {
            Openers::Line if is_ordinary(open) => Anchor::Line,
            Openers::Line | Openers::Anywhere => Anchor::Anywhere,
            Openers::Lead => Anchor::Lead,
        };
        let uses = match self.recur {
            Recur::Any => Uses::Unlimited,
            Recur::Once => Uses::OncePerMessage,
        };
        let reasoning = Then::Enter(Channel::REASONING);
        let edge = Edge::new(open.clone(), Channel::CONTENT.mask(), reasoning)
            .suffixed(self.suffix())
            .of_pair(pair)
            .anchored(anchor)
            .bound(self.newlines.opener())
            .used(uses)
            .literal_in_code();
        edges.push((Role::Open, edge));
        if self.dup_open == DupOpen::Absorb {
            let edge = Edge::new(open.clone(), Channel::REASONING.mask(), Then::Erase)
                .suffixed(self.suffix())
                .of_pair(pair)
                .anchored(Anchor::Lead)
                .bound(self.newlines.opener())
                .used(Uses::OncePerEntry);
            edges.push((Role::Echo, edge));
        }
    }

    fn add_closer(&self, close: &Text, pair: u8, edges: &mut RoleEdges) {
        let edge = Edge::new(close.clone(), Channel::REASONING.mask(), Then::Leave)
            .suffixed(self.suffix())
            .of_pair(pair)
            .bound(self.newlines.closer());
        edges.push((Role::Close, edge));
        if let Some(label) = &self.label {
            edges.extend(self.empty_span(label, close, pair));
        }
        let stray = Edge::new(close.clone(), Channel::CONTENT.mask(), Then::Erase)
            .suffixed(self.suffix())
            .bound(self.newlines.closer())
            .literal_in_code()
            .as_orphan();
        // The text before a stray closer is content, whose newlines were emitted.
        let after_text = Newlines { before: 0, ..self.newlines.closer() };
        let mut add = |edge| edges.push((Role::Stray, edge));
        match self.stray_close {
            StrayClose::Keep => {}
            StrayClose::Leading => add(stray.clone().anchored(Anchor::Lead)),
            StrayClose::First => {
                add(stray.clone().used(Uses::BeforeReasoning).bound(after_text));
                add(stray.clone().anchored(Anchor::Lead).bound(after_text));
            }
            StrayClose::Drop => return add(stray),
        }
        add(stray.anchored(Anchor::Ended).bound(after_text));
    }

    /// Returns the edge of an empty span: a label without its last newline, and the closer.
    fn empty_span(&self, label: &str, close: &str, pair: u8) -> Option<(Role, Edge)> {
        let label = label.strip_suffix('\n')?;
        let reasoning = Channel::REASONING.mask();
        let edge = Edge::new(alloc::format!("{label}{close}"), reasoning, Then::Leave)
            .suffixed(self.suffix())
            .of_pair(pair)
            .anchored(Anchor::Lead)
            .bound(self.newlines.closer());
        Some((Role::Close, edge))
    }

    fn add_other(&self, edges: &mut RoleEdges) {
        let (content, reasoning) = (Channel::CONTENT.mask(), Channel::REASONING.mask());
        let mut add = |edge| edges.push((Role::Other, edge));
        if let Some(label) = &self.label {
            add(Edge::new(label.clone(), reasoning, Then::Erase)
                .anchored(Anchor::Lead)
                .used(Uses::OncePerEntry));
        }
        for wrapper in &self.answer {
            let newlines = Newlines::declared(wrapper.newlines_before, wrapper.newlines_after);
            add(Edge::new(wrapper.marker.clone(), content, Then::Erase).bound(newlines));
        }
        if let (Some((open, close)), StripRemarks::Yes) = (&self.remark, self.strip_remarks) {
            add(Edge::new(open.clone(), reasoning, Then::Enter(Channel::HIDDEN)));
            add(Edge::new(close.clone(), Channel::HIDDEN.mask(), Then::Leave));
        }
    }
}

/// Returns whether prose may mention the tag: `<think>`, but not `<|think|>` or `[THINK]`.
fn is_ordinary(tag: &str) -> bool {
    let word = tag.strip_prefix('<').and_then(|tag| tag.strip_suffix('>'));
    word.is_some_and(|word| word.bytes().all(|byte| byte.is_ascii_alphabetic()))
}
