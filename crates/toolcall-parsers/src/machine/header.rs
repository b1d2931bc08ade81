//! Reading of a call's header: tags and fields, by the plan's trie.
//!
//! ```text
//! <tool_call>                   the opener, node 1
//! <function=ring>               tag, field `ring`, tag: node 4
//! <parameter=n>                 node 4 has a leaf: the arguments begin
//! ```

mod arguments;
mod fields;

use super::{
    call::{Machine, MachineStep},
    call_sink::CallSink,
    plan::{Arguments, BlankRule, Bracket, LeafId, NodeId, Plan, Prose, SectionId, TrieNode},
    state::{List, MachineState},
};
use crate::{
    calls::BodyPlace,
    cursor::{Prefix, Undecided, match_prefix},
    event::DiagnosticKind,
    family::CommitOn,
};

/// The kind of a literal in a header.
#[derive(Debug, Clone, Copy)]
enum Next {
    Tag(NodeId),
    /// A repetition of the tag before it.
    Again,
    Bracket(SectionId),
    /// The end tag of a section without calls.
    Empty,
}

impl Machine {
    /// Reads the next part of a header.
    pub(super) fn header(&mut self, out: &mut CallSink<'_>) -> MachineStep {
        let plan = out.plan;
        let node = plan.node(self.place.node);
        if let Some(leaf) = arguments::only(plan, node) {
            return self.begin_arguments(leaf, out);
        }
        // The blanks may have arrived in an earlier chunk, so `spaced` is kept.
        self.header.spaced |= node.blanks == BlankRule::Free && out.cursor.skip_blanks() > 0;
        let blank_follows = node.blanks == BlankRule::Exact
            && out.cursor.peek().is_some_and(|byte| byte.is_ascii_whitespace());
        if out.cursor.rest().is_empty() {
            return MachineStep::more(out.cursor.at);
        }
        let next = self.next(plan, node, out.cursor.rest());
        self.header.spaced &= next.is_err();
        match next {
            Err(Undecided) => return MachineStep::more(out.cursor.at),
            Ok(Some((next, len))) => {
                out.cursor.advance(len);
                let opens = self.place.section.is_none() || matches!(next, Next::Again);
                if opens && !self.header.in_call {
                    self.tags_end = out.stream_offset(out.cursor.at);
                }
                match next {
                    Next::Tag(to) => {
                        self.header.in_call |= self.place.section.is_some();
                        self.go(plan, to);
                    }
                    Next::Again => {}
                    Next::Bracket(section) => self.enter(plan, section, List::Section),
                    Next::Empty => {
                        out.diagnose(DiagnosticKind::EmptyList, out.cursor.at, 0);
                        return MachineStep::done(out.cursor.at);
                    }
                }
                return MachineStep::Go;
            }
            Ok(None) => {}
        }
        if let Some(step) = self.in_list(out) {
            return step;
        }
        if let Some(leaf) = self.choose(plan, node, out.cursor.rest()) {
            return self.begin_arguments(leaf, out);
        }
        if node.field.is_some() && !blank_follows {
            if out.calls.committed() && !self.header.in_call {
                self.call.item_at = out.stream_offset(out.cursor.at);
            }
            self.begin_field(plan);
            return MachineStep::Go;
        }
        self.mismatch(out)
    }

    /// Returns the longest possible literal at the start of `rest`, and its length.
    fn next(
        &self,
        plan: &Plan,
        node: &TrieNode,
        rest: &str,
    ) -> Result<Option<(Next, usize)>, Undecided> {
        let mut best: Option<(Next, usize)> = None;
        let mut partial = false;
        let mut consider = |next: Next, literal: &str| match match_prefix(rest, literal) {
            Prefix::Match if best.is_none_or(|(_, len)| literal.len() > len) => {
                best = Some((next, literal.len()));
            }
            Prefix::Partial => partial = true,
            Prefix::Match | Prefix::Mismatch => {}
        };
        for tag in &node.tags {
            consider(Next::Tag(tag.to), &tag.text);
        }
        for again in &node.again {
            consider(Next::Again, again);
        }
        if self.place.list == List::None {
            for &id in &node.sections {
                let section = plan.section(id);
                // Models write brackets around the calls of any section.
                let may = section.bracket == Bracket::Square || node.field.is_some();
                if may && (section.blanks == BlankRule::Free || !self.header.spaced) {
                    consider(Next::Bracket(id), "[");
                }
            }
            if self.place.calls_seen == 0 {
                let sections = node.sections.iter().map(|&id| plan.section(id));
                for end in sections.flat_map(|section| section.ends.tags.iter().flatten()) {
                    consider(Next::Empty, end);
                }
            }
        }
        if partial { Err(Undecided) } else { Ok(best) }
    }

