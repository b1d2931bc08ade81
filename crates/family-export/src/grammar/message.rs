//! The grammar of a whole answer: reasoning, text and calls.

mod blocks;

use std::{collections::BTreeMap, sync::Arc};

use llm_stream_guard::{AnswerRules, Parallel, Profile, Start, ToolChoice};
use toolcall_parsers::{
    EncodeCall, EncodeErrorKind, Family, Grammar, Tools, encode,
    family::{Form, KeyOrder},
    template::{Hole, Part, Template},
};

use self::blocks::{Calls, Forms};
use super::{
    class::CharClass,
    dfa::until,
    ir::{Node, Rules},
    markup::{self, Openers, least, tags},
    members::share,
    notes::Notes,
    shape::{Object, Reader, Shape},
    thought::ThoughtGrammar,
    values::Values,
    walk::{CallOf, Walk, has_parameters, heads, holds_json},
};
use crate::{ExportError, has_response_template, limits::MAX_GRAMMAR_SIZE};

/// The parts of a family and a request from which a grammar is made.
pub(super) struct Message<'m> {
    grammar: Grammar,
    /// The grammar with the names of the request's tools in its tags.
    named: Grammar,
    thought: Option<ThoughtGrammar>,
    request: &'m AnswerRules,
}

impl<'m> Message<'m> {
    pub(super) fn new(profile: &Profile, request: &'m AnswerRules) -> Result<Self, ExportError> {
        let unknown = |error: &dyn core::fmt::Display| ExportError::new(error.to_string());
        if has_response_template(profile) {
            return Err(ExportError::new("a response template cannot write calls"));
        }
        let grammar = profile.grammar().map_err(|error| unknown(&error))?;
        let grammar = grammar.ok_or_else(|| ExportError::new("its models call no tools"))?;
        let named = grammar.with_names(&request.tools);
        Ok(Self { grammar, named, thought: ThoughtGrammar::of(profile)?, request })
    }

    /// Returns the rules of the answer.
    pub(super) fn rules(&self, notes: &mut Notes) -> Result<Rules, ExportError> {
        let family = self.grammar.family();
        let form = family.forms.get(family.write.form).or_else(|| family.forms.first());
        let form = form.ok_or_else(|| ExportError::new("its models call no tools"))?;
        let tools = self.tools()?;
        let not: Arc<[String]> = self.markup().into();
        let calls = match self.request.choice {
            ToolChoice::None => None,
            _ => Some(self.calls(form, &tools, (&mut *notes, &not))?),
        };
        let (rules, calls) = calls.map_or_else(Default::default, |it: Calls| (it.rules, it.any));
        let is_required = !matches!(self.request.choice, ToolChoice::Auto | ToolChoice::None);
        if !is_required {
            notes.refused("answers that contain markup of the family");
        }
        if !is_required && family.messages.is_some() {
            return Err(ExportError::new("its answers are messages, which begin with headers"));
        }
        let start = match (is_required, self.request.start) {
            (true, Start::Content) if self.request.may_think => {
                self.own_thought(&not).then(calls.at_start())
            }
            (true, Start::Content) => calls.at_start(),
            (true, Start::Reasoning) => self.thought(&not)?.then(calls.after_text()),
            (false, start) => {
                let answer = self.answer(&not)?;
                let free = match self.request.choice {
                    ToolChoice::None => answer,
                    _ => Node::choice([answer].into_iter().chain(calls.with_text.clone())),
                };
                let free = match (start, &self.request.choice) {
                    (Start::Content, ToolChoice::Auto) => Node::choice([free, calls.at_start()]),
                    _ => free,
                };
                let thought = match start {
                    Start::Content => self.own_thought(&not),
                    Start::Reasoning => self.thought(&not)?,
                };
                thought.then(free)
            }
        };
        let rules = Rules { rules, start };
        let size = rules.rules.iter().map(|rule| rule.node.size()).sum::<usize>();
        match size.saturating_add(rules.start.size()) > MAX_GRAMMAR_SIZE {
            true => {
                Err(ExportError::new("the schemas of the tools make a grammar that is too large"))
            }
            false => Ok(rules),
        }
    }

    /// Returns the tools that may be called.
    fn tools(&self) -> Result<Tools, ExportError> {
        let tools = &self.request.tools;
        match &self.request.choice {
            ToolChoice::Named(name) => match tools.get(name) {
                Some(tool) => Ok(Tools::new([(name.as_str(), tool.parameters.clone())])),
                None => Err(ExportError::new(format!("the tool `{name}` is not declared"))),
            },
            ToolChoice::None => Ok(Tools::none()),
            _ if tools.is_empty() => Err(ExportError::new("the request declares no tools")),
            _ => Ok(tools.clone()),
        }
    }

