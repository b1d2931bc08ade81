//! Reasoning kept back until it is certain that an answer comes.

use alloc::{string::String, vec::Vec};

use jail_match::{Channel, End};

/// The text of a message in which nothing visible came yet, kept until something does.
///
/// The same text never goes to two channels: where reasoning is to be the answer if there is no
/// other, it must wait.
#[derive(Debug, Clone)]
pub struct WithheldReasoning {
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

impl WithheldReasoning {
    /// Keeps at most `limit` bytes: more of it is an answer that nobody would wait for.
    #[must_use]
    pub const fn new(limit: usize) -> Self {
        Self { state: State::OPEN, limit }
    }

    /// Another message begins.
    pub fn reset(&mut self) {
        self.state = State::OPEN;
    }

    /// Bytes kept.
    #[must_use]
    pub fn held(&self) -> usize {
        if let State::Open { text, .. } = &self.state { text.len() } else { 0 }
    }

    /// Whether `text` of `channel` is kept. If not, it is emitted after what was, which is then
    /// for [`WithheldReasoning::release`].
    pub fn keeps(&mut self, channel: Channel, new: &str) -> bool {
        let blank = |byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n');
        let visible = channel != Channel::REASONING && !new.bytes().all(blank);
        let State::Open { text, runs } = &mut self.state else { return false };
        if visible || text.len() + new.len() > self.limit {
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
    pub fn keeps_span_end(&mut self) -> bool {
        let State::Open { runs, .. } = &mut self.state else { return false };
        if matches!(runs.last(), Some(Run::Text(..))) {
            runs.push(Run::SpanEnd);
        }
        true
    }

    /// Emits what was kept, each text on the channel it was for, and keeps nothing more.
    pub fn release(&mut self, on: impl FnMut(Kept<'_>)) {
        self.put(|channel| channel, on);
    }

    /// The message is over: reasoning that is still kept is the answer, unless `end` says that
    /// the answer was cut off.
    pub fn finish(&mut self, end: End, on: impl FnMut(Kept<'_>)) {
        let answer = |channel| match channel {
            Channel::REASONING if end == End::Stop => Channel::CONTENT,
            _ => channel,
        };
        self.put(answer, on);
    }

    fn put(&mut self, place: impl Fn(Channel) -> Channel, mut on: impl FnMut(Kept<'_>)) {
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
