//! Values of a call object: its arguments, and values that are ignored.

use jail_match::CallPart;

use super::{ArgumentsState, ObjectAt, Role};
use crate::{
    event::{DiagnosticKind, Event},
    limits::MAX_WRAPPERS,
    machine::{
        call::{Machine, MachineStep},
        call_sink::CallSink,
    },
    value::{Members, Note, Scanned, ValueDialect, ValueKind},
};

impl Machine {
    /// Emits the arguments that were held until the name was known.
    pub(super) fn put_kept(&mut self, out: &mut CallSink<'_>) {
        if self.readers.object.arguments == ArgumentsState::Kept {
            let early = core::mem::take(&mut self.call.early);
            out.json(&early);
            self.call.early = early;
            self.call.early.clear();
            self.readers.object.arguments = ArgumentsState::Closed;
        }
    }

    /// Selects the reader of a member's value.
    pub(super) fn member_value(
        &mut self,
        dialect: &ValueDialect<'_>,
        out: &mut CallSink<'_>,
    ) -> Option<MachineStep> {
        out.cursor.skip_blanks();
        let Some(byte) = out.cursor.peek() else { return Some(MachineStep::more(out.cursor.at)) };
        let object = &mut self.readers.object;
        let text = dialect.begins_string(out.cursor.rest());
        object.at = match (object.role, byte) {
            (Role::Name | Role::Wrapper, _) if text && !object.has_name => {
                object.text.restart();
                ObjectAt::Name
            }
            (Role::Id, _) if text => {
                object.text.restart();
                ObjectAt::Id
            }
            (Role::Wrapper, b'{') if object.nest < MAX_WRAPPERS => {
                object.nest = object.nest.saturating_add(1);
                object.members = Members::new();
                ObjectAt::Member
            }
            (Role::List, b'[') if object.nest == 0 && !object.in_list => {
                out.cursor.advance(1);
                object.in_list = true;
                ObjectAt::ListItem
            }
            (Role::Arguments, _) if object.arguments == ArgumentsState::Missing => {
                out.part(CallPart::Arguments, out.cursor.at);
                self.readers.value.restart(ValueKind::Arguments);
                self.call.early.clear();
                object.arguments = match object.has_name {
                    true => ArgumentsState::Open,
                    false => ArgumentsState::Early,
                };
                ObjectAt::Arguments
            }
            (Role::Arguments, _) => {
                out.diagnose(DiagnosticKind::SecondArguments, out.cursor.at, 0);
                self.readers.value.restart(ValueKind::Value);
                ObjectAt::Ignored
            }
            (Role::Answer, _) => {
                out.calls.commit();
                object.answered = true;
                if byte == b'"' {
                    out.cursor.advance(1);
                    ObjectAt::Answer
                } else {
                    self.readers.value.restart(ValueKind::Value);
                    ObjectAt::AnswerJson
                }
            }
            (Role::Name, _) if !object.has_name => return Some(self.bad(out)),
            _ => {
                self.readers.value.restart(ValueKind::Value);
                ObjectAt::Ignored
            }
        };
        None
    }

    /// Reads the arguments of a call object.
    pub(super) fn object_arguments(
        &mut self,
        dialect: &ValueDialect<'_>,
        out: &mut CallSink<'_>,
    ) -> Option<MachineStep> {
        let is_early = self.readers.object.arguments == ArgumentsState::Early;
        let rest = out.cursor.rest();
        // The limit must not depend on how the text is cut into chunks.
        let room = match is_early {
            true => {
                out.calls.options.limits.early_arguments.saturating_sub(self.readers.object.early)
            }
            false => rest.len(),
        };
        let room = (room..rest.len()).find(|&at| rest.is_char_boundary(at));
        let offered = &rest[..room.unwrap_or(rest.len())];
        let scanned = {
            let (early, started) = (&mut self.call.early, self.call.started);
            let mut write = |piece: &str| match started && !is_early {
                true => out.json(piece),
                false => early.push_str(piece),
            };
            self.readers.value.feed(dialect, offered, &mut write)
        };
        match scanned {
            Scanned::More { used } => {
                out.cursor.advance(used);
                self.readers.object.early = self.readers.object.early.saturating_add(used);
                if room.is_some() {
                    out.cursor.advance(offered.len().saturating_sub(used));
                    return Some(self.bad(out));
                }
                return Some(MachineStep::more(out.cursor.at));
            }
            Scanned::Noted { used, note } => {
                out.cursor.advance(used);
                self.readers.object.early = self.readers.object.early.saturating_add(used);
                if is_early && note == Note::Begun {
                    return None;
                }
                // The opening brace of the arguments makes the call certain.
                if let Some(step) = self.noted(note, out) {
                    return Some(step);
                }
            }
            Scanned::End { used } => {
                out.cursor.advance(used);
                out.part(CallPart::Rest, out.cursor.at);
                self.readers.object.arguments = match is_early {
                    true => ArgumentsState::Kept,
                    false => ArgumentsState::Closed,
                };
                self.readers.object.at = ObjectAt::Member;
            }
            Scanned::Bad { at, .. } => {
                out.cursor.advance(at);
                return Some(self.bad(out));
            }
        }
        None
    }

    /// Reads a value that is an answer or is ignored.
    pub(super) fn aside(
        &mut self,
        dialect: &ValueDialect<'_>,
        out: &mut CallSink<'_>,
    ) -> Option<MachineStep> {
        let shown = self.readers.object.at == ObjectAt::AnswerJson;
        let sink = &mut *out.sink;
        let mut write = |piece: &str| {
            if shown {
                sink.event(Event::Content(piece));
            }
        };
        match self.readers.value.feed(dialect, out.cursor.rest(), &mut write) {
            Scanned::More { used } => {
                out.cursor.advance(used);
                return Some(MachineStep::more(out.cursor.at));
            }
            Scanned::Noted { used, .. } => out.cursor.advance(used),
            Scanned::End { used } => {
                out.cursor.advance(used);
                self.readers.object.at = ObjectAt::Member;
            }
            Scanned::Bad { at, .. } => {
                out.cursor.advance(at);
                return Some(self.bad(out));
            }
        }
        None
    }
}
