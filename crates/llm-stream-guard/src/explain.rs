//! Explanations of how a guard read a recording. An [`Explainer`] reads one choice of a
//! [`Recording`], and [`page()`] shows a [`Report`] as a web page:
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use llm_stream_guard::{End, Guard, GuardStage, explain::Explainer, profile};
//! let guard = Guard::builder(&profile("qwen3")?).stage(GuardStage::Stats).build()?;
//! let mut explainer = Explainer::new("qwen3", guard);
//! explainer.push("<tool_call>{\"name\": \"ping\"}</tool_call>", None);
//! let explanation = explainer.finish(End::Stop);
//! assert_eq!(explanation.summary.calls[0].name, "ping");
//! # Ok(())
//! # }
//! ```
//!
//! # Types by task
//!
//! | part of an explanation | types |
//! |---|---|
//! | totals, calls and causes | [`Explanation`], [`ExplanationSummary`]: [`CallSummary`], [`Delay`], [`Finding`] |
//! | what each chunk did | [`Step`]: [`Happening`], [`Holding`], [`RecordedNote`] |
//! | what became of the text | [`Region`], [`Fate`] |
//! | tokens and their roles | [`ExplainedToken`], [`TokenPart`] |
//! | a recording and all its readings | [`RecordedItem`], [`Explained`], [`Report`] |
//! | the form of a recording | [`FormDetector`]: [`RecordingForm`], [`Patience`], [`LogFilter`] |

mod findings;
mod ledger;
mod page;
mod recording;
mod remedies;
mod report;
mod tokens;
mod words;

use std::{borrow::Cow, time::Duration};

use jail_match::{Edge, HeldKind, LimitError, Span, SpanKind, Trace};
use toolcall_parsers::{Event, Sink};

pub use self::findings::families_with;
pub use self::page::{Explained, Report, page};
pub use self::recording::{
    FormDetector, LogFilter, Patience, RecordedItem, Recording, RecordingForm, chunk_from,
    error_message, named_by, token_chunk,
};
pub use self::remedies::setting_of_serve;
pub use self::report::{
    CallSummary, Delay, ExplainedToken, Explanation, ExplanationSummary, Fate, Finding, Happening,
    Holding, RecordedNote, Region, Step, TokenPart,
};
use self::{
    ledger::{Ledger, Marker},
    tokens::TokenTracker,
};
use crate::{
    AddedTokens, End, Guard, Token, TokenKind,
    chat::{ChunkTokens, TokenReader},
};

/// A replay of a recording through a guard, which records the fate of each chunk and the reason.
///
/// The explainer contains no parser. All facts come from the guard's events, account and traces.
/// Use it for recordings and not for live streams, because it keeps the whole text and a step per
/// chunk.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use llm_stream_guard::{End, Guard, GuardStage, explain::Explainer, profile};
/// let guard = Guard::builder(&profile("qwen3")?).stage(GuardStage::Stats).build()?;
/// let mut explainer = Explainer::new("qwen3", guard);
/// for chunk in ["Let me see.</thi", "nk>[TOOL_CALLS]f{}"] {
///     explainer.push(chunk, None);
/// }
/// let explanation = explainer.finish(End::Stop);
/// let found: Vec<_> = explanation.summary.findings.iter().map(|finding| finding.kind).collect();
/// assert_eq!(found, ["wrong_family", "prompt_opened_reasoning"]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Explainer {
    name: String,
    guard: Guard,
    edges: Vec<Edge>,
    /// Templates of the openings of calls and their sections.
    openings: Vec<String>,
    wire: String,
    steps: Vec<Step>,
    ledger: Ledger,
    summary: ExplanationSummary,
    /// Time of the first chunk.
    began: Option<Duration>,
    /// Notes of the recording since the last chunk.
    notes: Vec<RecordedNote>,
    tokens: TokenTracker,
    over: bool,
}

impl Explainer {
    /// Creates an explainer of a new `guard`. The explanation names the reading `name`. Markers of
    /// other families are found only with [`crate::GuardStage::Stats`].
    #[must_use]
    pub fn new(name: impl Into<String>, guard: Guard) -> Self {
        Self {
            name: name.into(),
            edges: guard.edges().to_vec(),
            openings: openings(&guard),
            tokens: TokenTracker::new(&guard),
            guard,
            wire: String::new(),
            steps: Vec::new(),
            ledger: Ledger::default(),
            summary: ExplanationSummary::default(),
            began: None,
            notes: Vec::new(),
            over: false,
        }
    }

    /// Feeds the next chunk of the model's text, with its time of arrival if the recording has one.
    /// Times may count from any start.
    pub fn push(&mut self, chunk: &str, time: Option<Duration>) {
        self.push_ids(chunk, None, time);
    }

    /// Reads chunks by the ids of their tokens. The guard must have been built with [marker
    /// tokens](crate::GuardBuilder::marker_tokens) of `tokens`.
    #[must_use]
    pub fn token_ids(mut self, tokens: &AddedTokens) -> Self {
        let reader = TokenReader::new(self.guard.clone(), tokens);
        self.tokens.chunks = Some(ChunkTokens::new(&reader));
        self
    }

