//! Calls in a JSON region, read while it arrives.

use alloc::{
    string::{String, ToString},
    vec::Vec,
};
use core::mem;

use jail_match::{DiagnosticKind, Outcome};
use toolcall_parsers::{Calls, Tools};

use super::{
    call::{Arguments, Call},
    calls::{arguments, finish, function, object_in, start},
    out::Out,
    plan::{Name, Plan},
};
use crate::{
    cast,
    json::{Container, Scanner, Token, TokenKind, Value, decode},
};

/// Reads the calls of one region.
#[derive(Debug, Clone)]
pub(super) struct Reader {
    plan: Plan,
    pub(super) scanner: Scanner,
    /// How much of the region was read.
    read: usize,
    /// Whether it stopped to be JSON.
    broken: bool,
    tokens: Vec<Token>,
    /// The name being read in each container that is open: none in an array.
    keys: Vec<Option<String>>,
    call: Call,
    /// How many calls began.
    pub(super) begun: usize,
}

impl Reader {
    pub(super) fn new(plan: Plan) -> Self {
        Self {
            plan,
            scanner: Scanner::default(),
            read: 0,
            broken: false,
            tokens: Vec::new(),
            keys: Vec::new(),
            call: Call::default(),
            begun: 0,
        }
    }

    /// How many bytes of `body` were neither sent nor are known to be no argument.
    pub(super) fn held(&self, body: &str) -> usize {
        match self.call.arguments {
            Arguments::Open { .. } | Arguments::Object { .. } => body.len() - self.call.sent,
            _ => 0,
        }
    }

    /// The region begins, at `at`: a name that is known is said.
    pub(super) fn open(&mut self, at: u64, calls: &mut Calls, out: &mut Out<'_>) {
        if !self.plan.each {
            self.begin(at, calls, out);
        }
    }

    /// Reads on in the region, whose text so far is `body` and which began at `at`.
    pub(super) fn read(
        &mut self,
        body: &str,
        at: u64,
        tools: &Tools,
        calls: &mut Calls,
        out: &mut Out<'_>,
    ) {
        if self.broken || self.plan.arguments.is_none() {
            self.read = body.len();
            return;
        }
        let mut tokens = mem::take(&mut self.tokens);
        let text = &body[self.read..];
        self.read = body.len();
        self.broken = self.scanner.feed(text, &mut |token| tokens.push(token)).is_err();
        for token in tokens.drain(..) {
            self.token(token, body, at, tools, calls, out);
        }
        self.tokens = tokens;
        self.send(body, calls, out);
    }

    #[allow(clippy::too_many_arguments, reason = "one token and its surroundings")]
    fn token(
        &mut self,
        token: Token,
        body: &str,
        at: u64,
        tools: &Tools,
        calls: &mut Calls,
        out: &mut Out<'_>,
    ) {
        let slice = &body[token.start..token.end];
        let place = at + token.start as u64;
        match token.kind {
            TokenKind::Open(container) => {
                if self.plan.each && self.keys.len() == 1 && container == Container::Object {
                    self.call = Call::default();
                    self.begin(place, calls, out);
                }
                self.opens(container, token.start, place, calls, out);
                self.keys.push(None);
            }
            TokenKind::Key => {
                let key = decode(slice);
                if self.is_argument()
                    && let Some(name) = &self.call.name
                {
                    let types = cast::types(tools, name, &key);
                    self.call.types = types.into_iter().map(ToString::to_string).collect();
                }
                if let Some(last) = self.keys.last_mut() {
                    *last = Some(key);
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
                self.string(token, slice, place, calls, out);
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
                    self.note(DiagnosticKind::Inexpressible, place, calls, out);
                }
            }
        }
    }

    fn string(
        &mut self,
        token: Token,
        slice: &str,
        place: u64,
        calls: &mut Calls,
        out: &mut Out<'_>,
    ) {
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
            self.second(place, calls, out);
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
        if !tools.is_empty() && cast::cast_arguments(&mut value, name, tools) {
            self.call.edits = Vec::from([(start, end, value.to_string())]);
        }
    }

    /// A container begins.
    fn opens(
        &mut self,
        container: Container,
        start: usize,
        place: u64,
        calls: &mut Calls,
        out: &mut Out<'_>,
    ) {
        if self.is_arguments() {
            self.second(place, calls, out);
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
    fn second(&self, place: u64, calls: &mut Calls, out: &mut Out<'_>) {
        if self.call.arguments != Arguments::None {
            self.note(DiagnosticKind::SecondArguments, place, calls, out);
        }
    }

    fn note(&self, kind: DiagnosticKind, place: u64, calls: &mut Calls, out: &mut Out<'_>) {
        calls.begin(out.place(place));
        calls.diagnose(kind, 0, 0, out.sink);
    }

    /// Whether a value that begins now is at `path`.
    fn is_at(&self, path: &[String]) -> bool {
        let keys = self.keys.get(usize::from(self.plan.each)..).unwrap_or(&[]);
        let inside = !self.plan.each || !self.keys.is_empty();
        inside
            && keys.len() == path.len()
            && keys.iter().zip(path).all(|(key, wanted)| key.as_ref() == Some(wanted))
    }

    fn is_arguments(&self) -> bool {
        self.plan.arguments.as_ref().is_some_and(|path| self.is_at(path))
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

    /// Says that the call begins, if its name is known.
    fn begin(&mut self, at: u64, calls: &mut Calls, out: &mut Out<'_>) {
        if let Name::Known(name) = &self.plan.name {
            self.call.name = Some(name.clone());
        }
        if let (Some(name), false) = (&self.call.name, self.call.begun) {
            start(calls, name, self.plan.id.as_deref(), at, out);
            self.call.begun = true;
            self.begun += 1;
        }
    }

    /// Sends what is certain of the arguments.
    fn send(&mut self, body: &str, calls: &Calls, out: &mut Out<'_>) {
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

    /// The region is over; `value` is what it is, if it is good, and `broken` how its calls end
    /// if it is not.
    pub(super) fn close(
        &mut self,
        value: Option<&Value>,
        broken: Outcome,
        body: &str,
        calls: &mut Calls,
        out: &mut Out<'_>,
    ) {
        if self.plan.arguments.is_some() {
            // A number alone ends with its region.
            if self.scanner.scalar().is_some() && self.is_arguments() {
                self.call.arguments = Arguments::Other;
            }
            self.send(body, calls, out);
            self.end(value.is_some(), broken, body, calls, out);
        } else if mem::take(&mut self.call.begun) {
            match value.and_then(function) {
                Some((function, _)) => finish(calls, arguments(function).as_deref(), out),
                None => calls.end(broken, out.sink),
            }
        }
    }

    /// Ends the call, if one began.
    fn end(
        &mut self,
        good: bool,
        broken: Outcome,
        body: &str,
        calls: &mut Calls,
        out: &mut Out<'_>,
    ) {
        let call = mem::take(&mut self.call);
        if !call.begun {
            return;
        }
        let arguments = match call.arguments {
            _ if !good => return calls.end(broken, out.sink),
            Arguments::Object { .. } if !call.renamed => {
                return calls.end(Outcome::Complete, out.sink);
            }
            Arguments::None => Some("{}".to_string()),
            Arguments::Text { start, end } => object_in(&decode(&body[start..end])),
            _ => None,
        };
        finish(calls, arguments.as_deref(), out);
    }
}
