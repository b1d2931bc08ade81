//! Reading of a call's arguments, with the reader for their kind. [`readers`](super::readers) lists
//! the kinds.

use jail_match::CallPart;

use super::{
    call::{Machine, MachineStep},
    call_sink::CallSink,
    plan::{Arguments, Leaf, Plan},
    readers::ActiveReader,
    state::MachineState,
};
use crate::{
    cursor::{Progress, TextCursor, Undecided, longest_prefix},
    event::DiagnosticKind,
    family::Types,
    options::Tolerance,
    template,
    tools::Tools,
    value::{Note, Scanned, Syntax, Typing, ValueDialect, ValueFault, ValueKind},
};

impl Machine {
    /// Prepares the reader of `arguments`.
    pub(super) fn begin_reader(&mut self, arguments: &Arguments) {
        self.readers.begin(arguments, &self.call.name);
        if self.readers.active == ActiveReader::Value {
            self.call.early.clear();
        }
    }

    /// Reads the arguments.
    pub(super) fn arguments(&mut self, out: &mut CallSink<'_>) -> MachineStep {
        let plan = out.plan;
        let leaf = plan.leaf(self.place.leaf);
        if self.header.after_brace {
            // The driver consumed the opening brace, so the reader is fed one here.
            if matches!(leaf.arguments, Arguments::Value(_)) && !out.calls.committed() {
                // Ordinary text may begin with a brace. Only an object continues with a key.
                match out.cursor.rest().trim_start().chars().next() {
                    None => return MachineStep::more(out.cursor.at),
                    Some('"' | '\'' | '}') => {}
                    Some(_) => return self.bad(out),
                }
            }
            self.header.after_brace = false;
            self.begin_reader(&leaf.arguments);
            if matches!(leaf.arguments, Arguments::Value(_))
                && let Err(step) = self.start(out)
            {
                return step;
            }
            let at = out.calls.at;
            out.calls.at = at.saturating_sub(1);
            if matches!(leaf.arguments, Arguments::Value(_)) {
                out.part(CallPart::Arguments, 0);
            }
            let text = core::mem::replace(&mut out.cursor, TextCursor::new("{"));
            let opened = self.feed_reader(leaf, out);
            out.cursor = text;
            out.calls.at = at;
            if let MachineStep::Return(_) = opened {
                return if out.cursor.rest().is_empty() {
                    MachineStep::more(out.cursor.at)
                } else {
                    MachineStep::Go
                };
            }
            return opened;
        }
        self.feed_reader(leaf, out)
    }

    /// Feeds the reader of the leaf's arguments.
    fn feed_reader(&mut self, leaf: &Leaf, out: &mut CallSink<'_>) -> MachineStep {
        let plan = out.plan;
        let progress = match &leaf.arguments {
            Arguments::None => Progress::Done,
            Arguments::Object(syntax) => {
                let dialect = dialect(plan, leaf, *syntax, out);
                return self.object(leaf, &dialect, out);
            }
            Arguments::Value(syntax) | Arguments::Keywords(syntax) => {
                return self.value(leaf, *syntax, out);
            }
            Arguments::Raw { .. } if self.readers.active == ActiveReader::Value => {
                return self.value(leaf, template::Dialect::Json, out);
            }
            Arguments::Raw { headers, .. }
                if self.readers.raw.is_header(headers, &out.cursor) == Some(true) =>
            {
                Progress::Bad
            }
            Arguments::Raw { headers, .. }
                if self.readers.raw.is_header(headers, &out.cursor).is_none() =>
            {
                return MachineStep::more(out.cursor.at);
            }
            Arguments::Raw { key, again, ends, .. } => {
                match self.readers.raw.is_object(key, again, out) {
                    None => return MachineStep::more(out.cursor.at),
                    Some(true) => {
                        self.readers.begin_value(ValueKind::Arguments);
                        self.call.early.clear();
                        return MachineStep::Go;
                    }
                    Some(false) => self.readers.raw.feed(ends.iter().map(|end| &**end), out),
                }
            }
            Arguments::Parameters(spec) => {
                let progress = match self.skipped.bytes > 0 {
                    true => Progress::Done,
                    false => self.readers.parameters.feed(spec, out),
                };
                if progress == Progress::Done {
                    return self.after_parameters(leaf, out);
                }
                progress
            }
            Arguments::Elements(spec) => {
                let progress = match self.skipped.bytes > 0 {
                    true => Progress::Done,
                    false => self.readers.elements.feed(spec, out),
                };
                if progress == Progress::Done {
                    return self.after_parameters(leaf, out);
                }
                progress
            }
        };
        match progress {
            Progress::More => MachineStep::more(out.cursor.at),
            Progress::Done => {
                out.part(CallPart::Rest, out.cursor.at);
                self.complete(out);
                MachineStep::Go
            }
            Progress::Bad => {
                let step = self.bad(out);
                // The reader consumed a tag up to the faulty character. These bytes are skipped
                // too.
                if self.state == MachineState::Broken {
                    let faulty = self.readers.faulty_tag_len(&leaf.arguments);
                    self.recovery.dropped = self.recovery.dropped.saturating_add(faulty);
                }
                step
            }
        }
    }