    /// Handles the end of a list without calls, and the start of a list in place of one call.
    fn in_list(&mut self, out: &mut CallSink<'_>) -> Option<MachineStep> {
        let plan = out.plan;
        match out.cursor.peek() {
            Some(b']') if self.place.list != List::None && self.place.calls_seen == 0 => {
                out.cursor.advance(1);
                // An empty list between explicit markers is markup. A bare `[]` is text.
                let marked = self.has_ends(plan);
                if !marked {
                    out.cursor.back(1);
                    return Some(self.bad(out));
                }
                self.state = MachineState::Empty;
                Some(MachineStep::Go)
            }
            Some(b'[') if self.place.list == List::None => {
                let node = plan.node(self.place.node);
                let object =
                    |&leaf: &LeafId| matches!(plan.leaf(leaf).arguments, Arguments::Object(_));
                let leaf = node.leaves.iter().copied().find(object)?;
                self.place.leaf = leaf;
                out.cursor.advance(1);
                self.place.list = List::Call;
                Some(MachineStep::Go)
            }
            _ => None,
        }
    }

    /// Returns whether the family has an end tag for the current list.
    fn has_ends(&self, plan: &Plan) -> bool {
        match (self.place.list, self.place.section) {
            (List::Call, _) => !plan.leaf(self.place.leaf).ends.tags.is_empty(),
            (_, Some(section)) => {
                let section = plan.section(section);
                !section.ends.tags.is_empty() && section.commit == CommitOn::Marker
            }
            _ => false,
        }
    }

    /// Handles the character at the cursor, which does not fit into a header that has a name. If
    /// arguments begin there, the header of a call is damaged: the call is malformed, because its
    /// text may quote others. `node` is the place after the name.
    fn broken_header(&mut self, node: NodeId, out: &mut CallSink<'_>) -> MachineStep {
        let plan = out.plan;
        let arguments = matches!(out.cursor.peek(), Some(b'{' | b'['));
        let leaf = plan.first_leaf(node);
        let Some(leaf) = leaf.filter(|_| arguments && out.calls.place == BodyPlace::Answer) else {
            return self.bad(out);
        };
        let known = out.calls.tools.admits(&self.call.name);
        if plan.leaf(leaf).commit != CommitOn::Marker || !known {
            return self.bad(out);
        }
        self.place.leaf = leaf;
        match self.start(out) {
            Ok(()) => self.bad(out),
            Err(step) => step,
        }
    }

    /// Handles text that matches no part of a header.
    fn mismatch(&mut self, out: &mut CallSink<'_>) -> MachineStep {
        let plan = out.plan;
        if out.calls.committed() || self.place.list != List::None {
            return self.bad(out);
        }
        if let Some(section) = self.place.section {
            let section = plan.section(section);
            let marked = !section.opens.is_empty() && section.commit == CommitOn::Marker;
            if marked && self.header.in_call {
                // The section has an entry of a kind that is not a call.
                out.mute(DiagnosticKind::PseudoCall, out.cursor.at);
                self.place.calls_seen = self.place.calls_seen.saturating_add(1);
                return self.bad(out);
            }
            if section.prose == Prose::MayBeSkipped && !self.header.in_call {
                self.state = MachineState::SkippedText;
                return MachineStep::Go;
            }
        }
        self.bad(out)
    }
}
