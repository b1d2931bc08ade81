//! Reading of text inside and between elements.

use super::{
    Elements, ElementsState,
    element::{Element, ElementKind},
    spec::ElementSpec,
    tag::Whose,
};
use crate::{
    cursor::Progress,
    event::DiagnosticKind,
    limits::MAX_HELD_BLANKS,
    machine::call_sink::CallSink,
    typing::TypeSet,
    value::{Fit, escape, typed},
};

impl Elements {
    /// Reads text between tags.
    pub(super) fn text(&mut self, spec: &ElementSpec, out: &mut CallSink<'_>) -> Option<Progress> {
        let in_element = self.open.len() > 1;
        if !in_element {
            out.cursor.skip_blanks();
        }
        let text = out.cursor.text;
        let first = spec.token.as_bytes().first().copied().unwrap_or(b'<');
        let mut from = out.cursor.at;
        while let Some(hit) = memchr::memchr(first, &text.as_bytes()[from..]) {
            let at = from.saturating_add(hit);
            if !in_element && at > out.cursor.at {
                return Some(Progress::Done);
            }
            let whose = self.whose(spec, &text[at..]);
            if whose == Whose::Nobody {
                if !in_element {
                    return Some(Progress::Done);
                }
                let scalar = text[at..].chars().next();
                from = at.saturating_add(scalar.map_or(1, char::len_utf8));
                continue;
            }
            self.push(&text[out.cursor.at..at], out);
            out.cursor.at = at;
            if matches!(whose, Whose::Element(_) | Whose::Call)
                && self.may_quote(out.stream_offset(at), out)
            {
                self.begin_search();
                return None;
            }
            return match whose {
                Whose::Element(len) => {
                    out.cursor.advance(len);
                    self.tag_bytes = len as u64;
                    self.state = ElementsState::Tag;
                    None
                }
                Whose::Call if self.open.len() == 2 && self.close_empty(at, out) => None,
                Whose::Call if in_element => {
                    self.tag_bytes = 0;
                    Some(Progress::Bad)
                }
                Whose::Call => Some(Progress::Done),
                Whose::Undecided | Whose::Nobody => Some(Progress::More),
            };
        }
        if !in_element && out.cursor.at < text.len() {
            return Some(Progress::Done);
        }
        self.push(&text[out.cursor.at..], out);
        out.cursor.at = text.len();
        Some(Progress::More)
    }

    /// Adds text to the innermost element.
    pub(super) fn push(&mut self, text: &str, out: &mut CallSink<'_>) {
        let Some(element) = self.open.last_mut() else { return };
        let limit = out.calls.options.limits.value;
        out.calls.count_second_read(text.len());
        match element.kind {
            ElementKind::String => {
                escape(text, |piece| self.kept.put(piece, out));
                self.bound(out);
            }
            ElementKind::List => {
                let bytes = text.bytes().filter(|byte| !byte.is_ascii_whitespace()).count();
                element.skipped_bytes = element.skipped_bytes.saturating_add(bytes as u64);
                self.kept.count(text.len(), 0);
            }
            ElementKind::Object => {
                let begun = self.text.len() > element.text;
                let whole = text.len();
                let text = if begun { text } else { text.trim_ascii_start() };
                let room = if element.skipped_bytes > 0 {
                    0
                } else {
                    limit.saturating_sub(self.text.len())
                };
                let fits = (0..=room.min(text.len())).rev().find(|&n| text.is_char_boundary(n));
                let (kept, dropped) = text.split_at(fits.unwrap_or(0));
                self.text.push_str(kept);
                element.skipped_bytes = element.skipped_bytes.saturating_add(dropped.len() as u64);
                self.kept.count(whole.saturating_sub(kept.len()), 0);
            }
            ElementKind::Leaf => {
                self.text.push_str(text);
                let held = &self.text[element.text..];
                let is_string = element.types.is_some_and(TypeSet::only_string);
                let begun = held.len() > MAX_HELD_BLANKS || !text.trim_ascii().is_empty();
                let may_be_string = element.types.is_none_or(|types| types.has(TypeSet::STRING));
                if self.text.len() > limit && !may_be_string {
                    // A limit must not make another value of it.
                    self.unmendable = true;
                    self.text.truncate(element.text);
                } else if is_string && begun || self.text.len() > limit {
                    self.begin_string(out);
                }
            }
        }
    }

    /// Makes a string of the innermost element, and emits its held text.
    fn begin_string(&mut self, out: &mut CallSink<'_>) {
        self.lead(out);
        let Some(element) = self.open.last_mut() else { return };
        element.kind = ElementKind::String;
        self.kept.put("\"", out);
        escape(&self.text[element.text..], |piece| self.kept.put(piece, out));
        self.text.truncate(element.text);
        self.bound(out);
    }

    /// Emits an element that has only text, as a value of its declared type.
    pub(super) fn write_leaf(&mut self, element: &Element, offset: usize, out: &mut CallSink<'_>) {
        self.lead(out);
        let text = &self.text[element.text..];
        match leaf(text, element.types, |piece| self.kept.put(piece, out)) {
            Fit::Yes => {}
            Fit::No => out.diagnose(DiagnosticKind::Mistyped, offset, 0),
            Fit::Mended => {
                self.repaired = true;
                out.diagnose(DiagnosticKind::Tolerated, offset, 0);
            }
            Fit::Broken => self.unmendable = true,
        }
    }
}

/// Writes the value of an element that has only text.
pub(crate) fn leaf(text: &str, declared: Option<TypeSet>, put: impl FnMut(&str)) -> Fit {
    let types = match declared {
        Some(TypeSet::ALL) | None => TypeSet::STRING,
        Some(types) => types,
    };
    let blank = text.trim_ascii().is_empty() && !types.has(TypeSet::STRING);
    let text = match (blank, types.has(TypeSet::ARRAY), types.has(TypeSet::OBJECT)) {
        (true, true, _) => "[]",
        (true, false, true) => "{}",
        _ => text,
    };
    typed(text, types, put)
}
