//! [`edges`]: the driver's table of a grammar.

use alloc::{string::String, vec::Vec};

use jail_match::{
    Anchor, BodyId, Channel, ChannelMask, CutMarker, Edge, Newlines, OnCommit, Then, Uses,
};

use crate::{
    compiled::Grammar,
    family::{InReasoning, RouteTo, Suffix},
    machine::{
        compile::anchor,
        messages::{EntryKind, HeaderText, MessageEntry},
        plan::{Plan, Prose, Section, Start},
    },
};

/// Returns the edges of `grammar`. The body of the first opener gets the id `first`.
///
/// Concatenate these edges with those of a reasoning format to recognise both with one cursor.
#[must_use]
pub fn edges(grammar: &Grammar, in_reasoning: InReasoning, first: BodyId) -> Vec<Edge> {
    let plan = grammar.plan();
    let mut edges = Vec::new();
    let suffix = match grammar.family().suffix {
        Suffix::Learnt => jail_match::SuffixRule::Optional,
        Suffix::None => jail_match::SuffixRule::None,
    };
    let tokens = grammar.family().special_tokens;
    let content = Channel::CONTENT.mask();
    let others = Channel::REASONING.mask().with(Channel::HIDDEN);
    for (opener, body) in plan.openers.iter().zip(first..) {
        let marker = || String::from(&*opener.marker);
        let edge = |on, then| {
            let edge = Edge::new(marker(), on, then)
                .anchored(opener.at)
                .bound(Newlines::declared(opener.newlines, 0));
            // Where the opener is removed although no call follows, a mention of it must stay.
            if plan.may_be_prose(&opener.marker) { edge.told_of_code() } else { edge }
        };
        let stay = Then::Body(body, OnCommit::Stay);
        if usize::from(body.saturating_sub(first)) < plan.payloads {
            // A thought may hold JSON, which is no payload there, whatever the family does with calls.
            edges.push(edge(content, stay));
            continue;
        }
        let leave = Then::Body(body, OnCommit::Leave);
        match (opener.start, in_reasoning) {
            // A header may follow text of any channel, so the rule for calls in reasoning does not
            // apply.
            (Start::Header(entry), _) => {
                let text = plan.text_entry(usize::from(entry)).map(Then::Switch);
                let is_bare = plan.is_bare_header(entry);
                if plan.ends_every_header(entry) {
                    // After text on the same line, the token that ends every header is text.
                    let edge = |on, then| edge(on, then).anchored(Anchor::Line);
                    edges.push(header(edge(content, text.unwrap_or(stay)), tokens));
                    edges.push(header(edge(others, text.unwrap_or(leave)), tokens));
                    continue;
                }
                let edge = |on, then, is_bare| header(unquoted(edge(on, then), is_bare), tokens);
                edges.push(edge(content, text.unwrap_or(stay), is_bare));
                // A thought may be left in the middle of a line.
                edges.push(edge(others, text.unwrap_or(leave), false));
            }
            (Start::Letter(_), _) | (_, InReasoning::Literal) => edges.push(edge(content, stay)),
            // A thought may mention a call that only its declared name distinguishes from text.
            (Start::Node(_), _) if !plan.is_marked(opener) => edges.push(edge(content, stay)),
            (_, InReasoning::Suspend) => edges.push(edge(ChannelMask::TEXT, stay)),
            (_, InReasoning::End) => {
                edges.push(edge(content, stay));
                edges.push(edge(Channel::REASONING.mask(), leave));
            }
        }
    }
    for end in plan.messages.iter().flat_map(|messages| &messages.ends) {
        let edge = |on, then| {
            let edge = Edge::new(String::from(&**end), on, then).ending_message();
            edge.anchored(Anchor::Unquoted)
        };
        edges.push(edge(content, Then::Erase));
        edges.push(edge(others, Then::Leave));
    }
    for erase in &plan.erase {
        let uses = if erase.once { Uses::OncePerMessage } else { Uses::Unlimited };
        let (before, after) = erase.newlines;
        let edge = Edge::new(erase.text.clone(), content, Then::Erase);
        edges.push(
            edge.anchored(anchor(erase.at)).bound(Newlines::declared(before, after)).used(uses),
        );
    }
    for end in plan.turn_ends.iter() {
        let edge = Edge::new(String::from(end), Channel::REASONING.mask(), Then::Erase);
        edges.push(edge.anchored(Anchor::MessageEnd));
    }
    for orphan in &plan.orphans {
        let edge = Edge::new(String::from(&**orphan), content, Then::Erase);
        edges.push(edge.anchored(Anchor::AfterCall));
    }
    let live = match in_reasoning {
        InReasoning::Literal => content,
        InReasoning::Suspend | InReasoning::End => ChannelMask::TEXT,
    };
    for end in plan.prose_ends() {
        let edge = Edge::new(String::from(end), live, Then::Erase);
        edges.push(edge.anchored(Anchor::Opened));
    }
    let finished = |edge: Edge| {
        let edge = if edge.marker.ends_with('>') { edge.suffixed(suffix) } else { edge };
        let words = edge.anchor == Anchor::Start && !edge.marker.contains(char::is_alphanumeric);
        if tokens && edge.cut == CutMarker::Text && !words { edge.of_tokens() } else { edge }
    };
    edges.into_iter().map(finished).collect()
}

