//! Calls that begin with the wire's marker and end with the canonical one, or the other way round.

use std::collections::VecDeque;

use jail_match::{Diagnostic, DiagnosticKind, Event, Found, Matcher, Sink, Span, SpanKind};
use wire_remap::{Piece, RemapTable, Role};

use crate::stages::OutputStage;

/// Follows the markers of the decoded text, and which of them the cursor took for markup.
#[derive(Debug, Clone)]
pub(crate) struct Forms {
    canonical: Matcher,
    roles: Vec<Role>,
    /// Where text lies that came as something else on the wire, and whether it is a marker.
    decoded: VecDeque<(u64, bool)>,
    /// Markers the cursor has not told of.
    seen: VecDeque<Seen>,
    /// Whether the marker that opened a call last was canonical.
    opened: Option<bool>,
    mixed: u64,
}

#[derive(Debug, Clone, Copy)]
struct Seen {
    at: u64,
    len: u64,
    role: Role,
    canonical: bool,
}

impl Forms {
    pub(super) fn new(table: &RemapTable) -> Self {
        Self {
            canonical: Matcher::new(table.pairs().iter().map(|pair| pair.canonical())),
            roles: table.pairs().iter().map(|pair| pair.role()).collect(),
            decoded: VecDeque::new(),
            seen: VecDeque::new(),
            opened: None,
            mixed: 0,
        }
    }

    pub(super) fn reset(&mut self) {
        self.canonical.reset();
        self.decoded.clear();
        self.seen.clear();
        (self.opened, self.mixed) = (None, 0);
    }

    /// Calls that began in one form and ended in the other.
    pub(super) fn mixed(&self) -> u64 {
        self.mixed
    }

    /// Looks at the next piece of the decoded text, which begins at `at`.
    pub(super) fn see(&mut self, piece: Piece<'_>, at: u64) {
        let Self { canonical, roles, decoded, seen, .. } = self;
        match piece {
            Piece::Literal(_) => decoded.push_back((at, false)),
            Piece::Marker(_) => decoded.push_back((at, true)),
            _ => {}
        }
        let mut at = at - canonical.held().len() as u64;
        canonical.push(piece.text(), |found| {
            let (from, text) = match found {
                Found::Text(text) => {
                    at += text.len() as u64;
                    return;
                }
                Found::Marker { id, text } => (id, text),
            };
            let len = text.len() as u64;
            while decoded.front().is_some_and(|&(start, _)| start < at) {
                decoded.pop_front();
            }
            let wire = decoded.front().filter(|&&(start, _)| start == at).map(|&(_, is)| is);
            if wire != Some(false) {
                seen.push_back(Seen { at, len, role: roles[from], canonical: wire.is_none() });
            }
            at += len;
        });
    }
}

impl<S: Sink + ?Sized> OutputStage<S> for Forms {
    fn event(&mut self, event: Event<'_>, next: &mut S) {
        next.event(event);
    }

    fn account(&mut self, span: Span, next: &mut S) {
        next.account(span);
        let end = span.at + span.len;
        while let Some(seen) = self.seen.front().copied().filter(|seen| seen.at < end) {
            self.seen.pop_front();
            if seen.at < span.at || span.kind != SpanKind::Body {
                continue;
            }
            match seen.role {
                Role::Open => self.opened = Some(seen.canonical),
                Role::Close if self.opened.is_some_and(|opened| opened != seen.canonical) => {
                    self.mixed += 1;
                    let kind = DiagnosticKind::MixedMarkers;
                    next.event(Diagnostic::new(kind, seen.at, seen.len).into());
                }
                _ => {}
            }
        }
    }
}
