//! The edges of an envelope's markers.

use alloc::vec::Vec;

use jail_match::{BodyId, Channel, Edge, OnCommit, Then};

use super::shape::{Entry, Envelope, Header, Target};
use crate::{bodies::anchor, grammar::At};

/// The edges of a message envelope. Its markers are live in every channel it leads to, whatever
/// a call inside reasoning does elsewhere.
pub(crate) fn envelope_edges(envelope: &Envelope, first: BodyId) -> Vec<Edge> {
    let mut edges = Vec::new();
    let content = Channel::CONTENT.mask();
    let others = Channel::REASONING.mask().with(Channel::HIDDEN);
    for (entry, body) in envelope.entries().zip(first..) {
        let (marker, at) = match entry {
            Entry::Header(_, start) => (&start.marker, start.at),
            Entry::Message(mark) => (&mark.marker, At::Anywhere),
        };
        let then = match entry {
            Entry::Header(..) => None,
            Entry::Message(mark) => {
                let header = Header { message: &mark.marker, ..Header::default() };
                let route = envelope.route(header).map(|route| &envelope.routes[route].to);
                let Some(target) = route else { continue };
                channel(target).map(Then::Switch)
            }
        };
        let edge = |on, commit| {
            let then = then.unwrap_or(Then::Body(body, commit));
            Edge::new(marker.clone(), on, then).anchored(anchor(at))
        };
        edges.push(edge(content, OnCommit::Stay));
        edges.push(edge(others, OnCommit::Leave));
    }
    for end in &envelope.ends {
        edges.push(Edge::new(end.clone(), content, Then::Erase));
        edges.push(Edge::new(end.clone(), others, Then::Leave));
    }
    edges
}

/// The channel of a message of text.
fn channel(target: &Target) -> Option<Channel> {
    match target {
        Target::Content => Some(Channel::CONTENT),
        Target::Reasoning => Some(Channel::REASONING),
        Target::Hidden => Some(Channel::HIDDEN),
        Target::Call(_) | Target::Calls(_) => None,
    }
}
