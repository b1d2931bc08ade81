//! Compilation of the templates of sections.
//!
//! ```text
//! <calls>[{calls}]</calls>
//!   opener `<calls>` ──► section: a list of calls, end tag `</calls>`
//! ```

use alloc::{boxed::Box, vec::Vec};

use super::{
    Compiler, FormCalls,
    entry::{CompileEntry, Outer},
    error::CompileError,
    finish,
    shape::{are_tagged, committed_on, is_tagged, texts},
    tokens::Token,
};
use crate::{
    family::{CommitOn, has_token_shape},
    machine::plan::{BlankRule, Bracket, NodeId, Prose, Section},
};

/// The texts around the calls of a section.
struct SectionTags<'t> {
    before: Vec<&'t str>,
    after: Vec<&'t str>,
    /// The bracket between the tags and the calls, which is in neither list.
    bracket: Bracket,
    /// Whether no blanks are written between the last tag and the calls.
    glued: bool,
}

impl<'t> SectionTags<'t> {
    fn new(section: &'t [Token]) -> Self {
        let hole = section.iter().position(|token| *token == Token::Calls);
        let hole = hole.unwrap_or(section.len());
        let (prefix, suffix) =
            (&section[..hole], section.get(hole.saturating_add(1)..).unwrap_or(&[]));
        let mut before: Vec<&str> = texts(prefix).collect();
        let mut after: Vec<&str> = texts(suffix).collect();
        let bracket = if before.last() == Some(&"[") { Bracket::Square } else { Bracket::None };
        if bracket == Bracket::Square {
            before.pop();
            if after.first() == Some(&"]") {
                after.remove(0);
            }
        }
        let glued = !matches!(prefix.iter().rev().nth(1), Some(Token::Space(_)));
        Self { before, after, bracket, glued }
    }
}

impl Compiler<'_> {
    /// Adds a section, and the calls of its form in it.
    pub(super) fn section(
        &mut self,
        of_form: &FormCalls<'_>,
        section: &[Token],
    ) -> Result<(), CompileError> {
        let &FormCalls { form, ref calls, blanks, .. } = of_form;
        let tags = SectionTags::new(section);
        let bracket = tags.bracket;
        let ends = self.ends(&tags.after, form, Outer::Message);
        let opens = tags.before.first().map_or(Vec::new(), |tag| self.trie.spell(tag, form));
        let outer = match bracket {
            Bracket::Square => Outer::List,
            Bracket::None => Outer::Message,
        };
        for (node, commit) in self.places(of_form, section, &tags) {
            let section = Section {
                calls: node,
                separators: finish::separators(form),
                bracket,
                prose: self.prose(of_form, &opens, bracket, commit),
                opens: opens.clone(),
                ends: ends.clone(),
                commit,
                blanks: if tags.glued { blanks } else { BlankRule::Free },
            };
            let section = self.trie.section(node, section);
            let inside = self.trie.sections[usize::from(section)].calls;
            let entry = |node| CompileEntry { node: Some(node), commit, outer };
            for call in calls {
                self.call(of_form, entry(inside), call)?;
                // The brackets may be missing if an end tag proves that it is a call.
                let proved = !tags.before.is_empty() && !tags.after.is_empty();
                if bracket == Bracket::Square && proved {
                    self.call(of_form, entry(node), call)?;
                }
            }
        }
        if let Some(commit) = form.call_alone
            && !tags.before.is_empty()
            && self.trie.message_node().is_none()
        {
            for call in calls.iter().filter(|call| is_tagged(call)) {
                let alone = CompileEntry { node: None, commit, outer: Outer::Message };
                self.call(of_form, alone, call)?;
            }
        }
        Ok(())
    }

    /// Returns the nodes where a section begins, each with what makes its text a call.
    fn places(
        &mut self,
        of_form: &FormCalls<'_>,
        section: &[Token],
        tags: &SectionTags<'_>,
    ) -> Vec<(NodeId, CommitOn)> {
        let form = of_form.form;
        let body = self.trie.message_node();
        let commit = committed_on(form, section);
        let mut places = Vec::new();
        if let Some(body) = body {
            let node = tags.before.iter().fold(body, |at, tag| self.trie.tag(at, tag, form));
            // After the header of a call message, a list is certain to contain calls.
            let certain = tags.before.is_empty() && form.commit_on.is_none();
            places.push((node, if certain { CommitOn::Marker } else { commit }));
        }
        match tags.before.split_first() {
            None if body.is_some() => {}
            None => places.push((self.trie.bare(form), commit)),
            Some((first, rest)) => {
                let open = self.trie.open(first, form);
                self.trie.again(open, first, form);
                let node = rest.iter().fold(open, |at, tag| self.trie.tag(at, tag, form));
                // In other messages, only a declared name makes it a call.
                places.push((node, if body.is_some() { CommitOn::DeclaredName } else { commit }));
            }
        }
        // In a call message, the section's opener may be missing.
        if let Some(body) = body
            && are_tagged(&of_form.calls)
        {
            places.push((body, commit));
        }
        places
    }

    /// Returns what becomes of prose between the openers `opens` of a section and its first call.
    fn prose(
        &self,
        of_form: &FormCalls<'_>,
        opens: &[Box<str>],
        bracket: Bracket,
        commit: CommitOn,
    ) -> Prose {
        // In messages, and where only a declared name makes it a call, only the shape of the opener
        // shows that it is a token.
        let tokens = self.family.special_tokens && !opens.is_empty();
        let tokens = tokens && self.family.messages.is_none() && commit == CommitOn::Marker;
        if !tokens && !opens.iter().any(|open| has_token_shape(open)) {
            return Prose::Refutes;
        }
        match bracket == Bracket::None && are_tagged(&of_form.calls) {
            true => Prose::MayBeSkipped,
            false => Prose::Follows,
        }
    }
}
