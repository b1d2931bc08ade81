//! Detection of calls that begin with a remapped marker and end with a canonical one, or the
//! reverse.
//!
//! ```text
//! remapped: [[CALL]] [[/CALL]]       canonical: <tool_call> </tool_call>
//! [[CALL]]{"name": "f"}</tool_call>  a call with mixed markers, reported as `MixedMarkers`
//! ```
//!
//! A body is accounted for in pieces that depend on the cuts of the text. The reports therefore
//! come at the end of the message, not between the events of the body.

use std::collections::VecDeque;

use jail_match::{Diagnostic, DiagnosticKind, Event, Matcher, MatcherEvent, Sink, Span, SpanKind};
use wire_remap::{DecodedPiece, RemapTable, Role};

use crate::{limits::MAX_MIXED_REPORTS, stages::OutputStage};

/// A record of the markers of the decoded text, and of those that the cursor read as markup.
#[derive(Debug, Clone)]
pub(crate) struct Forms {
    canonical: Matcher,
    roles: Vec<Role>,
    /// Markers that the cursor has not reported yet.
    seen: VecDeque<SeenMarker>,
    /// Whether the marker that opened the last call was canonical.
    opened: Option<bool>,
    mixed: u64,
    /// Reports that come at the end of the message.
    reports: Vec<Diagnostic>,
}

#[derive(Debug, Clone, Copy)]
struct SeenMarker {
    at: u64,
    len: u64,
    role: Role,
    canonical: bool,
}

impl SeenMarker {
    /// Returns the offset of the last byte. A body may have read the bytes before it earlier.
    fn last(self) -> u64 {
        self.at + self.len - 1
    }
}

impl Forms {
    pub(super) fn new(table: &RemapTable) -> Self {
        Self {
            canonical: Matcher::new(table.pairs().iter().map(|pair| pair.canonical())),
            roles: table.pairs().iter().map(|pair| pair.role()).collect(),
            seen: VecDeque::new(),
            opened: None,
            mixed: 0,
            reports: Vec::new(),
        }
    }

    pub(super) fn reset(&mut self) {
        self.canonical.reset();
        self.seen.clear();
        self.reports.clear();
        (self.opened, self.mixed) = (None, 0);
    }

    /// Ends the message, after which the cursor reports no more markers.
    pub(super) fn ended(&mut self, next: &mut (impl Sink + ?Sized)) {
        self.seen.clear();
        for report in self.reports.drain(..) {
            next.event(report.into());
        }
    }

    /// Returns the number of calls that began in one form and ended in the other.
    pub(super) fn mixed(&self) -> u64 {
        self.mixed
    }

    /// Returns the live bytes in queues that grow with the text held by the cursor.
    pub(super) fn buffered(&self) -> usize {
        let seen = self.seen.len().saturating_mul(size_of::<SeenMarker>());
        seen.saturating_add(self.reports.len().saturating_mul(size_of::<Diagnostic>()))
    }

    /// Examines the next piece of the decoded text, which begins at `from`. Text before `settled`
    /// is emitted or accounted for.
    pub(super) fn see(&mut self, piece: DecodedPiece<'_>, from: u64, settled: u64) {
        let Self { canonical, roles, seen, .. } = self;
        while seen.front().is_some_and(|seen| seen.last() < settled) {
            seen.pop_front();
        }
        // A marker is never the beginning of another marker, so that a marker in one piece is found
        // with that piece.
        let came = match piece {
            DecodedPiece::Literal(_) => None,
            DecodedPiece::Marker(_) => Some(false),
            _ => Some(true),
        };
        let mut at = from - canonical.held().len() as u64;
        canonical.push(piece.text(), |found| {
            let (MatcherEvent::Text(text) | MatcherEvent::Marker { text, .. }) = found;
            let len = text.len() as u64;
            let form = if at == from { came } else { Some(true) };
            if let (MatcherEvent::Marker { id, .. }, Some(canonical)) = (found, form) {
                seen.push_back(SeenMarker { at, len, role: roles[id], canonical });
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
        while let Some(seen) = self.seen.front().copied().filter(|seen| seen.last() < end) {
            self.seen.pop_front();
            if seen.last() < span.at || span.kind != SpanKind::Body {
                continue;
            }
            match seen.role {
                Role::Open => self.opened = Some(seen.canonical),
                Role::Close if self.opened.is_some_and(|opened| opened != seen.canonical) => {
                    self.mixed += 1;
                    if self.reports.len() < MAX_MIXED_REPORTS {
                        let kind = DiagnosticKind::MixedMarkers;
                        self.reports.push(Diagnostic::new(kind, seen.at, seen.len));
                    }
                }
                _ => {}
            }
        }
    }
}
