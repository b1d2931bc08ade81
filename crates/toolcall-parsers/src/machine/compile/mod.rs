//! The compiler from a family's templates to the machine's plan.
//!
//! ```text
//! <call>{name}<args>{arguments}</call>
//!   opener `<call>` ──► field name ──► tag `<args>` ──► leaf: a value, end tag `</call>`
//! ```

mod call_heads;
mod entry;
mod error;
mod finish;
pub(crate) mod respell;
mod section;
mod shape;
mod tokens;
mod trie;

use alloc::{boxed::Box, format, string::String, vec::Vec};

use jail_match::Anchor;

pub use self::error::CompileError;
use self::{
    entry::{CompileEntry, Outer},
    shape::{committed_on, ends_of, header_tokens, is_bare, is_object, is_plain, texts},
    tokens::{Holder, ShownTokens, Token, expand},
    trie::Trie,
};
use super::{
    arguments::{
        elements::ElementSpec,
        parameters::{HeadersIn, ParameterSpec, Unreadable},
    },
    plan::{Arguments, BlankRule, BlankStop, EndTags, FormPlan, Leaf, Missing, NodeId, Plan},
};
use crate::{
    family::{At, CommitOn, Family, Form, WhitespaceRule, Words, is_token},
    template::Template,
};

/// Policy for the family's own unmarked calls, if a payload begins with the same character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OwnCalls {
    /// Own calls are tried after the payload.
    Tried,
    /// Own calls are not recognised.
    Shadowed,
}

/// The forms of a payload, which precede the family's own forms.
#[derive(Debug, Clone)]
pub(crate) struct Guided {
    /// The number of the payload's forms.
    pub(crate) forms: usize,
    /// Policy for the family's own unmarked calls.
    pub(crate) own: OwnCalls,
    /// Keys that are allowed besides those of a payload's call, if restricted.
    pub(crate) beside: Option<Vec<String>>,
}

/// Compiles `family`, whose first forms are those of a payload if `guided` is set.
pub(crate) fn compile_guided(
    family: &Family,
    guided: Option<&Guided>,
) -> Result<Plan, CompileError> {
    if family.forms.len() > usize::from(u16::MAX) {
        return Err(CompileError::new("more than 65535 forms"));
    }
    let mut compiler = Compiler { family, trie: Trie::default(), forms: Vec::new() };
    let (payload, own) = family.forms.split_at(guided.map_or(0, |guided| guided.forms));
    for (form, n) in payload.iter().zip(0..) {
        compiler.form(n, form)?;
        compiler.trie.fits()?;
        if let Some(form) = compiler.forms.last_mut() {
            form.beside = guided.and_then(|guided| guided.beside.clone());
        }
    }
    let payloads = compiler.trie.openers.len();
    if guided.is_some_and(|guided| guided.own == OwnCalls::Shadowed) {
        compiler.trie.forget_bare();
    }
    // A payload and the calls of another family occur in messages of content. The family's own calls
    // occur in messages for calls.
    compiler.trie.message_body(family.messages.is_some());
    for (form, n) in own.iter().zip(payload.len() as u16..) {
        let body = compiler.trie.body.take_if(|_| form.commit_on == Some(CommitOn::Foreign));
        compiler.form(n, form)?;
        compiler.trie.body = body.or(compiler.trie.body);
        compiler.trie.fits()?;
    }
    Ok(Plan { payloads, ..compiler.finish() })
}

/// The calls of one form, and what they have in common.
struct FormCalls<'f> {
    n: u16,
    form: &'f Form,
    /// Every reading of each template of a call.
    calls: Vec<Vec<Token>>,
    section_ends: Vec<Box<str>>,
    blanks: BlankRule,
}

/// A compiler of one family.
struct Compiler<'f> {
    family: &'f Family,
    trie: Trie,
    forms: Vec<FormPlan>,
}

