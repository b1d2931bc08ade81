//! The chat guard: one guard per choice, chunks in, clean chunks out.

use std::sync::Arc;

use jail_match::{End, LimitError};

use super::{
    choice::GuardedChoice,
    choice_state::{ChoiceState, SharedStep},
    chunk::Chunk,
    error::ChatError,
    field::Field,
    marker_ids::{TokenMode, TokenReader},
    note::ChatSink,
    options::{ChatOptions, Logprobs, ReasoningTokens, Synthesis, TakeBack, TokenIds},
    response_fields::{Envelope, count_reasoning},
    step::Released,
    tail::Tail,
    token_ids::{ids_around, remove_all_ids, remove_ids},
};
use crate::guard::Guard;

/// Turns the chunks of a chat-completion stream whose text contains markup into chunks that a
/// strict client accepts.
///
/// Call [`ChatGuard::push`] any number of times, then [`ChatGuard::finish`] once. Every choice has
/// its own guard, a clone of the given one.
///
/// * The role is on the first chunk of a choice only, the finish reason on its last.
/// * Calls are counted over the whole turn, upstream's own included; their ids are unique.
/// * `stop` becomes `tool_calls` if a call completed; other reasons stay.
/// * Other fields, known or not, are emitted once, in order; see [`ChatOptions`].
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use llm_stream_guard::{End, Guard, chat::{Aggregator, ChatGuard, ChatOptions, Chunk}, profile};
/// let guard = Guard::builder(&profile("qwen3")?).build()?;
/// let mut guard = ChatGuard::new(guard, ChatOptions::default());
/// let mut clean: Vec<Chunk> = Vec::new();
/// for text in ["<think>hm</th", "ink><tool_call>{\"name\":\"f\",", "\"arguments\":{}}</tool_call>"] {
///     let chunk = serde_json::json!({"id": "c1", "choices": [{"index": 0, "delta": {"content": text}}]});
///     guard.push(serde_json::from_value(chunk)?, &mut clean)?;
/// }
/// guard.finish(End::Stop, &mut clean)?;
/// let mut whole = Aggregator::default();
/// clean.iter().for_each(|chunk| whole.push(chunk));
/// let choice = &whole.finish().choices[0];
/// assert_eq!(choice.message.reasoning_text(), Some("hm"));
/// assert_eq!(choice.finish_reason.value().unwrap(), "tool_calls");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct ChatGuard {
    pub(super) prototype: Guard,
    pub(super) take_back: TakeBack,
    /// Reads choices whose chunks have token ids.
    pub(super) token_reader: Option<Arc<TokenReader>>,
    pub(super) options: ChatOptions,
    /// In ascending order of their indices.
    pub(super) choices: Vec<GuardedChoice>,
    envelope: Envelope,
    pub(super) tail: Tail,
    /// Kept for their capacity.
    released: Released,
    spare: String,
    seq: u64,
    pub(super) ended: bool,
    pub(super) failed: Option<ChatError>,
    /// The only chunk is a whole response.
    pub(super) whole: bool,
}

impl ChatGuard {
    /// A chat guard whose choices are guarded by clones of `guard`.
    ///
    /// Calls without an id on the wire get one as the guard makes them: see [`Ids`](crate::Ids).
    #[must_use]
    pub fn new(mut guard: Guard, options: ChatOptions) -> Self {
        let take_back = options.broken_calls.prepare(&mut guard, false);
        Self {
            prototype: guard,
            take_back,
            token_reader: None,
            options,
            choices: Vec::new(),
            envelope: Envelope::default(),
            tail: Tail::default(),
            released: Released::default(),
            spare: String::new(),
            seq: 0,
            ended: false,
            failed: None,
            whole: false,
        }
    }