    /// Returns the texts that free text must not contain.
    pub(super) fn markup(&self) -> Vec<String> {
        let mut all = tags(self.named.family());
        all.extend(self.thought.iter().flat_map(ThoughtGrammar::markers));
        least(all)
    }

    /// Returns the tags between bars, which only a tokenizer writes. Empty if the family has none.
    pub(super) fn special_tokens(&self) -> Vec<String> {
        let family = self.grammar.family();
        let all = if family.special_tokens { self.markup() } else { Vec::new() };
        all.into_iter().filter(|tag| is_token(tag)).collect()
    }

    /// Returns the text of an answer.
    fn answer(&self, not: &[String]) -> Result<Node, ExportError> {
        let text = until(not, "");
        Ok(match markup::openers(self.named.family()) {
            Openers::Marked => text,
            Openers::Leading => {
                let first = CharClass::not(&[
                    ('[', '['),
                    ('{', '{'),
                    ('<', '<'),
                    ('`', '`'),
                    ('\0', ' '),
                    ('\u{85}', '\u{85}'),
                    ('\u{a0}', '\u{a0}'),
                    ('\u{1680}', '\u{1680}'),
                    ('\u{2000}', '\u{200f}'),
                    ('\u{2028}', '\u{202f}'),
                    ('\u{205f}', '\u{205f}'),
                    ('\u{3000}', '\u{3000}'),
                    ('\u{feff}', '\u{feff}'),
                ]);
                Node::optional(Node::Char(first).then(text))
            }
            Openers::Plain => {
                return Err(ExportError::new(
                    "its calls begin with ordinary text, so that no grammar separates answers from \
                     calls",
                ));
            }
        })
    }

    /// Returns the rest of reasoning that the prompt opened, with its end.
    fn thought(&self, not: &[String]) -> Result<Node, ExportError> {
        if self.grammar.family().messages.is_some() {
            return Err(ExportError::new("its reasoning is a message, which no prompt begins"));
        }
        let rest = self.thought.as_ref().and_then(|thought| thought.rest(not));
        rest.ok_or_else(|| ExportError::new("its models do not reason"))
    }

    /// Returns reasoning that the model may open at the start of an answer.
    fn own_thought(&self, not: &[String]) -> Node {
        let own = self.thought.as_ref().and_then(|thought| thought.own(not));
        own.map_or_else(Node::default, Node::optional)
    }

    /// Returns one or more calls of the tools.
    fn calls(
        &self,
        form: &Form,
        tools: &Tools,
        (notes, not): (&mut Notes, &Arc<[String]>),
    ) -> Result<Calls, ExportError> {
        let family = self.grammar.family();
        let mut read = Vec::new();
        for tool in tools.iter() {
            self.check_name(&tool.name)?;
            let mut reader = Reader::new(&tool.parameters, &tool.name, notes);
            let arguments = Shape::Object(reader.arguments());
            let mut tool = CallOf {
                name: tool.name.clone(),
                arguments: Object::default(),
                definitions: reader.definitions,
            };
            let all = [arguments].into_iter().chain(core::mem::take(&mut tool.definitions));
            let is_sorted = family.write.keys == KeyOrder::Sorted;
            let mut all = all.map(|shape| if is_sorted { shape.sorted() } else { shape });
            if let Some(Shape::Object(arguments)) = all.next() {
                tool.arguments = arguments;
            }
            tool.definitions = all.collect();
            read.push(tool);
        }
        notes.refused("values that contain markup of the family, where nothing escapes it");
        let values = Values::new(notes);
        let (not, margin) = (not.clone(), 0);
        let elements = BTreeMap::new();
        let heads = heads(&read);
        let mut walk =
            Walk { family, form, values, not, heads, margin, is_applied: false, elements };
        let mut blocks = self.blocks(&mut walk, &read)?;
        // Values that tags cannot enclose are written in another form.
        let others =
            family.forms.iter().filter(|it| has_parameters(form) && !core::ptr::eq(*it, form));
        for other in others.filter(|it| it.calls.first().is_some_and(holds_json)) {
            walk.form = other;
            let more = self.blocks(&mut walk, &read)?;
            blocks.first.extend(more.first);
            blocks.later.extend(more.later);
        }
        let between = form.between.first().map_or("\n", String::as_str);
        // Calls that count only before other text cannot come after text.
        let has_text = self.request.choice == ToolChoice::Auto
            && markup::openers(self.named.family()) == Openers::Marked;
        let text = has_text.then(|| walk.not.clone());
        let rules = walk.values.rules;
        let is_single = self.is_single();
        Ok(Calls::new(self.opened_by_prompt(family), rules, blocks, (between, is_single, text)))
    }