/// Returns `edge` with the anchor of a header: not after a quote. In an answer, a bare header
/// (without its first token) must begin a line, outside of code.
fn unquoted(edge: Edge, is_bare: bool) -> Edge {
    match edge.anchor {
        Anchor::Anywhere if is_bare => edge.anchored(Anchor::Line).literal_in_code(),
        Anchor::Anywhere => edge.anchored(Anchor::Unquoted),
        _ => edge,
    }
}

/// Returns the edge of a header, the only text that may follow the end of a message.
fn header(edge: Edge, tokens: bool) -> Edge {
    // A slash or a newline is not a special token, and a part of an arrow may be text.
    let tokens = tokens && edge.marker.contains(char::is_alphanumeric);
    let edge = if tokens { edge.of_tokens() } else { edge };
    let alone = edge.cut == CutMarker::Text && edge.marker.starts_with('<');
    if alone { Edge { cut: CutMarker::AfterEnd, ..edge } } else { edge }
}

impl Plan {
    /// Returns the sections whose openers are markup even if no call follows.
    fn prose_sections(&self) -> impl Iterator<Item = &Section> {
        self.sections.iter().filter(|section| section.prose != Prose::Refutes)
    }

    /// Returns whether `opener` begins a section that may hold text and no call.
    fn may_be_prose(&self, opener: &str) -> bool {
        let mut opens = self.prose_sections().flat_map(|section| &section.opens);
        opens.any(|known| **known == *opener)
    }

    /// Returns the end tags of [`Plan::prose_sections`].
    fn prose_ends(&self) -> Vec<&str> {
        let mut ends: Vec<&str> = Vec::new();
        for end in self.prose_sections().flat_map(|section| section.ends.tags.iter().flatten()) {
            if end.len() > 1 && !ends.contains(&&**end) {
                ends.push(end);
            }
        }
        ends
    }

    /// Returns whether header `entry` lacks its first token.
    fn is_bare_header(&self, entry: u16) -> bool {
        let entries = self.messages.as_ref().map(|messages| &messages.entries);
        let entry = entries.and_then(|entries| entries.get(usize::from(entry)));
        entry.is_some_and(|entry| matches!(entry.kind, EntryKind::Bare(_)))
    }

    /// Returns whether `entry` is the only token that ends headers.
    fn ends_every_header(&self, entry: u16) -> bool {
        let Some(messages) = &self.messages else { return false };
        let is_body = |entry: &&MessageEntry| matches!(entry.kind, EntryKind::Body(_));
        let bodies = messages.entries.iter().filter(is_body).count();
        bodies == 1 && messages.entries.get(usize::from(entry)).as_ref().is_some_and(is_body)
    }

    /// Returns the channel of the text after message entry `entry`, if the entry alone decides it.
    fn text_entry(&self, entry: usize) -> Option<Channel> {
        let messages = self.messages.as_ref()?;
        let EntryKind::Body(body) = messages.entries.get(entry)?.kind else { return None };
        match messages.route(HeaderText { body, ..HeaderText::default() }).0 {
            RouteTo::Content => Some(Channel::CONTENT),
            RouteTo::Reasoning => Some(Channel::REASONING),
            RouteTo::Call => None,
        }
    }
}
