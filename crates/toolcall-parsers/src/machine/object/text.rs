//! Keys, names and ids of a call object: strings that are read completely before they are used.

use super::{ArgumentsState, ObjectAt, Role};
use crate::{
    family::{CommitOn, Keys},
    machine::{
        call::{Machine, MachineStep},
        call_sink::CallSink,
        plan::{Arguments, Leaf},
        state::MachineState,
    },
    options::Wanted,
    value::{Scanned, ValueDialect},
};

impl Machine {
    /// Reads a key, a name or an id.
    pub(super) fn string(
        &mut self,
        leaf: &Leaf,
        dialect: &ValueDialect<'_>,
        out: &mut CallSink<'_>,
    ) -> Option<MachineStep> {
        match self.readers.object.text.feed(dialect, out.cursor.rest()) {
            Scanned::More { used } => {
                out.cursor.advance(used);
                Some(MachineStep::more(out.cursor.at))
            }
            Scanned::Bad { at, .. } => {
                out.cursor.advance(at);
                Some(self.bad(out))
            }
            Scanned::End { used } | Scanned::Noted { used, .. } => {
                out.cursor.advance(used);
                self.string_read(leaf, out)
            }
        }
    }

    /// Completes a quoted name at the end of the stream. Without the end, the next character would
    /// have shown that the string is complete.
    pub(in crate::machine) fn finish_name(&mut self, out: &mut CallSink<'_>) {
        let plan = out.plan;
        let Some(leaf) = plan.leaves.get(usize::from(self.place.leaf)) else { return };
        let object = matches!(leaf.arguments, Arguments::Object(_));
        let at_name = self.state == MachineState::Arguments
            && object
            && self.readers.object.at == ObjectAt::Name;
        if at_name && self.readers.object.text.is_closed() && leaf.commit == CommitOn::Marker {
            let _ = self.string_read(leaf, out);
        }
    }

    /// Handles a string that is complete.
    pub(super) fn string_read(
        &mut self,
        leaf: &Leaf,
        out: &mut CallSink<'_>,
    ) -> Option<MachineStep> {
        let plan = out.plan;
        let form = plan.form_of(leaf);
        let read = self.readers.object.text.text();
        match self.readers.object.at {
            ObjectAt::Key => {
                let role = self.readers.object.role(&form.keys, read, self.place.calls_seen);
                let known = form.beside.as_ref().is_none_or(|b| b.iter().any(|key| key == read));
                if role == Role::Other && !out.calls.committed() && !known {
                    return Some(MachineStep::refuted(out.cursor.at));
                }
                if role == Role::Arguments && form.keys == Keys::NameIsKey {
                    // Any key could be a name, so only a declared one makes this a call.
                    if out.must_be_declared(leaf.commit) && out.calls.tools.get(read).is_none() {
                        return Some(MachineStep::refuted(out.cursor.at));
                    }
                    if self.call.started {
                        self.end_item(out);
                        self.state = MachineState::Arguments;
                    }
                    if self.readers.object.text.text().is_empty() {
                        return Some(self.bad(out));
                    }
                    self.call.name.clear();
                    self.call.name.push_str(self.readers.object.text.text());
                    self.readers.object.has_name = true;
                }
                (self.readers.object.role, self.readers.object.at) = (role, ObjectAt::Member);
            }
            ObjectAt::Id => {
                if self.call.started {
                    out.calls.late_id(read, out.cursor.at, out.sink);
                } else {
                    self.call.id.clear();
                    self.call.id.push_str(read);
                    self.readers.object.has_id = true;
                }
                self.readers.object.at = ObjectAt::Member;
            }
            _ => {
                if read.is_empty() {
                    // An empty name is not a call. `bad` would count a character that may be in an
                    // earlier chunk.
                    let at = out.cursor.at;
                    let committed = out.calls.committed();
                    return Some(if committed { self.bad(out) } else { MachineStep::refuted(at) });
                }
                self.call.name.clear();
                self.call.name.push_str(read);
                (self.readers.object.has_name, self.readers.object.at) = (true, ObjectAt::Member);
                let committed = out.calls.committed();
                if out.must_be_declared(leaf.commit) {
                    let name = self.call.name.as_str();
                    // If the request requires a certain tool, a call of another tool is still a
                    // call.
                    let known = out.calls.tools.admits(name)
                        || matches!(out.calls.options.wanted, Wanted::Only(_))
                        || form.no_call.iter().any(|none| none == name);
                    if !known {
                        return Some(MachineStep::refuted(out.cursor.at));
                    }
                }
                let kept = self.readers.object.arguments == ArgumentsState::Kept;
                let marked = leaf.commit == CommitOn::Marker && !out.waits_for_arguments();
                if marked || committed || kept {
                    if let Err(step) = self.start(out) {
                        return Some(step);
                    }
                    self.put_kept(out);
                }
            }
        }
        None
    }
}
