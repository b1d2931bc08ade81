//! Whitespace policies: what becomes of whitespace that only frames markup.

mod cap;
mod give;
mod run;

use cap::Cap;
use run::Run;

use crate::{
    channel::Channel,
    diagnostic::{Diagnostic, DiagnosticKind},
    edge::OnCommit,
    event::Event,
    limits::{LimitError, ReasoningLimit},
    sink::{Sink, Span, SpanKind},
};

/// What becomes of whitespace around markup. Every policy is independent of chunking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Whitespace {
    /// Markup is removed, every other byte stays.
    Verbatim,
    /// As verbatim, but a run of nothing but whitespace with markup or the message's edge on
    /// both sides is dropped.
    #[default]
    Framing,
    /// Content loses leading whitespace if markup came before the first visible byte, and
    /// trailing whitespace if there was a call; reasoning is trimmed at both ends. A message
    /// without markup is untouched.
    Trim,
    /// As verbatim, but blank content between markup and a call is dropped.
    BeforeCalls,
    /// As verbatim, but a reasoning span loses its trailing whitespace when it ends.
    ReasoningEnd,
}

/// The rule one channel lives by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rule {
    Keep,
    DropBlank,
    DropBlankBeforeCall,
    Trim,
    TrimEnd,
}

impl Whitespace {
    fn rule(self, channel: Channel) -> Rule {
        match (self, channel) {
            (Self::Framing, _) => Rule::DropBlank,
            (Self::Trim, Channel::CONTENT | Channel::REASONING) => Rule::Trim,
            (Self::BeforeCalls, Channel::CONTENT) => Rule::DropBlankBeforeCall,
            (Self::ReasoningEnd, Channel::REASONING) => Rule::TrimEnd,
            _ => Rule::Keep,
        }
    }
}

/// What kind of markup the text ran into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Boundary {
    /// A channel opens: this one.
    Enter(Channel),
    /// The current channel closes.
    Leave,
    /// A call committed.
    Call,
    /// Anything else.
    Other,
}

/// Emits text under a policy and keeps the flags that depend on what was visible.
#[derive(Debug, Clone)]
pub(crate) struct Spaces {
    policy: Whitespace,
    limit: usize,
    /// Nothing but whitespace since the last markup (or the start).
    blank: bool,
    /// Nothing but whitespace in the channel: the condition of lead-anchored markers.
    lead: bool,
    /// Nothing but whitespace since the message began, and no markup: the condition of
    /// start-anchored markers. Implies the lead.
    untouched: bool,
    /// Nothing but whitespace since a call: the condition of orphan closers.
    after_call: bool,
    called: bool,
    marked: bool,
    content: Run,
    reasoning: Run,
    cap: Cap,
    /// Bytes of reasoning given out since the start of the stream.
    reasoning_bytes: u64,
}

impl Spaces {
    pub(crate) fn new(policy: Whitespace, limit: usize, reasoning: Option<ReasoningLimit>) -> Self {
        Self {
            policy,
            limit,
            blank: true,
            lead: true,
            untouched: true,
            after_call: false,
            called: false,
            marked: false,
            content: Run::default(),
            reasoning: Run::default(),
            cap: Cap::new(reasoning),
            reasoning_bytes: 0,
        }
    }

    /// Starts a message over.
    pub(crate) fn reset(&mut self) {
        self.cap = self.cap.renewed();
        (self.blank, self.lead, self.after_call) = (true, true, false);
        self.untouched = true;
        (self.called, self.marked) = (false, false);
        for run in [&mut self.content, &mut self.reasoning] {
            run.text.clear();
            run.spans.clear();
            (run.overflow, run.eat, run.visible) = (false, false, false);
        }
    }

    /// Whether markers bound to the lead or to a call before may be live.
    pub(crate) fn edge_of_markup(&self) -> bool {
        self.lead || self.after_call
    }

    pub(crate) fn lead(&self) -> bool {
        self.lead
    }

    pub(crate) fn untouched(&self) -> bool {
        self.untouched
    }

    pub(crate) fn after_call(&self) -> bool {
        self.after_call
    }

    /// The limit with the error policy that was hit.
    pub(crate) fn failed(&self) -> Option<LimitError> {
        self.cap.failed()
    }

    pub(crate) fn policy(&self) -> Whitespace {
        self.policy
    }

