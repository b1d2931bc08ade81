//! The chat guard, which reads each choice of a stream with its own guard.

pub(super) mod reports;
pub(super) mod response_fields;
pub(super) mod usage;
pub(super) mod whole;

use std::sync::Arc;

use jail_match::{End, LimitError};

use crate::{
    chat::{
        choice::{
            GuardedChoice,
            state::{ChoiceState, SharedStep},
        },
        error::ChatError,
        guard::{response_fields::RepeatedFields, usage::UsageState},
        model::{chunk::Chunk, field::Field},
        note::ChatSink,
        options::{ChatOptions, Logprobs, Synthesis, TakeBack, TokenIds},
        step::{BareChunk, ChatStep, RawEvent, Released},
        tokens::{
            marker_ids::{TokenMode, TokenReader},
            token_ids::{ids_around, remove_all_ids, remove_ids},
        },
    },
    guard::Guard,
};

/// Turns the chunks of a chat-completion stream whose text contains markup into chunks that a
/// strict client accepts.
///
/// Call [`ChatGuard::push`] any number of times, then [`ChatGuard::finish`] once. Every choice has
/// its own guard, a clone of the given one.
///
/// * Only the first chunk of a choice has the role, and only its last has the finish reason.
/// * Calls are numbered over the whole turn, including those of upstream. Their ids are unique.
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
    pub(super) repeated: RepeatedFields,
    pub(super) usage: UsageState,
    /// Buffers that are kept for their capacity.
    pub(super) released: Released,
    spare: String,
    pub(super) seq: u64,
    pub(super) phase: Phase,
    /// Whether the only chunk is a whole response.
    pub(super) whole: bool,
}

/// State of a guarded stream.
///
/// ```text
/// Open     push(chunk) emits output
/// Ended    after `finish`: push(chunk) does nothing
/// Failed   after too many choices: push(chunk) returns the error again
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    /// The stream goes on, and chunks are guarded.
    Open,
    /// The stream ended, and further chunks are dropped.
    Ended,
    /// An error ended the stream and is returned again.
    Failed(ChatError),
}

impl Phase {
    /// Returns the result of every call after the end, or `None` while the stream is open.
    pub(super) fn result(self) -> Option<Result<(), ChatError>> {
        match self {
            Self::Open => None,
            Self::Ended => Some(Ok(())),
            Self::Failed(error) => Some(Err(error)),
        }
    }
}

impl ChatGuard {
    /// Creates a chat guard whose choices are guarded by clones of `guard`.
    ///
    /// Calls without an id on the wire get one as the guard makes them: see [`Ids`](crate::Ids).
    #[must_use]
    pub fn new(mut guard: Guard, options: ChatOptions) -> Self {
        let take_back = options.prepare(&mut guard, false);
        Self {
            prototype: guard,
            take_back,
            token_reader: None,
            options,
            choices: Vec::new(),
            repeated: RepeatedFields::default(),
            usage: UsageState::default(),
            released: Released::default(),
            spare: String::new(),
            seq: 0,
            phase: Phase::Open,
            whole: false,
        }
    }

    /// Feeds the next chunk. Chunks after [`ChatGuard::finish`] are dropped.
    ///
    /// # Errors
    /// Returns an error for too many choices, or for a limit of the guard with the error policy.
    /// The stream is then over, and the held text of all choices and usage have been released.
    pub fn push<S: ChatSink + ?Sized>(
        &mut self,
        chunk: Chunk,
        sink: &mut S,
    ) -> Result<(), ChatError> {
        self.push_event(chunk, || None, sink)
    }

