//! The parts of a plan besides the trie: erased texts, orphans, message headers, recovery points.

use alloc::{boxed::Box, string::String, vec::Vec};

use jail_match::Anchor;

use super::{
    Compiler,
    tokens::{ShownTokens, Token},
};
use crate::{
    family::{At, Erase, Form, Messages, NewlineRule},
    machine::{
        arguments::{
            parameters::{ParameterSpec, call_heads::CallHead},
            tag::TagTexts,
        },
        messages::{EntryKind, MessagePlan},
        plan::{Arguments, FormPlan, Leaf, Opener, Plan, Start},
        turn_ends::TurnEnds,
    },
    template::{Dialect, Hole, Template},
    texts::Texts,
};

impl Compiler<'_> {
    /// Returns the finished plan.
    pub(super) fn finish(mut self) -> Plan {
        self.trie.settle();
        let family = self.family;
        let mut openers = core::mem::take(&mut self.trie.openers);
        let mut recovery_points: Vec<Box<str>> = openers
            .iter()
            .filter(|opener| opener.marker.len() > 1 && opener.at != Anchor::AfterCall)
            .map(|opener| opener.marker.clone())
            .collect();
        let opener_points = recovery_points.len();
        recovery_points.extend(family.end_of_turn.iter().map(|end| Box::from(end.as_str())));
        if family.special_tokens {
            // No value contains these tokens, so they end a call whose end is missing.
            let may_follow = |erase: &&Erase| matches!(erase.at, At::Anywhere | At::AfterCall);
            let erased = family.erase.iter().filter(may_follow);
            recovery_points.extend(erased.map(|erase| Box::from(erase.text.as_str())));
        }
        let mut erase: Vec<Erase> = family.end_of_turn.iter().map(|end| token(end)).collect();
        erase.extend(family.erase.iter().cloned());
        let messages = family.messages.as_ref().zip(self.trie.message_node());
        let messages =
            messages.map(|(messages, body)| MessagePlan::new(messages, body, family.forms.first()));
        if let Some(messages) = &messages {
            for (n, entry) in messages.entries.iter().enumerate() {
                openers.push(Opener {
                    marker: entry.marker.clone(),
                    at: entry.at,
                    newlines: 0,
                    start: Start::Header(n as u16),
                });
                if entry.at == Anchor::Anywhere && !matches!(entry.kind, EntryKind::Bare(_)) {
                    recovery_points.push(entry.marker.clone());
                }
            }
            recovery_points.extend(messages.ends.iter().cloned());
        }
        if family.forms.iter().any(|form| form.newlines == NewlineRule::All) {
            erase.push(Erase { at: At::AfterCall, ..token("\n") });
        }
        for leaf in &self.trie.leaves {
            if let (Arguments::Value(Dialect::Literal), Some(form)) =
                (&leaf.arguments, self.forms.get_mut(usize::from(leaf.form)))
            {
                let ends = leaf.ends.tags.iter().flatten();
                form.value_ends.extend(ends.map(|end| String::from(&**end)));
            }
        }
        let mut orphans: Vec<Box<str>> = Vec::new();
        // A call's end tag occurs alone only if the call may occur without its section.
        let alone = |leaf: &&Leaf| {
            let form = family.forms.get(usize::from(leaf.form));
            form.is_none_or(|form| form.call_alone.is_some() || !form.has_sections())
        };
        let leaves = self.trie.leaves.iter().filter(alone).map(|leaf| &leaf.ends);
        let sections = self.trie.sections.iter().map(|section| &section.ends);
        for end in leaves.chain(sections).flat_map(|ends| ends.tags.iter().flatten()) {
            let opens = openers.iter().any(|opener| opener.marker == *end);
            let letters = end.contains(|c: char| c.is_alphanumeric());
            let in_messages = messages.as_ref().is_some_and(|messages| messages.ends.contains(end));
            if letters && !opens && !in_messages && !orphans.contains(end) {
                orphans.push(end.clone());
            }
        }
        let ends = self.trie.leaves.iter().filter_map(|leaf| leaf.ends.tags.last()).flatten();
        let sections = self.trie.sections.iter();
        let outer = sections.flat_map(|section| section.ends.tags.iter().flatten());
        let calls = self.trie.nodes.iter().flat_map(|node| &node.tags).map(|tag| &tag.text);
        // Which of these texts is a recovery point depends on the section of the fault.
        let opens = self.trie.sections.iter().flat_map(|section| &section.opens);
        let places = ends.chain(outer).chain(calls).chain(opens).map(|text| (&**text, false));
        let tags = || {
            let tags = openers.iter().map(|opener| &opener.marker);
            let ends = messages.iter().flat_map(|messages| &messages.ends);
            tags.chain(ends).map(|text| &**text).chain(places.clone().map(|(text, _)| text))
        };
        let only_ends = |end: &&String| !tags().any(|tag| tag.contains(end.as_str()));
        let turn_ends = family.end_of_turn.iter().filter(only_ends);
        let turn_ends = turn_ends.map(|end| Box::from(end.as_str())).collect();
        let turn_ends = TurnEnds::new(turn_ends);
        if messages.is_none() {
            openers.extend(repeated_block_openers(&openers, &orphans));
        }
        let recovery = places.chain(recovery_points.iter().map(|stop| (&**stop, true)));
        Plan {
            parameter_texts: parameter_texts(&self.trie.leaves, recovery.clone()),
            recovery_texts: Texts::new(recovery),
            openers,
            payloads: 0,
            nodes: self.trie.nodes,
            leaves: self.trie.leaves,
            sections: self.trie.sections,
            forms: self.forms,
            messages,
            erase,
            turn_ends,
            orphans,
            follows: recovery_points.iter().map(|stop| String::from(&**stop)).collect(),
            recovery_points,
            opener_points,
        }
    }
}

