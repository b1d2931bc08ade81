//! Output of a value: trimming, streaming and conversion.

use alloc::string::String;

use super::{
    Fed, TextMode, Value, ValuePlace,
    mode::{Strings, TypedText},
};
use crate::{
    cursor::blanks,
    event::DiagnosticKind,
    limits::{MAX_BLANKS, MAX_HELD_BLANKS},
    machine::{arguments::parameters::spec::Edges, call_sink::CallSink},
    typing::TypeSet,
    value::{
        Fit, JsonScan, escape, is_plain, is_string_literal, json, json_or_string, may_be_null,
        typed,
    },
};

impl Value {
    /// Returns whether all of `text` is the inside of a string that is being emitted, and can be
    /// emitted unchanged.
    #[inline]
    pub(in super::super) fn passes(&mut self, place: ValuePlace<'_>, text: &str) -> bool {
        let blank_edge = || text.starts_with(' ') || text.ends_with(' ');
        let passes = self.mode == TextMode::String
            && self.phase == super::Phase::Text
            && self.edge.is_empty()
            && !(place.value.edges == Edges::Trimmed && blank_edge())
            && place.spec.value_tags.find(text.as_bytes()).is_none()
            && is_plain(text);
        if passes && !text.is_empty() {
            (self.blank, self.quote_here, self.line_start, self.run) = (false, false, false, 0);
        }
        passes
    }

    /// Emits the key of the value.
    fn write_key(&self, out: &mut CallSink<'_>) {
        out.arguments(if self.first { "{\"" } else { ", \"" });
        escape(&self.key, |piece| out.arguments(piece));
        out.arguments("\": ");
    }

    /// Makes a string of the value, and emits its collected text.
    pub(super) fn open_string(&mut self, out: &mut CallSink<'_>) {
        self.write_key(out);
        out.arguments("\"");
        escape(&self.collected, |piece| out.arguments(piece));
        self.collected.clear();
        self.mode = TextMode::String;
    }

    /// Adds text to the value, except for trimmed white space.
    pub(super) fn push(&mut self, edges: Edges, text: &str, out: &mut CallSink<'_>) {
        if text.is_empty() {
            return;
        }
        out.calls.count_second_read(text.len());
        self.line_start = text.ends_with('\n');
        self.quote_here = self.quote_here && text.trim_ascii().is_empty();
        let mut text = text;
        if self.blank {
            let shorter = match edges {
                Edges::Kept => text,
                Edges::Newlines | Edges::NewlinePairs => text.strip_prefix('\n').unwrap_or(text),
                Edges::Trimmed => text.trim_ascii_start(),
            };
            self.newline_dropped = shorter.len() < text.len();
            text = shorter;
            self.blank = edges == Edges::Trimmed && text.is_empty();
        }
        if text.is_empty() {
            return;
        }
        let body = match edges {
            Edges::Trimmed => text.trim_ascii_end(),
            _ => text.strip_suffix('\n').unwrap_or(text),
        };
        if edges != Edges::Trimmed || !body.is_empty() {
            self.put_edge(out);
            self.put(body, out);
            self.run = 0;
        }
        let edge = &text[body.len()..];
        self.edge.push_str(edge);
        self.run += edge.len();
        if self.run > MAX_HELD_BLANKS {
            self.put_edge(out);
        }
    }

    /// Adds the white space at the end to the value, because more text follows it.
    fn put_edge(&mut self, out: &mut CallSink<'_>) {
        let mut edge = core::mem::take(&mut self.edge);
        self.put(&edge, out);
        edge.clear();
        self.edge = edge;
    }

    pub(super) fn put(&mut self, text: &str, out: &mut CallSink<'_>) {
        out.calls.count_second_read(text.len());
        match self.mode {
            TextMode::String => escape(text, |piece| out.arguments(piece)),
            TextMode::Drop => self.dropped += text.len() as u64,
            TextMode::Text(_) | TextMode::Typed(..) | TextMode::Json | TextMode::Guess
                if text.is_empty() => {}
            TextMode::Text(_) | TextMode::Typed(..) | TextMode::Json | TextMode::Guess => {
                self.shield.feed(text);
                self.collected.push_str(text);
                let limit = out.calls.options.limits.value;
                if self.json.begins(&self.collected, limit) {
                    self.write_key(out);
                    self.collected.drain(..blanks(&self.collected));
                }
                self.json.emit(&mut self.collected, |piece| out.arguments(piece));
                let long = self.collected.len() > limit;
                let decided = matches!(self.mode, TextMode::Text(texts) if !texts.may_be_more(&self.collected));
                let json = self.mode.is_only_json()
                    || self.mode == TextMode::Guess && self.collected.starts_with(['{', '[']);
                if long && json || self.unmendable {
                    // A limit must not make another value of it.
                    self.unmendable = true;
                    self.collected.clear();
                } else if long || decided {
                    self.open_string(out);
                }
            }
        }
    }

