//! The end of the stream inside a block of calls. With [`Repair::Close`] an open call is closed.
//!
//! ```text
//! <tool_call>{"name": "ring", "arguments": {"n": 1         incomplete, or closed with "}"
//! <tool_call>{"name": "ring", "arguments": {"n": 1}}       complete: only the end tag is missing
//! <tool_call>{"na                                          no call: a marked opener is markup
//! ```

use alloc::string::String;

use jail_match::{End, Feed, Refutation, Resume, Verdict};

use crate::{
    calls::BodyPlace,
    cursor::{TextCursor, Undecided, longest_prefix},
    event::{DiagnosticKind, Outcome},
    family::CommitOn,
    machine::{
        arguments::Cut,
        call::Machine,
        call_sink::CallSink,
        object::ArgumentsState,
        plan::{Arguments, Leaf, Missing, Plan, Prose},
        readers::ActiveReader,
        state::{List, MachineState},
    },
    options::Repair,
};

/// Returns the answer of a block that ended with the stream, after `used` bytes of the tail.
fn block_ended(used: usize) -> Feed {
    Verdict::Complete(Resume::SameChannel).after(used)
}

impl Machine {
    /// Handles the end of the stream; the text being fed is unread.
    pub(crate) fn finish(&mut self, end: End, out: &mut CallSink<'_>) -> Feed {
        let plan = out.plan;
        (out.calls.ended, out.calls.cut) = (true, end != End::Stop);
        let mut read = 0;
        if out.calls.is_open() && self.is_searching(plan) {
            let feed = self.feed(out);
            match feed.verdict {
                Verdict::Complete(_) => return block_ended(feed.used),
                Verdict::Undecided => read = feed.used,
                _ => {}
            }
            out.calls.at = out.stream_offset(read);
            out.cursor = TextCursor::new(&out.cursor.text[read..]);
        }
        let Feed { used, verdict } = self.finish_tail(end, out);
        verdict.after(used.saturating_add(read))
    }

    /// Returns whether held text is being searched for the end of a value.
    fn is_searching(&self, plan: &Plan) -> bool {
        self.state == MachineState::Arguments
            && self.readers.is_searching(&plan.leaf(self.place.leaf).arguments)
    }

    fn finish_tail(&mut self, end: End, out: &mut CallSink<'_>) -> Feed {
        let tail = out.cursor;
        self.finish_name(out);
        out.cursor = tail;
        if !out.calls.committed() {
            return self.finish_candidate(end, out).after(0);
        }
        let used = tail.text.len();
        if out.calls.is_open() {
            let outcome = self.cut(end, out);
            out.end(outcome);
            return block_ended(self.text_from.take().unwrap_or(used));
        }
        match self.state {
            MachineState::Broken => {
                out.diagnose(
                    DiagnosticKind::Skipped,
                    used,
                    self.recovery.dropped.saturating_add(used as u64),
                );
            }
            // All calls have ended, so the rest is text after them.
            MachineState::Between | MachineState::CallEnd(_) | MachineState::SectionEnd(_)
                if self.place.list == List::None =>
            {
                let torn = end != End::Stop && self.is_torn_tag(out);
                if torn {
                    out.diagnose(DiagnosticKind::CutOpener, used, used as u64);
                }
                return block_ended(if torn { used } else { 0 });
            }
            MachineState::Between | MachineState::CallEnd(_) | MachineState::SectionEnd(_) => {}
            // A further call was cut before it was certain.
            MachineState::Message
            | MachineState::Header
            | MachineState::Field
            | MachineState::Arguments
            | MachineState::SkippedText
            | MachineState::Empty => {
                let bytes = out.stream_offset(used).saturating_sub(self.call.item_at);
                if bytes > 0 {
                    out.diagnose(DiagnosticKind::Skipped, used, bytes);
                }
            }
        }
        block_ended(used)
    }

    /// Returns whether the unread text is the beginning of a tag that may follow the last call: an
    /// end tag, the next call or the next section.
    fn is_torn_tag(&self, out: &CallSink<'_>) -> bool {
        let tail = out.cursor.rest().trim_ascii_start();
        let plan = out.plan;
        let leaf = plan.leaves.get(usize::from(self.place.leaf));
        let own = leaf.into_iter().flat_map(|leaf| leaf.ends.tags.iter().flatten());
        let section = self.place.section.map(|id| plan.section(id));
        let of_section = section.into_iter().flat_map(|section| {
            let next = plan.node(section.calls).tags.iter().map(|tag| &tag.text);
            section.ends.tags.iter().flatten().chain(&section.opens).chain(next)
        });
        let tags = own.chain(of_section).map(|tag| &**tag);
        !tail.is_empty() && longest_prefix(tail, tags) == Err(Undecided)
    }

