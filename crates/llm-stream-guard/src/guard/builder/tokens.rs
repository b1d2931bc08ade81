//! The builder's use of a tokenizer's marker tokens.

use std::{borrow::Cow, sync::Arc};

use jail_match::{Anchor, Edge, InCode, MarkerTokens, SuffixRule, Then};
use think_filter::{Format, MarkerCase, Pairing, TokenSuffix};
use toolcall_parsers::Grammar;

use super::GuardBuilder;

impl GuardBuilder {
    /// Sets the texts that are single added tokens of the tokenizer, such as `<think>` and
    /// `<tool_call>`. A marker of the family with such a text acts only where
    /// [`crate::Guard::push_token`] feeds it as a marker token. Text that spells the marker is
    /// ordinary text in content, reasoning and calls. Other markers are recognised by text.
    ///
    /// Texts that the family does not use have no effect. A call that the family accepts without
    /// its section is text where the section's opener is a marker token. Markers shorter than four
    /// bytes are recognised by text.
    #[must_use]
    pub fn marker_tokens<T: Into<Box<str>>>(self, texts: impl IntoIterator<Item = T>) -> Self {
        Self { marker_tokens: texts.into_iter().map(Into::into).collect(), ..self }
    }

    /// Returns the suffix of the checkpoint's tags: the one that was set, or that of its marker
    /// tokens if the family learns suffixes.
    pub(super) fn suffix_of_tags(
        &self,
        grammar: Option<&Grammar>,
        format: Option<&Format>,
    ) -> Option<String> {
        if self.profile.token_suffix.is_some() || self.marker_tokens.is_empty() {
            return self.profile.token_suffix.clone();
        }
        let grammar = grammar.filter(|grammar| grammar.learns_suffix());
        let format = format.filter(|format| format.suffix == TokenSuffix::Any);
        let calls = grammar.map(Grammar::literals).unwrap_or_default();
        let tags = format.iter().flat_map(|format| format.open.iter().chain(&format.close));
        let tags = tags.map(|tag| &**tag).chain(calls.iter().map(String::as_str));
        let heads = tags.filter_map(|tag| tag.strip_suffix('>')).collect::<Vec<_>>();
        let suffix = |token: &str| {
            let suffixes = heads.iter().filter_map(|head| {
                let suffix = token.strip_prefix(head)?.strip_suffix('>')?;
                (suffix.starts_with(':') && !suffix.contains(['<', '>'])).then_some(suffix)
            });
            suffixes.max_by_key(|suffix| suffix.len()).map(str::to_owned)
        };
        self.marker_tokens.iter().find_map(|token| suffix(token))
    }

    /// Returns the format with its tags in the letter case of the marker tokens, if the format
    /// ignores case.
    pub(super) fn cased(&self, mut format: Format) -> Format {
        if format.case != MarkerCase::Insensitive {
            return format;
        }
        let tokens = || self.marker_tokens.iter().map(|token| &**token);
        for tags in [&mut format.open, &mut format.close] {
            let mut more: Vec<Cow<'static, str>> = Vec::new();
            for tag in tags.iter_mut() {
                let alike = |token: &&str| token.eq_ignore_ascii_case(tag);
                let mut alike = tokens().filter(alike).map(str::to_owned);
                let Some(first) = alike.next() else { continue };
                more.extend(alike.map(Cow::from));
                *tag = first.into();
            }
            if format.pairing == Pairing::Any {
                tags.extend(more);
            }
        }
        format
    }
}

/// Rewrites `edges` to find marker tokens in the form in which they are fed. Returns the edges with
/// the family's own markers.
pub(super) fn respell(edges: &mut [Edge], tokens: &MarkerTokens) -> Arc<[Edge]> {
    let shown = Arc::from(&*edges);
    for edge in edges {
        let Some(spelled) = tokens.respell(&edge.marker) else { continue };
        if tokens.leads(&edge.marker) {
            // Prose cannot contain a marker token, so that the edge acts everywhere.
            edge.in_code = InCode::Live;
            edge.suffix = SuffixRule::None;
            let body = matches!(edge.then, Then::Body(..));
            if edge.anchor == Anchor::Line || body && edge.anchor == Anchor::Lead {
                edge.anchor = Anchor::Anywhere;
            }
        }
        edge.marker = spelled.into();
    }
    shown
}
