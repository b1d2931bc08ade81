//! [`Grammar`]: a family, compiled for reading.

use alloc::{string::String, sync::Arc, vec::Vec};
use core::{cell::RefCell, fmt};

use jail_match::MarkerTokens;

pub(crate) use crate::machine::field::name_starts;
use crate::{
    family::{Family, Suffix},
    machine::{
        compile::{CompileError, Guided, compile_guided, respell::Respell},
        plan::Plan,
    },
    template::Part,
};

/// The compiled templates of a family, shared by any number of parsers. Cheap to clone.
#[derive(Clone)]
pub struct Grammar {
    family: Arc<Family>,
    plan: Arc<Plan>,
    guided: Option<Arc<Guided>>,
    tokens: Option<Arc<TokenPlan>>,
    /// The grammar for declared tools, if the family has [`Family::foreign`] forms.
    with_foreign: Option<Arc<Self>>,
}

/// The tokenizer's marker tokens, and the plan with their private spellings.
struct TokenPlan(MarkerTokens, Arc<Plan>);

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
        let with_foreign = if family.foreign.is_empty() {
            None
        } else {
            let mut all = family.clone();
            all.forms.append(&mut all.foreign);
            Some(Arc::new(Self::compile(all, guided.clone())?))
        };
        let (family, plan, guided) = (Arc::new(family), Arc::new(plan), guided.map(Arc::new));
        Ok(Self { family, plan, guided, tokens: None, with_foreign })
    }

    /// Returns the grammar with another family, for the same payload and tokens. Returns itself if
    /// the family cannot be compiled.
    pub(crate) fn recompiled(&self, family: Family) -> Self {
        let Ok(mut grammar) = Self::compile(family, self.guided.as_deref().cloned()) else {
            return self.clone();
        };
        if let Some(TokenPlan(tokens, _)) = self.tokens.as_deref() {
            grammar = grammar.with_marker_tokens(tokens);
        }
        grammar
    }

    /// Creates a grammar that recognises nothing.
    #[must_use]
    pub fn none() -> Self {
        Self {
            family: Arc::default(),
            plan: Arc::default(),
            guided: None,
            tokens: None,
            with_foreign: None,
        }
    }

    /// Returns the family that the grammar was compiled from.
    #[must_use]
    pub fn family(&self) -> &Family {
        &self.family
    }

    /// Returns the grammar that also reads calls of other families.
    pub(crate) fn with_foreign(&self) -> &Self {
        self.with_foreign.as_deref().unwrap_or(self)
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
        self.tokens.as_ref().map_or(&self.plan, |tokens| &tokens.1)
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
        let foreign = grammar.with_foreign.iter_mut();
        foreign.for_each(|it| *it = Arc::new(it.with_marker_tokens(tokens)));
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
        grammar.tokens = Some(Arc::new(TokenPlan(tokens.clone(), Arc::new(reading))));
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
        if let Some(TokenPlan(tokens, _)) = self.tokens.as_deref() {
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
