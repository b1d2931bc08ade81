//! Reading: the search for the next boundary, and what happens there.

use alloc::{borrow::ToOwned, string::String, vec::Vec};

use jail_match::{DiagnosticKind, Sink};

use super::{
    parser::Parser,
    state::Phase,
    watch::{self, Next, Side},
};
use crate::pattern::{Found, Neighbours};

impl Parser {
    /// Reads `text`, which begins where the text that was let go ended; how much of it is let go.
    pub(super) fn run(&mut self, text: &str, sink: &mut dyn Sink) -> usize {
        while self.state.phase != Phase::Halted {
            let upto = match self.scan(text) {
                Next::Certain(side, field, found) => {
                    self.cross(text, side, field, &found, sink);
                    continue;
                }
                Next::TooLong(at) => {
                    let held = self.position() - at;
                    // The text before it comes first, whether or not it came in the same piece.
                    self.hand_on(text, self.offset(at), sink);
                    self.current(sink, |_, around| {
                        around.out.diagnostic(DiagnosticKind::CandidateLimit, at, held);
                    });
                    self.hand_on(text, self.state.cursor, sink);
                    self.watch(self.state.watch, None);
                    continue;
                }
                Next::NotBefore(at) => self.offset(at),
                Next::Nowhere => self.state.cursor,
            };
            self.hand_on(text, upto, sink);
            break;
        }
        if self.state.phase == Phase::Halted {
            (self.state.cursor, self.state.done) = (text.len(), text.len());
        }
        self.let_go(text)
    }

    /// The place up to which the text was read.
    fn position(&self) -> u64 {
        self.state.base + self.state.cursor as u64
    }

    /// A place as an offset in the text at hand.
    fn offset(&self, at: u64) -> usize {
        usize::try_from(at.saturating_sub(self.state.base)).unwrap_or(usize::MAX)
    }

    /// Reads on until the next boundary is certain or the text is used up.
    fn scan(&mut self, text: &str) -> Next {
        let Self { template, watches, settings, state, .. } = self;
        let (inner, watch) = (&*template.inner, &watches[state.watch]);
        let searches = &mut state.searches[..watch.boundaries.len()];
        loop {
            let next = watch::next(inner, watch, searches);
            let at = state.base + state.cursor as u64;
            match next {
                // What is empty is a boundary only if something follows.
                Next::Certain(_, _, Found { start, end, .. })
                    if start == end && end == state.base + text.len() as u64 =>
                {
                    let reading = state.phase == Phase::Reading;
                    return if reading { Next::NotBefore(start) } else { Next::Nowhere };
                }
                Next::Certain(..) => return next,
                Next::NotBefore(start) if at - start > settings.hold as u64 => {
                    return Next::TooLong(start);
                }
                Next::Nowhere => state.cursor += watch.quiet(&text.as_bytes()[state.cursor..]),
                _ => {}
            }
            let c = text[state.cursor..].chars().next();
            if c.is_none() && (state.phase == Phase::Reading || state.at_end) {
                return next;
            }
            let previous = text[..state.cursor].chars().next_back().or(state.before);
            let at = state.base + state.cursor as u64;
            let around = Neighbours { at, previous, next: c };
            for (number, search) in searches.iter_mut().enumerate() {
                let (side, field) = watch.boundaries[number];
                let is_exhausted = state.watch == 0 && state.exhausted[number];
                match watch::program(inner, side, field) {
                    Some(program) if !is_exhausted => search.step(program, around),
                    _ => {}
                }
            }
            match c {
                Some(c) => state.cursor += c.len_utf8(),
                None => state.at_end = true,
            }
        }
    }

    /// Watches for what counts in this state from here on; no opener is empty at `not_empty_at`.
    fn watch(&mut self, watch: usize, not_empty_at: Option<u64>) {
        let state = &mut self.state;
        if state.watch == 0 && state.at_end {
            for (exhausted, search) in state.exhausted.iter_mut().zip(&state.searches) {
                *exhausted |= search.found().is_none();
            }
        }
        state.watch = watch;
        state.at_end = false;
        for (&(side, _), search) in self.watches[watch].boundaries.iter().zip(&mut state.searches) {
            search.restart(not_empty_at.filter(|_| side == Side::Open));
        }
    }

    /// Hands the text up to `upto` to the region that is open.
    fn hand_on(&mut self, text: &str, upto: usize, sink: &mut dyn Sink) {
        let done = self.state.done;
        if done < upto {
            let at = self.state.base + done as u64;
            self.state.done = upto;
            self.current(sink, |current, around| current.text(&text[done..upto], at, around));
        }
    }

    /// A boundary was found.
    fn cross(&mut self, text: &str, side: Side, field: usize, found: &Found, sink: &mut dyn Sink) {
        let (start, end) = (self.offset(found.start), self.offset(found.end));
        self.hand_on(text, start, sink);
        let inside = self.state.watch > 0;
        if inside
            && self.is_quoted()
            && let Some(c) = text[start..].chars().next()
        {
            // Not a closer: the search goes on behind its first character.
            self.state.cursor = start + c.len_utf8();
            self.watch(self.state.watch, None);
            return;
        }
        let empty = found.start == found.end;
        let opened = self.state.current.open;
        let groups = self.groups(text, side, field, found);
        let leftover = self.template.inner.leftover;
        self.current(sink, |current, around| {
            current.close(false, around);
            around.out.marker(2 * field + side as usize, found.start, found.end);
            current.renew(if side == Side::Open { Some(field) } else { leftover });
            if side == Side::Open {
                current.begin(found.start, found.end, groups, around);
            }
        });
        (self.state.cursor, self.state.done) = (end, end);
        match side {
            Side::Open => {
                self.state.empty_open = empty.then_some(found.end);
                self.watch(field + 1, None);
            }
            Side::Close if inside => {
                // Where an empty opener and an empty closer meet, they would meet for ever.
                let again = self.state.empty_open.filter(|&at| empty && at == found.end);
                self.watch(0, again);
            }
            Side::Close if empty && !opened => {
                // It would be found here again and again: nothing behind it is ever read.
                self.state.phase = Phase::Halted;
                self.state.halted = found.end;
            }
            Side::Close => self.watch(0, None),
        }
    }

    /// Whether a closer here stands inside a string, and strings count.
    fn is_quoted(&self) -> bool {
        self.state.current.is_quoted(&self.template.inner)
    }

    fn groups(&self, text: &str, side: Side, field: usize, found: &Found) -> Vec<(String, String)> {
        let program = watch::program(&self.template.inner, side, field);
        let names = program.map_or(&[][..], |program| &program.names);
        let group = |(number, name): (usize, &String)| {
            let (start, end) = found.group(number)?;
            let text = text.get(self.offset(start)..self.offset(end))?;
            Some((name.clone(), text.to_owned()))
        };
        names.iter().enumerate().filter_map(group).collect()
    }

    /// Lets the text go that was handed on; how much that is.
    fn let_go(&mut self, text: &str) -> usize {
        let state = &mut self.state;
        let done = core::mem::take(&mut state.done);
        state.before = text[..done].chars().next_back().or(state.before);
        state.base += done as u64;
        state.cursor -= done;
        done
    }
}