    /// Ends the value. `end` is the text that ended it. Returns whether the value was emitted.
    pub(in super::super) fn close(
        &mut self,
        edges: Edges,
        end: Fed,
        offset: usize,
        out: &mut CallSink<'_>,
    ) -> bool {
        // A newline before a tag other than the value's end belongs to that tag.
        let drops = matches!(edges, Edges::Trimmed | Edges::Newlines)
            || self.newline_dropped
            || end != Fed::Own;
        if !drops {
            self.put_edge(out);
        }
        self.edge.clear();
        let mut mistyped = false;
        match self.mode {
            _ if self.unmendable => {}
            TextMode::String => out.arguments("\""),
            TextMode::Drop => {
                out.diagnose(DiagnosticKind::DuplicateParameter, offset, self.dropped);
            }
            _ if self.json.is_emitting() => self.mended = self.json.is_mended(),
            mode => {
                let mut json = core::mem::take(&mut self.pending);
                json.clear();
                let fit = write(&self.collected, mode, |piece| json.push_str(piece));
                mistyped |= fit == Fit::No && mode != TextMode::Guess;
                (self.mended, self.unmendable) = (fit == Fit::Mended, fit == Fit::Broken);
                if !self.unmendable {
                    self.write_key(out);
                    out.arguments(&json);
                }
                self.pending = json;
                self.pending.clear();
            }
        }
        self.collected.clear();
        if mistyped {
            out.diagnose(DiagnosticKind::Mistyped, offset, 0);
        }
        self.mode != TextMode::Drop && !self.unmendable
    }

    /// Emits held JSON under the key of the last value.
    pub(in super::super) fn write_kept(&self, json: &str, out: &mut CallSink<'_>) {
        self.write_key(out);
        out.arguments(json.trim_ascii());
    }

    /// Returns the collected text, if the value may be JSON.
    pub(in super::super) fn collected_json(&self) -> Option<&str> {
        let json = match self.mode {
            TextMode::Json | TextMode::Guess => true,
            TextMode::Text(texts) => texts.strings == Strings::MayBeArguments,
            _ => false,
        };
        json.then_some(&self.collected)
    }

    /// Reports the text that was dropped after a fault in emitted JSON. Returns whether there is a
    /// fault.
    pub(in super::super) fn report_fault(&self, offset: usize, out: &mut CallSink<'_>) -> bool {
        let Some(dropped) = self.json.fault() else { return false };
        if dropped > 0 {
            out.diagnose(DiagnosticKind::Skipped, offset, dropped);
        }
        true
    }

    /// Returns whether the end of the stream can close the value.
    pub(in super::super) fn may_be_repaired(&self) -> bool {
        !self.json.is_emitting() || self.json.closing().is_some()
    }

    /// Closes a value that was cut by the end of the stream, if this needs no guess. Returns
    /// whether a part of it was emitted.
    pub(in super::super) fn repair(&mut self, out: &mut CallSink<'_>) -> bool {
        let types = match self.mode {
            TextMode::String => {
                out.arguments("\"");
                return true;
            }
            _ if self.json.is_emitting() => {
                out.arguments(&self.json.closing().unwrap_or_default());
                return true;
            }
            TextMode::Typed(types, _) if !types.has(TypeSet::STRING) => types,
            TextMode::Json => TypeSet::ALL,
            _ => return false,
        };
        let text = self.collected.trim_ascii();
        let array = text.starts_with('[') && types.has(TypeSet::ARRAY);
        let object = text.starts_with('{') && types.has(TypeSet::OBJECT);
        let mut scan = JsonScan::new();
        let mut valid = String::new();
        let _ = scan.feed(text, |piece| valid.push_str(piece));
        match scan.closing() {
            Some(closing) if (array || object) && valid.len() >= text.len() => {
                self.write_key(out);
                out.arguments(&valid);
                out.arguments(&closing);
                true
            }
            _ => false,
        }
    }
}

impl TypedText {
    /// Returns whether a value that begins with `text` may still be something other than this
    /// string.
    fn may_be_more(self, text: &str) -> bool {
        self.types.has(TypeSet::NULL) && may_be_null(text)
            || self.strings == Strings::MayBeJson && text.starts_with('"')
            || self.strings == Strings::MayBeArguments && may_be_object(text)
    }
}

/// Returns whether `text` may begin with an object, after a few blanks.
fn may_be_object(text: &str) -> bool {
    let first = text.bytes().take(MAX_BLANKS).find(|byte| !byte.is_ascii_whitespace());
    first.map_or(text.len() < MAX_BLANKS, |byte| byte == b'{')
}

/// Writes a complete value.
fn write(text: &str, mode: TextMode, mut out: impl FnMut(&str)) -> Fit {
    match mode {
        TextMode::Typed(types, strings) | TextMode::Text(TypedText { types, strings }) => {
            let decodes = strings == Strings::MayBeJson && types.has(TypeSet::STRING);
            if decodes && is_string_literal(text) {
                return json_or_string(text, out);
            }
            typed(text, types, &mut out)
        }
        TextMode::Json => json(text, out),
        _ => json_or_string(text, out),
    }
}
