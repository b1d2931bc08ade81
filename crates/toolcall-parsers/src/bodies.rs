//! The bodies a grammar's openers lead into, for a [`jail_match::Driver`].

use alloc::{string::String, sync::Arc, vec::Vec};

use jail_match::{
    Anchor, Bodies, BodyId, Channel, ChannelMask, Edge, End, Feed, Newlines, OnCommit,
    Opener as At, Tail, Then, Uses,
};

use crate::{
    calls::Calls,
    engine::Engine,
    event::CallSink,
    grammar::{self, Certainty, Grammar, Opener, Role},
    ids::Ids,
    options::Options,
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

fn anchor(at: grammar::At) -> Anchor {
    match at {
        grammar::At::Anywhere => Anchor::Anywhere,
        grammar::At::Lead => Anchor::Lead,
        grammar::At::LineStart => Anchor::LineStart,
        grammar::At::AfterCall => Anchor::AfterCall,
    }
}

/// The engines of a grammar as driver bodies. Body `n` is the grammar's `n`th opener.
#[derive(Debug, Clone)]
pub struct CallBodies {
    grammar: Arc<Grammar>,
    calls: Calls,
    engine: Engine,
    opener: usize,
    shape: usize,
    /// The first letter of a name that began a body.
    letter: Option<char>,
}

impl CallBodies {
    /// Bodies for the openers of `grammar`.
    #[must_use]
    pub fn new(grammar: Arc<Grammar>, tools: Tools, options: Options) -> Self {
        let openers = grammar.openers.iter().filter(|opener| opener.role != Role::Name);
        let openers: Vec<_> = openers.map(|opener| opener.marker.clone()).collect();
        let calls = Calls::new(tools, options, openers);
        Self { grammar, calls, engine: Engine::Idle, opener: 0, shape: 0, letter: None }
    }

    /// Where ids come from when the wire has none.
    #[must_use]
    pub fn ids(&self) -> &Ids {
        &self.calls.options.ids
    }

    /// Takes the ids of calls to come from `ids`.
    pub fn set_ids(&mut self, ids: Ids) {
        self.calls.options.ids = ids;
    }

    /// Forgets the message.
    pub fn reset(&mut self) {
        self.calls.reset();
        self.engine = Engine::Idle;
        (self.opener, self.shape) = (0, 0);
    }

    /// The active engine's bytes beyond what the driver keeps for it.
    #[must_use]
    pub fn buffered(&self) -> usize {
        self.engine.held()
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
            let mut nothing = crate::event::Events(|_: crate::event::Event<'_>| {});
            let behind = self.calls.at;
            self.calls.at -= part.len() as u64;
            self.engine.feed(shape, part, &mut self.calls, &mut nothing);
            self.calls.at = behind;
        }
    }
}

impl<S: CallSink + ?Sized> Bodies<S> for CallBodies {
    fn begin(&mut self, opener: At) {
        self.opener = usize::from(opener.body);
        self.shape = 0;
        self.letter = None;
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

    fn committed(&self) -> bool {
        self.calls.committed()
    }

    #[inline]
    fn feed(&mut self, text: &str, sink: &mut S) -> Feed {
        let shape = self.grammar.openers.get(self.opener).and_then(|o| o.shapes.get(self.shape));
        let Some(shape) = shape else { return Feed::NotMine { used: 0 } };
        let feed = self.engine.feed(shape, text, &mut self.calls, sink);
        match feed {
            Feed::More { used } | Feed::Done { used, .. } => self.calls.at += used as u64,
            Feed::NotMine { .. } => {}
        }
        feed
    }

    fn retry(&mut self) -> bool {
        let more = self.current().is_some_and(|opener| self.shape + 1 < opener.shapes.len());
        if more {
            self.shape += 1;
            self.calls.at = self.calls.begun_at;
            self.start_engine();
        }
        more
    }

    fn finish(&mut self, tail: &str, end: End, sink: &mut S) -> Tail {
        let shape = self.grammar.openers.get(self.opener).and_then(|o| o.shapes.get(self.shape));
        let Some(shape) = shape else { return Tail::Release };
        self.engine.finish(shape, tail, end, &mut self.calls, sink)
    }

    fn held(&self) -> usize {
        self.engine.held()
    }
}
