//! The tokens of a JSON region, and their effects on the calls in it.
//!
//! In `{"name": "f", "arguments": {}}` the string `"f"` starts the call, and the object after
//! `"arguments"` is emitted as its arguments.

use alloc::{
    string::{String, ToString},
    vec::Vec,
};
use core::mem;

use jail_match::DiagnosticKind;
use toolcall_parsers::Tools;

use super::{
    call::{Arguments, Call},
    emitter::Emitter,
    plan::{Name, Source},
    reader::{Body, Reader},
};
use crate::{
    cast,
    json::{Container, JsonTree, Token, TokenKind, decode},
};

/// A token in the JSON of its region.
#[derive(Clone, Copy)]
struct TokenText<'b> {
    json: &'b str,
    start: usize,
    end: usize,
    /// The place of the token in the stream, for events.
    place: u64,
}

impl<'b> TokenText<'b> {
    fn text(self) -> &'b str {
        &self.json[self.start..self.end]
    }
}

impl Reader {
    /// Reads `text`, the end of the region's JSON so far.
    pub(super) fn json(&mut self, text: &str, region: Body<'_>, out: &mut Emitter<'_>) {
        let mut tokens = mem::take(&mut self.tokens);
        self.broken = self.scanner.feed(text, &mut |token| tokens.push(token)).is_err();
        for token in tokens.drain(..) {
            self.token(token, region, out);
        }
        self.tokens = tokens;
        self.send(region.text, out);
    }

    fn token(&mut self, token: Token, region: Body<'_>, out: &mut Emitter<'_>) {
        // Places in rewritten JSON do not correspond to places in the region.
        let place = if self.rewritten { region.at } else { region.at + token.start as u64 };
        let at = TokenText { json: region.text, start: token.start, end: token.end, place };
        match token.kind {
            TokenKind::Open(container) => {
                if self.plan.each && self.keys.len() == 1 && container == Container::Object {
                    self.call = Call::default();
                    self.begin(place, out);
                }
                self.open_container(container, at, out);
                self.keys.push();
            }
            TokenKind::Key => {
                let is_argument = self.is_argument();
                let key = self.keys.set_name(at.text());
                if is_argument
                    && self.plan.cast
                    && let Some(name) = &self.call.name
                {
                    self.call.types = cast::types(region.tools, name, key);
                }
            }
            TokenKind::Close => {
                self.keys.pop();
                self.close_container(at);
                if self.plan.each && self.keys.len() == 1 {
                    self.send(at.json, out);
                    self.end(at.json, out);
                }
            }
            TokenKind::Lone => self.edit(at, "\\ufffd"),
            TokenKind::String => {
                let is_late = !self.call.begun;
                self.string(at, out);
                if is_late && self.call.begun {
                    self.cast_early(at.json, region.tools);
                }
            }
            TokenKind::Number | TokenKind::Word => {
                let text = at.text();
                if self.is_arguments() && text != "null" {
                    self.call.arguments = Arguments::Other;
                }
                if text.ends_with(['N', 'y']) && self.is_inside() {
                    self.edit(at, "null");
                    self.report(DiagnosticKind::Inexpressible, at, out);
                }
            }
        }
    }

    fn string(&mut self, at: TokenText<'_>, out: &mut Emitter<'_>) {
        if let Name::At(path) = &self.plan.name
            && self.is_at(path)
        {
            let name = decode(at.text());
            if self.call.begun {
                self.call.renamed |= self.call.name.as_ref() != Some(&name);
            } else {
                self.call.name = Some(name);
                self.begin(at.place, out);
            }
        }
        if self.is_arguments() {
            self.report_second(at, out);
            if self.call.arguments == Arguments::None {
                self.call.arguments = Arguments::Text { start: at.start, end: at.end };
            }
        }
        if self.is_argument() && self.call.may_be_cast(false) {
            self.call.recast(at.start, at.text());
        }
    }

    /// Casts arguments that came before the name, because their types depend on the name.
    fn cast_early(&mut self, json: &str, tools: &Tools) {
        let Arguments::Object { start, end } = self.call.arguments else { return };
        let (Some(name), Ok(mut value)) = (&self.call.name, JsonTree::from_json(&json[start..end]))
        else {
            return;
        };
        if self.plan.cast && cast::cast_arguments(&mut value, name, tools) {
            self.call.edits = Vec::from([(start, end, value.to_string())]);
        }
    }

    fn open_container(&mut self, container: Container, at: TokenText<'_>, out: &mut Emitter<'_>) {
        let start = at.start;
        if self.is_arguments() {
            self.report_second(at, out);
            if self.call.arguments == Arguments::None {
                self.call.arguments = match container {
                    Container::Object => Arguments::Open { start, depth: self.keys.len() + 1 },
                    Container::Array => Arguments::Other,
                };
                self.call.sent = start;
            }
        } else if container == Container::Array && self.is_argument() && self.call.may_be_cast(true)
        {
            self.call.list = Some(start);
        }
    }

    fn close_container(&mut self, at: TokenText<'_>) {
        if self.is_argument()
            && let Some(start) = self.call.list.take()
        {
            self.call.recast(start, &at.json[start..at.end]);
        }
        if let Arguments::Open { start, depth } = self.call.arguments
            && self.keys.len() + 1 == depth
        {
            self.call.arguments = Arguments::Object { start, end: at.end };
        }
    }

    /// Reports a second value for the arguments of one call.
    fn report_second(&mut self, at: TokenText<'_>, out: &mut Emitter<'_>) {
        if self.call.arguments != Arguments::None {
            self.report(DiagnosticKind::SecondArguments, at, out);
        }
    }

    /// Emits a diagnostic of a token, after the arguments before the token.
    fn report(&mut self, kind: DiagnosticKind, at: TokenText<'_>, out: &mut Emitter<'_>) {
        self.send(&at.json[..at.start], out);
        out.call_diagnostic(kind, at.place);
    }

    /// Returns whether a value that begins now is at `path`.
    fn is_at(&self, path: &[String]) -> bool {
        self.keys.are(path, usize::from(self.plan.each))
    }

    pub(super) fn is_arguments(&self) -> bool {
        matches!(&self.plan.arguments, Source::At(path) if self.is_at(path))
    }

    /// Returns whether the current value or key is directly in the arguments.
    fn is_argument(&self) -> bool {
        matches!(self.call.arguments, Arguments::Open { depth, .. } if depth == self.keys.len())
    }

    fn is_inside(&self) -> bool {
        matches!(self.call.arguments, Arguments::Open { .. })
    }

    fn edit(&mut self, at: TokenText<'_>, text: &str) {
        if self.is_inside() && self.call.sent <= at.start {
            self.call.edits.push((at.start, at.end, text.to_string()));
        }
    }

    /// Emits the part of the arguments that is certain.
    pub(super) fn send(&mut self, json: &str, out: &mut Emitter<'_>) {
        if !self.call.begun {
            return;
        }
        let safe = match self.call.arguments {
            Arguments::Object { end, .. } => end,
            Arguments::Open { .. } => {
                let mut safe = self.scanner.undecided().min(json.len());
                let may_change = || self.is_argument() && self.call.may_be_cast(false);
                if let Some(start) = self.scanner.scalar()
                    && (!self.scanner.in_string() || may_change())
                {
                    safe = safe.min(start);
                }
                self.call.list.map_or(safe, |start| safe.min(start))
            }
            _ => return,
        };
        self.call.send(json, safe, out);
    }
}
