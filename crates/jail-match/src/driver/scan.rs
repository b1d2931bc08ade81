//! Scanning plain text: stops, markers, bound newlines.

#![expect(
    clippy::indexing_slicing,
    reason = "the search tells places in the text it was given, and the cursor stands in it or at \
              its end; an edge's number is its place in the table"
)]

use super::{
    Dangling, Driver, InlineTags,
    aside::Apart,
    window::{Cursor, Window},
};
use crate::{
    body::{BodyParsers, End},
    channel::Channel,
    chars::floor_char_boundary,
    code::Code,
    diagnostic::DiagnosticKind,
    edge::{Anchor, Cut, Edge, InCode, Then},
    marker::{Class, Match, Search, newlines},
    sink::{Sink, SpanKind},
    suffix::{self, LearntSuffix, Suffix},
    table::{Place, class},
    whitespace::is_blank,
};

/// What to do about a place where the search stopped.
enum Decision {
    /// It is text; go on at this index.
    Pass(usize),
    /// Text from this index on must wait for more.
    Hold(usize),
    /// An edge.
    Edge(EdgeMatch),
    /// A marker that the end of the stream cut, from this index on.
    Cut(usize),
}

/// A marker found at `at..at + len`, its first `bound` bytes being newlines bound to it.
pub(super) struct EdgeMatch {
    pub(super) edge: usize,
    pub(super) at: usize,
    pub(super) len: usize,
    pub(super) bound: usize,
}

impl Driver {
    /// Scans text up to the next edge or the end of the window. Returns whether there is more
    /// to do in this window.
    pub(super) fn scan_text<B: BodyParsers + ?Sized>(
        &mut self,
        w: &Window<'_>,
        c: &mut Cursor,
        bodies: &mut B,
        sink: &mut dyn Sink,
    ) -> bool {
        let bytes = w.text.as_bytes();
        self.swallow_newlines(w, c, sink);
        let from = c.pos;
        loop {
            // The place decides which markers are searched for.
            self.track(w, c, c.pos);
            let class = self.class(self.code);
            let found = self.table.set().next_stop(class, &bytes[c.pos..]);
            let hit = found.map_or(bytes.len(), |found| c.pos + found);
            let start = floor_char_boundary(w.text, hit);
            // Newlines and backticks are stops where lines are tracked: there are none before it.
            self.track_by(Code::within, w, c, start);
            if found.is_none() {
                break;
            }
            if self.emitter.edge_of_markup() {
                // A stop inside a scalar may lie after its start: never look back.
                let from = c.out.max(c.blank).min(start);
                c.blank = start;
                if !is_blank(&w.text[from..start]) {
                    // Visible text ends those states: settle that before asking about markers.
                    self.flush_text(w, c, start, sink);
                    c.pos = start;
                    continue;
                }
            } else {
                let passed = self.table.set().pass_stop(bytes, hit, &mut self.counters.examined);
                if let Some(end) = passed {
                    c.pos = end;
                    continue;
                }
            }
            match self.look(w, start, hit) {
                Decision::Pass(next) => c.pos = next,
                Decision::Hold(keep) => {
                    self.counters.examined += (bytes.len() - from) as u64;
                    self.flush_text(w, c, keep, sink);
                    return false;
                }
                Decision::Cut(at) => {
                    self.counters.examined += (bytes.len() - from) as u64;
                    self.flush_text(w, c, at, sink);
                    self.drop_text(w, c, bytes.len(), DiagnosticKind::CutOpener, sink);
                    return false;
                }
                Decision::Edge(hit) => {
                    self.counters.examined += (hit.at + hit.len).saturating_sub(from) as u64;
                    self.apply_edge(hit, w, c, bodies, sink);
                    return true;
                }
            }
        }
        self.counters.examined += (bytes.len() - from) as u64;
        self.flush_text(w, c, bytes.len(), sink);
        false
    }

    fn class(&self, code: Code) -> Class {
        let channel = self.channel();
        let place = match () {
            () if self.emitter.edge_of_markup() => Place::EdgeOfMarkup,
            () if self.tracks() && code.at_blank_line() => Place::Line,
            () => Place::Within,
        };
        class(channel, place)
    }

    fn swallow_newlines(&mut self, w: &Window<'_>, c: &mut Cursor, sink: &mut dyn Sink) {
        let rest = &w.text.as_bytes()[c.pos..];
        if self.swallow == 0 || rest.is_empty() {
            return;
        }
        let n = rest.iter().take(self.swallow).take_while(|&&b| b == b'\n').count();
        self.account(SpanKind::Markup, w, c.pos, c.pos + n, sink);
        if self.tracks() {
            self.code.advance(&rest[..n]);
        }
        *c = Cursor::at(c.pos + n);
        self.swallow = if n < rest.len() { 0 } else { self.swallow - n };
    }

