//! The bodies a grammar's openers lead into, for a [`jail_match::Driver`].

use alloc::{string::String, sync::Arc, vec::Vec};

use jail_match::{
    Anchor, AtEnd, BodyId, BodyParsers, ByRef, Channel, ChannelMask, Edge, End, Feed, Newlines,
    OnCommit, Opener as At, Resume, Then, Uses,
};

use crate::{
    calls::Calls,
    engine::{
        Engine,
        envelope::{EnvelopeEngine, edges::envelope_edges},
    },
    event::{Event, Sink},
    grammar::{self, Certainty, Grammar, Opener, Role},
    ids::Ids,
    options::{Options, Wanted},
    tools::Tools,
};

/// What a tool opener inside reasoning does.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, Default, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum InReasoning {
    /// Nothing: it is text of the reasoning.
    #[default]
    Literal,
    /// The call comes out, and reasoning goes on behind it.
    Suspend,
    /// The call comes out, and ends the reasoning.
    End,
}

/// The edges of `grammar`, with body ids from `first` on.
///
/// Concatenate them with the edges of a reasoning format to recognise both with one cursor.
#[must_use]
pub fn edges(grammar: &Grammar, in_reasoning: InReasoning, first: BodyId) -> Vec<Edge> {
    let mut edges = Vec::new();
    let content = Channel::CONTENT.mask();
    for (i, opener) in grammar.openers.iter().enumerate() {
        let body = first + i as BodyId;
        let anchor = anchor(opener.at);
        let newlines = Newlines::declared(opener.newlines_before, 0);
        if opener.role == Role::Name {
            let behind = first + grammar.openers.len() as BodyId;
            for (letter, body) in name_starts().zip(behind..) {
                let then = Then::Body(body, OnCommit::Stay);
                edges.push(Edge::new(String::from(letter), content, then).anchored(anchor));
            }
            continue;
        }
        let edge = |on, commit| {
            Edge::new(opener.marker.clone(), on, Then::Body(body, commit))
                .anchored(anchor)
                .bound(newlines)
        };
        match in_reasoning {
            InReasoning::Literal => edges.push(edge(content, OnCommit::Stay)),
            InReasoning::Suspend => edges.push(edge(ChannelMask::TEXT, OnCommit::Stay)),
            InReasoning::End => {
                edges.push(edge(content, OnCommit::Stay));
                edges.push(edge(Channel::REASONING.mask(), OnCommit::Leave));
            }
        }
    }
    if let Some(envelope) = &grammar.envelope {
        edges.extend(envelope_edges(envelope, first + ENVELOPE));
    }
    for erase in grammar.erase.iter() {
        let (before, after) = erase.newlines;
        let uses = if erase.once { Uses::OncePerMessage } else { Uses::Unlimited };
        let edge = Edge::new(erase.marker.clone(), content, Then::Erase)
            .anchored(anchor(erase.at))
            .bound(Newlines::declared(before, after))
            .used(uses);
        edges.push(edge);
    }
    for orphan in grammar.orphans.iter() {
        let edge = Edge::new(orphan.clone(), content, Then::Erase).anchored(Anchor::AfterCall);
        edges.push(edge);
    }
    edges
}

/// What a name may begin with, in the order of the bodies behind those of the openers.
pub(crate) fn name_starts() -> impl Iterator<Item = char> {
    ('a'..='z').chain('A'..='Z').chain(['_'])
}

pub(crate) fn anchor(at: grammar::At) -> Anchor {
    match at {
        grammar::At::Anywhere => Anchor::Anywhere,
        grammar::At::Lead => Anchor::Lead,
        grammar::At::Start => Anchor::Start,
        grammar::At::LineStart => Anchor::LineStart,
        grammar::At::AfterCall => Anchor::AfterCall,
    }
}

/// Where the body ids of an envelope begin, behind those of all openers.
const ENVELOPE: BodyId = 1 << 12;

/// The engines of a grammar as driver bodies. Body `n` is the grammar's `n`th opener; those of its
/// envelope follow from a number of their own on.
#[derive(Debug, Clone)]
pub struct ToolCallParser {
    grammar: Arc<Grammar>,
    calls: Calls,
    engine: Engine,
    envelope: EnvelopeEngine,
    active: Active,
    opener: usize,
    shape: usize,
    /// The first letter of a name that began a body.
    letter: Option<char>,
}

/// What reads the body that is active.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Active {
    /// The engine of the opener's shape.
    Opener,
    /// The envelope, from the entry with this number on.
    Envelope(usize),
}

impl ToolCallParser {
    /// Bodies for the openers of `grammar`.
    #[must_use]
    pub fn new(grammar: Arc<Grammar>, tools: Tools, options: Options) -> Self {
        let openers = grammar.openers.iter().filter(|opener| opener.role != Role::Name);
        let mut openers: Vec<_> = openers.map(|opener| opener.marker.clone()).collect();
        openers.extend(grammar.envelope.iter().flat_map(|e| e.stops().cloned()));
        let calls = Calls::new(tools, options, openers);
        Self {
            grammar,
            calls,
            engine: Engine::Idle,
            envelope: EnvelopeEngine::new(),
            active: Active::Opener,
            opener: 0,
            shape: 0,
            letter: None,
        }
    }

    /// Where ids come from when the wire has none.
    #[must_use]
    pub fn ids(&self) -> &Ids {
        &self.calls.options.ids
    }

    /// Which calls may come out.
    #[must_use]
    pub fn wanted(&self) -> &Wanted {
        &self.calls.options.wanted
    }

    /// Takes the ids of calls to come from `ids`.
    pub fn set_ids(&mut self, ids: Ids) {
        self.calls.options.ids = ids;
    }

