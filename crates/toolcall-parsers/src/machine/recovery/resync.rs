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
    cursor::{Undecided, longest_prefix},
    event::{DiagnosticKind, Outcome},
    machine::{
        call::{Machine, MachineStep},
        call_sink::CallSink,
        plan::{Arguments, Bracket, Section},
        recovery::fault::{After, FaultPlace},
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
        (self.recovery.dropped, self.recovery.skipped_call) = (0, None);
        if out.calls.is_open() {
            self.recovery.skipped_call = self.begin_skipped_call(out.plan);
            out.end(Outcome::Malformed);
        } else if matches!(
            self.state,
            MachineState::Header | MachineState::Field | MachineState::Arguments
        ) {
            let here = out.stream_offset(out.cursor.at);
            self.recovery.dropped = here.saturating_sub(self.call.item_at);
        }
        let leaf = out.plan.leaves.get(usize::from(self.place.leaf));
        self.recovery.fault = Some(self.fault_place(leaf, out));
        (self.state, self.call.started) = (MachineState::Broken, false);
        self.call.early.clear();
        MachineStep::Go
    }

    /// Skips text up to an end tag, an opener or the end of a turn. If the form has no end tags, up
    /// to the end of the line or of the list.
    pub(in crate::machine) fn resync(&mut self, out: &mut CallSink<'_>) -> MachineStep {
        let plan = out.plan;
        let leaf = plan.leaves.get(usize::from(self.place.leaf));
        if let Some(leaf) = leaf.filter(|_| self.recovery.skipped_call.is_some())
            && let Arguments::Parameters(spec) = &leaf.arguments
        {
            return self.skip_call((leaf, spec), out);
        }
        // A section in brackets was entered only if its bracket was read.
        let entered = |section: &&Section| {
            section.bracket == Bracket::None || self.place.list == List::Section
        };
        let section = self.place.section.map(|id| plan.section(id)).filter(entered);
        let none: &[alloc::vec::Vec<Box<str>>] = &[];
        let inner = leaf.map_or(none, |leaf| &leaf.ends.tags);
        let outer = section.map_or(none, |section| &section.ends.tags);
        let next = section.map_or(&[][..], |s| &plan.node(s.calls).tags);
        let bare = inner.is_empty() && outer.is_empty();
        let object = leaf.is_some_and(|leaf| matches!(leaf.arguments, Arguments::Object(_)));
        let elements = leaf.is_some_and(|leaf| matches!(leaf.arguments, Arguments::Elements(_)));
        let quotes = leaf.map_or(&[][..], |leaf| &plan.form_of(leaf).quote);
        let in_bare_list = bare && self.place.list != List::None;
        let list = match (in_bare_list, object) {
            (true, true) => Some("}]"),
            (true, false) => Some(")]"),
            _ => None,
        };
        let line = (bare && (self.place.list != List::None || !object)).then_some("\n");
        // With an end tag, the next call begins only after it. Without one, only after the last
        // bracket.
        let openers = plan.opener_texts();
        let next = if bare || elements { next } else { &[] };
        let places = |fault: &FaultPlace| {
            let in_list = fault.seeks_sibling();
            let list = list.filter(|_| !in_list);
            let line = line.filter(|_| fault.is_flat());
            let inner =
                inner.iter().rev().take(1).flatten().map(|tag| (ResyncPlace::Inner, &**tag));
            let outer = outer.iter().flatten().map(|tag| (ResyncPlace::Outer, &**tag));
            let next = next.iter().map(|tag| (ResyncPlace::NextCall, &*tag.text));
            let opens = elements || bare && fault.is_flat();
            let ends = plan.message_ends();
            let stops = ends.iter().chain(if opens { openers } else { &[] });
            let stops = stops.map(|stop| (ResyncPlace::Before, &**stop));
            let list = list.map(|end| (ResyncPlace::Outer, end));
            let line = line.map(|end| (ResyncPlace::Before, end));
            let all = inner.chain(outer).chain(next).chain(stops).chain(list).chain(line);
            let is_lost = fault.is_lost();
            let all =
                all.filter(move |(_, text)| !is_lost || ends.iter().any(|end| **end == **text));
            all.filter(move |(_, text)| !in_list || text.contains(char::is_alphanumeric))
        };
        let of_form = [list, line].into_iter().flatten();
        let first_bytes = of_form.clone().filter_map(|text| text.bytes().next());
        let first_bytes = first_bytes.fold(plan.recovery_texts.first(), Bytes::with);
        let first_bytes =
            quotes.iter().filter_map(|text| text.bytes().next()).fold(first_bytes, Bytes::with);
        let Some(mut fault) = self.recovery.fault else { return MachineStep::done(out.cursor.at) };
        let from = out.cursor.at;
        let mut found = None;
        loop {
            if fault.in_string() && !fault.skip_string(quotes, &mut out.cursor) {
                break;
            }
            let rest = out.cursor.rest().as_bytes();
            let hit = rest.iter().position(|&byte| first_bytes.has(byte) || fault.stops_at(byte));
            let Some(hit) = hit else {
                out.cursor.at = out.cursor.text.len();
                break;
            };
            out.cursor.advance(hit);
            let rest = out.cursor.rest();
            let begins = plan.recovery_texts.match_at(rest.as_bytes()) != TextMatch::None
                || of_form.clone().any(|text| rest.as_bytes().first() == text.as_bytes().first());
            let texts = places(&fault).map(|(_, text)| text);
            match if begins { longest_prefix(rest, texts) } else { Ok(None) } {
                Err(Undecided) => break,
                Ok(Some(n)) => {
                    let Some((place, text)) = places(&fault).nth(n) else { break };
                    let after = &out.cursor.rest()[text.len()..];
                    let Ok(is_point) = plan.shows_end(text, after, out.calls.ended) else { break };
                    // Nothing shows whether a call inside the malformed one is a quotation.
                    let opens = place == ResyncPlace::NextCall
                        || openers.iter().any(|opener| **opener == *text);
                    match is_point {
                        true if elements && opens => fault.quoted = fault.quoted.saturating_add(1),
                        true if elements && fault.quoted > 0 => {
                            fault.quoted = fault.quoted.saturating_sub(1);
                        }
                        true => {
                            found = Some((place, text));
                            break;
                        }
                        false => {}
                    }
                    out.cursor.advance(text.len());
                    continue;
                }
                Ok(None) => {}
            }
            match fault.step(quotes, &mut out.cursor) {
                After::Undecided => break,
                After::Sibling => {
                    self.go_on_in_list();
                    break;
                }
                After::CallEnd if bare => {
                    (self.state, self.recovery.fault) = (MachineState::CallEnd(0), None);
                    break;
                }
                After::CallEnd | After::String | After::Outside => {}
            }
        }
        if self.state == MachineState::Broken {
            self.recovery.fault = Some(fault);
        }
        self.recovery.dropped =
            self.recovery.dropped.saturating_add(out.cursor.at.saturating_sub(from) as u64);
        if found.is_none() && self.state == MachineState::Broken {
            return MachineStep::more(out.cursor.at);
        }
        out.diagnose(DiagnosticKind::Skipped, out.cursor.at, self.recovery.dropped);
        self.recovery.dropped = 0;
        let Some((place, text)) = found else { return MachineStep::Go };
        self.recovery.fault = None;
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
