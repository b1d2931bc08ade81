//! A family ready to be read.

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
        plan::{Plan, Prose, Start},
    },
};

/// A family's grammar: its templates, compiled once and shared by any number of parsers. Cheap to
/// clone.
#[derive(Clone)]
pub struct Grammar {
    family: Arc<Family>,
    plan: Arc<Plan>,
    guided: Option<Arc<Guided>>,
    /// The marker tokens of the tokenizer, and the plan as they are fed.
    tokens: Option<(MarkerTokens, Arc<Plan>)>,
}

impl Grammar {
    /// Compiles a family.
    ///
    /// # Errors
    /// Templates that are valid alone, but cannot be distinguished or read together.
    pub fn new(family: Family) -> Result<Self, CompileError> {
        let (plan, _) = compile_guided(&family, None)?;
        Ok(Self { family: Arc::new(family), plan: Arc::new(plan), guided: None, tokens: None })
    }

    /// Compiles a family whose first forms belong to a payload. Returns the number of their
    /// openers.
    pub(crate) fn compile_guided(
        family: Family,
        guided: Guided,
    ) -> Result<(Self, usize), CompileError> {
        let (plan, openers) = compile_guided(&family, Some(&guided))?;
        let (family, plan, guided) = (Arc::new(family), Arc::new(plan), Some(Arc::new(guided)));
        Ok((Self { family, plan, guided, tokens: None }, openers))
    }

    /// A grammar that recognises nothing.
    #[must_use]
    pub fn none() -> Self {
        Self { family: Arc::default(), plan: Arc::default(), guided: None, tokens: None }
    }

    /// The family it was compiled from.
    #[must_use]
    pub fn family(&self) -> &Family {
        &self.family
    }

