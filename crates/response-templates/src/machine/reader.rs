//! Calls in a JSON region, read while it arrives.

use alloc::{string::ToString, vec::Vec};
use core::mem;

use jail_match::Outcome;
use toolcall_parsers::{Calls, Tools};

use super::{
    call::{Arguments, Call},
    calls::{arguments, finish, function, object_in, start},
    keys::Keys,
    members::{Members, Tool},
    out::Out,
    plan::{Name, Plan, Source},
    rewrite::Rewriter,
};
use crate::{
    json::{Scanner, Token, Value, decode},
    template::Content,
};

/// The text of a region, and what is known of it.
#[derive(Clone, Copy)]
pub(super) struct Body<'r> {
    pub(super) content: &'r Content,
    /// The text so far.
    pub(super) text: &'r str,
    /// Where it begins.
    pub(super) at: u64,
    pub(super) tools: &'r Tools,
    /// Whether a tag that opened is closed before the region is.
    pub(super) closes: bool,
}

/// Reads the calls of one region.
#[derive(Debug, Clone)]
pub(super) struct Reader {
    pub(super) plan: Plan,
    /// Makes plain JSON of the region's text, where that is a dialect.
    rewriter: Option<Rewriter>,
    pub(super) rewritten: bool,
    members: Members,
    pub(super) scanner: Scanner,
    /// How much of the region was read.
    read: usize,
    /// Whether it stopped to be JSON.
    pub(super) broken: bool,
    pub(super) tokens: Vec<Token>,
    pub(super) keys: Keys,
    pub(super) call: Call,
    /// How many calls began.
    pub(super) begun: usize,
}

impl Reader {
    pub(super) fn new(plan: Plan, content: &Content) -> Self {
        let rewriter = match content {
            Content::Json(dialect) if matches!(plan.arguments, Source::At(_)) => {
                Rewriter::new(dialect)
            }
            _ => None,
        };
        Self {
            plan,
            rewritten: rewriter.is_some(),
            rewriter,
            members: Members::default(),
            scanner: Scanner::default(),
            read: 0,
            broken: false,
            tokens: Vec::new(),
            keys: Keys::default(),
            call: Call::default(),
            begun: 0,
        }
    }

    /// How many bytes of `body` were neither sent nor are known to be no argument.
    pub(super) fn held(&self, body: &str) -> usize {
        let rewriter = self.rewriter.as_ref();
        let json = rewriter.map_or(body, |rewriter| &rewriter.json);
        match (&self.plan.arguments, self.call.arguments) {
            // Until a call begins all of it may be dropped.
            _ if self.begun == 0 => body.len(),
            (Source::Members, _) => self.members.held(body),
            (Source::Whole, _) => body.len(),
            // Nothing more of it comes out.
            (Source::At(_), _) if self.broken => 0,
            (Source::At(_), Arguments::Open { .. } | Arguments::Object { .. }) => {
                let held = json.len() - self.call.sent + rewriter.map_or(0, Rewriter::held);
                // A dialect may be shorter than the JSON that it becomes.
                held.min(body.len())
            }
            (Source::At(_), _) => 0,
        }
    }

    /// The region begins, at `at`: a name that is known is said.
    pub(super) fn open(&mut self, at: u64, calls: &mut Calls, out: &mut Out<'_>) {
        if !self.plan.each {
            self.begin(at, calls, out);
        }
    }

    /// Reads on in the region.
    pub(super) fn read(&mut self, region: Body<'_>, calls: &mut Calls, out: &mut Out<'_>) {
        let text = &region.text[mem::replace(&mut self.read, region.text.len())..];
        match self.plan.arguments {
            Source::Members => calls.arguments(self.members(region, false), out.sink),
            Source::At(_) if !self.broken => match self.rewriter.take() {
                None => self.json(text, region, calls, out),
                Some(mut rewriter) => {
                    self.rewritten(
                        &mut rewriter,
                        |rewriter| rewriter.read(text),
                        region,
                        calls,
                        out,
                    );
                    self.rewriter = Some(rewriter);
                }
            },
            _ => {}
        }
    }

    /// Reads what a rewriter makes of more text.
    fn rewritten(
        &mut self,
        rewriter: &mut Rewriter,
        more: impl FnOnce(&mut Rewriter),
        region: Body<'_>,
        calls: &mut Calls,
        out: &mut Out<'_>,
    ) {
        let before = rewriter.json.len();
        more(rewriter);
        let text = rewriter.json.as_str();
        self.json(&text[before..], Body { text, ..region }, calls, out);
    }

    /// What is certain of arguments in tags or lines.
    fn members(&mut self, region: Body<'_>, ended: bool) -> &str {
        let Name::Known(name) = &self.plan.name else { return "" };
        let tool = Tool { name, tools: self.plan.cast.then_some(region.tools) };
        self.members.read(region.content, region.text, ended, region.closes, tool)
    }

    /// Says that the call begins, if its name is known.
    pub(super) fn begin(&mut self, at: u64, calls: &mut Calls, out: &mut Out<'_>) {
        if let Name::Known(name) = &self.plan.name {
            self.call.name = Some(name.clone());
        }
        let name = self.call.name.as_ref().filter(|name| !name.is_empty());
        if let (Some(name), false) = (name, self.call.begun) {
            start(calls, name, self.plan.id.as_deref(), at, out);
            if self.plan.arguments == Source::Members {
                calls.arguments("{", out.sink);
            }
            self.call.begun = true;
            self.begun += 1;
        }
    }

    /// The region is over; `value` is what it is, if it is good, and `broken` how its calls end
    /// if it is not.
    pub(super) fn close(
        &mut self,
        value: Option<&Value>,
        broken: Outcome,
        region: Body<'_>,
        calls: &mut Calls,
        out: &mut Out<'_>,
    ) {
        if let Source::At(_) = self.plan.arguments {
            let mut rewriter = self.rewriter.take();
            if let (Some(rewriter), Content::Json(dialect)) =
                (rewriter.as_mut().filter(|_| !self.broken), region.content)
            {
                let end = |rewriter: &mut Rewriter| rewriter.end(dialect, region.text);
                self.rewritten(rewriter, end, region, calls, out);
            }
            // A number alone ends with its region.
            if self.scanner.scalar().is_some() && self.is_arguments() {
                self.call.arguments = Arguments::Other;
            }
            let body = rewriter.as_ref().map_or(region.text, |rewriter| &rewriter.json);
            self.send(body, calls, out);
            // What is no JSON may still be good, as a text.
            if self.broken || self.scanner.clone().end(&mut |_| {}).is_err() {
                self.call.arguments = Arguments::Other;
            }
            return self.end(value.is_some(), broken, body, calls, out);
        }
        if !mem::take(&mut self.call.begun) {
            return;
        }
        let Some((function, _)) = value.and_then(function) else {
            return calls.end(broken, out.sink);
        };
        if self.plan.arguments == Source::Members {
            return finish(calls, Some(self.members(region, true)), out);
        }
        finish(calls, arguments(function).as_deref(), out);
    }

    /// Ends the call, if one began.
    pub(super) fn end(
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
