//! Writing of objects with bare keys: strings in the family's own quotes, or as in scripts.
//!
//! ```text
//! {"s": "it's", "n": 2}
//! {s:<|"|>it's<|"|>,n:2}      Quoted
//! { s: "it's", n: 2 }         Script
//! ```

use alloc::string::String;

use super::{
    call::Markup,
    header::not_identifier,
    json::{self, Json},
    tags::find,
    typed::{self, Reading},
    value::{Item, Style},
};
use crate::{
    encode::{EncodeErrorKind, error::EncodeFault, input::JsonNode},
    family::{Form, Spacing, Types as DecidedBy, Write},
    tools::Tool,
    typing::{Path, TypeSet, declared_at},
    value::is_of_bare_key,
};

/// The end of a call inside a string: one of `ends`, followed by one of `follows`.
#[derive(Debug, Clone, Copy)]
pub(super) struct CallEnd<'w> {
    pub(super) ends: &'w [String],
    pub(super) follows: &'w [String],
}

impl CallEnd<'_> {
    /// Returns the position of such an end in `text` followed by `quote`.
    fn find(&self, text: &str, quote: &str) -> Option<usize> {
        let whole = [text, quote].concat();
        let ends = |at: &usize| {
            let following = self.ends.iter().filter_map(|end| whole[*at..].strip_prefix(&**end));
            following.map(str::trim_ascii_start).any(|following| self.follow(following))
        };
        text.char_indices().map(|(at, _)| at).find(ends)
    }

    fn follow(&self, following: &str) -> bool {
        self.follows.iter().any(|text| following.starts_with(&**text))
    }

    /// Returns whether `text` begins with one of the ends.
    fn begins(&self, text: &str) -> bool {
        self.ends.iter().any(|end| text.starts_with(&**end))
    }
}

/// A writer of strings in the family's own quotes, which cannot be escaped. If the wire has no
/// types, all scalars are in these quotes.
pub(super) struct Quoted<'w> {
    pub(super) call_end: CallEnd<'w>,
    pub(super) markup: Markup,
    pub(super) form: &'w Form,
    pub(super) quote: &'w str,
    pub(super) write: Write,
    pub(super) tool: Option<&'w Tool>,
}

impl Quoted<'_> {
    fn quoted(
        &self,
        text: &str,
        kind: EncodeErrorKind,
        out: &mut String,
    ) -> Result<(), EncodeFault> {
        let trusted = self.markup == Markup::Written && kind == EncodeErrorKind::Value;
        if trusted {
            out.extend([self.quote, text, self.quote]);
            return Ok(());
        }
        if let Some(at) = find(text, self.quote) {
            return Err(EncodeFault::new(kind, "it contains the quote that would end it").at(at));
        }
        if let Some(at) = self.call_end.find(text, self.quote) {
            return Err(EncodeFault::new(kind, "it contains a text that would end the call").at(at));
        }
        out.extend([self.quote, text, self.quote]);
        Ok(())
    }
}

impl Style for Quoted<'_> {
    fn colon(&self) -> &'static str {
        ":"
    }

    fn before_item(&self, item: Item<'_>, out: &mut String) {
        out.push_str(if item.n > 0 { "," } else { "" });
    }

    fn key(&self, key: &str, out: &mut String) -> Result<(), EncodeFault> {
        let bare = !key.is_empty()
            && key.chars().all(is_of_bare_key)
            && !key.starts_with(self.quote)
            // Between members, this text always ends the call.
            && !self.call_end.begins(key);
        if bare {
            out.push_str(key);
            return Ok(());
        }
        self.quoted(key, EncodeErrorKind::Key, out)
    }

    fn scalar(
        &self,
        node: &JsonNode<'_>,
        path: &Path,
        out: &mut String,
    ) -> Result<(), EncodeFault> {
        if self.form.types == DecidedBy::Wire {
            return match node {
                JsonNode::String(text) => self.quoted(text, EncodeErrorKind::Value, out),
                _ => Json::at_end_of("", Spacing::Compact).scalar(node, path, out),
            };
        }
        let declared = self.tool.and_then(|tool| declared_at(&tool.parameters, path.steps()));
        let declared = declared.filter(|types| *types != TypeSet::ALL);
        let reading = Reading::new(self.form, declared, None);
        let text = typed::text(node, self.write, |text| reading.to_json(text))?;
        self.quoted(&text, EncodeErrorKind::Value, out)
    }
}

/// A writer of script objects: bare keys if possible, and strings as in JSON.
pub(super) struct Script;

impl Style for Script {
    fn before_item(&self, item: Item<'_>, out: &mut String) {
        out.push_str(match (item.n, item.container) {
            (0, JsonNode::Object(_)) => " ",
            (0, _) => "",
            _ => ", ",
        });
    }

    fn after_items(&self, node: &JsonNode<'_>, _: &Path, out: &mut String) {
        out.push_str(if matches!(node, JsonNode::Object(_)) { " " } else { "" });
    }

    fn key(&self, key: &str, out: &mut String) -> Result<(), EncodeFault> {
        match not_identifier(key, &[]) {
            None => out.push_str(key),
            Some(_) => json::string(key, out),
        }
        Ok(())
    }

    fn scalar(
        &self,
        node: &JsonNode<'_>,
        path: &Path,
        out: &mut String,
    ) -> Result<(), EncodeFault> {
        Json::at_end_of("", Spacing::Spaced).scalar(node, path, out)
    }
}
