//! Tags: where one begins, and what it means where it stands.

use alloc::{format, string::String};

use jail_match::Feed;

use super::{SLACK, State, Step, TreeEngine, element::Kind, shape::TreeShape};
use crate::{
    calls::Calls,
    engine::text::{BLANKS, Is, is, space},
    event::{CallSink, DiagnosticKind, Outcome},
    grammar::Certainty,
};

/// Whether a tag begins at the head of some text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tag {
    /// One does; its bracket is the last of `len` bytes.
    Yes {
        len: usize,
    },
    No,
    /// The text ends too early.
    Maybe,
}

impl TreeShape {
    pub(super) fn tag_at(&self, text: &str) -> Tag {
        match is(text, &self.namespace) {
            Is::No => return Tag::No,
            Is::Maybe => return Tag::Maybe,
            Is::Yes => {}
        }
        let at = self.namespace.len();
        let blank = space(&text[at..]);
        match text.as_bytes().get(at + blank) {
            _ if blank > BLANKS => Tag::No,
            None => Tag::Maybe,
            Some(b'<') => Tag::Yes { len: at + blank + 1 },
            Some(_) => Tag::No,
        }
    }

    /// Where a tag begins in an element's text, before the one that ends it.
    pub(crate) fn tag_in(&self, text: &str) -> Option<usize> {
        let whole = format!("{text}{}</", self.namespace);
        let begins = |at: &usize| matches!(self.tag_at(&whole[*at..]), Tag::Yes { .. });
        text.char_indices().map(|(at, _)| at).find(begins)
    }

    /// The name in a call's header.
    pub(crate) fn header<'t>(&self, tag: &'t str) -> Option<&'t str> {
        let rest = tag.strip_prefix(self.call.as_ref())?;
        let attribute = rest.trim_ascii_start();
        if attribute.len() == rest.len() {
            return None;
        }
        let value = attribute.strip_prefix(self.name.as_ref())?.trim_ascii_start();
        let value = value.strip_prefix('=')?.trim_ascii();
        let quoted = |quote| value.strip_prefix(quote)?.strip_suffix(quote);
        let name = quoted('"').or_else(|| quoted('\'')).unwrap_or(value).trim_ascii();
        let odd = |c: char| c.is_whitespace() || c.is_control() || "\"'<{}[]".contains(c);
        (!name.is_empty() && !name.contains(odd)).then_some(name)
    }
}

impl TreeEngine {
    /// A tag begins at `i`; its bracket is the last of `len` bytes.
    pub(super) fn begin_tag(&mut self, len: usize, i: &mut usize) -> Step {
        *i += len;
        self.tag.clear();
        self.tag_bytes = len;
        self.state = State::Tag;
        Step::Go
    }

    /// Inside a tag.
    pub(super) fn tag(
        &mut self,
        shape: &TreeShape,
        text: &str,
        i: &mut usize,
        calls: &mut Calls,
        sink: &mut dyn CallSink,
    ) -> Step {
        let limit = calls.options.limits.name.saturating_add(SLACK);
        for (n, scalar) in text[*i..].char_indices() {
            let at = *i + n;
            if scalar == '>' {
                *i = at + 1;
                self.tag_bytes += 1;
                let mut tag = core::mem::take(&mut self.tag);
                let step = match tag.trim_ascii().strip_prefix('/') {
                    Some(name) => self.closing(shape, name.trim_ascii(), text, i, calls, sink),
                    None => self.opening(shape, tag.trim_ascii(), text, i, calls, sink),
                };
                tag.clear();
                self.tag = tag;
                return step;
            }
            if self.tag.len() >= limit {
                return self.bad(text, i, at, calls, sink);
            }
            self.tag.push(scalar);
            self.tag_bytes += scalar.len_utf8();
        }
        Step::Return(Feed::More { used: text.len() })
    }

