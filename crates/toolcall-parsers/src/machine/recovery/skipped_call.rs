//! The rest of a malformed call with tagged parameters: it is read silently, up to the call's end.
//!
//! ```text
//! <parameter=o>{"k": 7 "z"}</parameter>     the fault: the call is malformed
//! <parameter=s>                             still a parameter of the call
//! see <tool_call><function=g>…</function>   data of that parameter
//! </parameter>
//! </function>                               the end: the next call may begin
//! ```
//!
//! In text between the parameters no value shows what is quoted. There, the head of a call opens a
//! quoted call, and its end tag closes that one.

use crate::{
    cursor::{Progress, Undecided},
    event::DiagnosticKind,
    machine::{
        arguments::{parameters::ParameterSpec, tag::longest, value::ending::begins_head},
        call::{Machine, MachineStep},
        call_sink::CallSink,
        plan::{Arguments, Leaf, Plan},
        recovery::after_parameters::Follows,
        state::MachineState,
    },
};

/// The position in the rest of a malformed call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::machine) struct SkippedCall {
    /// Whether a parameter, or the call's header, is directly before the cursor. Then the head of a
    /// call ends this one.
    pub(in crate::machine) after_parameter: bool,
    /// Whether a quoted call is open.
    pub(in crate::machine) quoted: bool,
    /// Whether the end tag of a quoted call is directly before the cursor.
    pub(in crate::machine) quote_ended: bool,
}

/// The text between two parameters of a malformed call.
enum SkipStep {
    More,
    /// The end tag of the call.
    End,
    /// The head of the next call.
    Next,
    Go,
}

impl Machine {
    /// Returns the position at a fault in tagged parameters.
    pub(super) fn begin_skipped_call(&mut self, plan: &Plan) -> Option<SkippedCall> {
        let tagged = matches!(plan.leaf(self.place.leaf).arguments, Arguments::Parameters(_));
        if self.state != MachineState::Arguments || !tagged {
            return None;
        }
        let after_parameter = self.readers.parameters.is_between() && !self.skipped.after_text;
        self.readers.parameters.abandon();
        Some(SkippedCall { after_parameter, quoted: false, quote_ended: false })
    }

    /// Reads the rest of a malformed call.
    pub(super) fn skip_call(
        &mut self,
        (leaf, spec): (&Leaf, &ParameterSpec),
        out: &mut CallSink<'_>,
    ) -> MachineStep {
        let from = out.cursor.at;
        let ended = loop {
            match self.skip_part((leaf, spec), out) {
                SkipStep::Go => {}
                SkipStep::More => break None,
                SkipStep::End => break Some(MachineState::CallEnd(0)),
                SkipStep::Next => break Some(MachineState::Between),
            }
        };
        let read = out.cursor.at.saturating_sub(from) as u64;
        self.recovery.dropped = self.recovery.dropped.saturating_add(read);
        let Some(next) = ended else { return MachineStep::more(out.cursor.at) };
        out.diagnose(DiagnosticKind::Skipped, out.cursor.at, self.recovery.dropped);
        (self.recovery.dropped, self.recovery.skipped_call) = (0, None);
        if next == MachineState::Between {
            return self.after_call(out.cursor.at);
        }
        self.state = next;
        MachineStep::Go
    }

    /// Reads a parameter, or text before the next one.
    fn skip_part(
        &mut self,
        (leaf, spec): (&Leaf, &ParameterSpec),
        out: &mut CallSink<'_>,
    ) -> SkipStep {
        let Some(mut skipped) = self.recovery.skipped_call else { return SkipStep::End };
        let was_between = self.readers.parameters.is_between();
        if was_between {
            out.cursor.skip_blanks();
        }
        let at = out.cursor.at;
        if !skipped.quoted {
            out.calls.quiet = true;
            let progress = self.readers.parameters.feed(spec, out);
            out.calls.quiet = false;
            if out.cursor.at > at {
                (skipped.after_parameter, skipped.quote_ended) = (true, false);
            }
            if progress == Progress::Bad {
                self.readers.parameters.abandon();
                skipped.after_parameter = false;
            }
            self.recovery.skipped_call = Some(skipped);
            match progress {
                Progress::More => return SkipStep::More,
                // A parameter may begin where another one broke.
                Progress::Bad if !was_between || out.cursor.at > at => return SkipStep::Go,
                Progress::Bad | Progress::Done => {}
            }
        }
        if out.cursor.rest().is_empty() {
            return SkipStep::More;
        }
        let step = self.skip_text((leaf, spec), &mut skipped, out);
        self.recovery.skipped_call = Some(skipped);
        step
    }

    /// Reads the tag or the text at the cursor, which is not a parameter.
    fn skip_text(
        &self,
        (leaf, spec): (&Leaf, &ParameterSpec),
        skipped: &mut SkippedCall,
        out: &mut CallSink<'_>,
    ) -> SkipStep {
        let (plan, rest) = (out.plan, out.cursor.rest());
        let head = begins_head(spec, rest, &out.calls.tools);
        match (head, self.follows(leaf, rest, out)) {
            (Err(Undecided), _) | (_, Err(Undecided)) => return SkipStep::More,
            (Ok(true), _) if skipped.after_parameter && !skipped.quoted => return SkipStep::Next,
            (Ok(true), _) => (skipped.quoted, skipped.quote_ended) = (true, false),
            (_, Ok(Follows::End(_) | Follows::LaterEnd(_)))
                if skipped.quoted || skipped.quote_ended =>
            {
                (skipped.quoted, skipped.quote_ended) = (false, true);
                let Ok(Some((_, len))) = longest(rest, &spec.ends) else { return SkipStep::End };
                out.cursor.advance(len);
                return SkipStep::Go;
            }
            (_, Ok(Follows::End(_) | Follows::LaterEnd(_))) => return SkipStep::End,
            (_, Ok(Follows::ValueEnd(len))) => {
                out.cursor.advance(len);
                return SkipStep::Go;
            }
            _ => skipped.quote_ended = false,
        }
        skipped.after_parameter = false;
        let begins = leaf.arguments.tag_bytes();
        let recovery = plan.recovery_texts.first();
        out.cursor.skip_char();
        let hit = |byte| begins.has(byte) || recovery.has(byte);
        let hit = out.cursor.rest().bytes().position(hit);
        out.cursor.advance(hit.unwrap_or(out.cursor.rest().len()));
        SkipStep::Go
    }
}