impl Compiler<'_> {
    /// Adds form number `n` to the plan.
    fn form(&mut self, n: u16, form: &Form) -> Result<(), CompileError> {
        let calls = form.calls.iter().filter(|call| !call.repeats_name());
        let calls: Vec<Vec<Token>> = calls.flat_map(|call| self.expand(call, form)).collect();
        let sections: Vec<Vec<Token>> =
            form.sections.iter().flat_map(|section| self.expand(section, form)).collect();
        let bare_call = calls.iter().any(|call| is_bare(call));
        let bare_list = sections.iter().any(|section| !is_plain(section) && is_bare(section));
        let has_bare = bare_list || bare_call && sections.iter().any(|section| is_plain(section));
        self.trie.anchors(match form.at {
            _ if has_bare => At::Anywhere,
            // In messages that are not for calls, a block of calls must fill the message.
            At::Anywhere if self.trie.message_node().is_some() => At::Lead,
            at => at,
        });
        let exact = form.whitespace == WhitespaceRule::Exact;
        let blanks = if exact { BlankRule::Exact } else { BlankRule::Free };
        let section_ends = ends_of(&sections, &self.trie, form);
        let of_form = FormCalls { n, form, calls, section_ends, blanks };
        for section in &sections {
            if is_plain(section) {
                self.calls_alone(&of_form)?;
            } else {
                self.section(&of_form, section)?;
            }
        }
        self.trie.between(form);
        self.forms.push(finish::form(form));
        Ok(())
    }

    /// Adds the calls of a form that need no section.
    fn calls_alone(&mut self, of_form: &FormCalls<'_>) -> Result<(), CompileError> {
        for call in &of_form.calls {
            let node = self.trie.message_node();
            let commit = match node {
                Some(_) => CommitOn::Marker,
                None => committed_on(of_form.form, call),
            };
            self.call(of_form, CompileEntry { node, commit, outer: Outer::Message }, call)?;
        }
        Ok(())
    }

    /// Returns every reading of `template`. For a template of a message, only the content of its
    /// body.
    fn expand(&self, template: &Template, form: &Form) -> Vec<Vec<Token>> {
        let mut ways = expand(&template.parts, form);
        if let Some(messages) = &self.family.messages {
            ways.iter_mut().for_each(|way| finish::strip_message(way, messages));
        }
        ways
    }

    /// Adds the header of a call, and the leaf after it.
    fn call(
        &mut self,
        of_form: &FormCalls<'_>,
        entry: CompileEntry,
        tokens: &[Token],
    ) -> Result<(), CompileError> {
        let &FormCalls { n, form, ref section_ends, blanks, .. } = of_form;
        let holder = tokens.iter().position(|token| matches!(token, Token::Arguments(_)));
        let (header, tail) = match holder {
            Some(at) => (&tokens[..at], &tokens[at.saturating_add(1)..]),
            None => (tokens, &[][..]),
        };
        let mut name = None;
        let mut at = entry.node;
        let mut field: Option<NodeId> = None;
        let mut parenthesis = false;
        for (i, token) in header.iter().enumerate() {
            parenthesis = false;
            match token {
                Token::Meant(word) => name = Some(Box::from(word.as_str())),
                Token::Space(shown) => {
                    if let Some(before) = field.take() {
                        let stop = match shown {
                            ShownTokens::Newline => BlankStop::Newline,
                            ShownTokens::Blank => BlankStop::Any,
                        };
                        self.trie.blank_stop(before, stop);
                    }
                }
                Token::Tag(tag) => {
                    parenthesis = tag == "(";
                    field = None;
                    // A template that spells out a JSON object is read by the keys of call objects.
                    if at.is_none() && is_object(tag) {
                        return Ok(());
                    }
                    let first = texts(&header[..i]).next().is_none();
                    let to = match at {
                        None => self.trie.open(tag, form),
                        Some(node) => self.trie.tag(node, tag, form),
                    };
                    if first {
                        self.trie.again(to, tag, form);
                    }
                    self.trie.blanks(to, blanks);
                    at = Some(to);
                }
                Token::Field(kind, quotes) => {
                    let node = at.unwrap_or_else(|| self.trie.bare(form));
                    let to = self.trie.field(node, kind, *quotes);
                    self.trie.blanks(to, blanks);
                    field = Some(node);
                    at = Some(to);
                }
                Token::Calls | Token::Arguments(_) => {}
            }
        }
        if let (Some(before), Some(Token::Space(shown))) = (field, tail.first())
            && holder.is_none()
        {
            let newline = *shown == ShownTokens::Newline;
            self.trie.blank_stop(before, if newline { BlankStop::Newline } else { BlankStop::Any });
        }
        let node = at.unwrap_or_else(|| self.trie.bare(form));
        let mut ends: Vec<&str> = texts(tail).collect();
        if parenthesis && ends.first() == Some(&")") {
            ends.remove(0);
        }
        let ends = self.ends(&ends, form, entry.outer);
        let arguments = match holder.map(|at| &tokens[at]) {
            Some(Token::Arguments(holder)) => {
                let before = texts(header).next_back();
                // A call without its section is not enclosed by the section's tags.
                let enclosed = entry.node.is_some() && !section_ends.is_empty();
                self.arguments(form, (before, holder), &ends, (section_ends, enclosed))?
            }
            _ => Arguments::None,
        };
        let leaf = Leaf { form: n, commit: entry.commit, name, arguments, ends };
        self.trie.leaf(node, leaf);
        Ok(())
    }

    fn arguments(
        &self,
        form: &Form,
        (before, holder): (Option<&str>, &Holder),
        ends: &EndTags,
        (section_ends, enclosed): (&[Box<str>], bool),
    ) -> Result<Arguments, CompileError> {
        let first = || ends.tags.iter().flatten().cloned().collect::<Vec<_>>();
        Ok(match holder {
            Holder::Object(dialect) => Arguments::Object(*dialect),
            Holder::Arguments(dialect) if before == Some("(") => Arguments::Keywords(*dialect),
            Holder::Arguments(dialect) => Arguments::Value(*dialect),
            Holder::Raw(key) => {
                let mut ends = first();
                if ends.is_empty() {
                    ends.extend(self.family.end_of_turn.iter().map(|end| Box::from(end.as_str())));
                    let between = form.between.iter().filter(|text| !text.trim().is_empty());
                    ends.extend(between.map(|text| format!("\n{text}").into()));
                }
                let again = before.filter(|tag| is_token(tag));
                let again = again.map_or(Vec::new(), |tag| self.trie.spell(tag, form));
                let headers = self.family.messages.as_ref().map_or(Vec::new(), header_tokens);
                // The header of the next message ends a message whose end is missing.
                ends.extend(headers.first().cloned());
                Arguments::Raw { key: key.as_str().into(), again, ends, headers }
            }
            Holder::Parameters => {
                let ends = self.structure(form, ends, (section_ends, enclosed));
                let headers = match self.family.special_tokens {
                    true => HeadersIn::Tokens,
                    false => HeadersIn::Lines,
                };
                let spec = ParameterSpec::compile(form, ends, headers);
                let fault = |fault: Unreadable| self.fault(fault, form, "parameter");
                let mut spec = spec.map_err(fault)?;
                spec.python = self.family.write.words == Words::Repr;
                Arguments::Parameters(spec)
            }
            Holder::Elements => {
                let spec = self.structure(form, ends, (section_ends, enclosed));
                let spec = ElementSpec::compile(form, spec);
                let fault = |fault: Unreadable| self.fault(fault, form, "element");
                Arguments::Elements(spec.map_err(fault)?)
            }
        })
    }

    /// Returns `tags` in all spellings. The end of a message is added for calls that fill a
    /// message.
    fn ends(&self, tags: &[&str], form: &Form, outer: Outer) -> EndTags {
        let mut tags: Vec<Vec<Box<str>>> =
            tags.iter().map(|tag| self.trie.spell(tag, form)).collect();
        if let Some(messages) = &self.family.messages
            && outer == Outer::Message
        {
            tags.push(messages.end.iter().map(|end| end.as_str().into()).collect());
        }
        EndTags { tags, missing: Missing::Reported }
    }
}

/// Returns the driver's anchor for the position `at`.
pub(crate) fn anchor(at: At) -> Anchor {
    match at {
        At::Anywhere => Anchor::Anywhere,
        At::Lead => Anchor::Lead,
        At::Line => Anchor::LineStart,
        At::AfterCall => Anchor::AfterCall,
    }
}
