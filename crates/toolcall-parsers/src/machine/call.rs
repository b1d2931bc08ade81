//! The call machine and its main loop.

use jail_match::{Feed, Resume, Verdict};

use super::{
    call_sink::CallSink,
    message_header::MessageHeader,
    plan::{Arguments, LeafId, NodeId, Opener, Plan, Prose, SectionId, Start},
    readers::ArgumentReaders,
    state::{
        CallHeader, CurrentCall, List, MachineState, PlanPlace, Readings, Recovery, SkippedText,
    },
};
use crate::{
    calls::Calls, decoded::Decoder, event::DiagnosticKind, family::CommitOn, options::Wanted,
};

/// The result of a step, for the machine's loop.
pub(super) enum MachineStep {
    Go,
    Return(Feed),
}

impl MachineStep {
    /// Returns the step that waits for more text. Text after `used` is offered again.
    pub(super) fn more(used: usize) -> Self {
        Self::Return(Verdict::Undecided.after(used))
    }

    /// Returns the step that ends the block.
    pub(super) fn done(used: usize) -> Self {
        Self::Return(Verdict::Complete(Resume::SameChannel).after(used))
    }

    /// Returns the step after text that is not a call. The last of the `used` bytes decided it.
    pub(super) fn refuted(used: usize) -> Self {
        Self::Return(Verdict::RESCAN.after(used))
    }
}

/// The call machine. Its buffers are reused from call to call, so that a call allocates little.
#[derive(Debug, Clone)]
pub(crate) struct Machine {
    pub(super) state: MachineState,
    pub(super) place: PlanPlace,
    pub(super) readings: Readings,
    pub(super) header: CallHeader,
    pub(super) call: CurrentCall,
    pub(super) readers: ArgumentReaders,
    pub(super) message: MessageHeader,
    pub(super) recovery: Recovery,
    pub(super) skipped: SkippedText,
    /// Index of the text after a call, if the stream ended with text after that call.
    pub(super) text_from: Option<usize>,
    /// Stream offset after the section's tags, before its first call.
    pub(super) tags_end: u64,
}

impl Machine {
    pub(crate) fn new() -> Self {
        Self {
            state: MachineState::Header,
            place: PlanPlace::default(),
            readings: Readings::default(),
            header: CallHeader::default(),
            call: CurrentCall::default(),
            readers: ArgumentReaders::new(),
            message: MessageHeader::new(),
            recovery: Recovery::default(),
            skipped: SkippedText::default(),
            text_from: None,
            tags_end: 0,
        }
    }

    /// Starts reading after `opener`. `attempt` is the number of readings of this text
    /// that failed before.
    pub(crate) fn begin(&mut self, plan: &Plan, opener: &Opener, attempt: usize) {
        (self.readings.attempt, self.readings.choices, self.place.calls_seen) = (attempt, 0, 0);
        (self.place.section, self.place.list, self.header.in_call) = (None, List::None, false);
        self.call.name.clear();
        self.call.id.clear();
        self.call.early.clear();
        (self.recovery.dropped, self.call.started, self.header.after_brace) = (0, false, false);
        (self.header.spaced, self.recovery.fault) = (false, None);
        self.recovery.skipped_call = None;
        (self.call.item_at, self.skipped.bytes, self.tags_end) = (0, 0, 0);
        self.readers.object.begin();
        if attempt == 0 {
            self.message.is_text = false;
        }
        match opener.start {
            Start::Node(node) => self.go(plan, node),
            Start::List(section) => {
                self.enter(plan, section, List::Section);
            }
            Start::Letter(node) => {
                self.go(plan, node);
                self.begin_field(plan);
                self.header.field.push_str(&opener.marker);
            }
            Start::Object(node) => {
                self.go(plan, node);
                let object = |&&leaf: &&LeafId| {
                    matches!(plan.leaf(leaf).arguments, Arguments::Object(_) | Arguments::Value(_))
                };
                let leaves = &plan.node(node).leaves;
                self.readings.choices = leaves.iter().filter(object).count();
                if let Some(&leaf) = leaves.iter().filter(object).nth(attempt) {
                    self.place.leaf = leaf;
                    self.state = MachineState::Arguments;
                    self.header.after_brace = true;
                }
            }
            Start::Header(entry) => {
                self.state = MachineState::Message;
                if let Some(messages) = &plan.messages {
                    self.message.begin_at(messages, entry);
                }
            }
            Start::RepeatedBlock => {}
        }
    }

