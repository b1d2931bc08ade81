//! Recovery after a fault: text is skipped up to a recovery point.
//!
//! ```text
//! <call>{"name": "f", "arguments": {"a": }}</call><call>{"name": "g", …
//!                                        ^ fault: the call is malformed
//!                                        }}</call> is skipped and reported
//!                                                 ^ reading continues
//! ```

use alloc::boxed::Box;

use crate::{
    cursor::{Prefix, Undecided, longest_prefix, match_prefix},
    event::{DiagnosticKind, Outcome},
    machine::{
        call::{Machine, MachineStep},
        call_sink::CallSink,
        plan::Arguments,
        state::{List, MachineState},
    },
    texts::{Bytes, TextMatch},
};

/// The kind of recovery point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ResyncPlace {
    /// The end tag of a call.
    Inner,
    /// The end tag of a section, or the end of a list.
    Outer,
    /// A text that is not part of the section: an opener, the end of a turn, or a newline.
    Before,
    /// The next call of the section.
    NextCall,
}

impl Machine {
    /// Handles a character at the cursor that is not allowed there. Refutes a candidate, and makes
    /// an open call malformed.
    pub(in crate::machine) fn bad(&mut self, out: &mut CallSink<'_>) -> MachineStep {
        if !out.calls.committed() {
            let scalar = out.cursor.rest().chars().next().map_or(0, char::len_utf8);
            return MachineStep::refuted(out.cursor.at.saturating_add(scalar));
        }
        self.recovery.dropped = 0;
        if out.calls.is_open() {
            out.calls.breaks_at(out.cursor.at);
            out.end(Outcome::Malformed);
        } else if matches!(
            self.state,
            MachineState::Header | MachineState::Field | MachineState::Arguments
        ) {
            let here = out.stream_offset(out.cursor.at);
            self.recovery.dropped = here.saturating_sub(self.call.item_at);
        }
        self.recovery.siblings = self.fault_in_list(&out.cursor);
        (self.state, self.call.started) = (MachineState::Broken, false);
        self.call.early.clear();
        MachineStep::Go
    }

    /// Skips text up to an end tag, an opener or the end of a turn. If the form has no end tags, up
    /// to the end of the line or of the list.
    pub(in crate::machine) fn resync(&mut self, out: &mut CallSink<'_>) -> MachineStep {
        let plan = out.plan;
        let leaf = plan.leaves.get(usize::from(self.place.leaf));
        let section = self.place.section.map(|id| plan.section(id));
        let none: &[alloc::vec::Vec<Box<str>>] = &[];
        let inner = leaf.map_or(none, |leaf| &leaf.ends.tags);
        let outer = section.map_or(none, |section| &section.ends.tags);
        let next = section.map_or(&[][..], |s| &plan.node(s.calls).tags);
        let bare = inner.is_empty() && outer.is_empty();
        let object = leaf.is_some_and(|leaf| matches!(leaf.arguments, Arguments::Object(_)));
        let in_bare_list = bare && self.place.list != List::None;
        let list = match (in_bare_list, object) {
            (true, true) => Some("}]"),
            (true, false) => Some(")]"),
            _ => None,
        };
        let line = (bare && (self.place.list != List::None || !object)).then_some("\n");
        // Inside a list, brackets are counted instead of searched for.
        let places = |in_list: bool| {
            let list = list.filter(|_| !in_list);
            let line = line.filter(|_| !in_list);
            let inner =
                inner.iter().rev().take(1).flatten().map(|tag| (ResyncPlace::Inner, &**tag));
            let outer = outer.iter().flatten().map(|tag| (ResyncPlace::Outer, &**tag));
            let next = next.iter().map(|tag| (ResyncPlace::NextCall, &*tag.text));
            let stops = plan.recovery_points.iter().map(|stop| (ResyncPlace::Before, &**stop));
            let list = list.map(|end| (ResyncPlace::Outer, end));
            let line = line.map(|end| (ResyncPlace::Before, end));
            let all = inner.chain(outer).chain(next).chain(stops).chain(list).chain(line);
            all.filter(move |(_, text)| !in_list || text.contains(char::is_alphanumeric))
        };
        let of_form = [list, line].into_iter().flatten();
        let begins = of_form.clone().filter_map(|text| text.bytes().next());
        let begins = begins.fold(plan.recovery_texts.first(), Bytes::with);
        let may_be_of_form =
            |rest: &str| of_form.clone().any(|text| match_prefix(rest, text) != Prefix::Mismatch);
        let from = out.cursor.at;
        let mut found = None;
        loop {
            let in_list = self.recovery.siblings.is_some();
            let hit = out.cursor.rest().bytes().position(|byte| in_list || begins.has(byte));
            let Some(hit) = hit else {
                out.cursor.at = out.cursor.text.len();
                break;
            };
            out.cursor.advance(hit);
            // The set rules out most positions, without comparing each recovery point.
            match plan.recovery_texts.match_at(out.cursor.rest().as_bytes()) {
                TextMatch::None if in_list => {
                    if self.find_sibling(&mut out.cursor) {
                        break;
                    }
                    continue;
                }
                TextMatch::None if !may_be_of_form(out.cursor.rest()) => {
                    out.cursor.skip_char();
                    continue;
                }
                TextMatch::Begun => break,
                TextMatch::None | TextMatch::Perhaps => {}
            }
            match longest_prefix(out.cursor.rest(), places(in_list).map(|(_, text)| text)) {
                Err(Undecided) => break,
                Ok(Some(n)) => {
                    found = places(in_list).nth(n);
                    break;
                }
                Ok(None) if self.find_sibling(&mut out.cursor) => break,
                Ok(None) => {}
            }
        }
        self.recovery.dropped =
            self.recovery.dropped.saturating_add(out.cursor.at.saturating_sub(from) as u64);
        if found.is_none() && self.state == MachineState::Broken {
            return MachineStep::more(out.cursor.at);
        }
        out.diagnose(DiagnosticKind::Skipped, out.cursor.at, self.recovery.dropped);
        self.recovery.dropped = 0;
        let Some((place, text)) = found else { return MachineStep::Go };
        self.recovery.siblings = None;
        if matches!(place, ResyncPlace::Inner | ResyncPlace::Outer) {
            out.cursor.advance(text.len());
        }
        self.place.list = match (place, self.place.list) {
            (ResyncPlace::Inner, List::Section) => List::Section,
            _ => List::None,
        };
        match place {
            ResyncPlace::Inner if self.place.section.is_some() => {
                self.state = MachineState::Between;
            }
            ResyncPlace::NextCall => self.state = MachineState::Between,
            _ => return MachineStep::done(out.cursor.at),
        }
        MachineStep::Go
    }
}
