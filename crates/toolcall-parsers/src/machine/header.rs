//! A call's header: tags and fields, by the trie.

mod arguments;
mod fields;

use super::{
    call::{List, Machine, MachineState, MachineStep},
    output::Output,
    plan::{Arguments, BlankRule, Bracket, LeafId, NodeId, Plan, Prose, SectionId, TrieNode},
};
use crate::{
    cursor::{Cursor, Prefix, Undecided, match_prefix},
    event::DiagnosticKind,
    family::CommitOn,
};

/// The meaning of a literal of a header.
#[derive(Debug, Clone, Copy)]
enum Next {
    Tag(NodeId),
    /// The tag before it, repeated.
    Again,
    Bracket(SectionId),
    /// The end of a section without calls.
    Empty,
}

impl Machine {
    /// Between two parts of a header.
    pub(super) fn header(
        &mut self,
        plan: &Plan,
        cursor: &mut Cursor<'_>,
        out: &mut Output<'_>,
    ) -> MachineStep {
        let node = plan.node(self.node);
        if let Some(leaf) = arguments::only(plan, node) {
            return self.begin_arguments(plan, leaf, cursor, out);
        }
        // Blanks may have come in a chunk of their own.
        self.spaced |= node.blanks == BlankRule::Free && cursor.skip_blanks() > 0;
        let blank_behind = node.blanks == BlankRule::Exact
            && cursor.peek().is_some_and(|byte| byte.is_ascii_whitespace());
        if cursor.rest().is_empty() {
            return MachineStep::more(cursor.at);
        }
        let next = self.next(plan, node, cursor.rest());
        self.spaced &= next.is_err();
        match next {
            Err(Undecided) => return MachineStep::more(cursor.at),
            Ok(Some((next, len))) => {
                cursor.advance(len);
                let opens = self.section.is_none() || matches!(next, Next::Again);
                if opens && !self.in_call {
                    self.tags_end = out.place(cursor.at);
                }
                match next {
                    Next::Tag(to) => {
                        self.in_call |= self.section.is_some();
                        self.go(plan, to);
                    }
                    Next::Again => {}
                    Next::Bracket(section) => self.enter(plan, section, List::Section),
                    Next::Empty => {
                        out.diagnose(DiagnosticKind::EmptyList, cursor.at, 0);
                        return MachineStep::done(cursor.at);
                    }
                }
                return MachineStep::Go;
            }
            Ok(None) => {}
        }
        if let Some(step) = self.in_list(plan, cursor, out) {
            return step;
        }
        if let Some(leaf) = self.choose(plan, node, cursor.rest()) {
            return self.begin_arguments(plan, leaf, cursor, out);
        }
        if node.field.is_some() && !blank_behind {
            if out.calls.committed() && !self.in_call {
                self.item_at = out.place(cursor.at);
            }
            self.begin_field(plan);
            return MachineStep::Go;
        }
        self.mismatch(plan, cursor, out)
    }

    /// Returns the longest literal that is possible here.
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
        if self.list == List::None {
            for &id in &node.sections {
                let section = plan.section(id);
                // Brackets may enclose the calls of any section.
                let may = section.bracket == Bracket::Square || node.field.is_some();
                if may && (section.blanks == BlankRule::Free || !self.spaced) {
                    consider(Next::Bracket(id), "[");
                }
            }
            if self.calls_seen == 0 {
                let sections = node.sections.iter().map(|&id| plan.section(id));
                for end in sections.flat_map(|section| section.ends.tags.iter().flatten()) {
                    consider(Next::Empty, end);
                }
            }
        }
        if partial { Err(Undecided) } else { Ok(best) }
    }

    /// The end of a list without calls, or a list in the place of one call.
    fn in_list(
        &mut self,
        plan: &Plan,
        cursor: &mut Cursor<'_>,
        out: &mut Output<'_>,
    ) -> Option<MachineStep> {
        match cursor.peek() {
            Some(b']') if self.list != List::None && self.calls_seen == 0 => {
                cursor.advance(1);
                // Nothing between explicit markers is markup; a bare `[]` is text.
                let marked = self.has_ends(plan);
                if !marked {
                    cursor.back(1);
                    return Some(self.bad(cursor, out));
                }
                self.state = MachineState::Empty;
                Some(MachineStep::Go)
            }
            Some(b'[') if self.list == List::None => {
                let node = plan.node(self.node);
                let object =
                    |&leaf: &LeafId| matches!(plan.leaf(leaf).arguments, Arguments::Object(_));
                let leaf = node.leaves.iter().copied().find(object)?;
                self.leaf = leaf;
                cursor.advance(1);
                self.list = List::Call;
                Some(MachineStep::Go)
            }
            _ => None,
        }
    }

    /// Whether an end tag is declared for what is being read.
    fn has_ends(&self, plan: &Plan) -> bool {
        match (self.list, self.section) {
            (List::Call, _) => !plan.leaf(self.leaf).ends.tags.is_empty(),
            (_, Some(section)) => {
                let section = plan.section(section);
                !section.ends.tags.is_empty() && section.commit == CommitOn::Marker
            }
            _ => false,
        }
    }

    /// Handles text that no possible literal matches.
    fn mismatch(&mut self, plan: &Plan, cursor: &Cursor<'_>, out: &mut Output<'_>) -> MachineStep {
        if out.calls.committed() || self.list != List::None {
            return self.bad(cursor, out);
        }
        if let Some(section) = self.section {
            let section = plan.section(section);
            let marked = !section.opens.is_empty() && section.commit == CommitOn::Marker;
            if marked && self.in_call {
                // An entry of another kind.
                out.mute(DiagnosticKind::PseudoCall, cursor.at);
                self.calls_seen = self.calls_seen.saturating_add(1);
                return self.bad(cursor, out);
            }
            if section.prose == Prose::MayBeNoise && !self.in_call {
                self.state = MachineState::Noise;
                return MachineStep::Go;
            }
        }
        self.bad(cursor, out)
    }
}
