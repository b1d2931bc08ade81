//! Text that is withheld until its channel is certain.
//!
//! With `nonempty` set:
//!
//! | text | state | effect |
//! |---|---|---|
//! | `<think>42` | `Open` | `42` is withheld: at the end it may become the answer |
//! | `</think>Yes` | `Decided` | `42` is released as reasoning, because `Yes` is the answer |

use alloc::{string::String, vec::Vec};

use jail_match::{Channel, End};

use crate::unclosed::{OpenSpan, Unclosed};

/// A buffer that withholds text of a message until its channel is certain, and releases it in
/// order.
///
/// Reasoning must wait in two cases, because text never goes to two channels: if it may take the
/// place of a missing answer, and if a span without a closer may become content.
#[derive(Debug, Clone, Default)]
pub struct Withheld {
    open: Option<OpenSpan>,
    answer: Option<Answer>,
}

type On<'o> = &'o mut dyn FnMut(Kept<'_>);

impl Withheld {
    /// Creates a buffer that withholds at most `nonempty` bytes of a message without visible text,
    /// and at most the limit of `unclosed` of an open span. `None` withholds nothing.
    #[must_use]
    pub fn new(nonempty: Option<usize>, unclosed: Option<(Unclosed, usize)>) -> Self {
        let unclosed = unclosed.filter(|(policy, _)| *policy != Unclosed::Reasoning);
        let answer = nonempty.map(|limit| Answer { state: State::OPEN, limit });
        Self { open: unclosed.map(OpenSpan::new), answer }
    }

    /// Returns whether no text is ever withheld.
    #[must_use]
    pub fn is_off(&self) -> bool {
        self.open.is_none() && self.answer.is_none()
    }

    /// Returns whether open spans are withheld. The caller must then report closers
    /// ([`Withheld::span_ended`]).
    #[must_use]
    pub fn waits_for_closers(&self) -> bool {
        self.open.is_some()
    }

    /// Forgets the withheld text, for the start of a message.
    pub fn reset(&mut self) {
        self.open.iter_mut().for_each(OpenSpan::close);
        self.answer.iter_mut().for_each(Answer::reset);
    }

    /// Returns the number of withheld bytes.
    #[must_use]
    pub fn held(&self) -> usize {
        let open = self.open.as_ref().map_or(0, OpenSpan::held);
        open.saturating_add(self.answer.as_ref().map_or(0, Answer::held))
    }

    /// Adds text of a channel: withholds it, or releases it after the text before it.
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

    /// Records that a closer ended the span.
    pub fn span_ended(&mut self, on: On<'_>) {
        self.close(usize::MAX, on);
        if !self.answer.as_mut().is_some_and(Answer::keeps_span_end) {
            on(Kept::SpanEnd);
        }
    }

    /// Releases all text on the channel it came from, because the message has an answer.
    pub fn release(&mut self, on: On<'_>) {
        self.close(usize::MAX, on);
        self.answer.iter_mut().for_each(|answer| answer.put(|channel| channel, on));
    }

    /// Ends the message. `open` states whether its reasoning was open. An open span goes to the
    /// channel of its policy. Reasoning becomes the answer if the message has none and the model
    /// stopped by itself.
    pub fn finish(&mut self, end: End, open: bool, on: On<'_>) {
        self.end_span(open, on);
        let place = |channel| match channel {
            Channel::REASONING if end == End::Stop => Channel::CONTENT,
            _ => channel,
        };
        self.answer.iter_mut().for_each(|answer| answer.put(place, on));
    }

    /// Starts another message. `open` states whether the reasoning of the previous message was
    /// open. Reasoning of the previous message stays reasoning.
    pub fn message_boundary(&mut self, open: bool, on: On<'_>) {
        self.end_span(open, on);
        self.release(on);
        self.answer.iter_mut().for_each(Answer::reset);
    }

    fn end_span(&mut self, open: bool, on: On<'_>) {
        let span = self.open.as_ref().filter(|_| open);
        self.close(span.map_or(usize::MAX, OpenSpan::reasoning), on);
    }

    /// Closes the open span: its first `reasoning` bytes are reasoning, the rest is content.
    fn close(&mut self, reasoning: usize, on: On<'_>) {
        self.settle(reasoning, on);
        self.open.iter_mut().for_each(OpenSpan::close);
    }

    /// Releases the text of the open span: its first `reasoning` bytes are reasoning, the rest is
    /// content.
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

/// The withheld text of a message that has no visible text yet.
#[derive(Debug, Clone)]
struct Answer {
    state: State,
    limit: usize,
}

#[derive(Debug, Clone)]
enum State {
    /// No visible text came yet, and all text is withheld.
    Open { text: String, runs: Vec<Run> },
    /// Visible text came, or the limit was reached. Nothing more is withheld.
    Decided,
}

#[derive(Debug, Clone, Copy)]
enum Run {
    Text(Channel, usize),
    SpanEnd,
}

/// A part of released text, in the order of the message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "text and where its spans end is all there is")]
pub enum Kept<'a> {
    /// Text of this channel.
    Text(Channel, &'a str),
    /// The end of a span of reasoning.
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

    /// Keeps text of a channel, unless it is visible or beyond the limit. Returns whether it was
    /// kept.
    fn keeps(&mut self, channel: Channel, new: &str) -> bool {
        let blank = |byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n');
        let visible = channel != Channel::REASONING && !new.bytes().all(blank);
        let State::Open { text, runs } = &mut self.state else { return false };
        if visible || text.len().saturating_add(new.len()) > self.limit {
            return false;
        }
        text.push_str(new);
        match runs.last_mut() {
            Some(Run::Text(last, len)) if *last == channel => *len = len.saturating_add(new.len()),
            _ => runs.push(Run::Text(channel, new.len())),
        }
        true
    }

    /// Keeps the end of a span in its place. Returns whether it was kept.
    fn keeps_span_end(&mut self) -> bool {
        let State::Open { runs, .. } = &mut self.state else { return false };
        if matches!(runs.last(), Some(Run::Text(..))) {
            runs.push(Run::SpanEnd);
        }
        true
    }

    /// Releases the kept text, each part on the channel that `place` returns, and keeps no more
    /// text.
    fn put(&mut self, place: impl Fn(Channel) -> Channel, on: On<'_>) {
        let State::Open { text, runs } = core::mem::replace(&mut self.state, State::Decided) else {
            return;
        };
        let mut rest = text.as_str();
        for run in runs {
            match run {
                Run::Text(channel, len) => {
                    let (text, after) = rest.split_at(len);
                    on(Kept::Text(place(channel), text));
                    rest = after;
                }
                Run::SpanEnd => on(Kept::SpanEnd),
            }
        }
    }
}
