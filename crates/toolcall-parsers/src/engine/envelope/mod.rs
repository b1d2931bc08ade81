//! Envelopes: headers read word by word, and what their messages are.
//!
//! ```text
//! <|start|>assistant<|channel|>commentary to=functions.NAME<|message|>BODY<|end|>
//! ```
//!
//! A header is a candidate until its end: cut by the end of the stream it is markup, and one that
//! no route fits is text again. A message of text hands back to the driver, in the channel the
//! route says; a call's body is read here, or by the engine of its shape.

mod body;
pub(crate) mod edges;
mod header;
mod shape;

use jail_match::{Channel, Feed, Resume};

pub(crate) use header::message_header;
pub use shape::{
    CallBody, Envelope, FieldMark, HeaderField, HeaderStart, MessageMark, Recipient, Route, Target,
};

use self::{
    body::{read, wrapper},
    header::{HeaderReader, Read},
    shape::{Entry, Header},
};
use super::{
    Engine,
    arguments::Arguments,
    frame::{Closing, close, skip},
    step::Step,
    tagged::TaggedEngine,
    text::{Undecided, any, space},
};
use crate::{
    calls::Calls,
    event::{CallSink, Outcome},
    grammar::{Certainty, Role},
    json::scan::Scanned,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Header,
    /// Before a call's arguments.
    Blank,
    Arguments,
    /// Behind a call's arguments.
    Close,
    /// In a body that another engine reads, of the route with this number.
    Body(usize),
    /// Behind a fault, looking for a place to go on.
    Broken,
}

/// The machine.
#[derive(Debug, Clone)]
pub(crate) struct EnvelopeEngine {
    state: State,
    header: HeaderReader,
    arguments: Arguments,
    /// How many readings of a body failed.
    reading: usize,
    dropped: u64,
}

impl EnvelopeEngine {
    pub(crate) const fn new() -> Self {
        Self {
            state: State::Header,
            header: HeaderReader::new(),
            arguments: Arguments::new(),
            reading: 0,
            dropped: 0,
        }
    }

    /// Begins behind the entry with number `n`; the first `reading` readings of its body failed.
    pub(crate) fn begin(
        &mut self,
        envelope: &Envelope,
        n: usize,
        reading: usize,
        inner: &mut Engine,
    ) {
        (self.state, self.reading, self.dropped) = (State::Header, reading, 0);
        self.header.begin(envelope, None);
        match envelope.entries().nth(n) {
            Some(Entry::Header(n, start)) => {
                self.header.begin(envelope, Some(n));
                if start.role == Role::Part {
                    // Shorter than any limit, and no marker: the reading goes on behind it.
                    self.header.feed(envelope, usize::MAX, &start.marker);
                }
            }
            Some(Entry::Message(mark)) => {
                let header = Header { message: &mark.marker, ..Header::default() };
                if let Some(route) = envelope.route(header) {
                    self.enter(envelope, route, inner);
                }
            }
            None => {}
        }
    }

    /// Whether the body that was refused may be read otherwise.
    pub(crate) fn has_other_readings(&self) -> bool {
        matches!(self.state, State::Body(_))
    }

    /// The body is over.
    pub(crate) fn end(&mut self) {
        self.arguments = Arguments::new();
    }

    pub(crate) fn held(&self) -> usize {
        self.arguments.held()
    }

    pub(crate) fn feed(
        &mut self,
        envelope: &Envelope,
        inner: &mut Engine,
        text: &str,
        calls: &mut Calls,
        sink: &mut dyn CallSink,
    ) -> Feed {
        // Almost every chunk of a long call is the inside of a string.
        if self.state == State::Arguments && self.arguments.passes(text) {
            calls.arguments(text, sink);
            return Feed::More { used: text.len() };
        }
        let mut i = 0;
        loop {
            let step = match self.state {
                State::Header => self.header(envelope, inner, text, &mut i, calls, sink),
                State::Blank => self.blank(envelope, text, &mut i, calls, sink),
                State::Arguments => self.arguments(text, &mut i, calls, sink),
                State::Close => {
                    let closers = (&envelope.ends[..], Closing::Expected);
                    return close(closers, 1, text, i, calls, sink);
                }
                State::Broken => {
                    return skip(&envelope.ends, &mut self.dropped, text, i, calls, sink);
                }
                State::Body(route) => {
                    let to = (&envelope.routes[route].to, self.reading);
                    return read(to, inner, text, i, calls, sink);
                }
            };
            if let Step::Return(feed) = step {
                return feed;
            }
        }
    }

