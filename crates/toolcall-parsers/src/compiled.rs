//! [`Grammar`]: a family, compiled for reading. [`edges`] makes the driver's table from it.

use alloc::{string::String, sync::Arc, vec::Vec};
use core::{cell::RefCell, fmt};

use jail_match::{
    Anchor, BodyId, Channel, ChannelMask, CutMarker, Edge, MarkerTokens, Newlines, OnCommit, Then,
    Uses,
};

pub(crate) use crate::machine::field::name_starts;
use crate::{
    family::{Family, InReasoning, RouteTo, Suffix},
    machine::{
        compile::{CompileError, Guided, anchor, compile_guided, respell::Respell},
        messages::{EntryKind, HeaderText, MessageEntry},
        plan::{Plan, Prose, Section, Start},
    },
    template::Part,
};

/// The compiled templates of a family, shared by any number of parsers. Cheap to clone.
#[derive(Clone)]
pub struct Grammar {
    family: Arc<Family>,
    plan: Arc<Plan>,
    guided: Option<Arc<Guided>>,
    /// The tokenizer's marker tokens, and the plan with their private spellings.
    tokens: Option<(MarkerTokens, Arc<Plan>)>,
}

impl Grammar {
    /// Compiles a family.
    ///
    /// # Errors
    /// Templates that are valid alone, but cannot be distinguished from each other.
    pub fn new(family: Family) -> Result<Self, CompileError> {
        Self::compile(family, None)
    }

    /// Compiles a family, whose first forms are those of a payload if `guided` is set.
    pub(crate) fn compile(family: Family, guided: Option<Guided>) -> Result<Self, CompileError> {
        let plan = compile_guided(&family, guided.as_ref())?;
        let (family, plan, guided) = (Arc::new(family), Arc::new(plan), guided.map(Arc::new));
        Ok(Self { family, plan, guided, tokens: None })
    }

    /// Returns the grammar with another family, for the same payload and tokens. Returns itself if
    /// the family cannot be compiled.
    pub(crate) fn recompiled(&self, family: Family) -> Self {
        let Ok(mut grammar) = Self::compile(family, self.guided.as_deref().cloned()) else {
            return self.clone();
        };
        if let Some((tokens, _)) = &self.tokens {
            grammar = grammar.with_marker_tokens(tokens);
        }
        grammar
    }

    /// Creates a grammar that recognises nothing.
    #[must_use]
    pub fn none() -> Self {
        Self { family: Arc::default(), plan: Arc::default(), guided: None, tokens: None }
    }

    /// Returns the family that the grammar was compiled from.
    #[must_use]
    pub fn family(&self) -> &Family {
        &self.family
    }

