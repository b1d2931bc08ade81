//! The end of the stream inside tagged parameters.

use jail_match::End;

use super::{ParameterSpec, Parameters, ParametersState};
use crate::{
    cursor::blanks,
    machine::{
        arguments::{
            Cut,
            tag::{TagTexts, longest},
            value::{Fed, ending::tail_ends_call},
        },
        call_sink::CallSink,
    },
    options::Repair,
};

impl Parameters {
    /// Handles the end of the stream; the text being fed is unread. Unless the arguments are
    /// incomplete, [`Self::close`] completes them.
    pub(crate) fn finish(&mut self, spec: &ParameterSpec, end: End, out: &mut CallSink<'_>) -> Cut {
        let tail = out.cursor.text;
        let repair = out.calls.options.repair;
        if matches!(self.state, ParametersState::Value(_))
            && self.value.report_fault(tail.len(), out)
        {
            return Cut::Malformed;
        }
        if let ParametersState::Value(node) = self.state
            && let Some(value) = spec.value(node).filter(|_| end == End::Stop && self.may_end())
            && !self.value.is_broken()
            && let Ok(Some((_, len))) = longest(tail, &spec.ends)
        {
            self.end_value(spec, value, Fed::Call, len, out);
            self.repaired = true;
            return if self.value.is_unmendable() { Cut::Malformed } else { Cut::Ended(len) };
        }
        let tail = &tail[blanks(tail)..];
        if end == End::Stop
            && let ParametersState::Value(node) = self.state
            && let Some(value) = spec.value(node).filter(|_| !self.header.lacks_tag())
            && !self.value.is_broken()
            && tail_ends_call(spec, tail, &out.calls.tools)
        {
            self.end_value(spec, value, Fed::Call, tail.len(), out);
            return if self.value.is_unmendable() { Cut::Malformed } else { Cut::Whole };
        }
        let begins =
            |tags: &[TagTexts]| tags.iter().flat_map(TagTexts::texts).any(|t| t.starts_with(tail));
        let begun = !tail.is_empty() && begins(spec.openers()) && !begins(&spec.ends);
        let between = self.state == ParametersState::Between && self.read;
        if end == End::Stop && between && !begun && !self.ends_in_end() {
            return Cut::Whole;
        }
        let open = matches!(self.state, ParametersState::Value(_)) && !self.value.may_be_repaired();
        if repair == Repair::Off || open {
            return Cut::Incomplete;
        }
        if matches!(self.state, ParametersState::Value(_)) && self.value.repair(out) {
            self.written = super::Written::Members;
        }
        Cut::Repaired
    }

    /// Returns whether an end tag inside the value, with text after it, may be the call's end.
    fn may_end(&self) -> bool {
        self.value.waits() && !self.header.lacks_tag()
    }
}
