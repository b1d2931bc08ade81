//! Scanning plain text: stops of the search, markers, and newlines bound to markers.
//!
//! In `"so\n</think>"` the search stops at the newline, which `</think>` may bind:
//!
//! | window | decision at the newline |
//! |---|---|
//! | `so⏎</think>` | `Edge`: the newline and the marker are markup |
//! | `so⏎</th` | `Hold`: everything from the newline on stays pending |
//! | `so⏎on` | `Pass`: the newline is text |
//! | `so⏎</th`, at a token limit | `Cut`, if `Dangling::Drop` is set |

use super::{
    Dangling, Driver, InlineTags,
    message::{Separated, few},
    preceding::Preceding,
    window::{Cursor, Follows, Scan, Window},
};
use crate::{
    body::{BodyParsers, End},
    channel::Channel,
    chars::floor_char_boundary,
    code::Code,
    diagnostic::DiagnosticKind,
    edge::{Anchor, CutMarker, InCode, Then},
    marker::{Class, Haystack, Match, Prefix, Search, newlines},
    sink::SpanKind,
    table::{Place, class},
    whitespace::{TextPiece, is_blank},
};

/// The decision about a place where the search stopped.
enum Decision {
    /// The place is text; continue at this index.
    Pass(usize),
    /// Text from this index on must wait for more.
    Hold(usize),
    /// A marker matched at the place.
    Edge(EdgeMatch),
    /// The end of the stream cut a marker that starts at this index.
    Cut(usize),
}

/// A marker at `at..at + len`, the first `bound` bytes of which are newlines bound to it.
pub(super) struct EdgeMatch {
    pub(super) edge: usize,
    pub(super) at: usize,
    pub(super) len: usize,
    pub(super) bound: usize,
}

/// A place where a marker may start, with the lines and code before it.
#[derive(Clone, Copy)]
struct Start<'w> {
    window: &'w Window<'w>,
    at: usize,
    /// Text before this index is tracked.
    tracked: usize,
    code: Code,
}

impl<'w> Start<'w> {
    /// Returns the text before the place that is not tracked yet.
    fn untracked(&self) -> &'w [u8] {
        &self.window.bytes()[self.tracked..self.at]
    }
}