    /// Feeds the next chunk of the model's text, with the ids of its tokens if it has some.
    pub fn push_ids(&mut self, chunk: &str, ids: Option<&[u32]>, time: Option<Duration>) {
        let mut text = chunk.to_owned();
        let pieces = match &mut self.tokens.chunks {
            Some(chunks) => {
                chunks.divide(&mut text, ids);
                chunks.pieces.clone()
            }
            None => Vec::new(),
        };
        self.tokens.arrived(ids);
        let step = self.step(text.len(), time);
        let (mut at, mut fed) = (0_usize, Vec::new());
        for piece in pieces {
            let Some(part) = text.get(at..at.saturating_add(piece.len)) else { break };
            self.tokens.piece(self.wire.len().saturating_add(at), part, piece);
            let kind = if piece.marker.is_some() { TokenKind::Marker } else { TokenKind::Text };
            fed.push(Token { id: piece.marker.unwrap_or_default(), text: part, kind });
            at = at.saturating_add(part.len());
        }
        if let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
            let ids = ids.map(<[u32]>::to_vec).unwrap_or_default();
            self.tokens.token(self.wire.len().saturating_add(at), rest, ids);
            fed.push(Token { id: 0, text: rest, kind: TokenKind::Text });
        }
        self.wire.push_str(&text);
        self.summary.chunks += 1;
        self.run(step, |guard, sink| {
            fed.iter().try_for_each(|token| guard.push_token(*token, sink))
        });
    }

    /// Adds an item of the recording that is not text, after the chunks so far.
    pub fn note(&mut self, note: RecordedNote) {
        self.notes.push(note);
    }

    /// Ends the recording and returns the explanation.
    #[must_use]
    pub fn finish(mut self, end: End) -> Explanation {
        if let Some(held) = self.tokens.chunks.take().map(|mut chunks| chunks.release())
            && !held.is_empty()
        {
            self.push(&held, None);
        }
        let mut step = self.step(0, None);
        step.ms = self.steps.last().and_then(|step| step.ms);
        step.end = Some(end.name());
        self.run(step, |guard, sink| guard.finish(end, sink));
        let Self { name, guard, wire, mut steps, ledger, mut summary, tokens, .. } = self;
        let regions = ledger.settle(&wire, &mut steps);
        total(&mut summary, &steps, &regions);
        let foreign = guard.stats().map(|stats| &stats.foreign);
        let foreign = foreign.into_iter().flatten();
        let facts = findings::Facts {
            name: &name,
            wire: &wire,
            steps: &steps,
            foreign: foreign.map(|(marker, &count)| (marker.to_string(), count)).collect(),
            special: guard.needs_special_tokens(),
        };
        findings::find(&facts, &mut summary);
        Explanation { name, summary, wire, regions, steps, tokens: tokens.finish() }
    }

    /// Creates a step with the notes before it.
    fn step(&mut self, len: usize, time: Option<Duration>) -> Step {
        let began = *self.began.get_or_insert(time.unwrap_or_default());
        let ms = time.map(|time| time.saturating_sub(began).as_secs_f64() * 1000.0);
        let events = self.notes.drain(..).map(|note| Happening::Noted { note }).collect();
        Step { at: self.wire.len(), len, ms, events, ..Step::default() }
    }

    /// Runs a step of the guard.
    fn run(
        &mut self,
        step: Step,
        run: impl FnOnce(&mut Guard, &mut Listener<'_>) -> Result<(), LimitError>,
    ) {
        let Self { guard, edges, openings, steps, ledger, summary, wire, tokens, .. } = self;
        let index = steps.len();
        let mut listener = Listener { index, step, edges, openings, wire, ledger, summary, tokens };
        let result = run(guard, &mut listener);
        let mut step = listener.step;
        tokens.settle();
        if let Err(error) = result
            && !std::mem::replace(&mut self.over, true)
        {
            step.events.push(Happening::Stopped { limit: error.to_string() });
        }
        let held = guard.held();
        if held.kind != HeldKind::Nothing && step.end.is_none() {
            let tail = wire.get(wire.len().saturating_sub(held.bytes)..).unwrap_or_default();
            let why = words::held(held, tail, edges);
            let kind = held.kind.name();
            let from = ledger.kept(wire.len(), held.bytes);
            step.held = Some(Holding { bytes: held.bytes, from, kind, why });
            summary.held_max = summary.held_max.max(held.bytes);
        }
        steps.push(step);
    }
}

/// Returns the templates of a guard's family for the beginning of a block or a call.
fn openings(guard: &Guard) -> Vec<String> {
    let forms = guard.grammar().into_iter().flat_map(|grammar| &grammar.family().forms);
    let templates = forms.flat_map(|form| form.sections.iter().chain(&form.calls));
    templates.map(ToString::to_string).collect()
}

