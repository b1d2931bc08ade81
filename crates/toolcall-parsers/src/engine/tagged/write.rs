//! Writing a value out: trimming, streaming, typing.

use alloc::string::String;

use super::{
    shape::{TaggedShape, Trim},
    value::{MAX_GAP, Mode, ValueReader},
};
use crate::{
    calls::Calls,
    event::{CallSink, DiagnosticKind},
    json::{escape::escape, scan::JsonScan},
    typing::{Fit, Types, json_or_string, typed},
};

impl ValueReader {
    pub(super) fn write_key(&self, calls: &Calls, sink: &mut dyn CallSink) {
        calls.arguments(if self.first { "{\"" } else { ", \"" }, sink);
        escape(&self.key, |piece| calls.arguments(piece, sink));
        calls.arguments("\": ", sink);
    }

    /// Takes in text of the value, less what is trimmed.
    pub(super) fn push(
        &mut self,
        shape: &TaggedShape,
        text: &str,
        calls: &Calls,
        sink: &mut dyn CallSink,
    ) {
        if text.is_empty() {
            return;
        }
        self.line_start = text.ends_with('\n');
        self.cdata_here = self.cdata_here && text.trim_ascii().is_empty();
        match shape.trim {
            Trim::None => self.put(text, calls, sink),
            Trim::OneNewline => {
                let skip = usize::from(self.blank && text.starts_with('\n'));
                self.blank = false;
                let text = &text[skip..];
                if text.is_empty() {
                    return;
                }
                self.put_edge(calls, sink);
                let body = text.strip_suffix('\n').unwrap_or(text);
                self.put(body, calls, sink);
                self.edge.push_str(&text[body.len()..]);
            }
            Trim::Full => {
                let text = if self.blank { text.trim_ascii_start() } else { text };
                let body = text.trim_ascii_end();
                if !body.is_empty() {
                    self.put_edge(calls, sink);
                    self.put(body, calls, sink);
                    (self.blank, self.run) = (false, 0);
                }
                let space = &text[body.len()..];
                self.edge.push_str(space);
                self.run += space.len();
                if self.run > MAX_GAP {
                    self.put_edge(calls, sink);
                }
            }
        }
    }

    pub(super) fn put_edge(&mut self, calls: &Calls, sink: &mut dyn CallSink) {
        let mut edge = core::mem::take(&mut self.edge);
        self.put(&edge, calls, sink);
        edge.clear();
        self.edge = edge;
    }

    pub(super) fn put(&mut self, text: &str, calls: &Calls, sink: &mut dyn CallSink) {
        match self.mode {
            Mode::String => escape(text, |piece| calls.arguments(piece, sink)),
            Mode::Typed(_) | Mode::Json | Mode::Guess => self.collected.push_str(text),
            Mode::Drop => self.dropped += text.len() as u64,
        }
    }

    /// The value ended, at `offset` in the text being fed; whether it was written.
    pub(super) fn close(&mut self, offset: usize, calls: &Calls, sink: &mut dyn CallSink) -> bool {
        let mut mistyped = self.outgrown;
        match self.mode {
            Mode::String => calls.arguments("\"", sink),
            Mode::Drop => {
                calls.diagnose(DiagnosticKind::DuplicateParameter, offset, self.dropped, sink);
            }
            Mode::Typed(_) | Mode::Json | Mode::Guess => {
                self.write_key(calls, sink);
                let out = |piece: &str| calls.arguments(piece, sink);
                let fit = match self.mode {
                    Mode::Typed(types) => typed(&self.collected, types, out),
                    _ => json_or_string(&self.collected, out),
                };
                mistyped = fit == Fit::No && self.mode != Mode::Guess;
            }
        }
        self.collected.clear();
        if mistyped {
            calls.diagnose(DiagnosticKind::Mistyped, offset, 0, sink);
        }
        self.mode != Mode::Drop
    }

    /// Closes a value that the end of the stream cut, if that takes no guess; whether anything
    /// of it is written.
    pub(super) fn repair(&mut self, calls: &Calls, sink: &mut dyn CallSink) -> bool {
        match self.mode {
            Mode::String => {
                calls.arguments("\"", sink);
                return true;
            }
            Mode::Typed(types) if !types.has(Types::STRING) => {}
            Mode::Json => {}
            _ => return false,
        }
        let text = self.collected.trim_ascii();
        let array = text.starts_with('[') && self.admits(Types::ARRAY);
        let object = text.starts_with('{') && self.admits(Types::OBJECT);
        let mut scan = JsonScan::new();
        let mut valid = String::new();
        scan.feed(text, |piece| valid.push_str(piece));
        match scan.closing() {
            Some(closing) if (array || object) && valid.len() >= text.len() => {
                self.write_key(calls, sink);
                calls.arguments(&valid, sink);
                calls.arguments(&closing, sink);
                true
            }
            _ => false,
        }
    }

    pub(super) fn admits(&self, types: Types) -> bool {
        match self.mode {
            Mode::Typed(admitted) => admitted.has(types),
            _ => true,
        }
    }
}
