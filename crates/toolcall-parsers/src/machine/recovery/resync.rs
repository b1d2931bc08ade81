//! Recovery after a fault: text is skipped up to a recovery point.
//!
//! ```text
//! <call>{"name": "f", "arguments": {"a": }}</call><call>{"name": "g", …
//!                                        ^ fault: the call is malformed
//!                                        }}</call> is skipped and reported
//!                                                 ^ reading continues
//! ```

use crate::{
    cursor::{Undecided, longest_prefix},
    event::{DiagnosticKind, Outcome},
    machine::{
        call::{Machine, MachineStep},
        call_sink::CallSink,
        plan::Arguments,
        recovery::{
            fault::{After, FaultPlace},
            points::{RecoveryPoint, RecoveryPoints},
        },
        state::{List, MachineState},
    },
    texts::TextMatch,
};

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
        let points = RecoveryPoints::new(&self.place, leaf, plan);
        let Some(mut fault) = self.recovery.fault else { return MachineStep::done(out.cursor.at) };
        let from = out.cursor.at;
        let found = self.next_point(&points, &mut fault, out);
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
        let Some((point, text)) = found else { return MachineStep::Go };
        self.recovery.fault = None;
        if matches!(point, RecoveryPoint::CallEnd | RecoveryPoint::SectionEnd) {
            out.cursor.advance(text.len());
        }
        self.place.list = match (point, self.place.list) {
            (RecoveryPoint::CallEnd, List::Section) => List::Section,
            _ => List::None,
        };
        match point {
            RecoveryPoint::CallEnd if self.place.section.is_some() => {
                self.state = MachineState::Between;
            }
            RecoveryPoint::NextCall => self.state = MachineState::Between,
            _ => return MachineStep::done(out.cursor.at),
        }
        MachineStep::Go
    }

    /// Skips text up to one of `points`, and returns it. Returns `None` at the end of the text, and
    /// where reading continues without one: then another state is set.
    fn next_point<'p>(
        &mut self,
        points: &RecoveryPoints<'p>,
        fault: &mut FaultPlace,
        out: &mut CallSink<'_>,
    ) -> Option<(RecoveryPoint, &'p str)> {
        let plan = out.plan;
        let (quotes, elements) = (points.quotes, points.elements);
        let first_bytes = points.first_bytes(plan.recovery_texts.first());
        loop {
            if fault.in_string() && !fault.skip_string(quotes, &mut out.cursor) {
                return None;
            }
            let rest = out.cursor.rest().as_bytes();
            let hit = rest.iter().position(|&byte| first_bytes.has(byte) || fault.stops_at(byte));
            let Some(hit) = hit else {
                out.cursor.at = out.cursor.text.len();
                return None;
            };
            out.cursor.advance(hit);
            let rest = out.cursor.rest();
            let begins = plan.recovery_texts.match_at(rest.as_bytes()) != TextMatch::None
                || points.of_form().any(|text| rest.as_bytes().first() == text.as_bytes().first());
            let texts = points.after(fault).map(|(_, text)| text);
            match if begins { longest_prefix(rest, texts) } else { Ok(None) } {
                Err(Undecided) => return None,
                Ok(Some(n)) => {
                    let (point, text) = points.after(fault).nth(n)?;
                    let after = &out.cursor.rest()[text.len()..];
                    let is_point = plan.shows_end(text, after, out.calls.ended).ok()?;
                    // Nothing shows whether a call inside the malformed one is a quotation.
                    let opens = point == RecoveryPoint::NextCall
                        || points.openers.iter().any(|opener| **opener == *text);
                    match is_point {
                        true if elements && opens => fault.quoted = fault.quoted.saturating_add(1),
                        true if elements && fault.quoted > 0 => {
                            fault.quoted = fault.quoted.saturating_sub(1);
                        }
                        true => return Some((point, text)),
                        false => {}
                    }
                    out.cursor.advance(text.len());
                    continue;
                }
                Ok(None) => {}
            }
            match fault.step(quotes, &mut out.cursor) {
                After::Undecided => return None,
                After::Sibling => {
                    self.go_on_in_list();
                    return None;
                }
                After::CallEnd if points.bare => {
                    (self.state, self.recovery.fault) = (MachineState::CallEnd(0), None);
                    return None;
                }
                After::CallEnd | After::String | After::Outside => {}
            }
        }
    }
}