    /// Emits the text up to `to` and tracks its lines.
    pub(super) fn flush_text(
        &mut self,
        w: &Window<'_>,
        c: &mut Cursor,
        to: usize,
        sink: &mut dyn Sink,
    ) {
        self.track(w, c, to);
        if to > c.out {
            if self.stretches.is_empty() {
                let at = w.base + c.out as u64;
                self.emitter.emit(self.channel(), &w.text[c.out..to], at, sink);
            } else {
                self.emit(w, c.out, to, sink);
            }
            c.out = to;
        }
    }

    fn track(&mut self, w: &Window<'_>, c: &mut Cursor, to: usize) {
        self.track_by(Code::advance, w, c, to);
    }

    /// Takes in the text up to `to`, which `read` can read.
    fn track_by(
        &mut self,
        read: impl FnOnce(&mut Code, &[u8]),
        w: &Window<'_>,
        c: &mut Cursor,
        to: usize,
    ) {
        if to > c.seen {
            if self.tracks() {
                read(&mut self.code, &w.text.as_bytes()[c.seen..to]);
            }
            c.seen = to;
        }
    }

    /// Looks at the scalar at `start`, whose byte `hit` stopped the search.
    fn look(&mut self, w: &Window<'_>, start: usize, hit: usize) -> Decision {
        let bytes = w.text.as_bytes();
        let channel = self.channel();
        let class = self.class(self.code);
        self.counters.examined += self.table.longest().min(bytes.len() - start) as u64;
        let ended = w.is_last();
        let search = self.table.set().search_at(class, bytes, hit, start, ended, |edge, at| {
            self.is_live(edge, channel, self.code, w, at)
        });
        match search {
            Search::Match(Match { at, len, id }) => {
                return Decision::Edge(EdgeMatch { edge: id, at, len, bound: 0 });
            }
            Search::Partial { at } => return Decision::Hold(at),
            Search::Miss if w.ended.is_some() && self.is_cut(w, start) => {
                return Decision::Cut(start);
            }
            Search::Miss => {}
        }
        if bytes[hit] == b'\n' {
            let mut code = self.code;
            code.advance(b"\n");
            let most = self.table.newlines_before(self.class(code), self.binds_optional());
            if most > 0 {
                return self.look_behind_newlines(w, hit, most);
            }
            if !self.table.newline_starts() {
                // No marker begins in the run, nor takes part of it.
                let run = newlines(&bytes[hit..]);
                self.counters.examined += run as u64;
                return Decision::Pass(hit + run);
            }
        }
        Decision::Pass(hit + 1)
    }

    /// Whether the stream ends inside a marker that is markup even so.
    fn is_cut(&self, w: &Window<'_>, start: usize) -> bool {
        let rest = &w.text.as_bytes()[start..];
        let (channel, class) = (self.channel(), self.class(self.code));
        let mut edges = self.table.edges().iter().enumerate();
        let behind_end =
            self.emitter.edge_of_markup() && (self.message_ended || self.emitter.after_call());
        let torn = w.ended.is_some_and(|end| end != End::Stop)
            && self.settings.dangling == Dangling::Drop
            && rest.len() > 1
            && !rest[0].is_ascii_alphanumeric();
        // What is longer is no piece of a marker.
        rest.len() < self.table.longest()
            && edges.any(|(id, edge)| {
                let markup = match edge.cut {
                    Cut::Text => false,
                    Cut::MarkupFrom(least) => rest.len() >= least,
                    Cut::BehindEnd => behind_end,
                };
                (markup || torn)
                    && self.table.set().agrees(id, class, rest)
                    && self.is_live(id, channel, self.code, w, start)
            })
    }