    /// Whitespace held.
    pub(crate) fn held(&self) -> usize {
        self.content.text.len() + self.reasoning.text.len()
    }

    /// Whether text of `channel` may go to the sink as it is, without a look at it.
    pub(crate) fn passes(&self, channel: Channel) -> bool {
        !self.lead
            && !self.after_call
            && !self.cap.counts(channel)
            && match self.policy.rule(channel) {
                Rule::Keep => true,
                Rule::DropBlank | Rule::DropBlankBeforeCall => !self.blank,
                Rule::Trim | Rule::TrimEnd => false,
            }
    }

    /// Emits `text`, which stands at offset `at`.
    pub(crate) fn emit<S: Sink + ?Sized>(
        &mut self,
        channel: Channel,
        text: &str,
        at: u64,
        sink: &mut S,
    ) {
        if text.is_empty() {
            return;
        }
        if channel == Channel::HIDDEN {
            sink.account(Span { kind: SpanKind::Markup, at, len: text.len() as u64 });
            return;
        }
        if self.passes(channel) {
            self.count(channel, text.len());
            sink.event(Event::text(channel, text));
            return;
        }
        let lead = text.len() - trim_start(text).len();
        let visible = lead < text.len();
        let rule = self.policy.rule(channel);
        match rule {
            Rule::Keep => self.put(channel, text, at, sink),
            Rule::DropBlank | Rule::DropBlankBeforeCall => {
                if self.blank && visible {
                    // Held first, so that the limit is reported as if it had come apart.
                    let (space, rest) = text.split_at(lead);
                    if self.held() + space.len() > self.limit {
                        self.hold(channel, space, at, sink);
                        self.put(channel, rest, at + lead as u64, sink);
                    } else {
                        self.release(channel, sink);
                        self.put(channel, text, at, sink);
                    }
                } else if !self.blank {
                    self.put(channel, text, at, sink);
                } else {
                    self.hold(channel, text, at, sink);
                }
            }
            Rule::Trim | Rule::TrimEnd => {
                let (space, rest) = text.split_at(lead);
                if !space.is_empty() {
                    self.hold(channel, space, at, sink);
                }
                if visible {
                    self.settle(channel, rule, sink);
                    let body = trim_end(rest);
                    self.report_runs(body, at + lead as u64, sink);
                    self.put(channel, body, at + lead as u64, sink);
                    if body.len() < rest.len() {
                        let from = at + (lead + body.len()) as u64;
                        self.hold(channel, &rest[body.len()..], from, sink);
                    }
                }
            }
        }
        if visible {
            self.blank = false;
            (self.lead, self.untouched) = (false, false);
            self.after_call = false;
        }
    }

    /// A visible byte follows: what was held is dropped or comes out before it.
    fn settle<S: Sink + ?Sized>(&mut self, channel: Channel, rule: Rule, sink: &mut S) {
        let markup_first = self.called || self.marked;
        let run = self.run(channel);
        let drop =
            rule == Rule::Trim && !run.visible && (channel == Channel::REASONING || markup_first);
        if drop {
            run.drop_held(sink);
        } else {
            self.release(channel, sink);
        }
        let run = self.run(channel);
        (run.eat, run.visible, run.overflow) = (false, true, false);
    }

    fn hold<S: Sink + ?Sized>(&mut self, channel: Channel, text: &str, at: u64, sink: &mut S) {
        let limit = self.limit;
        let run = self.run(channel);
        if run.eat {
            sink.account(Span { kind: SpanKind::Framing, at, len: text.len() as u64 });
            return;
        }
        if run.overflow {
            self.put(channel, text, at, sink);
            return;
        }
        run.hold(text, at);
        if run.text.len() > limit {
            let bytes = run.text.len() as u64;
            // Reported where the limit lies, whatever the chunk that crossed it.
            let excess = (run.text.len() - limit) as u64;
            let (kind, at) = (DiagnosticKind::WhitespaceLimit, at + text.len() as u64 - excess);
            sink.event(Diagnostic::new(kind, at, bytes - excess).into());
            run.overflow = true;
            self.release(channel, sink);
        }
    }

