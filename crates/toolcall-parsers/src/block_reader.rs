//! Reads one block of calls after another with the call machine.
//!
//! ```text
//! <tool_call>{"name": "ping"}</tool_call>rest
//! begin       the driver found the opener <tool_call>
//! feed        the machine reads up to the end of </tool_call>: the block is complete
//! end         the driver takes over: `rest` is content
//! ```

mod repetition;

use alloc::{boxed::Box, sync::Arc};

use jail_match::{
    Anchor, BodyId, Channel, End, Feed, LearntSuffix, Opener, Refutation, Resume, Sink, Verdict,
};

use crate::{
    calls::{BodyPlace, Calls},
    compiled::Grammar,
    cursor::TextCursor,
    decoded::Decoder,
    ids::Ids,
    limits::MAX_SUFFIXES,
    machine::{
        call::Machine,
        call_sink::CallSink,
        plan::{Plan, Start},
        recovery::repeated_block::RepeatedBlock,
    },
    options::Options,
    tools::Tools,
    value::is_long_and_ends,
};

/// The reader of one message's blocks. Body `n` is read after the grammar's opener `n`.
#[derive(Debug, Clone)]
pub(crate) struct BlockReader {
    grammar: Grammar,
    /// The grammar's plan, with the suffix that the stream's tags have.
    plan: Arc<Plan>,
    suffix: LearntSuffix,
    /// Number of plans that were compiled for a suffix.
    suffixes: u8,
    calls: Calls,
    /// Allocated with the first opener: the machine is large, and most messages have no calls.
    machine: Option<Box<Machine>>,
    /// Whether the family repeats blocks without their opener.
    repeats_blocks: bool,
    /// The last block, if blocks may be repeated. Allocated with the first opener.
    last_block: Option<Box<RepeatedBlock>>,
    opener: BodyId,
    attempt: u16,
    /// Whether the last text was the inside of a string, of which nothing is held. Then more of the
    /// string needs fewer checks.
    in_string: bool,
}

/// A copy of a [`BlockReader`] for [`BlockReader::restore`].
#[derive(Debug, Clone)]
pub(crate) struct Snapshot(BlockReader);

impl BlockReader {
    pub(crate) fn new(grammar: Grammar, tools: Tools, options: Options) -> Self {
        let ids = options.ids.or_form_of(grammar.family());
        let calls = Calls::new(tools, Options { ids, ..options }).with_unique_keys();
        Self {
            plan: Arc::clone(grammar.reading_plan()),
            suffix: LearntSuffix::NONE,
            suffixes: 0,
            repeats_blocks: grammar
                .plan()
                .openers
                .iter()
                .any(|opener| opener.start == Start::RepeatedBlock),
            grammar,
            calls,
            machine: None,
            last_block: None,
            opener: 0,
            attempt: 0,
            in_string: false,
        }
    }

    pub(crate) fn grammar(&self) -> &Grammar {
        &self.grammar
    }

    pub(crate) fn calls(&self) -> &Calls {
        &self.calls
    }

    /// Returns the stream offset after the opener of the active body.
    pub(crate) fn begun_at(&self) -> u64 {
        self.calls.begun_at
    }

    /// Returns whether the active body begins like a payload.
    pub(crate) fn is_payload(&self) -> bool {
        usize::from(self.opener) < self.plan.payloads
    }

    /// Generates the ids of later calls with `ids`.
    pub(crate) fn set_ids(&mut self, ids: Ids) {
        self.calls.set_ids(ids.or_form_of(self.grammar.family()));
    }

    /// Copies the reader for [`BlockReader::restore`]. The used ids are not copied, because they
    /// may be many. Ids used from here on are recorded instead. Only the last snapshot can be
    /// restored.
    pub(crate) fn snapshot(&mut self) -> Snapshot {
        let ids = self.calls.take_used_ids();
        let parser = self.clone();
        self.calls.put_used_ids(ids).mark();
        Snapshot(parser)
    }

    /// Restores the state of `snapshot`, which must be the last one taken.
    pub(crate) fn restore(&mut self, snapshot: Snapshot) {
        let ids = self.calls.take_used_ids();
        *self = snapshot.0;
        self.calls.put_used_ids(ids).undo();
    }

    /// Prepares the reader for a new message.
    pub(crate) fn reset(&mut self) {
        self.calls.reset();
        if let Some(machine) = self.machine.as_deref_mut() {
            *machine = Machine::new();
        }
        self.forget_block();
        (self.opener, self.attempt, self.suffixes) = (0, 0, 0);
        self.set_suffix(LearntSuffix::NONE);
    }

