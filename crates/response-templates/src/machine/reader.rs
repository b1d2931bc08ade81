//! The reader of calls in one region.
//!
//! | text of the region | events |
//! |---|---|
//! | `{"name": "f"` | `CallStart` of `f` |
//! | `, "arguments": {"a"` | `CallArguments` with `{"a"` |
//! | `: 1}}` and the closer | `CallArguments` with `: 1}`, `CallEnd` |

use alloc::{string::ToString, vec::Vec};
use core::mem;

use jail_match::Outcome;
use toolcall_parsers::Tools;

use super::{
    call::{Arguments, Call},
    emitter::{Emitter, arguments, function, object_in},
    keys::Keys,
    members::{MemberContext, Members},
    plan::{Name, Plan, Source},
    rewrite::Rewriter,
};
use crate::{
    json::{JsonTree, Scanner, Token, decode},
    template::Content,
};

/// The text of a region so far, and the way to read it.
#[derive(Clone, Copy)]
pub(super) struct Body<'r> {
    pub(super) content: &'r Content,
    pub(super) text: &'r str,
    /// The place where the text begins.
    pub(super) at: u64,
    pub(super) tools: &'r Tools,
    /// Whether every open tag must be closed before the region can be.
    pub(super) closes: bool,
}

/// The way in which a region ended.
#[derive(Clone, Copy)]
pub(super) struct RegionEnd<'v> {
    /// The value of the region, unless the region is malformed.
    pub(super) value: Option<&'v JsonTree>,
    /// The outcome of a call that cannot be completed.
    pub(super) broken: Outcome,
}

/// A reader of the calls of one region.
#[derive(Debug, Clone)]
pub(super) struct Reader {
    pub(super) plan: Plan,
    /// The converter of the region's text to plain JSON, if the text is a dialect.
    rewriter: Option<Rewriter>,
    pub(super) rewritten: bool,
    members: Members,
    pub(super) scanner: Scanner,
    /// The number of bytes of the region that were read.
    read: usize,
    /// Whether the text is not JSON.
    pub(super) broken: bool,
    pub(super) tokens: Vec<Token>,
    pub(super) keys: Keys,
    pub(super) call: Call,
    /// The number of calls that began.
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

    /// Returns the number of bytes of `body` that may be arguments and were not emitted yet.
    pub(super) fn held(&self, body: &str) -> usize {
        let rewriter = self.rewriter.as_ref();
        let json = rewriter.map_or(body, |rewriter| &rewriter.json);
        match (&self.plan.arguments, self.call.arguments) {
            // Until a call begins, the whole text may be dropped.
            _ if self.begun == 0 => body.len(),
            (Source::Members, _) => self.members.held(body),
            (Source::Whole, _) => body.len(),
            (Source::At(_), _) if self.broken => 0,
            (Source::At(_), Arguments::Open { .. } | Arguments::Object { .. }) => {
                let held = json.len() - self.call.sent + rewriter.map_or(0, Rewriter::held);
                // A dialect may be shorter than the JSON it is rewritten to.
                held.min(body.len())
            }
            (Source::At(_), _) => 0,
        }
    }

    /// Starts the call of a region that begins at `at`, if the name is known.
    pub(super) fn open(&mut self, at: u64, out: &mut Emitter<'_>) {
        if !self.plan.each {
            self.begin(at, out);
        }
    }

    /// Reads the rest of the region's text.
    pub(super) fn advance(&mut self, region: Body<'_>, out: &mut Emitter<'_>) {
        let text = &region.text[mem::replace(&mut self.read, region.text.len())..];
        match self.plan.arguments {
            Source::Members => out.arguments(self.members(region, false)),
            Source::At(_) if !self.broken => match self.rewriter.take() {
                None => self.json(text, region, out),
                Some(mut rewriter) => {
                    let before = rewriter.json.len();
                    rewriter.advance(text);
                    let json = rewriter.json.as_str();
                    self.json(&json[before..], Body { text: json, ..region }, out);
                    self.rewriter = Some(rewriter);
                }
            },
            _ => {}
        }
    }

    /// Returns the part of arguments in tags or lines that is certain.
    fn members(&mut self, region: Body<'_>, ended: bool) -> &str {
        let Name::Known(name) = &self.plan.name else { return "" };
        let tools = self.plan.cast.then_some(region.tools);
        self.members.advance(MemberContext { region, name, tools }, ended)
    }

    /// Starts the call, if its name is known.
    pub(super) fn begin(&mut self, at: u64, out: &mut Emitter<'_>) {
        if let Name::Known(name) = &self.plan.name {
            self.call.name = Some(name.clone());
        }
        let name = self.call.name.as_ref().filter(|name| !name.is_empty());
        if let (Some(name), false) = (name, self.call.begun) {
            out.start_call(name, self.plan.id.as_deref(), at);
            if self.plan.arguments == Source::Members {
                out.arguments("{");
            }
            self.call.begun = true;
            self.begun += 1;
        }
    }

    /// Ends the region and its calls.
    pub(super) fn close(&mut self, end: RegionEnd<'_>, region: Body<'_>, out: &mut Emitter<'_>) {
        if let Source::At(_) = self.plan.arguments {
            return self.close_json(end, region, out);
        }
        if !mem::take(&mut self.call.begun) {
            return;
        }
        let Some((function, _)) = end.value.and_then(function) else {
            return out.end_call(end.broken);
        };
        if self.plan.arguments == Source::Members {
            return out.finish_call(Some(self.members(region, true)));
        }
        out.finish_call(arguments(function).as_deref());
    }

    fn close_json(&mut self, end: RegionEnd<'_>, region: Body<'_>, out: &mut Emitter<'_>) {
        let mut rewriter = self.rewriter.take();
        if let (Some(rewriter), Content::Json(dialect)) =
            (rewriter.as_mut().filter(|_| !self.broken), region.content)
        {
            let before = rewriter.json.len();
            rewriter.end(dialect, region.text);
            let json = rewriter.json.as_str();
            self.json(&json[before..], Body { text: json, ..region }, out);
        }
        // A value that is only a number ends with its region.
        if self.scanner.scalar().is_some() && self.is_arguments() {
            self.call.arguments = Arguments::Other;
        }
        let json = rewriter.as_ref().map_or(region.text, |rewriter| &rewriter.json);
        self.send(json, out);
        // Text that is not JSON may still be valid, as a string.
        if self.broken || self.scanner.clone().end(&mut |_| {}).is_err() {
            self.call.arguments = Arguments::Other;
        }
        if end.value.is_some() {
            self.end(json, out);
        } else {
            self.abort(end.broken, out);
        }
    }

    /// Ends the call, if one began, with the outcome `broken`.
    fn abort(&mut self, broken: Outcome, out: &mut Emitter<'_>) {
        if mem::take(&mut self.call).begun {
            out.end_call(broken);
        }
    }

    /// Ends the call, if one began.
    pub(super) fn end(&mut self, json: &str, out: &mut Emitter<'_>) {
        let call = mem::take(&mut self.call);
        if !call.begun {
            return;
        }
        let arguments = match call.arguments {
            Arguments::Object { .. } if !call.renamed => return out.end_call(Outcome::Complete),
            Arguments::None => Some("{}".to_string()),
            Arguments::Text { start, end } => object_in(&decode(&json[start..end])),
            _ => None,
        };
        out.finish_call(arguments.as_deref());
    }
}