    /// Reports runs between visible text that would have outgrown the limit, had they come apart.
    fn report_runs<S: Sink + ?Sized>(&self, text: &str, at: u64, sink: &mut S) {
        if text.len() <= self.limit {
            return;
        }
        let mut from = 0;
        for run in text.split(|c| !is_space(c)) {
            if run.len() > self.limit {
                let (kind, bytes) = (DiagnosticKind::WhitespaceLimit, self.limit as u64);
                sink.event(Diagnostic::new(kind, at + from as u64 + bytes, bytes).into());
            }
            from += run.len();
            from += text[from..].chars().next().map_or(0, char::len_utf8);
        }
    }

    fn run(&mut self, channel: Channel) -> &mut Run {
        if channel == Channel::REASONING { &mut self.reasoning } else { &mut self.content }
    }

    /// Markup was recognised in `channel`; called before the channel changes.
    pub(crate) fn boundary<S: Sink + ?Sized>(
        &mut self,
        boundary: Boundary,
        channel: Channel,
        sink: &mut S,
    ) {
        self.run(channel).overflow = false;
        let rule = self.policy.rule(channel);
        match rule {
            Rule::Keep => {}
            Rule::DropBlank => self.run(channel).drop_held(sink),
            Rule::DropBlankBeforeCall if boundary == Boundary::Call => {
                self.run(channel).drop_held(sink);
            }
            Rule::DropBlankBeforeCall => self.release(channel, sink),
            Rule::Trim | Rule::TrimEnd => match boundary {
                Boundary::Leave if channel == Channel::REASONING => {
                    let run = self.run(channel);
                    run.drop_held(sink);
                    run.visible = false;
                }
                // Text of another channel follows: in source order, it comes behind.
                Boundary::Enter(to) if to != Channel::HIDDEN && rule == Rule::TrimEnd => {
                    self.release(channel, sink);
                }
                _ => {}
            },
        }
        if channel == Channel::REASONING && boundary == Boundary::Leave {
            self.cap.report(sink);
        }
        match boundary {
            // Hidden text is markup: what surrounds it is as if it were not there.
            Boundary::Enter(Channel::HIDDEN) => {}
            Boundary::Leave if channel == Channel::HIDDEN => {}
            Boundary::Enter(_) | Boundary::Leave => {
                self.lead = true;
                self.after_call = false;
                self.marked = true;
                if boundary == Boundary::Leave
                    && channel == Channel::REASONING
                    && self.policy == Whitespace::Trim
                {
                    self.content.eat = true;
                }
            }
            Boundary::Call => self.called = true,
            Boundary::Other => {}
        }
        self.blank = true;
        self.untouched = false;
        if self.policy == Whitespace::Trim && !self.content.visible && (self.called || self.marked)
        {
            self.content.drop_held(sink);
        }
    }

    /// A body's opener was met in `channel`. Where a call does not end the channel, whitespace
    /// before it is not the channel's last, and comes out before the call does.
    pub(crate) fn opener<S: Sink + ?Sized>(
        &mut self,
        channel: Channel,
        on_commit: OnCommit,
        sink: &mut S,
    ) {
        if self.policy.rule(channel) == Rule::TrimEnd && on_commit == OnCommit::Stay {
            self.release(channel, sink);
        }
    }

    /// A call ended: orphan closers are markup until something visible comes.
    pub(crate) fn call_ended(&mut self) {
        self.after_call = true;
        self.blank = true;
    }

    /// The stream ended in `channel`.
    pub(crate) fn finish<S: Sink + ?Sized>(&mut self, sink: &mut S) {
        for channel in [Channel::REASONING, Channel::CONTENT] {
            let drop = match self.policy.rule(channel) {
                Rule::Keep | Rule::DropBlankBeforeCall | Rule::TrimEnd => false,
                Rule::DropBlank => true,
                Rule::Trim => {
                    channel == Channel::REASONING
                        || self.called
                        || self.marked && !self.content.visible
                }
            };
            if drop {
                self.run(channel).drop_held(sink);
            } else {
                self.release(channel, sink);
            }
        }
        self.cap.report(sink);
    }
}

fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r')
}

fn trim_start(text: &str) -> &str {
    text.trim_start_matches(is_space)
}

fn trim_end(text: &str) -> &str {
    text.trim_end_matches(is_space)
}

/// Whether `text` holds nothing but ASCII whitespace.
pub(crate) fn is_blank(text: &str) -> bool {
    trim_start(text).is_empty()
}