    /// Returns whether the answer has one call.
    fn is_single(&self) -> bool {
        self.request.parallel == Parallel::One
            || matches!(self.request.choice, ToolChoice::Named(_))
    }

    /// Returns the blocks of a form, each with one call or with all.
    fn blocks(&self, walk: &mut Walk<'_, '_>, tools: &[CallOf]) -> Result<Forms, ExportError> {
        let bare = Template { parts: vec![Part::Hole(Hole::Call)] };
        let section = walk.form.sections.first().unwrap_or(&bare);
        let mut forms = Forms::default();
        let is_calls = |part: &Part| matches!(part, Part::Hole(Hole::Calls { .. }));
        let Some(at) = section.parts.iter().position(is_calls) else {
            for (number, tool) in tools.iter().enumerate() {
                (walk.margin, walk.is_applied) = (0, false);
                walk.enter(number, tool);
                forms.first.push(walk.block(section, tool)?);
            }
            forms.later.clone_from(&forms.first);
            return Ok(forms);
        };
        let (head, tail) = section.parts.split_at(at);
        let (Some((Part::Hole(Hole::Calls { separator }), tail)), Some(any)) =
            (tail.split_first(), tools.first())
        else {
            return Err(ExportError::new("its section has no place for calls"));
        };
        let head = walk.parts(head, any)?;
        let begun = (walk.margin, walk.is_applied);
        let mut ways = Vec::new();
        for (number, tool) in tools.iter().enumerate() {
            (walk.margin, walk.is_applied) = begun;
            walk.enter(number, tool);
            ways.push(walk.call(tool)?);
        }
        let call = share(Node::choice(ways), &mut walk.values.rules);
        let more = Node::Text(separator.clone()).then(call.clone());
        let more = if self.is_single() { Node::default() } else { Node::many(more) };
        forms.first.push(Node::seq([head, call, more, walk.parts(tail, any)?]));
        Ok(forms)
    }

    /// Returns the beginning of a message that the prompt may have written.
    fn opened_by_prompt(&self, family: &Family) -> Option<String> {
        let messages = family.messages.as_ref()?;
        let mut head = String::new();
        for part in &messages.header.parts {
            match part {
                Part::Literal(text) => head.push_str(text),
                Part::Hole(Hole::Role) => {
                    head.push_str("assistant");
                    break;
                }
                _ => break,
            }
        }
        Some(head)
    }

    fn check_name(&self, name: &str) -> Result<(), ExportError> {
        let call = EncodeCall::new(name, "{}");
        match encode(&self.grammar, &[call], &Tools::none()) {
            Err(error) if error.kind() == EncodeErrorKind::Name => {
                Err(ExportError::new(error.to_string()))
            }
            _ => Ok(()),
        }
    }
}

/// Returns whether only a tokenizer writes a tag: `<|x|>`, with bars of either width.
fn is_token(tag: &str) -> bool {
    let inside = tag.strip_prefix('<').and_then(|tag| tag.strip_suffix('>')).unwrap_or_default();
    let bar = ['|', '｜'];
    inside.starts_with(bar) && inside.ends_with(bar) && !inside.contains(['<', '>'])
}

impl Walk<'_, '_> {
    /// Begins the calls of a tool, to whose definitions the schemas refer.
    fn enter(&mut self, number: usize, tool: &CallOf) {
        self.values.tool = number;
        self.values.definitions.clone_from(&tool.definitions);
    }

    /// Returns a section with one call.
    fn block(&mut self, section: &Template, call: &CallOf) -> Result<Node, ExportError> {
        let mut nodes = Vec::new();
        let mut rest = &section.parts[..];
        while let Some(at) = rest.iter().position(|part| matches!(part, Part::Hole(Hole::Call))) {
            let (before, after) = rest.split_at(at);
            nodes.push(self.parts(before, call)?);
            nodes.push(self.call(call)?);
            rest = after.get(1..).unwrap_or_default();
        }
        nodes.push(self.parts(rest, call)?);
        Ok(Node::seq(nodes))
    }
}