    /// Returns the name of the family.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.family.name
    }

    /// The plan, its texts as the family shows them.
    pub(crate) fn plan(&self) -> &Arc<Plan> {
        &self.plan
    }

    /// The plan by which text is read: marker tokens in it as they are fed.
    pub(crate) fn reading_plan(&self) -> &Arc<Plan> {
        self.tokens.as_ref().map_or(&self.plan, |(_, plan)| plan)
    }

    /// Every text of the wire that the grammar knows.
    #[must_use]
    pub fn literals(&self) -> Vec<String> {
        let literals = RefCell::new(Vec::new());
        Plan::clone(&self.plan).respell(&|text| {
            literals.borrow_mut().push(String::from(text));
            None
        });
        literals.into_inner()
    }

    /// The grammar for text in which `tokens` are fed as [`MarkerTokens::fed`] says: a text that
    /// spells one of them is data. A call that may occur without its section may not if a marker
    /// token begins that section.
    #[must_use]
    pub fn with_marker_tokens(&self, tokens: &MarkerTokens) -> Self {
        let mut grammar = self.clone();
        let mut family = Family::clone(&self.family);
        for form in &mut family.forms {
            let leads = form.sections.iter().any(|section| section.begins_with(tokens));
            form.call_alone = form.call_alone.filter(|_| !leads);
        }
        if family != *self.family {
            let Ok((plan, _)) = compile_guided(&family, self.guided.as_deref()) else {
                return grammar;
            };
            (grammar.plan, grammar.family) = (Arc::new(plan), Arc::new(family));
        }
        let mut reading = Plan::clone(&grammar.plan);
        reading.respell(&|text| tokens.respell(text));
        grammar.tokens = Some((tokens.clone(), Arc::new(reading)));
        grammar
    }

    /// The texts at which a call, or a header of a message, may begin.
    pub fn openers(&self) -> impl Iterator<Item = &str> {
        self.plan.openers.iter().map(|opener| &*opener.marker)
    }

    /// Those of [`Grammar::openers`] that no text holds but a model's of this family.
    pub fn markers(&self) -> impl Iterator<Item = &str> {
        self.plan.openers.iter().filter(|opener| self.plan.is_marked(opener)).map(|o| &*o.marker)
    }

    /// For each of [`Grammar::openers`], whether no text holds it but a model's of this family.
    pub fn are_marked(&self) -> impl Iterator<Item = bool> {
        self.plan.openers.iter().map(|opener| self.plan.is_marked(opener))
    }

    /// The texts that are removed in content: ends of calls, messages and turns, and others.
    pub fn removed(&self) -> impl Iterator<Item = &str> {
        let Plan { erase, orphans, messages, .. } = &*self.plan;
        let ends = messages.iter().flat_map(|messages| &messages.ends);
        let ends = ends.chain(orphans).map(|text| &**text);
        erase.iter().map(|erase| erase.text.as_str()).chain(ends)
    }

    /// Whether the family's text is in messages with headers.
    #[must_use]
    pub fn has_messages(&self) -> bool {
        self.plan.messages.is_some()
    }

    /// Whether its tags may carry a suffix that is learnt from the stream.
    #[must_use]
    pub fn learns_suffix(&self) -> bool {
        self.family.suffix == Suffix::Learnt
    }

    /// The grammar with `suffix` written into its tags, before their closing bracket: some
    /// checkpoints have their own (`<tool_call:opensource>`).
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

    /// The plan with `suffix` in the family's tags, if it learns them. Its openers are those of
    /// [`Grammar::plan`].
    pub(crate) fn plan_with(&self, suffix: &str) -> Option<Plan> {
        if self.family.suffix == Suffix::None {
            return None;
        }
        let (mut plan, _) = compile_guided(&self.suffixed(suffix), self.guided.as_deref()).ok()?;
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

/// `suffix` before the closing bracket of each tag in `text`, and before the bar of a token.
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

/// The edges of `grammar`, with body ids from `first` on.
///
/// Concatenate them with the edges of a reasoning format to recognise both with one cursor.
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
            Edge::new(marker(), on, then)
                .anchored(opener.at)
                .bound(Newlines::declared(opener.newlines, 0))
        };
        let stay = Then::Body(body, OnCommit::Stay);
        let leave = Then::Body(body, OnCommit::Leave);
        match (opener.start, in_reasoning) {
            // Headers are live in every channel they lead to, whatever the rule for calls
            // elsewhere.
            (Start::Header(entry), _) => {
                let text = plan.text_entry(usize::from(entry)).map(Then::Switch);
                let is_bare = plan.is_bare_header(entry);
                if plan.ends_every_header(entry) {
                    // After text, the token that ends every header ends none.
                    let edge = |on, then| edge(on, then).anchored(Anchor::Line);
                    edges.push(header(edge(content, text.unwrap_or(stay)), tokens));
                    edges.push(header(edge(others, text.unwrap_or(leave)), tokens));
                    continue;
                }
                let edge = |on, then| header(unquoted(edge(on, then), is_bare), tokens);
                edges.push(edge(content, text.unwrap_or(stay)));
                edges.push(edge(others, text.unwrap_or(leave)));
            }
            (Start::Letter(_), _) | (_, InReasoning::Literal) => edges.push(edge(content, stay)),
            // A thought may speak of a call that only its declared name would announce.
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

/// The edge of a header that text may hold: it does not begin in quotes. One without its first token
/// begins no header in the middle of a word, nor in code.
fn unquoted(edge: Edge, is_bare: bool) -> Edge {
    match edge.anchor {
        Anchor::Anywhere if is_bare => edge.anchored(Anchor::Word).literal_in_code(),
        Anchor::Anywhere => edge.anchored(Anchor::Unquoted),
        _ => edge,
    }
}

/// Returns the edge of a header, the only text that may follow the end of a message.
fn header(edge: Edge, tokens: bool) -> Edge {
    // A slash or a newline is not a token, and a part of an arrow may be text.
    let tokens = tokens && edge.marker.contains(char::is_alphanumeric);
    let edge = if tokens { edge.of_tokens() } else { edge };
    let alone = edge.cut == CutMarker::Text && edge.marker.starts_with('<');
    if alone { Edge { cut: CutMarker::AfterEnd, ..edge } } else { edge }
}

impl Plan {
    /// The ends of sections whose openers are markup also where no call follows.
    fn prose_ends(&self) -> Vec<&str> {
        let mut ends: Vec<&str> = Vec::new();
        let sections = self.sections.iter().filter(|section| section.prose != Prose::Refutes);
        for end in sections.flat_map(|section| section.ends.tags.iter().flatten()) {
            if end.len() > 1 && !ends.contains(&&**end) {
                ends.push(end);
            }
        }
        ends
    }

    /// Whether no token begins the header with this number.
    fn is_bare_header(&self, entry: u16) -> bool {
        let entries = self.messages.as_ref().map(|messages| &messages.entries);
        let entry = entries.and_then(|entries| entries.get(usize::from(entry)));
        entry.is_some_and(|entry| matches!(entry.kind, EntryKind::Bare(_)))
    }

    /// Whether the entry with this number is the one token with which every header ends.
    fn ends_every_header(&self, entry: u16) -> bool {
        let Some(messages) = &self.messages else { return false };
        let is_body = |entry: &&MessageEntry| matches!(entry.kind, EntryKind::Body(_));
        let bodies = messages.entries.iter().filter(is_body).count();
        bodies == 1 && messages.entries.get(usize::from(entry)).as_ref().is_some_and(is_body)
    }

    /// Returns the channel of the text after a message entry that decides it alone.
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