    /// Feeds the next chunk. What follows [`ChatGuard::finish`] is dropped.
    ///
    /// # Errors
    /// Too many choices, or a limit of the guard with the error policy: the stream is over. What
    /// was held of all choices has been released, and usage with it.
    pub fn push<S: ChatSink + ?Sized>(
        &mut self,
        mut chunk: Chunk,
        sink: &mut S,
    ) -> Result<(), ChatError> {
        if self.ended {
            return self.failed.map_or(Ok(()), Err);
        }
        self.seq = self.seq.saturating_add(1);
        let single = chunk.choices.len() == 1;
        let mut around = if single { ids_around(&chunk.fields) } else { None };
        let removes_ids = self.options.token_ids != TokenIds::Keep;
        if removes_ids {
            remove_all_ids(&mut chunk.fields);
        }
        self.envelope.learn(&chunk);
        if chunk.choices.is_empty() {
            self.push_bare(chunk, sink);
            return Ok(());
        }
        // Choices go on: what came before was not the tail.
        self.release_tail(sink);
        let Chunk { mut choices, mut usage, mut fields } = chunk;
        choices.sort_by_key(|choice| choice.index);
        let mut result = Ok(());
        for mut choice in choices.drain(..) {
            let Some(at) = self.place(choice.index) else {
                result = result.and(Err(ChatError::TooManyChoices));
                continue;
            };
            let ids = choice.token_ids(around.take());
            if removes_ids {
                remove_all_ids(&mut choice.extra);
                remove_all_ids(&mut choice.delta.extra);
            }
            if self.options.token_ids == TokenIds::RemoveLogprobs {
                choice.logprobs = Field::Missing;
            }
            let push = |state: &mut GuardedChoice, step: &mut SharedStep<'_>| {
                state.push(choice, ids.as_deref(), step)
            };
            result = result.and(self.step(at, false, sink, push));
            if single && self.choices[at].lane.hid {
                remove_ids(&mut fields);
            }
        }
        self.count_reasoning(&mut usage);
        let rest = Chunk { choices, usage, fields };
        let rest = match self.released.parts.is_empty() {
            true => self.envelope.withhold(rest),
            false => Some(rest),
        };
        self.release(rest, sink);
        result.or_else(|error| self.fail(error, sink))
    }

    /// Fails the stream: held text is emitted before the error.
    fn fail<S: ChatSink + ?Sized>(
        &mut self,
        error: ChatError,
        sink: &mut S,
    ) -> Result<(), ChatError> {
        (self.ended, self.failed) = (true, Some(error));
        // A choice that failed fails again.
        let _ = self.close(End::Aborted, |_| false, sink);
        self.release_rest(sink);
        Err(error)
    }

    /// Passes the step on, with the rest of its input: the chunk without its choices.
    fn release<S: ChatSink + ?Sized>(&mut self, rest: Option<Chunk>, sink: &mut S) {
        let Self { envelope, released, options, seq, .. } = self;
        if rest.is_none() && released.is_empty() {
            return;
        }
        sink.step(envelope.step(released, rest, (options.emission, *seq)));
        released.clear();
    }

    /// Lets out what surrounds the choices.
    fn release_rest<S: ChatSink + ?Sized>(&mut self, sink: &mut S) {
        self.release_tail(sink);
        if let Some(chunk) = self.envelope.rest() {
            self.release_bare(chunk, self.seq, sink);
        }
    }

    /// Takes a chunk that differs from the last one of its choice only by `text`, if it passes
    /// unchanged. Returns `false`, without an effect, if the chunk must be pushed.
    pub(super) fn pass(&mut self, index: u32, text: &str) -> bool {
        let found = self.choices.binary_search_by_key(&index, |state| state.lane.index).ok();
        let ready = found.filter(|_| !self.ended && self.owes_nothing());
        let passed = ready.and_then(|at| self.choices.get_mut(at)).is_some_and(|it| it.pass(text));
        self.seq = self.seq.saturating_add(u64::from(passed));
        passed
    }

    /// Whether nothing that was withheld is to go out with or before the next chunk.
    pub(super) fn owes_nothing(&self) -> bool {
        self.tail.is_empty() && self.envelope.owes_nothing()
    }

    /// A chunk without choices. What may be the tail of the stream waits while choices are open:
    /// some servers send usage whenever one of several choices ends.
    fn push_bare<S: ChatSink + ?Sized>(&mut self, chunk: Chunk, sink: &mut S) {
        let open = self.choices.iter().any(|state| !state.lane.finished);
        let begins = chunk.usage.value().is_some() && open;
        if begins || !self.tail.is_empty() {
            self.tail.push(chunk, self.seq);
            if !self.tail.is_full() {
                return;
            }
            self.release_tail(sink);
        } else {
            self.write_bare(chunk, self.seq, sink);
        }
    }

    fn release_tail<S: ChatSink + ?Sized>(&mut self, sink: &mut S) {
        for (chunk, seq) in self.tail.take() {
            self.write_bare(chunk, seq, sink);
        }
    }

    fn write_bare<S: ChatSink + ?Sized>(&mut self, mut chunk: Chunk, seq: u64, sink: &mut S) {
        if chunk.usage.value().is_some() {
            self.envelope.supersede_usage();
        }
        self.count_reasoning(&mut chunk.usage);
        self.release_bare(chunk, seq, sink);
    }

    fn release_bare<S: ChatSink + ?Sized>(&mut self, chunk: Chunk, seq: u64, sink: &mut S) {
        sink.step(self.envelope.bare_step(&mut self.released, chunk, seq));
    }

    /// Time has passed and nothing came: a jail may have been open for too long; see
    /// [`crate::Jailer::time_limit`].
    ///
    /// # Errors
    /// As [`ChatGuard::push`].
    pub fn tick<S: ChatSink + ?Sized>(&mut self, sink: &mut S) -> Result<(), ChatError> {
        if self.ended {
            return self.failed.map_or(Ok(()), Err);
        }
        self.on_each(false, sink, GuardedChoice::tick).or_else(|error| self.fail(error, sink))
    }

    /// Ends the stream: emits held text, then finish reasons that are due, then withheld usage.
    /// With [`End::Aborted`] no call begins and no reason is made up. A second call has no effect.
    /// [`End::Stop`] means that upstream ended the answer, for example with `[DONE]`; where its
    /// chunks merely cease, call [`ChatGuard::end`].
    ///
    /// # Errors
    /// As [`ChatGuard::push`].
    pub fn finish<S: ChatSink + ?Sized>(
        &mut self,
        end: End,
        sink: &mut S,
    ) -> Result<(), ChatError> {
        if std::mem::replace(&mut self.ended, true) {
            return self.failed.map_or(Ok(()), Err);
        }
        let (synthesis, has_usage) = (self.options.synthesis, self.tail.has_usage());
        let due = |lane: &ChoiceState| match synthesis {
            Synthesis::Off => false,
            Synthesis::Proven => has_usage || lane.called() || lane.stopped.is_some(),
            Synthesis::Always => true,
        };
        if has_usage {
            self.envelope.supersede_usage();
        }
        let result = self.close(end, |lane| end != End::Aborted && due(lane), sink);
        self.release_rest(sink);
        self.failed = result.err();
        result
    }

    /// Lets out what every choice holds.
    fn close<S: ChatSink + ?Sized>(
        &mut self,
        end: End,
        synthesize: impl Fn(&ChoiceState) -> bool,
        sink: &mut S,
    ) -> Result<(), ChatError> {
        self.on_each(end == End::Aborted, sink, |state, step| state.close(end, &synthesize, step))
    }

    /// Runs `step` on every choice, and lets out what it set free.
    fn on_each<S: ChatSink + ?Sized>(
        &mut self,
        aborted: bool,
        sink: &mut S,
        step: impl Fn(&mut GuardedChoice, &mut SharedStep<'_>) -> Result<(), LimitError>,
    ) -> Result<(), ChatError> {
        let mut result = Ok(());
        for at in 0..self.choices.len() {
            result = result.and(self.step(at, aborted, sink, &step));
        }
        self.release(None, sink);
        result
    }

    /// Runs `step` on the choice at `at`.
    fn step<S: ChatSink + ?Sized>(
        &mut self,
        at: usize,
        aborted: bool,
        sink: &mut S,
        step: impl FnOnce(&mut GuardedChoice, &mut SharedStep<'_>) -> Result<(), LimitError>,
    ) -> Result<(), ChatError> {
        let Self { choices, options, released, spare, seq, .. } = self;
        let first = released.parts.len();
        let note = &mut |note| sink.note(note);
        let context = &mut SharedStep { options, released, spare, note, seq: *seq, first, aborted };
        step(&mut choices[at], context).map_err(ChatError::Limit)
    }

    /// Writes into `usage` how many tokens were reasoning, unless upstream did.
    fn count_reasoning(&self, usage: &mut Field<serde_json::Value>) {
        if let Field::Value(usage) = usage
            && self.options.reasoning_tokens == ReasoningTokens::Counted
        {
            let counts = self.choices.iter().map(|state| state.reasoning_tokens(self.whole));
            count_reasoning(usage, counts);
        }
    }

    /// Where the choice with `index` is kept; it is made if need be.
    fn place(&mut self, index: u32) -> Option<usize> {
        match self.choices.binary_search_by_key(&index, |state| state.lane.index) {
            Ok(at) => Some(at),
            Err(_) if self.choices.len() >= self.options.limits.choices => None,
            Err(at) => {
                let mut state = GuardedChoice::new(index, &self.prototype, self.take_back);
                if let Some(reader) = &self.token_reader {
                    state.mode = TokenMode::Undecided(Arc::clone(reader));
                }
                state.lane.entries.all = self.options.logprobs == Logprobs::All;
                self.choices.insert(at, state);
                Some(at)
            }
        }
    }

    /// Makes the guard as new.
    pub fn reset(&mut self) {
        self.choices.clear();
        self.envelope = Envelope::default();
        self.tail = Tail::default();
        (self.seq, self.ended, self.failed) = (0, false, None);
    }

    /// Returns the latest usage that upstream sent.
    #[must_use]
    pub fn usage(&self) -> Option<&serde_json::Value> {
        self.envelope.usage()
    }

    /// The number of the last input chunk.
    pub(super) fn seq(&self) -> u64 {
        self.seq
    }

    /// The input chunks in which what is held began.
    pub(super) fn holding_since(&self) -> impl Iterator<Item = u64> + Clone {
        self.choices.iter().filter_map(|state| state.lane.held_since).chain(self.tail.since())
    }

    /// Whether input chunk `seq` has no choices and may be the tail of the stream.
    pub(super) fn waits_with(&self, seq: u64) -> bool {
        self.tail.since().any(|held| held == seq)
    }

    /// A chunk without choices.
    pub(super) fn blank(&self) -> Chunk {
        self.envelope.blank()
    }
}

const _: () = {
    const fn machine<T: Clone + Send + 'static>() {}
    machine::<ChatGuard>();
};