/// Adds the totals that need the whole recording.
fn total(summary: &mut ExplanationSummary, steps: &[Step], regions: &[Region]) {
    for step in steps {
        summary.content += step.content;
        summary.reasoning += step.reasoning;
        summary.other += step.other;
        if let Some(delay) = step.delay {
            let longest = &mut summary.delay;
            longest.chunks = longest.chunks.max(delay.chunks);
            longest.bytes = longest.bytes.max(delay.bytes);
            longest.ms = longest.ms.into_iter().chain(delay.ms).reduce(f64::max);
        }
    }
    for region in regions {
        match region.fate {
            Fate::Markup | Fate::Framing => summary.removed += region.len,
            Fate::Dropped => summary.dropped += region.len,
            _ => {}
        }
    }
}

/// A sink that writes the guard's events into a step.
struct Listener<'l> {
    index: usize,
    step: Step,
    edges: &'l [Edge],
    openings: &'l [String],
    wire: &'l str,
    ledger: &'l mut Ledger,
    summary: &'l mut ExplanationSummary,
    tokens: &'l mut TokenTracker,
}

impl Listener<'_> {
    fn marker(&mut self, edge: usize, at: u64, len: u64) -> String {
        let edge = &self.edges[edge];
        self.boxed(at, len, edge.marker.to_string(), words::edge(edge))
    }

    /// Records a marker and its effect.
    fn boxed(&mut self, at: u64, len: u64, marker: String, does: Cow<'static, str>) -> String {
        let (at, len) = (at as usize, len as usize);
        self.ledger.markers.push(Marker { at, len, marker: marker.clone(), does });
        marker
    }
}

impl Sink for Listener<'_> {
    fn event(&mut self, event: Event<'_>) {
        self.tokens.event(event);
        if let Some((channel, text)) = event.as_text() {
            self.ledger.text(channel, text, self.index);
            *match event {
                Event::Content(_) => &mut self.step.content,
                Event::Reasoning(_) => &mut self.step.reasoning,
                _ => &mut self.step.other,
            } += text.len();
            return;
        }
        let happening = match event {
            Event::CallStart { index, id, name } => {
                let (id, name) = (id.to_owned(), name.to_owned());
                let (arguments, outcome) = (String::new(), None);
                let call = CallSummary { index, name: name.clone(), arguments, outcome };
                self.summary.calls.push(call);
                Happening::CallStarted { index, id, name }
            }
            Event::CallArguments { fragment, .. } => {
                self.step.arguments += fragment.len();
                if let Some(call) = self.summary.calls.last_mut() {
                    call.arguments.push_str(fragment);
                }
                return;
            }
            Event::CallEnd { index, outcome } => {
                let outcome = outcome.name();
                if let Some(call) = self.summary.calls.last_mut() {
                    call.outcome = Some(outcome);
                }
                self.ledger.call_ended = true;
                Happening::CallEnded { index, outcome }
            }
            Event::Diagnostic(diagnostic) => {
                let (says, advice) = (diagnostic.kind.meaning(), diagnostic.kind.remedy());
                Happening::Diagnosed {
                    kind: diagnostic.kind.name(),
                    at: diagnostic.at,
                    bytes: diagnostic.bytes,
                    call: diagnostic.call,
                    says,
                    advice,
                }
            }
            _ => return,
        };
        self.step.events.push(happening);
    }

    fn account(&mut self, span: Span) {
        self.tokens.span(span);
        let Span { kind, at, len } = span;
        self.ledger.span(span, self.index);
        match kind {
            SpanKind::Framing => self.step.events.push(Happening::Framing { at, len }),
            SpanKind::Dropped => self.step.events.push(Happening::Dropped { at, len }),
            SpanKind::Markup | SpanKind::Body => {}
        }
    }

    fn trace(&mut self, trace: Trace) {
        self.tokens.trace(trace);
        let happening = match trace {
            Trace::Matched { edge, at, len } => {
                let does = words::edge(&self.edges[edge]);
                Happening::Marker { at, len, marker: self.marker(edge, at, len), does }
            }
            Trace::Opened { edge, at, len } => {
                (self.ledger.call_at, self.ledger.call_ended) = (at as usize, false);
                let marker = self.marker(edge, at, len);
                let fits = self.openings.iter().filter(|opening| opening.starts_with(&marker));
                Happening::Opener { at, len, templates: fits.cloned().collect(), marker }
            }
            Trace::Committed { at, len } => Happening::Committed { at, len },
            Trace::EndTag { at, len } => {
                let tag = self.wire.get(at as usize..(at + len) as usize).unwrap_or_default();
                let does = Cow::Borrowed(words::END_TAG);
                let marker = self.boxed(at, len, tag.to_owned(), does.clone());
                Happening::Marker { at, len, marker, does }
            }
            Trace::Refuted { at, len } => {
                let opener = self.ledger.markers.pop();
                let marker = opener.map(|opener| opener.marker).unwrap_or_default();
                Happening::Refuted { at, len, marker }
            }
            Trace::Empty { at, len } => {
                let opener = self.ledger.markers.last();
                let marker = opener.map(|opener| opener.marker.clone()).unwrap_or_default();
                Happening::Empty { at, len, marker }
            }
            _ => return,
        };
        self.step.events.push(happening);
    }
}