    /// The newlines from `start` on may belong to the marker after them.
    fn look_behind_newlines(&mut self, w: &Window<'_>, start: usize, most: usize) -> Decision {
        let bytes = w.text.as_bytes();
        // Where markers begin with a newline themselves, each newline must be asked about, and
        // one that no marker can bind (more follow than any binds) is not looked past.
        let singly = self.table.newline_starts();
        let reach = if singly { start + most + 1 } else { bytes.len() };
        let near = &bytes[start..reach.min(bytes.len())];
        let run = newlines(near);
        self.counters.examined += run as u64;
        let end = start + run;
        let pass = Decision::Pass(if singly { start + 1 } else { end });
        if singly && run > most {
            return pass;
        }
        let optional = self.binds_optional();
        let channel = self.channel();
        // The marker stands after newlines that were not tracked yet.
        let mut code = self.code;
        code.advance(&bytes[start..end]);
        let (class, ended) = (self.class(code), w.is_last());
        let live = |edge| self.is_live(edge, channel, code, w, end);
        let search = match end == bytes.len() {
            true if ended => Search::Miss,
            true => Search::Partial { at: end },
            false => self.table.set().search_start(class, bytes, end, ended, live),
        };
        let bound = match search {
            Search::Match(Match { id, .. }) => self.table.edges()[id].binds(optional).0,
            // Only as many as what may still match there can bind.
            Search::Partial { .. } => {
                let (tail, mut bound) = (&bytes[end..], 0);
                for id in self.table.binding() {
                    let more = self.table.edges()[id].binds(optional).0;
                    if more > bound && self.table.set().agrees(id, class, tail) && live(id) {
                        bound = more;
                        if bound >= run {
                            break;
                        }
                    }
                }
                bound
            }
            Search::Miss => 0,
        };
        let bound = bound.min(run);
        if bound == 0 || singly && bound < run {
            return pass;
        }
        match search {
            Search::Match(Match { at, len, id }) => {
                Decision::Edge(EdgeMatch { edge: id, at: at - bound, len: len + bound, bound })
            }
            _ => Decision::Hold(end - bound),
        }
    }

    /// Whether the edge may match at `at` in the window. What came before was settled, so the lead
    /// and the state after markup need no look at it.
    fn is_live(
        &self,
        edge: usize,
        channel: Channel,
        code: Code,
        w: &Window<'_>,
        at: usize,
    ) -> bool {
        let unspent = self.spent & self.table.use_bit(edge) == 0;
        let edge = &self.table.edges()[edge];
        let opens = edge.then == Then::Enter(Channel::REASONING);
        let literal_tags =
            self.settings.inline_tags == InlineTags::Literal && self.apart != Apart::Never;
        let room = self.settings.spans.is_none_or(|most| self.spans < most) && !literal_tags;
        let room = room || !opens;
        let anchored = match edge.anchor {
            Anchor::Anywhere => true,
            Anchor::Lead => self.emitter.lead(),
            Anchor::Start => self.emitter.untouched(),
            Anchor::AfterCall => self.emitter.after_call(),
            Anchor::Ended => self.ended_by_call,
            Anchor::Opened => self.block_opened,
            Anchor::Line => {
                self.emitter.edge_of_markup() || channel == Channel::CONTENT && code.at_blank_line()
            }
            Anchor::LineStart => channel == Channel::CONTENT && code.at_line_start(),
        };
        let hidden = edge.in_code == InCode::Literal
            && channel == Channel::CONTENT
            && self.table.tracks_lines()
            && code.hides();
        let opened_by = self.stack.last().map_or(0, |open| open.pair);
        let paired = edge.pair == 0 || opened_by == 0 || edge.pair == opened_by;
        let text = &w.text.as_bytes()[at..];
        let from = w.base + at as u64;
        let literal = !self.stretches.is_empty()
            && self.stretches.is_literal(from, from + edge.marker.len() as u64);
        unspent && room && anchored && !hidden && paired && !literal && self.suffix_fits(edge, text)
    }

    /// Whether `text` may be the edge's marker with the suffix that the stream's markers carry.
    fn suffix_fits(&self, edge: &Edge, text: &[u8]) -> bool {
        if edge.suffix == Suffix::None || self.suffix.is_empty() {
            return true;
        }
        let (head, close) = edge.marker.as_bytes().split_at(suffix::place(edge.marker.as_bytes()));
        let tail = text.get(head.len()..).unwrap_or_default();
        self.suffix.as_bytes().iter().chain(close).zip(tail).all(|(a, b)| a == b)
    }

    /// The suffix of the edge's marker in `text`.
    pub(super) fn suffix_in(&self, edge: usize, text: &[u8]) -> LearntSuffix {
        let edge = &self.table.edges()[edge];
        match edge.suffix {
            Suffix::None => LearntSuffix::NONE,
            Suffix::Optional => LearntSuffix::of(edge.marker.as_bytes(), text),
        }
    }

    /// The edge acted; `text` was its marker. The first suffix is kept.
    pub(super) fn spend(&mut self, edge: usize, text: &[u8]) {
        self.spent |= self.table.use_bit(edge);
        self.suffix = self.suffix.or(self.suffix_in(edge, text));
    }
}