    /// Forgets the message.
    pub fn reset(&mut self) {
        self.calls.reset();
        self.engine = Engine::Idle;
        self.envelope = EnvelopeEngine::new();
        self.active = Active::Opener;
        (self.opener, self.shape) = (0, 0);
    }

    /// The active engine's bytes beyond what the driver keeps for it.
    #[must_use]
    pub fn buffered(&self) -> usize {
        self.engine.held() + self.envelope.held()
    }

    fn begin_envelope(&mut self, entry: usize) {
        self.active = Active::Envelope(entry);
        self.engine = Engine::Idle;
        if let Some(envelope) = &self.grammar.envelope {
            self.envelope.begin(envelope, entry, self.shape, &mut self.engine);
        }
    }

    fn current(&self) -> Option<&Opener> {
        self.grammar.openers.get(self.opener)
    }

    fn start_engine(&mut self) {
        let Some(opener) = self.grammar.openers.get(self.opener) else { return };
        let Some(shape) = opener.shapes.get(self.shape) else { return };
        let marker = opener.marker.as_ref();
        self.engine = Engine::new(shape, opener.certainty, marker);
        let mut letter = [0; 4];
        let part = match (opener.role, self.letter) {
            (Role::Part, _) => Some(marker),
            (Role::Name, Some(first)) => Some(&*first.encode_utf8(&mut letter)),
            _ => None,
        };
        if let Some(part) = part {
            // The marker is the beginning of the body; nothing can come out of it yet.
            let mut nothing = |_: Event<'_>| {};
            let behind = self.calls.at;
            self.calls.at -= part.len() as u64;
            self.engine.feed(shape, part, &mut self.calls, &mut nothing);
            self.calls.at = behind;
        }
    }

    /// The engines are compiled once, for any sink: there is much of them, and it is entered once
    /// a chunk.
    fn feed_any(&mut self, text: &str, sink: &mut dyn Sink) -> Feed {
        let Self { grammar, calls, engine, .. } = self;
        let feed = match self.active {
            Active::Opener => {
                let shape = grammar.openers.get(self.opener);
                let shape = shape.and_then(|opener| opener.shapes.get(self.shape));
                let Some(shape) = shape else { return Feed::Mismatch { used: 0 } };
                engine.feed(shape, text, calls, sink)
            }
            Active::Envelope(_) => {
                let Some(envelope) = &grammar.envelope else { return Feed::Mismatch { used: 0 } };
                self.envelope.feed(envelope, engine, text, calls, sink)
            }
        };
        match feed {
            Feed::Mismatch { .. } => {}
            Feed::More { used }
            | Feed::Committed { used }
            | Feed::Done { used, .. }
            | Feed::Markup { used, .. } => self.calls.at += used as u64,
        }
        let halts = self.calls.stops();
        let place = |then| if halts { Resume::Halt } else { then };
        match (feed, self.calls.committed()) {
            (Feed::More { used }, true) => Feed::Committed { used },
            (Feed::Done { used, then }, true) => Feed::Done { used, then: place(then) },
            (Feed::Done { used, then }, false) => Feed::Markup { used, then: place(then) },
            (feed, _) => feed,
        }
    }

    fn finish_any(&mut self, tail: &str, end: End, sink: &mut dyn Sink) -> AtEnd {
        let Self { grammar, calls, engine, .. } = self;
        match (self.active, &grammar.envelope) {
            (Active::Envelope(_), Some(envelope)) => {
                self.envelope.finish(envelope, engine, (tail, end), calls, sink)
            }
            (Active::Envelope(_), None) => AtEnd::Release,
            (Active::Opener, _) => {
                let shape = grammar.openers.get(self.opener);
                let shape = shape.and_then(|opener| opener.shapes.get(self.shape));
                shape.map_or(AtEnd::Release, |shape| engine.finish(shape, tail, end, calls, sink))
            }
        }
    }
}

impl<S: Sink + ?Sized> BodyParsers<S> for ToolCallParser {
    fn begin(&mut self, opener: At) {
        self.shape = 0;
        self.letter = None;
        if let Some(entry) = opener.body.checked_sub(ENVELOPE) {
            self.calls.begin(opener.at, None);
            self.begin_envelope(usize::from(entry));
            return;
        }
        self.active = Active::Opener;
        self.opener = usize::from(opener.body);
        if let Some(letter) = self.opener.checked_sub(self.grammar.openers.len()) {
            let named = |opener: &Opener| opener.role == Role::Name;
            self.opener = self.grammar.openers.iter().position(named).unwrap_or(0);
            self.letter = name_starts().nth(letter);
        }
        let marked = self
            .current()
            .filter(|opener| opener.certainty == Certainty::Marked && opener.role == Role::Before);
        let marker = marked.map(|opener| opener.marker.clone());
        self.calls.begin(opener.at, marker);
        self.start_engine();
    }

    fn feed(&mut self, text: &str, sink: &mut S) -> Feed {
        self.feed_any(text, &mut ByRef(sink))
    }

    fn retry(&mut self) -> bool {
        if let Active::Envelope(entry) = self.active {
            let more = self.envelope.has_other_readings();
            if more {
                self.shape += 1;
                self.calls.at = self.calls.begun_at;
                self.begin_envelope(entry);
            }
            return more;
        }
        let more = self.current().is_some_and(|opener| self.shape + 1 < opener.shapes.len());
        if more {
            self.shape += 1;
            self.calls.at = self.calls.begun_at;
            self.start_engine();
        }
        more
    }

    fn finish(&mut self, tail: &str, end: End, sink: &mut S) -> AtEnd {
        self.finish_any(tail, end, &mut ByRef(sink))
    }

    fn end(&mut self) {
        self.engine = Engine::Idle;
        self.envelope.end();
    }

    fn held(&self) -> usize {
        self.buffered()
    }
}
