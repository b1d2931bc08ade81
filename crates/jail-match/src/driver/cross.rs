//! Crossing an edge: what a matched marker does.

use super::{Candidate, Cursor, Driver, Mode, Window};
use crate::{
    body::{Bodies, Opener},
    edge::{Then, Uses},
    sink::{Notice, NoticeKind, Sink, SpanKind},
    space::Boundary,
};

impl Driver {
    /// Applies the edge matched at `at..at + len`.
    #[allow(clippy::too_many_arguments)] // one call site; a struct would only rename them
    pub(super) fn cross<S, B>(
        &mut self,
        edge: usize,
        at: usize,
        len: usize,
        w: &Window<'_>,
        c: &mut Cursor,
        bodies: &mut B,
        sink: &mut S,
    ) where
        S: Sink + ?Sized,
        B: Bodies<S> + ?Sized,
    {
        let channel = self.channel();
        let (then, uses) = (self.table.edges()[edge].then, self.table.edges()[edge].uses);
        let opens = matches!(then, Then::Enter(_));
        if opens && self.stack.len() >= self.settings.limits.depth {
            let kind = NoticeKind::DepthLimit;
            sink.notice(Notice { kind, at: w.base + at as u64, bytes: len as u64 });
            c.pos = at + len;
            return;
        }
        self.flush_text(w, c, at, sink);
        if uses != Uses::Unlimited {
            self.spent |= self.table.use_bit(edge);
        }
        if let Then::Body(body, on_commit) = then {
            self.counters.candidates += 1;
            bodies.begin(Opener { body, channel, at: w.base + (at + len) as u64 });
            self.mode = Mode::Candidate(Candidate { opener: len, fed: len, on_commit });
            c.pos = at + len;
            return;
        }
        self.account(SpanKind::Markup, w, at, at + len, sink);
        *c = Cursor { out: at + len, pos: at + len, seen: at + len };
        self.swallow = self.table.edges()[edge].binds(self.binds_optional()).1;
        match then {
            Then::Enter(to) => {
                self.spaces.boundary(Boundary::Enter, channel, sink);
                self.enter(to);
            }
            Then::Leave => {
                self.spaces.boundary(Boundary::Leave, channel, sink);
                self.stack.pop();
            }
            Then::Switch(to) => {
                self.spaces.boundary(Boundary::Leave, channel, sink);
                self.stack.clear();
                self.enter(to);
            }
            Then::Erase | Then::Body(..) => {
                self.spaces.boundary(Boundary::Other, channel, sink);
            }
        }
    }
}