    /// Expects `suffix` in the tags from here on.
    fn set_suffix(&mut self, suffix: LearntSuffix) {
        if self.suffix == suffix {
            return;
        }
        self.suffix = suffix;
        let learnt = !suffix.is_empty() && self.suffixes < MAX_SUFFIXES;
        self.plan = match learnt.then(|| self.grammar.plan_with(suffix.as_str())).flatten() {
            Some(plan) => {
                self.suffixes = self.suffixes.saturating_add(1);
                Arc::new(plan)
            }
            None => Arc::clone(self.grammar.reading_plan()),
        };
    }

    /// Returns the bytes in buffers of the active body, beyond those in the driver.
    pub(crate) fn buffered(&self) -> usize {
        let read = self.machine.as_ref().map_or(0, |machine| machine.buffered());
        let read = read.saturating_add(self.calls.decoder().map_or(0, Decoder::buffered));
        let read = read.saturating_add(self.calls.buffered_keys());
        read.saturating_add(self.last_block.as_ref().map_or(0, |block| block.recorded_len()))
    }

    /// Returns the number of bytes of a block of calls that were read but not emitted yet, beyond
    /// those in the driver.
    #[inline]
    pub(crate) fn held(&self) -> usize {
        if self.in_string {
            return 0;
        }
        self.machine.as_ref().map_or(0, |machine| machine.held(&self.calls))
    }

    /// Returns whether the active body is certainly a call.
    pub(crate) fn has_begun_call(&self) -> bool {
        self.calls.committed()
    }

    /// Returns the stream offset at which the first call of the active body became malformed or
    /// ended, or 0.
    pub(crate) fn decided_at(&self) -> u64 {
        self.calls.decided_at
    }

    fn restart(&mut self) {
        let plan = &self.plan;
        if let Some(opener) = plan.openers.get(usize::from(self.opener)) {
            let machine = self.machine.get_or_insert_with(|| Box::new(Machine::new()));
            machine.begin(plan, opener, self.attempt.into());
        }
        if self.repeats_blocks {
            self.last_block.get_or_insert_default().clear();
        }
    }

    /// Returns whether the text is that of a call: inside a call, or between tags after its head.
    fn has_begun_arguments(&self) -> bool {
        let between_tags =
            || self.machine.as_ref().is_some_and(|machine| machine.is_between_tags(&self.plan));
        self.calls.committed() || between_tags()
    }
}

/// The functions of a body that the driver calls.
impl BlockReader {
    pub(crate) fn begin(&mut self, opener: &Opener) {
        let body: BodyId = opener.body;
        (self.opener, self.attempt) = (body, 0);
        self.calls.begin(opener.at);
        self.set_suffix(opener.suffix);
        let (is_quoted, channel) = (opener.quoted || opener.code.is_some(), opener.channel);
        let opener = self.plan.openers.get(usize::from(self.opener));
        // The header of a message begins no call inside a thought: it ends the thought.
        let header = opener.is_some_and(|opener| matches!(opener.start, Start::Header(_)));
        self.calls.place = match channel {
            Channel::REASONING if !header => BodyPlace::Thought,
            _ if is_quoted => BodyPlace::Quoted,
            _ => BodyPlace::Answer,
        };
        self.calls.announced &= opener.is_some_and(|opener| opener.at == Anchor::AfterCall);
        match opener {
            Some(opener) if opener.start == Start::RepeatedBlock => {
                if let Some(block) = &mut self.last_block {
                    block.start_comparison(&opener.marker);
                }
            }
            _ => self.restart(),
        }
    }

    #[inline]
    pub(crate) fn feed(&mut self, text: &str, sink: &mut dyn Sink) -> Feed {
        if self.in_string && self.passes_string(text) {
            self.calls.string(text, sink);
            return Verdict::Certain.after(text.len());
        }
        self.feed_looking(text, sink)
    }

    /// Returns whether all of `text` is more of the string that was read last, and can be emitted
    /// unchanged.
    #[inline]
    fn passes_string(&mut self, text: &str) -> bool {
        let Self { plan, machine: Some(machine), .. } = self else { return false };
        plan.turn_ends.start_in(text).is_none() && machine.passes_string(plan, text)
    }

    /// Feeds text that may be more than the inside of a string.
    fn feed_looking(&mut self, text: &str, sink: &mut dyn Sink) -> Feed {
        self.in_string = false;
        let split_at = self.plan.turn_ends.start_in(text);
        let fed = match split_at {
            Some(0) if self.calls.committed() => Verdict::Certain.after(0),
            Some(0) => Verdict::Undecided.after(0),
            _ => self.feed_text(&text[..split_at.unwrap_or(text.len())], sink),
        };
        match split_at {
            Some(_) => self.feed_turn_end(text, fed, sink),
            None => fed,
        }
    }