    /// An element ends at `i`.
    fn closing(
        &mut self,
        shape: &TreeShape,
        name: &str,
        text: &str,
        i: &mut usize,
        calls: &mut Calls,
        sink: &mut dyn CallSink,
    ) -> Step {
        let in_call = calls.is_open();
        if in_call && self.open.len() > 1 && self.tags_from_top() == name {
            self.close_element(shape, *i, calls, sink);
            return Step::Go;
        }
        let (call, wrapper) = (name == shape.call, name == shape.wrapper);
        if !calls.committed() {
            if wrapper && self.in_wrapper {
                calls.diagnose(DiagnosticKind::EmptyList, *i, 0, sink);
                return Step::done(*i);
            }
            return self.bad(text, i, *i - 1, calls, sink);
        }
        if !call && !wrapper {
            return self.bad(text, i, *i, calls, sink);
        }
        if in_call {
            self.leave_call(if call { Closes::Itself } else { Closes::Not }, *i, calls, sink);
        }
        self.state = State::Section;
        if wrapper || !self.in_wrapper { Step::done(*i) } else { Step::Go }
    }

    /// An element begins at `i`.
    fn opening(
        &mut self,
        shape: &TreeShape,
        tag: &str,
        text: &str,
        i: &mut usize,
        calls: &mut Calls,
        sink: &mut dyn CallSink,
    ) -> Step {
        let in_call = calls.is_open();
        if let Some(name) = shape.header(tag) {
            if self.certainty == Certainty::Unmarked && !calls.tools.admits(name)
                || name.len() > calls.options.limits.name
            {
                return self.bad(text, i, *i - 1, calls, sink);
            }
            if in_call {
                self.leave_call(Closes::Not, *i, calls, sink);
            }
            self.name = String::from(name);
            calls.start(name, None, *i, sink);
            self.begin_arguments(calls, sink);
            return Step::Go;
        }
        if tag == shape.wrapper && self.open.len() <= 1 {
            if in_call {
                self.leave_call(Closes::Not, *i, calls, sink);
            }
            // Repeated, or another block though this one did not end.
            self.state = State::Section;
            return Step::Go;
        }
        let fits = in_call && !tag.is_empty() && tag.len() <= calls.options.limits.name;
        if fits && self.open_element(shape, tag, *i, calls, sink) {
            return Step::Go;
        }
        let at = if calls.committed() { *i } else { *i - 1 };
        self.bad(text, i, at, calls, sink)
    }

    /// The call ends because of the tag before `i`.
    fn leave_call(&mut self, closes: Closes, i: usize, calls: &mut Calls, sink: &mut dyn CallSink) {
        if self.open.len() > 1 {
            return self.malformed(calls, sink);
        }
        if closes == Closes::Not {
            calls.diagnose(DiagnosticKind::MissingCloser, i, 0, sink);
        }
        self.end_arguments(calls, sink);
        calls.end(Outcome::Complete, sink);
    }

    fn tags_from_top(&self) -> &str {
        self.open.last().map_or("", |top| &self.tags[top.tag..top.inner])
    }

    /// Whether the arguments are whole if nothing follows.
    pub(super) fn may_end_here(&self, shape: &TreeShape) -> bool {
        let some = self.open.first().is_some_and(|call| call.count > 0);
        let closes = |name: &str| match self.tag.strip_prefix('/') {
            Some(begun) => name.starts_with(begun),
            None => self.tag.is_empty(),
        };
        let tag = self.state != State::Tag || closes(&shape.call) || closes(&shape.wrapper);
        self.open.len() == 1 && some && tag
    }
}

/// Whether a tag is the end of the call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Closes {
    Itself,
    /// It stands where that end is missing.
    Not,
}

impl Kind {
    /// The brackets around it in JSON.
    pub(super) const fn brackets(self) -> (&'static str, &'static str) {
        match self {
            Self::Object => ("{", "}"),
            Self::List => ("[", "]"),
            Self::Leaf => ("", ""),
            Self::String => ("", "\""),
        }
    }
}