    /// Returns the name of the family.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.family.name
    }

    /// Returns the plan with the spellings of the family file.
    pub(crate) fn plan(&self) -> &Arc<Plan> {
        &self.plan
    }

    /// Returns the plan that text is read with. Marker tokens have their private spellings in it.
    pub(crate) fn reading_plan(&self) -> &Arc<Plan> {
        self.tokens.as_ref().map_or(&self.plan, |(_, plan)| plan)
    }

    /// Returns every literal text of the grammar.
    #[must_use]
    pub fn literals(&self) -> Vec<String> {
        let literals = RefCell::new(Vec::new());
        Plan::clone(&self.plan).respell(&|text| {
            literals.borrow_mut().push(String::from(text));
            None
        });
        literals.into_inner()
    }

    /// Returns the grammar for text in which `tokens` have the spellings of [`MarkerTokens::fed`].
    ///
    /// Text that merely spells such a token is data. Where a marker token begins a section, its
    /// calls are not recognised outside of it.
    #[must_use]
    pub fn with_marker_tokens(&self, tokens: &MarkerTokens) -> Self {
        let mut grammar = self.clone();
        let mut family = Family::clone(&self.family);
        for form in &mut family.forms {
            let leads = form.sections.iter().any(|section| section.begins_with(tokens));
            form.call_alone = form.call_alone.filter(|_| !leads);
        }
        if family != *self.family {
            let Ok(plan) = compile_guided(&family, self.guided.as_deref()) else {
                return grammar;
            };
            (grammar.plan, grammar.family) = (Arc::new(plan), Arc::new(family));
        }
        let mut reading = Plan::clone(&grammar.plan);
        reading.respell(&|text| tokens.respell(text));
        grammar.tokens = Some((tokens.clone(), Arc::new(reading)));
        grammar
    }

    /// Returns the texts at which a call or a message header may begin.
    pub fn openers(&self) -> impl Iterator<Item = &str> {
        self.plan.openers.iter().map(|opener| &*opener.marker)
    }

    /// Returns those [`Grammar::openers`] that do not occur in ordinary text.
    pub fn markers(&self) -> impl Iterator<Item = &str> {
        self.plan.openers.iter().filter(|opener| self.plan.is_marked(opener)).map(|o| &*o.marker)
    }

    /// Returns the text up to the name of each way to begin a call, without a section around it:
    /// `<invoke name="`. Texts without a tag are left out.
    pub fn call_heads(&self) -> impl Iterator<Item = &str> {
        let calls = self.family.forms.iter().flat_map(|form| &form.calls);
        let first = calls.filter_map(|call| match call.parts.first() {
            Some(Part::Literal(text)) => text.lines().next(),
            _ => None,
        });
        first.map(str::trim_end).filter(|text| text.starts_with(['<', '[', ']']) && text.len() > 1)
    }

    /// Returns, for each of [`Grammar::openers`], whether it does not occur in ordinary text.
    pub fn are_marked(&self) -> impl Iterator<Item = bool> {
        self.plan.openers.iter().map(|opener| self.plan.is_marked(opener))
    }

    /// Returns the texts that are removed from content, such as ends of messages and turns.
    pub fn removed(&self) -> impl Iterator<Item = &str> {
        let Plan { erase, orphans, messages, .. } = &*self.plan;
        let ends = messages.iter().flat_map(|messages| &messages.ends);
        let ends = ends.chain(orphans).map(|text| &**text);
        erase.iter().map(|erase| erase.text.as_str()).chain(ends)
    }

    /// Returns whether the family writes messages with headers (`<|start|>assistant<|message|>`).
    #[must_use]
    pub fn has_messages(&self) -> bool {
        self.plan.messages.is_some()
    }

    /// Returns whether tags may have a suffix that is learnt from the stream.
    #[must_use]
    pub fn learns_suffix(&self) -> bool {
        self.family.suffix == Suffix::Learnt
    }

    /// Returns the grammar with `suffix` before the closing bracket of its tags. Some checkpoints
    /// have one (`<tool_call:opensource>`).
    #[must_use]
    pub fn with_token_suffix(&self, suffix: &str) -> Self {
        Self::new(self.suffixed(suffix)).unwrap_or_else(|_| self.clone())
    }

    fn suffixed(&self, suffix: &str) -> Family {
        let mut family = Family::clone(&self.family);
        family.each_literal(|literal| *literal = suffixed(literal, suffix));
        let ends = family.end_of_turn.iter_mut();
        let erased = family.erase.iter_mut().map(|erase| &mut erase.text);
        ends.chain(erased).for_each(|text| *text = suffixed(text, suffix));
        family.suffix = Suffix::None;
        family
    }

    /// Returns the plan with `suffix` in its tags, if the family learns suffixes. The plan has the
    /// same number of openers as [`Grammar::plan`].
    pub(crate) fn plan_with(&self, suffix: &str) -> Option<Plan> {
        if self.family.suffix == Suffix::None {
            return None;
        }
        let mut plan = compile_guided(&self.suffixed(suffix), self.guided.as_deref()).ok()?;
        if let Some((tokens, _)) = &self.tokens {
            plan.respell(&|text| tokens.respell(text));
        }
        (plan.openers.len() == self.plan.openers.len()).then_some(plan)
    }
}

impl fmt::Debug for Grammar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Grammar").field(&self.family.name).finish()
    }
}

impl PartialEq for Grammar {
    fn eq(&self, other: &Self) -> bool {
        self.family == other.family
    }
}

impl Default for Grammar {
    fn default() -> Self {
        Self::none()
    }
}

/// Returns `text` with `suffix` before the closing bracket of each tag, or before the bar of a
/// token (`<|call:suffix|>`).
fn suffixed(text: &str, suffix: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut in_tag = false;
    let mut bar = None;
    for scalar in text.chars() {
        match scalar {
            '<' => in_tag = true,
            '>' if core::mem::take(&mut in_tag) => {
                out.insert_str(bar.unwrap_or(out.len()), suffix);
            }
            _ => {}
        }
        bar = matches!(scalar, '|' | '｜').then_some(out.len());
        out.push(scalar);
    }
    out
}

/// Returns the edges of `grammar`. The body of the first opener gets the id `first`.
///
/// Concatenate these edges with those of a reasoning format to recognise both with one cursor.
#[must_use]
pub fn edges(grammar: &Grammar, in_reasoning: InReasoning, first: BodyId) -> Vec<Edge> {
    let plan = grammar.plan();
    let mut edges = Vec::new();
    let suffix = match grammar.family.suffix {
        Suffix::Learnt => jail_match::SuffixRule::Optional,
        Suffix::None => jail_match::SuffixRule::None,
    };
    let tokens = grammar.family.special_tokens;
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