    /// Reads a single value with all arguments.
    fn value(
        &mut self,
        leaf: &Leaf,
        syntax: template::Dialect,
        out: &mut CallSink<'_>,
    ) -> MachineStep {
        let plan = out.plan;
        if self.call.started && self.readers.value.is_at_start() {
            // The end tag is in place of the arguments: the call has none.
            let messages = plan.messages.iter().flat_map(|messages| &messages.ends);
            let ends = leaf.ends.tags.iter().flatten().chain(messages).map(|end| &**end);
            out.cursor.skip_blanks();
            match longest_prefix(out.cursor.rest(), ends) {
                Err(Undecided) => return MachineStep::more(out.cursor.at),
                Ok(None) => {}
                Ok(Some(_)) => {
                    out.arguments("{}");
                    self.complete(out);
                    return MachineStep::Go;
                }
            }
        }
        out.calls.count_known(self.readers.value.known());
        loop {
            let scanned = {
                let dialect = dialect(plan, leaf, syntax, out);
                let rest = out.cursor.rest();
                let CallSink { calls, sink, .. } = &mut *out;
                let (tools, mut json) = calls.json_output();
                let typing = typing(plan, leaf, &self.call.name, tools);
                let dialect = ValueDialect { tools: Some(tools), typing, ..dialect };
                let early = &mut self.call.early;
                let started = self.call.started;
                let mut write = |piece: &str| {
                    if started { json.put(piece, *sink) } else { early.push_str(piece) }
                };
                self.readers.value.feed(&dialect, rest, &mut write)
            };
            match scanned {
                Scanned::More { used } => {
                    out.cursor.advance(used);
                    return MachineStep::more(out.cursor.at);
                }
                Scanned::Noted { used, note } => {
                    out.cursor.advance(used);
                    if let Some(step) = self.noted(note, out) {
                        return step;
                    }
                }
                Scanned::End { used } => {
                    out.cursor.advance(used);
                    if let Some(step) = self.noted(Note::Begun, out) {
                        return step;
                    }
                    out.part(CallPart::Rest, out.cursor.at);
                    self.complete(out);
                    return MachineStep::Go;
                }
                Scanned::Bad { at, fault } => {
                    out.cursor.advance(at);
                    if fault == ValueFault::Inexpressible && out.calls.committed() {
                        out.diagnose(DiagnosticKind::Inexpressible, out.cursor.at, 0);
                    }
                    return self.bad(out);
                }
            }
        }
    }