    fn header(
        &mut self,
        envelope: &Envelope,
        inner: &mut Engine,
        text: &str,
        i: &mut usize,
        calls: &mut Calls,
        sink: &mut dyn CallSink,
    ) -> Step {
        let used = *i;
        let (at, mark) = match self.header.feed(envelope, calls.options.limits.name, &text[used..])
        {
            Read::More { used: more } => return Step::Return(Feed::More { used: used + more }),
            Read::Bad { at } => return Step::Return(Feed::Mismatch { used: used + at }),
            Read::Ended { used: end } => return text_in(Channel::CONTENT, used + end),
            Read::Message { used: end, mark } => (used + end, mark),
        };
        let marker = |n: usize| envelope.starts.get(n).map(|start| start.marker.as_ref());
        let header = Header {
            start: self.header.start().and_then(marker).unwrap_or_default(),
            message: &envelope.messages[mark].marker,
            channel: self.header.channel(),
            recipient: self.header.recipient(),
        };
        let Some(route) = envelope.route(header) else {
            return Step::Return(Feed::Mismatch { used: at });
        };
        *i = at;
        let Route { recipient, to, .. } = &envelope.routes[route];
        match to {
            Target::Content => return text_in(Channel::CONTENT, at),
            Target::Reasoning => return text_in(Channel::REASONING, at),
            Target::Hidden => return text_in(Channel::HIDDEN, at),
            Target::Calls(shapes) if self.reading >= shapes.len() => {
                return text_in(Channel::CONTENT, at);
            }
            Target::Calls(_) => {}
            Target::Call(_) => {
                let name = recipient.name(self.header.recipient());
                calls.start(name, None, at, sink);
                if let Target::Call(CallBody::Parameters(_)) = to {
                    *inner = Engine::Tagged(TaggedEngine::inside(name));
                }
            }
        }
        self.enter(envelope, route, inner);
        Step::Go
    }

    /// A call's body begins.
    fn enter(&mut self, envelope: &Envelope, route: usize, inner: &mut Engine) {
        self.state = State::Body(route);
        match &envelope.routes[route].to {
            Target::Call(CallBody::Arguments) => {
                self.arguments = Arguments::new();
                self.state = State::Blank;
            }
            Target::Calls(shapes) => {
                if let Some(shape) = shapes.get(self.reading) {
                    *inner = Engine::new(shape, Certainty::Marked, wrapper(shape));
                }
            }
            _ => {}
        }
    }

    /// Before a call's arguments: a message without any is a call without any.
    fn blank(
        &mut self,
        envelope: &Envelope,
        text: &str,
        i: &mut usize,
        calls: &mut Calls,
        sink: &mut dyn CallSink,
    ) -> Step {
        *i += space(&text[*i..]);
        if *i == text.len() {
            return Step::Return(Feed::More { used: *i });
        }
        match any(&text[*i..], &envelope.ends) {
            Err(Undecided) => return Step::Return(Feed::More { used: *i }),
            Ok(None) => self.state = State::Arguments,
            Ok(Some(_)) => {
                calls.arguments("{}", sink);
                calls.end(Outcome::Complete, sink);
                self.state = State::Close;
            }
        }
        Step::Go
    }

    fn arguments(
        &mut self,
        text: &str,
        i: &mut usize,
        calls: &mut Calls,
        sink: &mut dyn CallSink,
    ) -> Step {
        match self.arguments.feed(&text[*i..], |fragment| calls.arguments(fragment, sink)) {
            Scanned::More { used } => return Step::Return(Feed::More { used: *i + used }),
            Scanned::End { used } => {
                *i += used;
                calls.end(Outcome::Complete, sink);
                self.state = State::Close;
            }
            Scanned::Bad { at } => {
                *i += at;
                calls.end(Outcome::Malformed, sink);
                (self.state, self.dropped) = (State::Broken, 0);
            }
        }
        Step::Go
    }
}

/// The header is whole, and text follows, in `channel`.
fn text_in(channel: Channel, used: usize) -> Step {
    Step::Return(Feed::Done { used, then: Resume::Switch(channel) })
}
