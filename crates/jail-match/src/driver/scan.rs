//! Scanning plain text: stops, markers, bound newlines.

use super::{Cursor, Driver, Window};
use crate::{
    body::Bodies,
    channel::Channel,
    code::Code,
    edge::{Anchor, InCode},
    marker::{Class, Probe},
    sink::{Sink, SpanKind},
    space::is_blank,
    table::class,
};

/// What a look at a stop decided.
enum Look {
    /// It is text; go on at this index.
    Pass(usize),
    /// Text from this index on must wait for more.
    Hold(usize),
    /// The edge at `at..at + len`.
    Edge { edge: usize, at: usize, len: usize },
}

impl Driver {
    /// Scans text up to the next edge or the end of the window. Returns whether there is more
    /// to do in this window.
    pub(super) fn scan_text<S, B>(
        &mut self,
        w: &Window<'_>,
        c: &mut Cursor,
        bodies: &mut B,
        sink: &mut S,
    ) -> bool
    where
        S: Sink + ?Sized,
        B: Bodies<S> + ?Sized,
    {
        let bytes = w.text.as_bytes();
        self.swallow_newlines(w, c, sink);
        let from = c.pos;
        while let Some(found) = self.table.set().next_stop(self.class(), &bytes[c.pos..]) {
            let hit = c.pos + found;
            let start = floor_char_boundary(w.text, hit);
            if self.spaces.edge_of_markup() && !is_blank(&w.text[c.out..start]) {
                // Visible text ends those states: settle that before asking about markers.
                self.flush_text(w, c, start, sink);
                c.pos = start;
                continue;
            }
            match self.look(w, c, start, hit) {
                Look::Pass(next) => c.pos = next,
                Look::Hold(keep) => {
                    self.counters.examined += (bytes.len() - from) as u64;
                    self.flush_text(w, c, keep, sink);
                    return false;
                }
                Look::Edge { edge, at, len } => {
                    self.counters.examined += (at + len).saturating_sub(from) as u64;
                    self.cross(edge, at, len, w, c, bodies, sink);
                    return true;
                }
            }
        }
        self.counters.examined += (bytes.len() - from) as u64;
        self.flush_text(w, c, bytes.len(), sink);
        false
    }

    fn class(&self) -> Class {
        class(self.channel(), self.spaces.edge_of_markup())
    }

    fn swallow_newlines<S: Sink + ?Sized>(&mut self, w: &Window<'_>, c: &mut Cursor, sink: &mut S) {
        let rest = &w.text.as_bytes()[c.pos..];
        if self.swallow == 0 || rest.is_empty() {
            return;
        }
        let n = rest.iter().take(self.swallow).take_while(|&&b| b == b'\n').count();
        self.account(SpanKind::Markup, w, c.pos, c.pos + n, sink);
        if self.tracks() {
            self.code.advance(&rest[..n]);
        }
        *c = Cursor { out: c.pos + n, pos: c.pos + n, seen: c.pos + n };
        self.swallow = if n < rest.len() { 0 } else { self.swallow - n };
    }

    /// Emits the text up to `to` and tracks its lines.
    pub(super) fn flush_text<S: Sink + ?Sized>(
        &mut self,
        w: &Window<'_>,
        c: &mut Cursor,
        to: usize,
        sink: &mut S,
    ) {
        self.track(w, c, to);
        if to > c.out {
            let at = w.base + c.out as u64;
            self.spaces.emit(self.channel(), &w.text[c.out..to], at, sink);
            c.out = to;
        }
    }

    fn track(&mut self, w: &Window<'_>, c: &mut Cursor, to: usize) {
        if to > c.seen {
            if self.tracks() {
                self.code.advance(&w.text.as_bytes()[c.seen..to]);
            }
            c.seen = to;
        }
    }

    /// Looks at the scalar at `start`, whose byte `hit` stopped the search.
    fn look(&mut self, w: &Window<'_>, c: &mut Cursor, start: usize, hit: usize) -> Look {
        self.track(w, c, start);
        let bytes = w.text.as_bytes();
        let channel = self.channel();
        let class = self.class();
        let lead_in = &w.text[c.out..start];
        self.counters.examined += self.table.longest().min(bytes.len() - start) as u64;
        let ended = w.ended.is_some();
        let probe = self.table.set().probe(class, bytes, hit, start, ended, |edge, _| {
            self.is_live(edge, lead_in, channel, self.code)
        });
        match probe {
            Probe::Match { at, len, id } => return Look::Edge { edge: id, at, len },
            Probe::Partial { at } => return Look::Hold(at),
            Probe::Miss => {}
        }
        let most = self.table.newlines_before(channel, self.binds_optional());
        if bytes[hit] == b'\n' && most > 0 {
            return self.look_behind_newlines(w, c, hit, most);
        }
        Look::Pass(hit + 1)
    }

    /// A run of newlines may belong to the marker behind it.
    fn look_behind_newlines(&self, w: &Window<'_>, c: &Cursor, start: usize, most: usize) -> Look {
        let bytes = w.text.as_bytes();
        let run = bytes[start..].iter().take_while(|&&b| b == b'\n').count();
        let end = start + run;
        let hold = end - run.min(most);
        let ended = w.ended.is_some();
        if end == bytes.len() {
            return if ended { Look::Pass(end) } else { Look::Hold(hold) };
        }
        let channel = self.channel();
        let optional = self.binds_optional();
        let lead_in = &w.text[c.out..start];
        // The marker stands behind newlines that were not tracked yet.
        let mut code = self.code;
        code.advance(&bytes[start..end]);
        let class = self.class();
        let probe = self.table.set().probe_start(class, bytes, end, ended, |edge| {
            self.table.edges()[edge].binds(optional).0 > 0
                && self.is_live(edge, lead_in, channel, code)
        });
        match probe {
            Probe::Match { at, len, id } => {
                let bound = self.table.edges()[id].binds(optional).0.min(run);
                Look::Edge { edge: id, at: at - bound, len: len + bound }
            }
            Probe::Partial { .. } => Look::Hold(hold),
            Probe::Miss => Look::Pass(end),
        }
    }

    fn is_live(&self, edge: usize, lead_in: &str, channel: Channel, code: Code) -> bool {
        let unspent = self.spent & self.table.use_bit(edge) == 0;
        let edge = &self.table.edges()[edge];
        let anchored = match edge.anchor {
            Anchor::Anywhere => true,
            Anchor::Lead => self.spaces.lead() && is_blank(lead_in),
            Anchor::AfterCall => self.spaces.after_call() && is_blank(lead_in),
            Anchor::LineStart => channel == Channel::CONTENT && code.at_line_start(),
        };
        let hidden = edge.in_code == InCode::Literal
            && channel == Channel::CONTENT
            && self.table.tracks_lines()
            && code.hides();
        unspent && anchored && !hidden
    }
}

fn floor_char_boundary(text: &str, at: usize) -> usize {
    (0..=at).rev().find(|&i| text.is_char_boundary(i)).unwrap_or(0)
}
