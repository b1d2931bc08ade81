//! Calls in a JSON region: what each token of it is to them.

use alloc::{
    string::{String, ToString},
    vec::Vec,
};
use core::mem;

use jail_match::{DiagnosticKind, Outcome};
use toolcall_parsers::{Calls, Tools};

use super::{
    call::{Arguments, Call},
    out::Out,
    plan::{Name, Source},
    reader::{Body, Reader},
};
use crate::{
    cast,
    json::{Container, Token, TokenKind, Value, decode},
};

impl Reader {
    /// Reads `text`, with which the JSON of the region so far ends.
    pub(super) fn json(
        &mut self,
        text: &str,
        region: Body<'_>,
        calls: &mut Calls,
        out: &mut Out<'_>,
    ) {
        let mut tokens = mem::take(&mut self.tokens);
        self.broken = self.scanner.feed(text, &mut |token| tokens.push(token)).is_err();
        for token in tokens.drain(..) {
            self.token(token, region, calls, out);
        }
        self.tokens = tokens;
        self.send(region.text, calls, out);
    }

    fn token(&mut self, token: Token, region: Body<'_>, calls: &mut Calls, out: &mut Out<'_>) {
        let Body { text: body, at, tools, .. } = region;
        let slice = &body[token.start..token.end];
        // Of a dialect it is not known where in the region a piece of its JSON stands.
        let place = if self.rewritten { at } else { at + token.start as u64 };
        match token.kind {
            TokenKind::Open(container) => {
                if self.plan.each && self.keys.len() == 1 && container == Container::Object {
                    self.call = Call::default();
                    self.begin(place, calls, out);
                }
                self.opens(container, token.start, place, body, calls, out);
                self.keys.push();
            }
            TokenKind::Key => {
                let argument = self.is_argument();
                let key = self.keys.name(slice);
                if argument
                    && self.plan.cast
                    && let Some(name) = &self.call.name
                {
                    self.call.types = cast::types(tools, name, key);
                }
            }
            TokenKind::Close => {
                self.keys.pop();
                self.closes(token.end, body);
                if self.plan.each && self.keys.len() == 1 {
                    self.send(body, calls, out);
                    self.end(true, Outcome::Malformed, body, calls, out);
                }
            }
            TokenKind::Lone => self.edit(token, "\\ufffd"),
            TokenKind::String => {
                let late = !self.call.begun;
                self.string(token, body, place, calls, out);
                if late && self.call.begun {
                    self.cast_early(body, tools);
                }
            }
            TokenKind::Number | TokenKind::Word => {
                if self.is_arguments() && slice != "null" {
                    self.call.arguments = Arguments::Other;
                }
                if slice.ends_with(['N', 'y']) && self.is_inside() {
                    self.edit(token, "null");
                    self.note(DiagnosticKind::Inexpressible, token.start, place, body, calls, out);
                }
            }
        }
    }

    fn string(
        &mut self,
        token: Token,
        body: &str,
        place: u64,
        calls: &mut Calls,
        out: &mut Out<'_>,
    ) {
        let slice = &body[token.start..token.end];
        if let Name::At(path) = &self.plan.name
            && self.is_at(path)
        {
            let name = decode(slice);
            if self.call.begun {
                self.call.renamed |= self.call.name.as_ref() != Some(&name);
            } else {
                self.call.name = Some(name);
                self.begin(place, calls, out);
            }
        }
        if self.is_arguments() {
            self.second(token.start, place, body, calls, out);
            if self.call.arguments == Arguments::None {
                self.call.arguments = Arguments::Text { start: token.start, end: token.end };
            }
        }
        if self.is_argument() && self.call.is_cast(false) {
            self.call.recast(token.start, token.end, slice);
        }
    }

    /// Casts arguments that came before the name that says their types.
    fn cast_early(&mut self, body: &str, tools: &Tools) {
        let Arguments::Object { start, end } = self.call.arguments else { return };
        let (Some(name), Ok(mut value)) = (&self.call.name, Value::from_json(&body[start..end]))
        else {
            return;
        };
        if self.plan.cast && cast::cast_arguments(&mut value, name, tools) {
            self.call.edits = Vec::from([(start, end, value.to_string())]);
        }
    }

    /// A container begins.
    fn opens(
        &mut self,
        container: Container,
        start: usize,
        place: u64,
        body: &str,
        calls: &mut Calls,
        out: &mut Out<'_>,
    ) {
        if self.is_arguments() {
            self.second(start, place, body, calls, out);
            if self.call.arguments == Arguments::None {
                self.call.arguments = match container {
                    Container::Object => Arguments::Open { start, depth: self.keys.len() + 1 },
                    Container::Array => Arguments::Other,
                };
                self.call.sent = start;
            }
        } else if container == Container::Array && self.is_argument() && self.call.is_cast(true) {
            self.call.list = Some(start);
        }
    }

    /// A container ended.
    fn closes(&mut self, end: usize, body: &str) {
        if self.is_argument()
            && let Some(start) = self.call.list.take()
        {
            self.call.recast(start, end, &body[start..end]);
        }
        if let Arguments::Open { start, depth } = self.call.arguments
            && self.keys.len() + 1 == depth
        {
            self.call.arguments = Arguments::Object { start, end };
        }
    }

    /// Arguments come, and have come before.
    fn second(
        &mut self,
        start: usize,
        place: u64,
        body: &str,
        calls: &mut Calls,
        out: &mut Out<'_>,
    ) {
        if self.call.arguments != Arguments::None {
            self.note(DiagnosticKind::SecondArguments, start, place, body, calls, out);
        }
    }

    /// Says something of what begins at `start`, behind what is certain of what comes before.
    fn note(
        &mut self,
        kind: DiagnosticKind,
        start: usize,
        place: u64,
        body: &str,
        calls: &mut Calls,
        out: &mut Out<'_>,
    ) {
        self.send(&body[..start], calls, out);
        calls.begin(out.place(place));
        calls.diagnose(kind, 0, 0, out.sink);
    }

    /// Whether a value that begins now is at `path`.
    fn is_at(&self, path: &[String]) -> bool {
        self.keys.are(path, usize::from(self.plan.each))
    }

    pub(super) fn is_arguments(&self) -> bool {
        matches!(&self.plan.arguments, Source::At(path) if self.is_at(path))
    }

    /// Whether what is read stands right in the arguments: a name or a whole argument.
    fn is_argument(&self) -> bool {
        matches!(self.call.arguments, Arguments::Open { depth, .. } if depth == self.keys.len())
    }

    fn is_inside(&self) -> bool {
        matches!(self.call.arguments, Arguments::Open { .. })
    }

    fn edit(&mut self, token: Token, text: &str) {
        if self.is_inside() && self.call.sent <= token.start {
            self.call.edits.push((token.start, token.end, text.to_string()));
        }
    }

    /// Sends what is certain of the arguments.
    pub(super) fn send(&mut self, body: &str, calls: &Calls, out: &mut Out<'_>) {
        if !self.call.begun {
            return;
        }
        let safe = match self.call.arguments {
            Arguments::Object { end, .. } => end,
            Arguments::Open { .. } => {
                let mut safe = self.scanner.undecided().min(body.len());
                let may_change = || self.is_argument() && self.call.is_cast(false);
                if let Some(start) = self.scanner.scalar()
                    && (!self.scanner.in_string() || may_change())
                {
                    safe = safe.min(start);
                }
                self.call.list.map_or(safe, |start| safe.min(start))
            }
            _ => return,
        };
        self.call.send(body, safe, calls, out);
    }
}