impl Driver {
    /// Scans text up to the next edge or the end of the window. Returns whether the window has
    /// more to read.
    pub(super) fn scan_text<B: BodyParsers + ?Sized>(&mut self, scan: &mut Scan<'_, B>) -> bool {
        let Window { text, .. } = scan.window;
        let bytes = text.as_bytes();
        self.swallow_newlines(scan);
        let from = scan.cursor.pos;
        loop {
            // Which markers are searched for depends on the line and on code.
            self.track(scan, scan.cursor.pos);
            let class = self.class(self.message.code);
            let found = self.table.set().next_stop(class, &bytes[scan.cursor.pos..]);
            let hit = found.map_or(bytes.len(), |found| scan.cursor.pos + found);
            let start = floor_char_boundary(text, hit);
            // Where lines are tracked, the search stops at newlines and backticks: this text has
            // none.
            self.track_by(Code::within, scan, start);
            if found.is_none() {
                break;
            }
            if self.emitter.edge_of_markup() {
                // The search may stop inside a scalar, after the scalar's start.
                let from = scan.cursor.out.max(scan.cursor.blank).min(start);
                scan.cursor.blank = start;
                if !is_blank(&text[from..start]) {
                    // Visible text changes which markers are live, so it is emitted first.
                    self.flush_text(scan, start);
                    scan.cursor.pos = start;
                    continue;
                }
            } else {
                let passed = self.table.set().pass_stop(bytes, hit, &mut self.counters.examined);
                if let Some(end) = passed {
                    scan.cursor.pos = end;
                    continue;
                }
            }
            match self.look(&scan.window, start, hit) {
                Decision::Pass(next) => scan.cursor.pos = next,
                Decision::Hold(keep) => {
                    self.counters.examined += (bytes.len() - from) as u64;
                    self.flush_text(scan, keep);
                    return false;
                }
                Decision::Cut(at) => {
                    self.counters.examined += (bytes.len() - from) as u64;
                    self.flush_text(scan, at);
                    scan.cursor.pos = bytes.len();
                    self.drop_text(scan, DiagnosticKind::CutOpener);
                    return false;
                }
                Decision::Edge(hit) => {
                    self.counters.examined += (hit.at + hit.len).saturating_sub(from) as u64;
                    self.apply_edge(hit, scan);
                    return true;
                }
            }
        }
        self.counters.examined += (bytes.len() - from) as u64;
        self.flush_text(scan, bytes.len());
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

    /// Accounts for newlines that belong to the marker just passed.
    fn swallow_newlines<B: ?Sized>(&mut self, scan: &mut Scan<'_, B>) {
        let pos = scan.cursor.pos;
        let rest = &scan.window.bytes()[pos..];
        if self.message.swallow == 0 || rest.is_empty() {
            return;
        }
        let n = rest.iter().take(self.message.swallow.into()).take_while(|&&b| b == b'\n').count();
        scan.account(SpanKind::Markup, pos..pos + n);
        if self.tracks() {
            self.message.code.advance(&rest[..n]);
        }
        scan.cursor = Cursor::at(pos + n);
        self.message.swallow -= if n < rest.len() { self.message.swallow } else { few(n) };
    }

    /// Emits the text up to `to` and tracks its lines.
    pub(super) fn flush_text<B: ?Sized>(&mut self, scan: &mut Scan<'_, B>, to: usize) {
        self.track(scan, to);
        let from = scan.cursor.out;
        if to > from {
            let (channel, at) = (self.channel(), scan.window.offset(from));
            let text = &scan.window.text[from..to];
            self.emitter.emit(TextPiece { channel, text, at }, scan.sink);
            scan.cursor.out = to;
        }
    }

    fn track<B: ?Sized>(&mut self, scan: &mut Scan<'_, B>, to: usize) {
        self.track_by(Code::advance, scan, to);
    }

    /// Tracks lines and code up to `to` with `read`: [`Code::advance`], or [`Code::within`] for
    /// text without newlines and backticks.
    fn track_by<B: ?Sized>(
        &mut self,
        read: impl FnOnce(&mut Code, &[u8]),
        scan: &mut Scan<'_, B>,
        to: usize,
    ) {
        if to > scan.cursor.seen {
            let text = &scan.window.bytes()[scan.cursor.seen..to];
            if self.table.counts_mentions() && self.channel() == Channel::CONTENT {
                self.counters.examined += self.message.mentions.advance(&self.table, text);
            }
            if let Some(quotable) = self.table.quotable() {
                self.message.preceding.advance(text, quotable);
            }
            if self.tracks() {
                read(&mut self.message.code, text);
            }
            let at = scan.window.offset(scan.cursor.seen);
            self.message.value.advance(text, at);
            scan.cursor.seen = to;
        }
    }

    /// Decides about the scalar at `start`, whose byte at `hit` stopped the search.
    fn look(&mut self, window: &Window<'_>, start: usize, hit: usize) -> Decision {
        let bytes = window.bytes();
        let code = self.message.code;
        let class = self.class(code);
        self.counters.examined += self.table.longest().min(bytes.len() - start) as u64;
        let hay = Haystack { text: bytes, class, floor: start, ended: window.is_last() };
        let search = self.table.set().search_at(hay, hit, |edge, at| {
            self.is_live(edge, &Start { window, at, tracked: start, code })
        });
        match search {
            Search::Match(Match { at, id, .. }) if self.waits_for_end(id, window) => {
                return Decision::Hold(at);
            }
            Search::Match(Match { at, len, id }) => {
                return Decision::Edge(EdgeMatch { edge: id, at, len, bound: 0 });
            }
            Search::Partial { at } => return Decision::Hold(at),
            Search::Miss if self.is_cut(window, start) => return Decision::Cut(start),
            Search::Miss => {}
        }
        if bytes[hit] == b'\n' {
            let mut code = code;
            code.advance(b"\n");
            let most = self.table.newlines_before(self.class(code), self.binds_optional());
            if most > 0 {
                return self.look_past_newlines(window, hit, most);
            }
            if !self.table.newline_starts() {
                // No marker begins in the run or binds a part of it.
                let run = newlines(&bytes[hit..]);
                self.counters.examined += run as u64;
                return Decision::Pass(hit + run);
            }
        }
        Decision::Pass(hit + 1)
    }

    /// Returns whether the stream ends inside a marker that is markup although it is cut.
    fn is_cut(&self, window: &Window<'_>, start: usize) -> bool {
        let Some(end) = window.ended() else { return false };
        let rest = &window.bytes()[start..];
        let code = self.message.code;
        let class = self.class(code);
        let mut edges = self.table.edges().iter().enumerate();
        let after_call = self.emitter.edge_of_markup() && self.emitter.after_call();
        let after_end = after_call || self.emitter.edge_of_markup() && self.message.ended;
        let torn = end != End::Stop
            && (after_call || self.settings.dangling == Dangling::Drop)
            && rest.len() > 1
            && !rest[0].is_ascii_alphanumeric();
        // A tail as long as the longest marker cannot be a part of one.
        rest.len() < self.table.longest()
            && edges.any(|(id, edge)| {
                let markup = match edge.cut {
                    CutMarker::Text => false,
                    CutMarker::MarkupFrom(least) => rest.len() >= least,
                    CutMarker::AfterEnd => after_end,
                };
                (markup || torn)
                    && self.table.set().agrees(id, class, rest)
                    && self.is_live(id, &Start { window, at: start, tracked: start, code })
            })
    }

    /// Decides about the newlines at `start`, of which a marker after them may bind up to `most`.
    fn look_past_newlines(&mut self, window: &Window<'_>, start: usize, most: usize) -> Decision {
        let bytes = window.bytes();
        // If markers begin with a newline themselves, each newline is decided on its own. A newline
        // with more newlines after it than any marker binds is text.
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
        // The marker comes after newlines that are not tracked yet.
        let mut code = self.message.code;
        code.advance(&bytes[start..end]);
        let (class, ended) = (self.class(code), window.is_last());
        let live = |edge| self.is_live(edge, &Start { window, at: end, tracked: start, code });
        let hay = Haystack { text: bytes, class, floor: end, ended };
        let search = match end == bytes.len() {
            true if ended => Search::Miss,
            true => Search::Partial { at: end },
            false => self.table.set().search_start(hay, live),
        };
        let bound = match search {
            Search::Match(Match { id, .. }) if !self.waits_for_end(id, window) => {
                self.table.edges()[id].binds(optional).0
            }
            // The newlines that any marker which may still match there can bind must wait.
            Search::Match(_) | Search::Partial { .. } => {
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
            Search::Match(Match { at, len, id }) if !self.waits_for_end(id, window) => {
                Decision::Edge(EdgeMatch { edge: id, at: at - bound, len: len + bound, bound })
            }
            _ => Decision::Hold(end - bound),
        }
    }

    /// Returns whether only the end of the message decides about a matched edge.
    fn waits_for_end(&self, edge: usize, window: &Window<'_>) -> bool {
        self.table.edges()[edge].anchor == Anchor::MessageEnd && window.follows == Follows::More
    }

    /// Returns whether the edge may match at `start`. The text before `start` must have been
    /// emitted, because the emitter's state is consulted.
    fn is_live(&self, edge: usize, start: &Start<'_>) -> bool {
        let Start { window, at, code, .. } = *start;
        let message = &self.message;
        let unspent = message.spent & self.table.use_bit(edge) == 0;
        let text = &window.bytes()[at..];
        let is_last = || match self.table.set().match_prefix(edge, text) {
            Prefix::Match(len) if len < text.len() => false,
            _ => window.follows != Follows::NoMarker,
        };
        let edge = &self.table.edges()[edge];
        let in_content = self.channel() == Channel::CONTENT;
        let opens = edge.then == Then::Enter(Channel::REASONING);
        let literal_tags = self.settings.inline_tags == InlineTags::Literal
            && message.separated != Separated::Never;
        let room = self.settings.spans.is_none_or(|most| message.spans < most) && !literal_tags;
        let room = room || !opens;
        let preceding = || self.preceding(start);
        let anchored = match edge.anchor {
            Anchor::Anywhere => true,
            Anchor::Unquoted => preceding().admits(&edge.marker, self.emitter.edge_of_markup()),
            Anchor::Lead => self.emitter.lead(),
            Anchor::Start => self.emitter.untouched(),
            Anchor::AfterCall => self.emitter.after_call(),
            Anchor::Ended => message.ended_by_call,
            Anchor::Opened => message.block_opened,
            Anchor::Line => self.emitter.edge_of_markup() || in_content && code.at_blank_line(),
            Anchor::LineStart => in_content && code.at_line_start(),
            Anchor::MessageEnd => is_last(),
        };
        let hidden = edge.in_code == InCode::Literal
            && in_content
            && self.table.tracks_lines()
            && code.hides();
        let is_shown = || {
            let untracked = start.untracked();
            edge.orphan && in_content && message.mentions.is_open_after(&self.table, untracked)
        };
        let opened_by = message.open.last().map_or(0, |open| open.pair);
        let paired = edge.pair == 0 || opened_by == 0 || edge.pair == opened_by;
        let from = window.offset(at);
        let literal = self.stretches.is_literal(from, from + edge.marker.len() as u64);
        let in_value = || {
            let (value, from) = (&message.value, window.offset(start.tracked));
            matches!(edge.then, Then::Body(..)) && value.is_open_after(start.untracked(), from)
        };
        let fits = unspent && room && anchored && !hidden && paired && !literal;
        fits && self.suffix_fits(edge, text) && !is_shown() && !in_value()
    }

    /// Returns the text before a place.
    fn preceding(&self, start: &Start<'_>) -> Preceding {
        let mut preceding = self.message.preceding;
        if let Some(quotable) = self.table.quotable() {
            preceding.advance(start.untracked(), quotable);
        }
        preceding
    }
}