/// Returns `recovery` with the tags of tagged parameters, and of calls with such parameters.
fn parameter_texts<'t>(
    leaves: &'t [Leaf],
    recovery: impl Iterator<Item = (&'t str, bool)>,
) -> Option<Texts> {
    let leaves = leaves.iter().filter_map(|leaf| match &leaf.arguments {
        Arguments::Parameters(spec) => Some((leaf, spec)),
        _ => None,
    });
    let heads = leaves.clone().flat_map(|(_, spec)| spec.heads.iter().map(CallHead::opener));
    let heads: Vec<_> = heads.collect::<Option<_>>()?;
    let own = leaves.flat_map(|(leaf, spec): (_, &'t ParameterSpec)| {
        let tags = [spec.openers(), &spec.parts, &spec.value_ends].into_iter().flatten();
        let ends = leaf.ends.tags.iter().flatten().map(|end| &**end);
        tags.flat_map(TagTexts::texts).chain(ends)
    });
    let texts = heads.into_iter().flat_map(TagTexts::texts).chain(own);
    Some(Texts::new(recovery.chain(texts.map(|text| (text, false)))))
}

/// Returns openers for repeated blocks, directly after a block: the brackets that do not begin a
/// call already.
fn repeated_block_openers(openers: &[Opener], ends: &[Box<str>]) -> Vec<Opener> {
    let known = |bracket: &&str| openers.iter().any(|opener| &*opener.marker == *bracket);
    let brackets = ["[", "{"].into_iter().filter(|bracket| !ends.is_empty() && !known(bracket));
    let (at, start) = (Anchor::AfterCall, Start::RepeatedBlock);
    brackets.map(|marker| Opener { marker: marker.into(), at, newlines: 0, start }).collect()
}

fn token(text: &str) -> Erase {
    Erase { text: String::from(text), at: At::Anywhere, once: false, newlines: (0, 0) }
}

/// Returns the properties that are common to the calls of `form`.
pub(super) fn form(form: &Form) -> FormPlan {
    FormPlan {
        keys: form.keys.clone(),
        no_call: form.no_call.clone(),
        quote: form.quote.clone(),
        types: form.types,
        beside: None,
        value_ends: Vec::new(),
    }
}

/// Returns the texts between calls that the sections of `form` show, without white space.
pub(super) fn separators(form: &Form) -> Vec<Box<str>> {
    let holes = form.sections.iter().flat_map(Template::holes);
    let texts = holes.filter_map(|hole| match hole {
        Hole::Calls { separator } => Some(separator.trim_ascii()).filter(|text| !text.is_empty()),
        _ => None,
    });
    texts.map(Box::from).collect()
}

/// Removes the header and the end of a message from `tokens`.
pub(super) fn strip_message(tokens: &mut Vec<Token>, messages: &Messages) {
    let body = tokens.iter().enumerate().find_map(|(n, token)| {
        let Token::Tag(tag) = token else {
            // A newline that ends the header is a space token.
            let newline = *token == Token::Space(ShownTokens::Newline);
            let ends = newline && messages.body.iter().any(|body| body == "\n");
            return ends.then(|| (n, String::new()));
        };
        messages.body.iter().find_map(|body| {
            let at = tag.find(body.as_str())?;
            Some((n, String::from(&tag[at + body.len()..])))
        })
    });
    if let Some((n, rest)) = body {
        tokens.drain(..=n);
        if !rest.is_empty() {
            tokens.insert(0, Token::Tag(rest));
        }
    }
    while let Some(Token::Tag(tag)) = tokens.last() {
        if !messages.end.contains(tag) {
            break;
        }
        tokens.pop();
    }
}
