//! The state of the call machine, and its main loop.

use alloc::string::String;

use jail_match::{Feed, Resume};

use super::{
    arguments::{attributes::HeaderReader, elements::Elements, parameters::Parameters},
    call_sink::CallSink,
    message_header::MessageHeader,
    object::ObjectReader,
    plan::{Arguments, LeafId, NodeId, Plan, Prose, SectionId, Start},
    raw::Raw,
    siblings::Siblings,
};
use crate::{
    calls::Calls,
    decoded::Decoder,
    event::{DiagnosticKind, Outcome},
    family::CommitOn,
    options::Wanted,
    value::{ValueKind, ValueReader},
};

/// The position of the machine in a block of calls. [The module](super) shows an example.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MachineState {
    /// In the header of a message.
    Message,
    /// In the header of a call, between two of its parts.
    Header,
    /// In a field of a call's header, such as the name.
    Field,
    /// Inside the arguments.
    Arguments,
    /// After the arguments. The end tag with this number may follow.
    CallEnd(u8),
    /// After a call of a section or list.
    Between,
    /// After the calls of a section. The end tag with this number may follow.
    SectionEnd(u8),
    /// After a list without calls: an end tag must follow.
    Empty,
    /// In text between the opener of a section and its first call.
    SkippedText,
    /// After a fault, in text that is skipped up to a recovery point.
    Broken,
}

/// The reader of the arguments, if it may hold some of their text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ActiveReader {
    None,
    Value,
    Object,
    Parameters,
    Elements,
}

/// The result of a step, for the machine's loop.
pub(super) enum MachineStep {
    Go,
    Return(Feed),
}

impl MachineStep {
    /// Returns the step that waits for more text. Text after `used` is offered again.
    pub(super) fn more(used: usize) -> Self {
        Self::Return(Feed::More { used })
    }

    /// Returns the step that ends the block.
    pub(super) fn done(used: usize) -> Self {
        Self::Return(Feed::Done { used, then: Resume::SameChannel })
    }
}

/// The list that contains the calls being read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum List {
    None,
    /// The list of a section: `<calls>[…]</calls>`.
    Section,
    /// A list in place of one call: `<call>[{…}, {…}]</call>`.
    Call,
}

/// The call machine. Its buffers are reused from call to call, so that a call allocates little.
#[derive(Debug, Clone)]
pub(crate) struct Machine {
    pub(super) state: MachineState,
    pub(super) node: NodeId,
    pub(super) leaf: LeafId,
    pub(super) section: Option<SectionId>,
    pub(super) list: List,
    /// Number of calls of the block so far, including entries that are not real calls.
    pub(super) calls_seen: u32,
    /// The number of the reading of the text that is being tried.
    pub(super) attempt: usize,
    /// The number of possible readings of the text.
    pub(super) choices: usize,
    /// Whether the tag of a call was read, not only that of a section.
    pub(super) in_call: bool,
    pub(super) field: String,
    pub(super) quote: Option<char>,
    pub(super) name: String,
    pub(super) id: String,
    pub(super) attributes: HeaderReader,
    /// The reader of the arguments.
    pub(super) reader: ActiveReader,
    /// Whether the opener was the brace that begins the arguments, so that it must be fed first.
    pub(super) after_brace: bool,
    /// Whether blanks precede the next part of the header.
    pub(super) spaced: bool,
    /// Whether the start of the current call was emitted.
    pub(super) started: bool,
    /// Arguments that were read before the call was certain.
    pub(super) early: String,
    pub(super) value: ValueReader,
    pub(super) object: ObjectReader,
    pub(super) raw: Raw,
    pub(super) parameters: Parameters,
    pub(super) elements: Elements,
    pub(super) message: MessageHeader,
    /// Stream offset of the current call's first byte.
    pub(super) item_at: u64,
    /// Number of bytes skipped since the last fault.
    pub(super) dropped: u64,
    /// The position after a fault in a list, while the list's next object is searched for.
    pub(super) siblings: Option<Siblings>,
    /// Index of the text after a call, if the stream ended with text after that call.
    pub(super) text_from: Option<usize>,
    /// Number of skipped bytes that are not whitespace. The text was between a section's opener and
    /// its first call, or after a parameter.
    pub(super) skipped_bytes: u64,
    /// The start of the text that was skipped after a parameter.
    pub(super) text: String,
    /// Stream offset after the section's tags, before its first call.
    pub(super) tags_end: u64,
}

impl Machine {
    pub(crate) fn new() -> Self {
        Self {
            state: MachineState::Header,
            node: 0,
            leaf: 0,
            section: None,
            list: List::None,
            calls_seen: 0,
            attempt: 0,
            choices: 0,
            in_call: false,
            field: String::new(),
            quote: None,
            name: String::new(),
            id: String::new(),
            attributes: HeaderReader::default(),
            reader: ActiveReader::None,
            after_brace: false,
            spaced: false,
            started: false,
            early: String::new(),
            value: ValueReader::new(ValueKind::Arguments),
            object: ObjectReader::new(),
            raw: Raw::new(),
            parameters: Parameters::default(),
            elements: Elements::default(),
            message: MessageHeader::new(),
            item_at: 0,
            dropped: 0,
            siblings: None,
            text_from: None,
            skipped_bytes: 0,
            text: String::new(),
            tags_end: 0,
        }
    }