    /// Ends the body and drops what is held.
    pub(crate) fn end(&mut self) {
        self.state = MachineState::Header;
        self.call.early.clear();
    }

    /// Returns whether another reading of the same text is possible.
    pub(crate) fn has_other_readings(&self) -> bool {
        self.readings.attempt.saturating_add(1) < self.readings.choices
            || self.message.may_become_text()
    }

    /// Switches to the next reading.
    pub(crate) fn take_other_reading(&mut self) {
        if self.readings.attempt.saturating_add(1) >= self.readings.choices {
            self.message.is_text = true;
        }
    }

    /// Returns whether the block ended with an end tag.
    pub(crate) fn has_end(&self) -> bool {
        matches!(self.state, MachineState::SectionEnd(1..) | MachineState::CallEnd(1..))
    }

    /// Returns the offset where the section's tags end, if the block held no call but its opener is
    /// still markup.
    pub(crate) fn prose_from(&self, plan: &Plan) -> Option<u64> {
        let section = self.place.section.map(|id| plan.section(id));
        let follows = section.is_some_and(|section| section.prose == Prose::Follows);
        let at_head = matches!(self.state, MachineState::Header | MachineState::Field);
        let prose = follows && at_head && !self.header.in_call && self.place.list == List::None;
        (prose || self.skipped.bytes > 0).then_some(self.tags_end)
    }

    /// Returns whether the name of a call was read, whose arguments are text between tags.
    pub(crate) fn is_between_tags(&self, plan: &Plan) -> bool {
        let tagged = |leaf: &LeafId| {
            let arguments = &plan.leaf(*leaf).arguments;
            matches!(
                arguments,
                Arguments::Raw { .. } | Arguments::Parameters(_) | Arguments::Elements(_)
            )
        };
        let named = |leaf: &LeafId| !self.call.name.is_empty() || plan.leaf(*leaf).name.is_some();
        let mut leaves = plan.node(self.place.node).leaves.iter();
        match self.state {
            MachineState::Arguments => tagged(&self.place.leaf),
            MachineState::Header => leaves.any(|leaf| named(leaf) && tagged(leaf)),
            _ => false,
        }
    }

    /// Continues at `node` of the header.
    pub(super) fn go(&mut self, plan: &Plan, node: NodeId) {
        self.place.node = node;
        self.state = MachineState::Header;
        if let Some(&section) = plan.node(node).sections.first() {
            self.place.section = Some(section);
        }
    }

    /// Continues before the calls of `section`.
    pub(super) fn enter(&mut self, plan: &Plan, section: SectionId, list: List) {
        (self.place.section, self.place.list) = (Some(section), list);
        self.place.node = plan.section(section).calls;
        self.state = MachineState::Header;
    }

    /// Reads `text`, until it is used up or the block ends.
    pub(crate) fn feed(&mut self, out: &mut CallSink<'_>) -> Feed {
        loop {
            let step = match self.state {
                MachineState::Arguments => self.arguments(out),
                MachineState::Header => self.header(out),
                MachineState::Field => self.field(out),
                MachineState::CallEnd(n) => self.call_end(n, out),
                MachineState::Between => self.between(out),
                MachineState::SectionEnd(n) => self.section_end(n, out),
                MachineState::Empty => self.empty(out),
                MachineState::SkippedText => self.skip_to_first_call(out),
                MachineState::Broken => self.resync(out),
                MachineState::Message => self.message(out),
            };
            if let MachineStep::Return(feed) = step {
                return feed;
            }
        }
    }

