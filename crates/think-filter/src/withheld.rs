//! Text kept back until it is certain which channel it is for.

use alloc::{string::String, vec::Vec};

use jail_match::{Channel, End};

use crate::unclosed::{OpenSpan, Unclosed};

/// What a stage keeps back of a message's text, and lets go in the order in which it came.
///
/// The same text never goes to two channels: where reasoning is to be the answer if there is no
/// other, or a span that never closes is to be content, it must wait.
#[derive(Debug, Clone, Default)]
pub struct Withheld {
    open: Option<OpenSpan>,
    answer: Option<Answer>,
}

type On<'o> = &'o mut dyn FnMut(Kept<'_>);

impl Withheld {
    /// Keeps at most `nonempty` bytes of a message in which nothing visible came yet, and of an
    /// open span as many as `unclosed` says; `None` keeps nothing. More than that is an answer, or
    /// a closer, that nobody would wait for.
    #[must_use]
    pub fn new(nonempty: Option<usize>, unclosed: Option<(Unclosed, usize)>) -> Self {
        let unclosed = unclosed.filter(|(policy, _)| *policy != Unclosed::Reasoning);
        let answer = nonempty.map(|limit| Answer { state: State::OPEN, limit });
        Self { open: unclosed.map(OpenSpan::new), answer }
    }

    /// Whether it never keeps anything.
    #[must_use]
    pub fn is_off(&self) -> bool {
        self.open.is_none() && self.answer.is_none()
    }

    /// Whether spans are kept until they close: it must be told where they do.
    #[must_use]
    pub fn waits_for_closers(&self) -> bool {
        self.open.is_some()
    }

    /// Another message begins; what is kept is forgotten.
    pub fn reset(&mut self) {
        self.open.iter_mut().for_each(OpenSpan::close);
        self.answer.iter_mut().for_each(Answer::reset);
    }

    /// Bytes kept.
    #[must_use]
    pub fn held(&self) -> usize {
        let open = self.open.as_ref().map_or(0, OpenSpan::held);
        open.saturating_add(self.answer.as_ref().map_or(0, Answer::held))
    }

    /// Text comes: it is kept, or goes on behind what was.
    pub fn text(&mut self, channel: Channel, text: &str, on: On<'_>) {
        let reasons = channel == Channel::REASONING;
        if let Some(open) = &mut self.open {
            if reasons && open.keeps(text) {
                return;
            }
            self.settle(usize::MAX, on);
            if !reasons {
                self.open.iter_mut().for_each(OpenSpan::close);
            }
        }
        self.pass(channel, text, on);
    }

    /// A span of reasoning closed.
    pub fn span_ended(&mut self, on: On<'_>) {
        self.close(usize::MAX, on);
        if !self.answer.as_mut().is_some_and(Answer::keeps_span_end) {
            on(Kept::SpanEnd);
        }
    }

    /// Lets everything go on the channel it was for: there is an answer.
    pub fn release(&mut self, on: On<'_>) {
        self.close(usize::MAX, on);
        self.answer.iter_mut().for_each(|answer| answer.put(|channel| channel, on));
    }

    /// The message ended, in reasoning if `open`: what is kept of the span goes where its policy
    /// says. Reasoning is the answer if there is no other, unless `end` says that the answer was
    /// cut off.
    pub fn finish(&mut self, end: End, open: bool, on: On<'_>) {
        self.end_span(open, on);
        let place = |channel| match channel {
            Channel::REASONING if end == End::Stop => Channel::CONTENT,
            _ => channel,
        };
        self.answer.iter_mut().for_each(|answer| answer.put(place, on));
    }

    /// Another message follows in the stream; the one before ended in reasoning if `open`. It
    /// keeps its reasoning.
    pub fn message_boundary(&mut self, open: bool, on: On<'_>) {
        self.end_span(open, on);
        self.release(on);
        self.answer.iter_mut().for_each(Answer::reset);
    }

    fn end_span(&mut self, open: bool, on: On<'_>) {
        let span = self.open.as_ref().filter(|_| open);
        self.close(span.map_or(usize::MAX, OpenSpan::reasoning), on);
    }

    /// The open span is over: so many bytes of it are reasoning.
    fn close(&mut self, reasoning: usize, on: On<'_>) {
        self.settle(reasoning, on);
        self.open.iter_mut().for_each(OpenSpan::close);
    }

    /// Lets go of the open span's text: so many bytes of it are reasoning, the rest is content.
    fn settle(&mut self, reasoning: usize, on: On<'_>) {
        let Some(text) = self.open.as_mut().map(OpenSpan::take) else { return };
        let (reasoning, content) = text.split_at(reasoning.min(text.len()));
        for (channel, text) in [(Channel::REASONING, reasoning), (Channel::CONTENT, content)] {
            if !text.is_empty() {
                self.pass(channel, text, on);
            }
        }
    }

    fn pass(&mut self, channel: Channel, text: &str, on: On<'_>) {
        if let Some(answer) = &mut self.answer {
            if answer.keeps(channel, text) {
                return;
            }
            answer.put(|channel| channel, on);
        }
        on(Kept::Text(channel, text));
    }
}

/// The text of a message in which nothing visible came yet, kept until something does.
#[derive(Debug, Clone)]
struct Answer {
    state: State,
    limit: usize,
}

#[derive(Debug, Clone)]
enum State {
    /// Nothing visible was emitted yet: all that came before.
    Open { text: String, runs: Vec<Run> },
    /// There is an answer, or too much reasoning to wait for one.
    Decided,
}

#[derive(Debug, Clone, Copy)]
enum Run {
    Text(Channel, usize),
    SpanEnd,
}

/// What is emitted when the waiting is over, in the order in which it came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "text and where its spans end is all there is")]
pub enum Kept<'a> {
    /// Text of a channel.
    Text(Channel, &'a str),
    /// A span of reasoning ended here.
    SpanEnd,
}

impl State {
    const OPEN: Self = Self::Open { text: String::new(), runs: Vec::new() };
}

impl Answer {
    fn reset(&mut self) {
        self.state = State::OPEN;
    }

    fn held(&self) -> usize {
        if let State::Open { text, .. } = &self.state { text.len() } else { 0 }
    }

    /// Whether `text` of `channel` is kept. If not, it follows what was.
    #[expect(clippy::arithmetic_side_effects, reason = "a run counts bytes that `text` holds")]
    fn keeps(&mut self, channel: Channel, new: &str) -> bool {
        let blank = |byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n');
        let visible = channel != Channel::REASONING && !new.bytes().all(blank);
        let State::Open { text, runs } = &mut self.state else { return false };
        if visible || text.len().saturating_add(new.len()) > self.limit {
            return false;
        }
        text.push_str(new);
        match runs.last_mut() {
            Some(Run::Text(last, len)) if *last == channel => *len += new.len(),
            _ => runs.push(Run::Text(channel, new.len())),
        }
        true
    }

    /// Whether the end of a span is kept with its text.
    fn keeps_span_end(&mut self) -> bool {
        let State::Open { runs, .. } = &mut self.state else { return false };
        if matches!(runs.last(), Some(Run::Text(..))) {
            runs.push(Run::SpanEnd);
        }
        true
    }

    /// Emits what was kept, each text on the channel that `place` gives it, and keeps nothing more.
    fn put(&mut self, place: impl Fn(Channel) -> Channel, on: On<'_>) {
        let State::Open { text, runs } = core::mem::replace(&mut self.state, State::Decided) else {
            return;
        };
        let mut rest = text.as_str();
        for run in runs {
            match run {
                Run::Text(channel, len) => {
                    let (text, behind) = rest.split_at(len);
                    on(Kept::Text(place(channel), text));
                    rest = behind;
                }
                Run::SpanEnd => on(Kept::SpanEnd),
            }
        }
    }
}
