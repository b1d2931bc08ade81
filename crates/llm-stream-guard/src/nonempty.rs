//! Reasoning in place of an answer that never comes.

use jail_match::{Channel, End, Notice, Sink, Span};
use toolcall_parsers::{CallSink, Diagnostic, Outcome};

/// Text kept until it is certain whether an answer comes.
#[derive(Debug, Clone)]
pub(crate) struct Withheld {
    state: State,
    /// The most bytes that are kept.
    limit: usize,
}

#[derive(Debug, Clone)]
enum State {
    /// Nothing visible came out yet: runs of text by channel, all that came before.
    Open { text: String, runs: Vec<(Channel, usize)> },
    /// There is an answer, or too much reasoning to wait for one.
    Decided,
}

impl State {
    fn open() -> Self {
        Self::Open { text: String::new(), runs: Vec::new() }
    }
}

impl Withheld {
    pub(crate) fn new(limit: usize) -> Self {
        Self { state: State::open(), limit }
    }

    pub(crate) fn reset(&mut self) {
        self.state = State::open();
    }

    pub(crate) fn held(&self) -> usize {
        if let State::Open { text, .. } = &self.state { text.len() } else { 0 }
    }

    /// Every text comes out on the channel it was for, and nothing is kept any more.
    pub(crate) fn release<S: CallSink + ?Sized>(&mut self, sink: &mut S) {
        self.put(sink, |channel| channel);
    }

    fn put<S: CallSink + ?Sized>(&mut self, sink: &mut S, on: impl Fn(Channel) -> Channel) {
        let State::Open { text, runs } = std::mem::replace(&mut self.state, State::Decided) else {
            return;
        };
        let mut rest = text.as_str();
        for (channel, len) in runs {
            let (run, behind) = rest.split_at(len);
            sink.text(on(channel), run);
            rest = behind;
        }
    }
}

/// A sink in front of another that withholds reasoning.
pub(crate) struct Nonempty<'w, S: ?Sized> {
    pub(crate) withheld: &'w mut Withheld,
    pub(crate) sink: &'w mut S,
}

impl<S: CallSink + ?Sized> Nonempty<'_, S> {
    /// The message is over: text that was withheld is the answer, unless the stream was cut.
    pub(crate) fn finish(&mut self, end: End) {
        self.withheld.put(self.sink, |channel| match (end, channel) {
            (End::Stop, Channel::REASONING) => Channel::CONTENT,
            _ => channel,
        });
    }
}

impl<S: CallSink + ?Sized> Sink for Nonempty<'_, S> {
    fn text(&mut self, channel: Channel, new: &str) {
        let blank = |byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n');
        let visible = channel != Channel::REASONING && !new.bytes().all(blank);
        if let State::Open { text, runs } = &mut self.withheld.state
            && !visible
            && text.len() + new.len() <= self.withheld.limit
        {
            text.push_str(new);
            match runs.last_mut() {
                Some((last, len)) if *last == channel => *len += new.len(),
                _ => runs.push((channel, new.len())),
            }
            return;
        }
        self.withheld.release(self.sink);
        self.sink.text(channel, new);
    }

    fn notice(&mut self, notice: Notice) {
        self.sink.notice(notice);
    }

    fn account(&mut self, span: Span) {
        self.sink.account(span);
    }
}

impl<S: CallSink + ?Sized> CallSink for Nonempty<'_, S> {
    fn call_start(&mut self, index: u32, id: &str, name: &str) {
        self.withheld.release(self.sink);
        self.sink.call_start(index, id, name);
    }

    fn call_arguments(&mut self, index: u32, fragment: &str) {
        self.sink.call_arguments(index, fragment);
    }

    fn call_end(&mut self, index: u32, outcome: Outcome) {
        self.sink.call_end(index, outcome);
    }

    fn diagnostic(&mut self, diagnostic: Diagnostic) {
        self.sink.diagnostic(diagnostic);
    }
}