    /// Feeds the end of a turn at the end of `text`, if it does not wait. Inside a call it does: as
    /// the last text of the message it belongs to no value.
    #[cold]
    fn feed_turn_end(&mut self, text: &str, before: Feed, sink: &mut dyn Sink) -> Feed {
        if !before.verdict.is_open() || self.has_begun_arguments() {
            return before;
        }
        let Feed { used, verdict } = self.feed_text(&text[before.used..], sink);
        verdict.after(before.used + used)
    }

    #[inline]
    fn feed_text(&mut self, text: &str, sink: &mut dyn Sink) -> Feed {
        self.calls.begin_feed();
        if self.is_comparing() {
            return self.compare_block(text, sink);
        }
        let Self { plan, calls, machine, last_block, .. } = self;
        let Some(machine) = machine else { return Verdict::RESCAN.after(0) };
        // Fast path: almost every chunk of a long call is the inside of a string.
        if calls.committed() && !is_long_and_ends(text) && machine.passes(plan, text, calls) {
            calls.arguments(text, sink);
            calls.at += text.len() as u64;
            if let Some(block) = last_block {
                block.record(text, calls.options.limits.name);
            }
            self.in_string = calls.passes_strings()
                && last_block.as_ref().is_none_or(|block| block.is_unusable())
                && machine.held(calls) == 0;
            return Verdict::Certain.after(text.len());
        }
        let Feed { used, verdict } =
            machine.feed(&mut CallSink { plan, cursor: TextCursor::new(text), calls, sink });
        let place = |then| if calls.stops() { Resume::Halt } else { then };
        let verdict = match (verdict, calls.committed()) {
            (Verdict::Undecided, true) => Verdict::Certain,
            (Verdict::Complete(then), true) => Verdict::Complete(place(then)),
            (Verdict::Complete(then), false) => Verdict::Empty(place(then)),
            // The opener is text where it is only mentioned.
            (Verdict::RESCAN, false)
                if !machine.has_other_readings() && calls.place == BodyPlace::Answer =>
            {
                match machine.prose_from(plan) {
                    Some(from) => {
                        let len = calls.no_call(from, sink);
                        Verdict::Refuted(Refutation::Markup { len })
                    }
                    None => verdict,
                }
            }
            (verdict, _) => verdict,
        };
        if !matches!(verdict, Verdict::Refuted(_)) {
            calls.at += used as u64;
        }
        if let Some(block) = last_block {
            let most = calls.options.limits.name;
            match verdict {
                Verdict::Undecided | Verdict::Certain => block.record(&text[..used], most),
                Verdict::Complete(_) => {
                    block.record(&text[..used], most);
                    block.end_block(machine.has_end());
                }
                Verdict::Empty(_) | Verdict::Refuted(_) => block.clear(),
            }
        }
        verdict.after(used)
    }

    pub(crate) fn retry(&mut self) -> bool {
        let is_comparing = self.is_comparing();
        let others = |machine: &&mut Box<Machine>| !is_comparing && machine.has_other_readings();
        let machine = self.machine.as_mut().filter(others);
        let more = machine.is_some();
        if let Some(machine) = machine {
            machine.take_other_reading();
            self.attempt = self.attempt.saturating_add(1);
            self.calls.at = self.calls.begun_at;
            self.restart();
        }
        more
    }

    pub(crate) fn finish(&mut self, tail: &str, end: End, sink: &mut dyn Sink) -> Feed {
        self.in_string = false;
        let waits = self.plan.turn_ends.start_in(tail).filter(|_| self.has_begun_arguments());
        let (tail, fed) = match waits.and_then(|at| tail.split_at_checked(at)) {
            Some((text, turn_end)) if self.plan.turn_ends.has(turn_end) => (text, 0),
            Some(_) => {
                // The beginning of such a token is the text that it was before.
                let Feed { used, verdict } = self.feed_text(tail, sink);
                if !verdict.is_open() {
                    return verdict.after(used);
                }
                (&tail[used..], used)
            }
            None => (tail, 0),
        };
        let is_comparing = self.is_comparing();
        let Self { plan, calls, machine, .. } = self;
        let Some(machine) = machine.as_mut().filter(|_| !is_comparing) else {
            return Verdict::RESCAN.after(0);
        };
        let Feed { used, verdict } =
            machine.finish(end, &mut CallSink { plan, cursor: TextCursor::new(tail), calls, sink });
        verdict.after(fed + used)
    }

    pub(crate) fn end(&mut self) {
        self.in_string = false;
        if let Some(machine) = &mut self.machine {
            machine.end();
        }
        self.calls.end_body();
        if let Some(block) = &mut self.last_block {
            block.stop_comparison();
        }
    }

    pub(crate) fn rest(&mut self) {
        self.forget_block();
    }

    #[inline]
    pub(crate) fn looked_at(&self, offered: usize) -> usize {
        self.calls.looked_at(offered)
    }
}