    /// Decides about a candidate at the end of the stream. A marked candidate is removed, but words
    /// after the opener of a section are text.
    fn finish_candidate(&self, end: End, out: &mut CallSink<'_>) -> Verdict {
        let section = self.place.section.map(|id| out.plan.section(id));
        let special = section.is_some_and(|section| section.prose != Prose::Refutes);
        let field = self.state == MachineState::Field && !self.header.field.trim().is_empty();
        let words = self.skipped.bytes > 0 || end == End::Stop && special && field;
        if words && out.calls.place != BodyPlace::Answer {
            return Verdict::RESCAN;
        }
        if words {
            let len = out.calls.no_call(self.tags_end, out.sink);
            return Verdict::Refuted(Refutation::Markup { len });
        }
        match self.commit(out.plan) {
            CommitOn::Marker => Verdict::Empty(Resume::SameChannel),
            CommitOn::DeclaredName | CommitOn::Foreign => Verdict::RESCAN,
        }
    }

    /// Returns the evidence that would make the text being read a call.
    fn commit(&self, plan: &Plan) -> CommitOn {
        match self.state {
            MachineState::Header | MachineState::Field => plan.node(self.place.node).commit,
            MachineState::Arguments => plan.leaf(self.place.leaf).commit,
            MachineState::SectionEnd(_) | MachineState::Between => {
                self.place.section.map_or(CommitOn::Marker, |section| plan.section(section).commit)
            }
            MachineState::Message if self.message.is_bare() => CommitOn::DeclaredName,
            MachineState::Message
            | MachineState::CallEnd(_)
            | MachineState::Broken
            | MachineState::SkippedText
            | MachineState::Empty => CommitOn::Marker,
        }
    }

    /// Ends the open call at the end of the stream, and returns its outcome.
    fn cut(&mut self, end: End, out: &mut CallSink<'_>) -> Outcome {
        let tail = out.cursor.text;
        let plan = out.plan;
        let leaf = plan.leaf(self.place.leaf);
        let closing = match &leaf.arguments {
            Arguments::Parameters(_) | Arguments::Elements(_) if self.skipped.bytes > 0 => {
                return self.cut_after_parameter(end, out);
            }
            Arguments::Parameters(spec) => {
                let cut = self.readers.parameters.finish(spec, end, out);
                return self.finish_parameters(leaf, cut, out);
            }
            Arguments::Elements(spec) => {
                let cut = self.readers.elements.finish(spec, end, out);
                return self.finish_parameters(leaf, cut, out);
            }
            Arguments::Raw { .. } => {
                let expected = !leaf.ends.tags.is_empty() && leaf.ends.missing == Missing::Reported;
                return match self.readers.active {
                    ActiveReader::Value => self.close_value(out),
                    _ => self.readers.raw.finish(end, expected, out),
                };
            }
            Arguments::Object(_) => match self.readers.object.arguments {
                ArgumentsState::Missing => Some(String::from("{}")),
                ArgumentsState::Open => self.readers.value.closing(tail),
                ArgumentsState::Closed => Some(String::new()),
                ArgumentsState::Early | ArgumentsState::Kept => None,
            },
            &(Arguments::Value(syntax) | Arguments::Keywords(syntax)) => {
                if end == End::Stop && self.finish_value(leaf, syntax, out) {
                    return self.readers.outcome(leaf);
                }
                return self.close_value(out);
            }
            Arguments::None => None,
        };
        closed(closing, out)
    }

    /// Closes tagged arguments at the end of the stream, and returns the outcome.
    fn finish_parameters(&mut self, leaf: &Leaf, cut: Cut, out: &mut CallSink<'_>) -> Outcome {
        match cut {
            Cut::Whole => {
                out.diagnose(DiagnosticKind::MissingCloser, out.cursor.text.len(), 0);
                self.readers.close_parameters(&leaf.arguments, out);
                Outcome::Repaired
            }
            Cut::Ended(at) => {
                out.diagnose(DiagnosticKind::MissingCloser, at, 0);
                self.readers.close_parameters(&leaf.arguments, out);
                self.text_from = Some(at);
                Outcome::Repaired
            }
            Cut::Repaired => {
                self.readers.close_parameters(&leaf.arguments, out);
                Outcome::Repaired
            }
            Cut::Incomplete => Outcome::Incomplete,
            Cut::Malformed => {
                out.calls.decides_at(out.cursor.text.len());
                Outcome::Malformed
            }
        }
    }

    fn close_value(&mut self, out: &mut CallSink<'_>) -> Outcome {
        closed(self.readers.value.closing(out.cursor.text), out)
    }
}

/// Emits the text that closes the open arguments, if [`Repair::Close`] is set and closing is
/// possible.
fn closed(closing: Option<String>, out: &mut CallSink<'_>) -> Outcome {
    match closing {
        Some(text) if out.calls.options.repair == Repair::Close => {
            out.json(&text);
            Outcome::Repaired
        }
        _ => Outcome::Incomplete,
    }
}