    /// Handles the end of the stream inside a value. The text being fed is unread. Completes the value
    /// if only text after it could have shown that it was complete, and returns whether it did.
    pub(super) fn finish_value(
        &mut self,
        leaf: &Leaf,
        syntax: template::Dialect,
        out: &mut CallSink<'_>,
    ) -> bool {
        let tail = out.cursor.text;
        let plan = out.plan;
        let dialect = dialect(plan, leaf, syntax, out);
        let CallSink { calls, sink, .. } = &mut *out;
        let (tools, mut json) = calls.json_output();
        let typing = typing(plan, leaf, &self.call.name, tools);
        let dialect = ValueDialect { typing, ..dialect };
        let mut write = |piece: &str| json.put(piece, *sink);
        let used = self.readers.value.finish(&dialect, tail, &mut write);
        if let Some(used) = used {
            let ends =
                dialect.ends.iter().filter_map(|end| tail[used..].strip_prefix(end.as_str()));
            let text =
                ends.min_by_key(|rest| rest.len()).filter(|rest| !rest.trim_ascii().is_empty());
            self.text_from = text.map(|text| tail.len().saturating_sub(text.len()));
            // Without the call's end, only text after the last bracket is missing.
            if used < tail.len() {
                self.readers.repair();
            }
            out.diagnose(DiagnosticKind::MissingCloser, used, 0);
        }
        used.is_some()
    }

    /// Handles a note of the value's reader.
    pub(super) fn noted(&mut self, note: Note, out: &mut CallSink<'_>) -> Option<MachineStep> {
        match note {
            Note::Begun if !self.call.started => {
                if let Err(step) = self.start(out) {
                    return Some(step);
                }
                let early = core::mem::take(&mut self.call.early);
                out.json(&early);
                self.call.early = early;
                self.call.early.clear();
            }
            Note::Begun => {}
            Note::Mistyped => out.diagnose(DiagnosticKind::Mistyped, out.cursor.at, 0),
            Note::MissingEnd => {
                out.diagnose(DiagnosticKind::MissingCloser, out.cursor.at, 0);
                self.readers.repair();
            }
            Note::Searched(bytes) => {
                out.calls.count_search(bytes);
            }
            Note::Tolerated(_) => {
                out.diagnose(DiagnosticKind::Tolerated, out.cursor.at, 0);
                self.readers.repair();
            }
        }
        None
    }
}

/// Returns the dialect of a leaf's values.
pub(super) fn dialect<'p>(
    plan: &'p Plan,
    leaf: &'p Leaf,
    syntax: template::Dialect,
    out: &CallSink<'_>,
) -> ValueDialect<'p> {
    let form = plan.form_of(leaf);
    let syntax = match syntax {
        template::Dialect::Json => match out.calls.options.tolerance {
            Tolerance::Lenient => Syntax::Lenient,
            _ => Syntax::Json,
        },
        template::Dialect::Python => Syntax::Python,
        template::Dialect::Literal => Syntax::Literal,
    };
    ValueDialect {
        syntax,
        quotes: &form.quote,
        ends: &form.value_ends,
        follows: &plan.follows,
        openers: plan.follows.get(..plan.opener_points).unwrap_or_default(),
        tools: None,
        typing: None,
        limits: out.calls.options.limits,
        may_search: out.calls.may_search(0),
        ended: out.calls.ended,
        cut: out.calls.cut,
    }
}

/// Returns the schema that gives the leaf's values their types, if the wire does not.
fn typing<'t>(plan: &Plan, leaf: &Leaf, name: &str, tools: &'t Tools) -> Option<Typing<'t>> {
    let form = plan.form_of(leaf);
    // A form's own quote may enclose values of every type.
    let quoted = form.types == Types::Schema;
    let by_schema = !form.quote.is_empty()
        && matches!(
            leaf.arguments,
            Arguments::Value(template::Dialect::Literal)
                | Arguments::Keywords(template::Dialect::Literal)
        );
    by_schema.then(|| Typing { parameters: tools.get(name).map(|tool| &tool.parameters), quoted })
}
