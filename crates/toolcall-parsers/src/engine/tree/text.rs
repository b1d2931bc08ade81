//! Text inside elements.

use jail_match::Feed;

use super::{
    State, Step, TreeEngine,
    element::{Element, Kind},
    shape::TreeShape,
    tag::Tag,
};
use crate::{
    calls::Calls,
    engine::text::space,
    event::{CallSink, DiagnosticKind},
    json::escape::escape,
    typing::{Fit, Types, typed},
};

/// Whitespace that is held, at most, in the hope that elements follow it.
const MAX_GAP: usize = 1024;

impl TreeEngine {
    /// Between tags, inside a call.
    pub(super) fn text(
        &mut self,
        shape: &TreeShape,
        text: &str,
        i: &mut usize,
        calls: &mut Calls,
        sink: &mut dyn CallSink,
    ) -> Step {
        let in_element = self.open.len() > 1;
        if !in_element {
            *i += space(&text[*i..]);
        }
        let first = shape.namespace.as_bytes().first().copied().unwrap_or(b'<');
        let mut from = *i;
        while let Some(hit) = memchr::memchr(first, &text.as_bytes()[from..]) {
            let at = from + hit;
            if !in_element && at > *i {
                break;
            }
            match shape.tag_at(&text[at..]) {
                Tag::Yes { len } => {
                    self.push(&text[*i..at], calls, sink);
                    *i = at;
                    return self.begin_tag(len, i);
                }
                Tag::Maybe => {
                    self.push(&text[*i..at], calls, sink);
                    return Step::Return(Feed::More { used: at });
                }
                Tag::No if !in_element => break,
                Tag::No => from = at + text[at..].chars().next().map_or(1, char::len_utf8),
            }
        }
        if !in_element && *i < text.len() {
            return self.bad(text, i, *i, calls, sink);
        }
        self.push(&text[*i..], calls, sink);
        Step::Return(Feed::More { used: text.len() })
    }

    /// Takes in text of the innermost element.
    fn push(&mut self, text: &str, calls: &Calls, sink: &mut dyn CallSink) {
        let Some(element) = self.open.last_mut() else { return };
        let limit = calls.options.limits.value;
        match element.kind {
            Kind::String => {
                escape(text, |piece| self.out.put(piece, calls, sink));
                self.bound(calls, sink);
            }
            Kind::List => {
                let bytes = text.bytes().filter(|byte| !byte.is_ascii_whitespace()).count();
                element.noise += bytes as u64;
            }
            Kind::Object => {
                let begun = self.text.len() > element.text;
                let text = if begun { text } else { text.trim_ascii_start() };
                let room =
                    if element.noise > 0 { 0 } else { limit.saturating_sub(self.text.len()) };
                let fits = (0..=room.min(text.len())).rev().find(|&n| text.is_char_boundary(n));
                let (kept, dropped) = text.split_at(fits.unwrap_or(0));
                self.text.push_str(kept);
                element.noise += dropped.len() as u64;
            }
            Kind::Leaf => {
                self.text.push_str(text);
                let held = &self.text[element.text..];
                let is_string = element.types.is_some_and(Types::only_string);
                let begun = held.len() > MAX_GAP || !held.trim_ascii().is_empty();
                if is_string && begun || self.text.len() > limit {
                    self.begin_string(calls, sink);
                }
            }
        }
    }

    /// The innermost element is a string; what is held of it is written.
    fn begin_string(&mut self, calls: &Calls, sink: &mut dyn CallSink) {
        self.lead(calls, sink);
        let Some(element) = self.open.last_mut() else { return };
        element.kind = Kind::String;
        self.out.put("\"", calls, sink);
        escape(&self.text[element.text..], |piece| self.out.put(piece, calls, sink));
        self.text.truncate(element.text);
        self.bound(calls, sink);
    }

    /// Writes an element of text alone, typed by the schema.
    pub(super) fn write_leaf(
        &mut self,
        element: &Element,
        offset: usize,
        calls: &Calls,
        sink: &mut dyn CallSink,
    ) {
        self.lead(calls, sink);
        let text = &self.text[element.text..];
        if leaf(text, element.types, |piece| self.out.put(piece, calls, sink)) == Fit::No {
            calls.diagnose(DiagnosticKind::Mistyped, offset, 0, sink);
        }
    }

    /// Bytes of a tag that is being read.
    pub(super) fn tag_begun(&self) -> u64 {
        if self.state == State::Tag { self.tag_bytes as u64 } else { 0 }
    }
}

/// Writes the value of an element of text alone.
pub(crate) fn leaf(text: &str, declared: Option<Types>, put: impl FnMut(&str)) -> Fit {
    let types = match declared {
        Some(Types::ALL) | None => Types::STRING,
        Some(types) => types,
    };
    let blank = text.trim_ascii().is_empty() && !types.has(Types::STRING);
    let text = match (blank, types.has(Types::ARRAY), types.has(Types::OBJECT)) {
        (true, true, _) => "[]",
        (true, false, true) => "{}",
        _ => text,
    };
    typed(text, types, put)
}