    /// Returns whether all of `text` is the inside of a string of the open call, and can be emitted
    /// unchanged.
    #[inline]
    pub(crate) fn passes(&mut self, plan: &Plan, text: &str, calls: &Calls) -> bool {
        if !self.call.started || self.state != MachineState::Arguments {
            return false;
        }
        let unseen = calls.decoder().is_none_or(Decoder::passes);
        self.readers.passes(&plan.leaf(self.place.leaf).arguments, text, unseen)
    }

    /// Returns the same as [`Machine::passes`] if the text before passed, and nothing was read since.
    #[inline]
    pub(crate) fn passes_string(&mut self, plan: &Plan, text: &str) -> bool {
        self.readers.passes(&plan.leaf(self.place.leaf).arguments, text, true)
    }

    /// Emits the start of the call whose header was read. Fails if the header proves to be text.
    pub(super) fn start(&mut self, out: &mut CallSink<'_>) -> Result<(), MachineStep> {
        let plan = out.plan;
        self.halve_name(out);
        let leaf = plan.leaf(self.place.leaf);
        let name = leaf.name.as_deref().unwrap_or(&self.call.name);
        let form = plan.form_of(leaf);
        let none = form.no_call.iter().any(|none| none == name);
        let is_foreign = leaf.commit == CommitOn::Foreign;
        if is_foreign && out.calls.tools.get(name).is_none() {
            return Err(self.bad(out));
        }
        if out.must_be_declared(leaf.commit)
            && !Self::is_known(name, out)
            && !matches!(out.calls.options.wanted, Wanted::Only(_))
            && !none
        {
            return Err(self.bad(out));
        }
        out.calls.announced |= leaf.commit == CommitOn::Marker;
        if none {
            out.mute(DiagnosticKind::PseudoCall, out.cursor.at);
        } else {
            out.start(name, Some(&self.call.id), out.cursor.at);
            if is_foreign {
                out.diagnose(DiagnosticKind::ForeignCall, out.cursor.at, 0);
            }
            if !matches!(leaf.arguments, Arguments::Parameters(_) | Arguments::Elements(_)) {
                out.calls.decode_strings(name, out.cursor.at);
            }
        }
        if self.skipped.bytes > 0 {
            out.diagnose(DiagnosticKind::Noise, out.cursor.at, self.skipped.bytes);
            self.skipped.bytes = 0;
        }
        self.place.calls_seen = self.place.calls_seen.saturating_add(1);
        self.call.started = true;
        self.call.id.clear();
        Ok(())
    }

    /// Returns whether `name` is declared. Without declared tools, every name is, except in
    /// families with message headers.
    fn is_known(name: &str, out: &CallSink<'_>) -> bool {
        match out.plan.messages {
            Some(_) => out.calls.tools.get(name).is_some(),
            None => out.calls.tools.admits(name),
        }
    }

    /// Halves a doubled name, `ring.ring`, which results if header and body both contain it.
    fn halve_name(&mut self, out: &CallSink<'_>) {
        let half = self.call.name.len() / 2;
        let twice = out.plan.messages.is_some()
            && self.call.name.is_char_boundary(half)
            && self.call.name[half..].strip_prefix('.') == Some(&self.call.name[..half]);
        if twice && out.calls.tools.get(&self.call.name).is_none() {
            self.call.name.truncate(half);
        }
    }

    /// Completes the open call.
    pub(super) fn complete(&mut self, out: &mut CallSink<'_>) {
        out.end(self.readers.outcome(out.plan.leaf(self.place.leaf)));
        self.call.started = false;
        self.state = MachineState::CallEnd(0);
    }

    /// Returns the step after a call and its end tags.
    pub(super) fn after_call(&mut self, used: usize) -> MachineStep {
        if self.place.section.is_none() && self.place.list == List::None {
            return MachineStep::done(used);
        }
        self.state = MachineState::Between;
        MachineStep::Go
    }
}