    /// Feeds the next chunk, which arrived in `event`.
    pub(super) fn push_event<S: ChatSink + ?Sized>(
        &mut self,
        mut chunk: Chunk,
        event: impl FnOnce() -> Option<RawEvent>,
        sink: &mut S,
    ) -> Result<(), ChatError> {
        if let Some(result) = self.phase.result() {
            return result;
        }
        self.seq = self.seq.saturating_add(1);
        let single = chunk.choices.len() == 1;
        let mut around = if single { ids_around(&chunk.fields) } else { None };
        let removes_ids = self.options.token_ids != TokenIds::Keep;
        let removed = removes_ids && remove_all_ids(&mut chunk.fields);
        self.repeated.learn(&chunk);
        self.usage.learn(&chunk.usage);
        if chunk.choices.is_empty() {
            let event = event().map(|event| RawEvent { exact: event.exact && !removed, ..event });
            self.push_bare(BareChunk { chunk, seq: self.seq, event }, sink);
            return Ok(());
        }
        // Choices continue, so that the waiting chunks are not the tail of the stream.
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
            let push = |guarded: &mut GuardedChoice, step: &mut SharedStep<'_>| {
                guarded.push(choice, ids.as_deref(), step)
            };
            result = result.and(self.step(at, sink, push));
            if single && self.choices[at].state.hid {
                remove_ids(&mut fields);
            }
        }
        self.count_reasoning(&mut usage);
        self.release(Some(Chunk { choices, usage, fields }), sink);
        result.or_else(|error| self.fail(error, sink))
    }

    /// Fails the stream: held text is emitted before the error.
    fn fail<S: ChatSink + ?Sized>(
        &mut self,
        error: ChatError,
        sink: &mut S,
    ) -> Result<(), ChatError> {
        self.phase = Phase::Failed(error);
        // A choice that failed fails again.
        let _ = self.close(End::Aborted, |_| false, sink);
        self.release_usage(sink);
        Err(error)
    }

    /// Emits the step, with the remaining fields of its input chunk.
    fn release<S: ChatSink + ?Sized>(&mut self, rest: Option<Chunk>, sink: &mut S) {
        let Self { repeated, usage, released, options, seq, .. } = self;
        let (mut fields, mut came, mut spare) = (None, None, Vec::new());
        if let Some(Chunk { choices, usage: count, fields: around }) = rest {
            spare = choices;
            if released.parts.is_empty() {
                usage.withhold(count);
                fields = repeated.remaining(around);
            } else {
                (fields, came) = (Some(around), Some(count));
            }
        }
        if fields.is_none() && released.is_empty() {
            return;
        }
        let [last, others] = match released.parts.is_empty() {
            true => [usage.none(), usage.none()],
            false => usage.of_step(came),
        };
        sink.step(ChatStep {
            released,
            fields,
            repeated: repeated.fields(),
            usage: last,
            no_usage: others,
            emission: options.emission,
            origin: *seq,
            spare,
            event: None,
        });
        released.clear();
    }

    /// Takes a chunk that differs from the last one of its choice only by `text`, if it passes
    /// unchanged. Returns `false`, without an effect, if the chunk must be pushed.
    pub(super) fn pass(&mut self, index: u32, text: &str) -> bool {
        let found = self.choices.binary_search_by_key(&index, |guarded| guarded.state.index).ok();
        let ready = found.filter(|_| self.phase == Phase::Open && self.usage.owes_nothing());
        let passed = ready.and_then(|at| self.choices.get_mut(at)).is_some_and(|it| it.pass(text));
        self.seq = self.seq.saturating_add(u64::from(passed));
        passed
    }

    /// Checks the time limits of jails when no chunk arrives; see [`crate::Jailer::time_limit`].
    ///
    /// # Errors
    /// As [`ChatGuard::push`].
    pub fn tick<S: ChatSink + ?Sized>(&mut self, sink: &mut S) -> Result<(), ChatError> {
        if let Some(result) = self.phase.result() {
            return result;
        }
        self.on_each(sink, GuardedChoice::tick).or_else(|error| self.fail(error, sink))
    }

    /// Ends the stream: emits held text, then missing finish reasons, then withheld usage. With
    /// [`End::Aborted`] no call begins and no finish reason is added. A second call has no effect.
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
        if let Some(result) = self.phase.result() {
            return result;
        }
        let (synthesis, has_usage) = (self.options.synthesis, self.usage.ends_with_usage());
        let due = |state: &ChoiceState| match synthesis {
            Synthesis::Off => false,
            Synthesis::Proven => has_usage || state.called() || state.stopped.is_some(),
            Synthesis::Always => true,
        };
        let result = self.close(end, |state| end != End::Aborted && due(state), sink);
        self.release_usage(sink);
        self.phase = result.map_or_else(Phase::Failed, |()| Phase::Ended);
        result
    }

    /// Emits the held output of every choice.
    fn close<S: ChatSink + ?Sized>(
        &mut self,
        end: End,
        synthesize: impl Fn(&ChoiceState) -> bool,
        sink: &mut S,
    ) -> Result<(), ChatError> {
        self.on_each(sink, |guarded, step| guarded.close(end, &synthesize, step))
    }

    /// Runs `step` on every choice and emits its output.
    fn on_each<S: ChatSink + ?Sized>(
        &mut self,
        sink: &mut S,
        step: impl Fn(&mut GuardedChoice, &mut SharedStep<'_>) -> Result<(), LimitError>,
    ) -> Result<(), ChatError> {
        let mut result = Ok(());
        for at in 0..self.choices.len() {
            result = result.and(self.step(at, sink, &step));
        }
        self.release(None, sink);
        result
    }

    /// Runs `step` on the choice at `at`.
    fn step<S: ChatSink + ?Sized>(
        &mut self,
        at: usize,
        sink: &mut S,
        step: impl FnOnce(&mut GuardedChoice, &mut SharedStep<'_>) -> Result<(), LimitError>,
    ) -> Result<(), ChatError> {
        let Self { choices, options, released, spare, seq, .. } = self;
        let first = released.parts.len();
        let note = &mut |note| sink.note(note);
        let context =
            &mut SharedStep { options, released, spare, note, seq: *seq, first, aborted: false };
        step(&mut choices[at], context).map_err(ChatError::Limit)
    }

    /// Returns the position of the choice with `index`, which is created if needed.
    fn place(&mut self, index: u32) -> Option<usize> {
        match self.choices.binary_search_by_key(&index, |guarded| guarded.state.index) {
            Ok(at) => Some(at),
            Err(_) if self.choices.len() >= self.options.limits.choices => None,
            Err(at) => {
                let mut guarded = GuardedChoice::new(index, &self.prototype, self.take_back);
                if let Some(reader) = &self.token_reader {
                    guarded.mode = TokenMode::Undecided(Arc::clone(reader));
                }
                guarded.state.entries.all = self.options.logprobs == Logprobs::All;
                self.choices.insert(at, guarded);
                Some(at)
            }
        }
    }

    /// Resets the guard to its initial state.
    pub fn reset(&mut self) {
        self.choices.clear();
        self.repeated = RepeatedFields::default();
        self.usage = UsageState::default();
        (self.seq, self.phase) = (0, Phase::Open);
    }

    /// Returns the numbers of the input chunks in which held text began.
    pub(super) fn holding_since(&self) -> impl Iterator<Item = u64> + Clone {
        self.choices
            .iter()
            .filter_map(|guarded| guarded.state.held_since)
            .chain(self.usage.waiting())
    }

    /// Returns a chunk without choices.
    pub(super) fn blank(&self) -> Chunk {
        let (fields, usage) = (self.repeated.fields().clone(), self.usage.none());
        Chunk { fields, usage, choices: Vec::new() }
    }
}

const _: () = {
    const fn machine<T: Clone + Send + 'static>() {}
    machine::<ChatGuard>();
};
