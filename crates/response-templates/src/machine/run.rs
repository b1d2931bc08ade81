//! The search for the next boundary, and the change of regions at a boundary.
//!
//! With the opener `<t>` and the closer `</t>`:
//!
//! | text | effect |
//! |---|---|
//! | `Hi <t` | `Hi ` goes to the leftover field; `<t` is held, because it may begin the opener |
//! | `>` | a region opens, and only its closer is searched for |
//! | `why</t>` | `why` goes to the region, which closes; all openers are searched for again |

use alloc::{borrow::ToOwned, string::String, vec::Vec};

use jail_match::{DiagnosticKind, Sink};

use super::{
    parser::TemplateParser,
    region::Opener,
    state::Phase,
    watch::{self, FoundBoundary, Next, Side},
};
use crate::pattern::Neighbours;

impl TemplateParser {
    /// Reads `text`, which begins where the released text ended. Returns the number of bytes of it
    /// that are released.
    pub(super) fn run(&mut self, text: &str, sink: &mut dyn Sink) -> usize {
        while self.state.phase != Phase::Halted {
            let upto = match self.scan(text) {
                Next::Certain(boundary) => {
                    self.cross(text, &boundary, sink);
                    continue;
                }
                Next::TooLong(at) => {
                    let held = self.position() - at;
                    // The text before the held text comes first, even if it came with an earlier
                    // chunk.
                    self.hand_on(text, self.offset(at), sink);
                    self.with_region(sink, |_, cx| {
                        cx.out.diagnostic(DiagnosticKind::CandidateLimit, at, held);
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
        self.release(text)
    }

    /// Returns the place up to which the text was read.
    fn position(&self) -> u64 {
        self.state.base + self.state.cursor as u64
    }

    /// Converts a place to an offset in the buffered text.
    fn offset(&self, at: u64) -> usize {
        usize::try_from(at.saturating_sub(self.state.base)).unwrap_or(usize::MAX)
    }

    /// Reads until the next boundary is certain or the text ends.
    fn scan(&mut self, text: &str) -> Next {
        let Self { template, watches, settings, state, .. } = self;
        let (inner, watch) = (&*template.inner, &watches[state.watch]);
        let searches = &mut state.searches[..watch.boundaries.len()];
        loop {
            let next = watch::next(inner, watch, searches);
            let at = state.base + state.cursor as u64;
            match &next {
                // An empty match is a boundary only if text follows.
                Next::Certain(FoundBoundary { found, .. })
                    if found.start == found.end && found.end == state.base + text.len() as u64 =>
                {
                    let is_reading = state.phase == Phase::Reading;
                    return if is_reading { Next::NotBefore(found.start) } else { Next::Nowhere };
                }
                Next::Certain(_) => return next,
                Next::NotBefore(start) if at - start > settings.hold as u64 => {
                    return Next::TooLong(*start);
                }
                Next::Nowhere => state.cursor += watch.quiet(&text.as_bytes()[state.cursor..]),
                _ => {}
            }
            let (before, after) = text.split_at(state.cursor);
            let c = after.chars().next();
            if c.is_none() && (state.phase == Phase::Reading || state.at_end) {
                return next;
            }
            let at = state.base + state.cursor as u64;
            let previous = before.chars().next_back().or(state.before);
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

    /// Starts searching for the boundaries of this watch. An empty opener at `not_empty_at` does
    /// not count.
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

    /// Hands the text up to `upto` to the current region.
    fn hand_on(&mut self, text: &str, upto: usize, sink: &mut dyn Sink) {
        let done = self.state.done;
        if done < upto {
            let at = self.state.base + done as u64;
            self.state.done = upto;
            self.with_region(sink, |current, cx| current.text(&text[done..upto], at, cx));
        }
    }

    /// Closes the current region and opens the one after the boundary.
    fn cross(&mut self, text: &str, boundary: &FoundBoundary, sink: &mut dyn Sink) {
        let FoundBoundary { side, field, ref found } = *boundary;
        let (start, end) = (self.offset(found.start), self.offset(found.end));
        self.hand_on(text, start, sink);
        let is_inside = self.state.watch > 0;
        if is_inside
            && self.state.current.is_quoted(&self.template.inner)
            && let Some(c) = text[start..].chars().next()
        {
            // A closer in a string is text. The search continues after its first character.
            self.state.cursor = start + c.len_utf8();
            self.watch(self.state.watch, None);
            return;
        }
        let is_empty = found.start == found.end;
        let was_open = self.state.current.open;
        let groups = self.groups(text, boundary);
        let leftover = self.template.inner.leftover;
        self.with_region(sink, |current, cx| {
            let groups = match side {
                Side::Open => Some(groups),
                Side::Close => {
                    current.add_groups(groups);
                    None
                }
            };
            current.close(false, cx);
            cx.out.marker(2 * field + side as usize, found.start, found.end);
            current.renew(if side == Side::Open { Some(field) } else { leftover });
            if let Some(groups) = groups {
                current.begin(Opener { start: found.start, end: found.end, groups }, cx);
            }
        });
        (self.state.cursor, self.state.done) = (end, end);
        match side {
            Side::Open => {
                self.state.empty_open = is_empty.then_some(found.end);
                self.watch(field + 1, None);
            }
            Side::Close if is_inside => {
                // An empty opener and an empty closer at one place would alternate without end.
                let again = self.state.empty_open.filter(|&at| is_empty && at == found.end);
                self.watch(0, again);
            }
            Side::Close if is_empty && !was_open => {
                // The same closer would be found here again, so the rest is never read.
                self.state.phase = Phase::Halted;
                self.state.halted = found.end;
            }
            Side::Close => self.watch(0, None),
        }
    }

    /// Returns the groups of a boundary that took part.
    fn groups(&self, text: &str, boundary: &FoundBoundary) -> Vec<(String, String)> {
        let program = watch::program(&self.template.inner, boundary.side, boundary.field);
        let names = program.map_or(&[][..], |program| &program.names);
        let group = |(number, name): (usize, &String)| {
            let (start, end) = boundary.found.group(number)?;
            let text = text.get(self.offset(start)..self.offset(end))?;
            Some((name.clone(), text.to_owned()))
        };
        names.iter().enumerate().filter_map(group).collect()
    }

    /// Releases the text that was handed to regions. Returns its length.
    fn release(&mut self, text: &str) -> usize {
        let state = &mut self.state;
        let done = core::mem::take(&mut state.done);
        state.before = text[..done].chars().next_back().or(state.before);
        state.base += done as u64;
        state.cursor -= done;
        done
    }
}