    /// Starts reading after the opener `marker`. `attempt` is the number of readings of this text
    /// that failed before.
    pub(crate) fn begin(&mut self, plan: &Plan, start: Start, marker: &str, attempt: usize) {
        (self.attempt, self.choices, self.calls_seen) = (attempt, 0, 0);
        (self.section, self.list, self.in_call) = (None, List::None, false);
        self.name.clear();
        self.id.clear();
        self.early.clear();
        (self.dropped, self.started, self.after_brace) = (0, false, false);
        (self.spaced, self.siblings) = (false, None);
        (self.item_at, self.skipped_bytes, self.tags_end) = (0, 0, 0);
        self.object.begin();
        if attempt == 0 {
            self.message.is_text = false;
        }
        match start {
            Start::Node(node) => self.go(plan, node),
            Start::List(section) => {
                self.enter(plan, section, List::Section);
            }
            Start::Letter(node) => {
                self.go(plan, node);
                self.begin_field(plan);
                self.field.push_str(marker);
            }
            Start::Object(node) => {
                self.go(plan, node);
                let object = |&&leaf: &&LeafId| {
                    matches!(plan.leaf(leaf).arguments, Arguments::Object(_) | Arguments::Value(_))
                };
                let leaves = &plan.node(node).leaves;
                self.choices = leaves.iter().filter(object).count();
                if let Some(&leaf) = leaves.iter().filter(object).nth(attempt) {
                    self.leaf = leaf;
                    self.state = MachineState::Arguments;
                    self.after_brace = true;
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
        self.early.clear();
    }

    /// Returns whether another reading of the same text is possible.
    pub(crate) fn has_other_readings(&self) -> bool {
        self.attempt.saturating_add(1) < self.choices || self.message.may_become_text()
    }

    /// Switches to the next reading.
    pub(crate) fn take_other_reading(&mut self) {
        if self.attempt.saturating_add(1) >= self.choices {
            self.message.is_text = true;
        }
    }

    /// Returns whether the block ended with an end tag.
    pub(crate) fn has_end(&self) -> bool {
        matches!(self.state, MachineState::SectionEnd(1..) | MachineState::CallEnd(1..))
    }

    /// Returns the offset where the section's tags end, if the block held no call but its opener is
    /// still markup.
    pub(crate) fn prose_from(&self, plan: &Plan, refuted_by: char) -> Option<u64> {
        let section = self.section.map(|id| plan.section(id));
        let follows = section.is_some_and(|section| section.prose == Prose::Follows);
        // Text that begins like a payload is an attempt at a call, and is released as one.
        let at_head = match self.state {
            MachineState::Header => !matches!(refuted_by, '{' | '['),
            state => state == MachineState::Field,
        };
        let prose = follows && at_head && !self.in_call && self.list == List::None;
        (prose || self.skipped_bytes > 0).then_some(self.tags_end)
    }

    /// Continues at `node` of the header.
    pub(super) fn go(&mut self, plan: &Plan, node: NodeId) {
        self.node = node;
        self.state = MachineState::Header;
        if let Some(&section) = plan.node(node).sections.first() {
            self.section = Some(section);
        }
    }

    /// Continues before the calls of `section`.
    pub(super) fn enter(&mut self, plan: &Plan, section: SectionId, list: List) {
        (self.section, self.list) = (Some(section), list);
        self.node = plan.section(section).calls;
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
        if !self.started || self.state != MachineState::Arguments {
            return false;
        }
        let unseen = calls.decoder().is_none_or(Decoder::passes);
        match &plan.leaf(self.leaf).arguments {
            Arguments::Value(_) | Arguments::Keywords(_) => unseen && self.value.passes(text),
            Arguments::Object(_) => unseen && self.object.streams() && self.value.passes(text),
            Arguments::Parameters(spec) => self.parameters.passes(spec, text),
            _ => false,
        }
    }

    /// Emits the start of the call whose header was read. Fails if the header proves to be text.
    pub(super) fn start(&mut self, out: &mut CallSink<'_>) -> Result<(), MachineStep> {
        let plan = out.plan;
        self.halve_name(out);
        let leaf = plan.leaf(self.leaf);
        let name = leaf.name.as_deref().unwrap_or(&self.name);
        let form = plan.form_of(leaf);
        let none = form.no_call.iter().any(|none| none == name);
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
            out.start(name, Some(&self.id), out.cursor.at);
            if !matches!(leaf.arguments, Arguments::Parameters(_) | Arguments::Elements(_)) {
                out.calls.decode_strings(name, out.cursor.at);
            }
        }
        if self.skipped_bytes > 0 {
            out.diagnose(DiagnosticKind::Noise, out.cursor.at, self.skipped_bytes);
            self.skipped_bytes = 0;
        }
        self.calls_seen = self.calls_seen.saturating_add(1);
        self.started = true;
        self.id.clear();
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
        let half = self.name.len() / 2;
        let twice = out.plan.messages.is_some()
            && self.name.is_char_boundary(half)
            && self.name[half..].strip_prefix('.') == Some(&self.name[..half]);
        if twice && out.calls.tools.get(&self.name).is_none() {
            self.name.truncate(half);
        }
    }

    /// Completes the open call.
    pub(super) fn complete(&mut self, out: &mut CallSink<'_>) {
        out.end(Outcome::Complete);
        self.started = false;
        self.state = MachineState::CallEnd(0);
    }

    /// Returns the step after a call and its end tags.
    pub(super) fn after_call(&mut self, used: usize) -> MachineStep {
        if self.section.is_none() && self.list == List::None {
            return MachineStep::done(used);
        }
        self.state = MachineState::Between;
        MachineStep::Go
    }
}
