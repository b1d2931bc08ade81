//! Separates reasoning from a stream, and leaves all other text unchanged.
//!
//! ```text
//! push("<think>hm</think>Hi. <tool_call>{\"name\"")
//! reasoning "hm"    rest "Hi. <tool_call>{\"name\""
//! ```

use std::collections::VecDeque;

use llm_stream_guard::{
    End, Event, Grammar, Guard, Ids, InReasoning, LimitError, Reasoning, Sink,
    chat::TokenText,
    jail_match::{Channel, Edge, Span, SpanKind, Then, Trace},
};
use pyo3::{prelude::*, types::PyDict};

use crate::{
    convert::end,
    guard::{divided, finish_after, waiting},
    names::{reasoning_of, reasoning_tags},
    settings::Settings,
    stream_error,
};

/// Reasoning and rest of a stream, up to the last certain byte.
type Pieces = (String, String);

/// Separates reasoning from the text of a message. The rest keeps the markup of calls, for a parser
/// of calls that reads it next.
#[pyclass(name = "ReasoningSplitter", module = "toolcall_parsers", skip_from_py_object)]
#[derive(Debug, Clone)]
pub(crate) struct PySplitter {
    guard: Guard,
    fates: Fates,
    /// Divides text that comes with token ids, if the marker tokens have ids.
    texts: Option<TokenText>,
    /// The effect of each edge of the guard.
    effects: Vec<Effect>,
    /// Whether markers of the answer stay in the rest where a parser of calls needs them.
    #[pyo3(get, set)]
    keep_markup: bool,
    /// The tag that opens reasoning, if reasoning continues after a call inside it.
    reopening: Option<String>,
    /// For models without reasoning, whose whole text is the rest: text before the message.
    whole: Option<String>,
}

/// The destination of each byte, in the order of the stream.
#[derive(Debug, Clone, Default)]
struct Fates {
    /// The text from offset `at` on.
    text: String,
    /// Offset of the first byte without a destination.
    at: u64,
    /// Ranges that are not text: begin, end, destination.
    spans: VecDeque<(u64, u64, Destination)>,
    /// Emitted text: its destination and length.
    emitted: VecDeque<(Destination, u64)>,
    /// Whether the last marker left the stream in the reasoning channel.
    thinking: Option<bool>,
    /// The destination of the last byte.
    last: Option<Destination>,
}

/// The destination of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Destination {
    Reasoning,
    /// Visible text, or markup of the answer.
    Rest,
    /// A part of a call, which belongs to the rest.
    Call,
    Nowhere,
    /// White space between items, which belongs to the rest if it follows the rest.
    Between,
    /// Text without its own meaning, which belongs to the rest if it follows a part of a call.
    AfterCall,
}

impl Destination {
    const fn is_rest(self) -> bool {
        matches!(self, Self::Rest | Self::Call)
    }
}

/// The effect of an edge on reasoning.
#[derive(Debug, Clone, Copy)]
struct Effect {
    /// Whether reasoning is open after the edge, if the edge decides that.
    reasoning: Option<bool>,
    /// Whether the marker belongs to reasoning.
    of_reasoning: bool,
}

impl Effect {
    fn of(edge: &Edge) -> Self {
        let reasoning = match edge.then {
            Then::Enter(to) | Then::Switch(to) => Some(to == Channel::REASONING),
            Then::Leave => Some(false),
            Then::Erase | Then::Body(..) => None,
        };
        let closes = edge.orphan || edge.then == Then::Leave;
        Self { reasoning, of_reasoning: closes || reasoning == Some(true) }
    }
}

/// A sink that records the destination of each byte.
struct Fate<'f> {
    fates: &'f mut Fates,
    effects: &'f [Effect],
    /// The destination of markers of the answer.
    markers: Option<Destination>,
    /// The destination of text that is dropped.
    dropped: Destination,
}

impl Sink for Fate<'_> {
    fn event(&mut self, event: Event<'_>) {
        let Some((channel, text)) = event.as_text() else {
            if matches!(event, Event::CallStart { .. }) {
                self.fates.thinking = Some(false);
            }
            return;
        };
        let reasoning = channel == Channel::REASONING;
        self.fates.thinking = Some(reasoning);
        let to = if reasoning { Destination::Reasoning } else { Destination::Rest };
        self.fates.emitted.push_back((to, text.len() as u64));
    }

    fn account(&mut self, Span { kind, at, len }: Span) {
        let to = match kind {
            SpanKind::Markup => Destination::Nowhere,
            SpanKind::Framing => Destination::Between,
            SpanKind::Body => Destination::Call,
            SpanKind::Dropped => self.dropped,
        };
        let spans = &mut self.fates.spans;
        let place = spans.partition_point(|(begin, ..)| *begin <= at);
        spans.insert(place, (at, at + len, to));
    }

    fn trace(&mut self, trace: Trace) {
        match trace {
            Trace::Matched { edge, at, len } => {
                let Some(effect) = self.effects.get(edge) else { return };
                let Effect { reasoning, of_reasoning } = *effect;
                self.fates.thinking = reasoning.or(self.fates.thinking);
                if let Some(to) = self.markers.filter(|_| !of_reasoning) {
                    self.fates.keep(at, len, to);
                }
            }
            // A section without calls ends with markup that belongs to its beginning.
            Trace::Empty { at, len } => self.fates.keep(at, len, Destination::Rest),
            _ => {}
        }
    }
}

impl Fates {
    /// Sets the destination of the spans of a range.
    fn keep(&mut self, at: u64, len: u64, to: Destination) {
        let within = |span: &&mut (u64, u64, _)| at <= span.0 && span.1 <= at + len;
        self.spans.iter_mut().filter(within).for_each(|span| span.2 = to);
    }

    /// Gives the first `len` bytes to `to`.
    fn give(&mut self, len: u64, to: Destination, (reasoning, rest): &mut Pieces) {
        let end = usize::try_from(len).unwrap_or(usize::MAX).min(self.text.len());
        let end = (0..=end).rev().find(|end| self.text.is_char_boundary(*end)).unwrap_or(0);
        let bytes = self.text.drain(..end);
        let kept = match to {
            Destination::Between => self.last.is_some_and(Destination::is_rest),
            Destination::AfterCall => self.last == Some(Destination::Call),
            to => to.is_rest(),
        };
        match to {
            Destination::Reasoning => reasoning.extend(bytes),
            _ if kept => rest.extend(bytes),
            _ => drop(bytes),
        }
        if !matches!(to, Destination::Between | Destination::AfterCall) {
            self.last = Some(to);
        }
        self.at = self.at.saturating_add(len);
    }

    /// Returns the destination of the next byte, if it is known.
    fn next(&self) -> Option<Destination> {
        let span = self.spans.front().filter(|span| span.0 <= self.at).map(|span| span.2);
        span.or_else(|| self.emitted.front().map(|(to, _)| *to))
    }

    /// Returns all bytes whose destination is known. If `lead`, stops before the first byte of the
    /// rest.
    fn settle(&mut self, lead: bool) -> Pieces {
        let mut pieces = Pieces::default();
        while !(lead && self.next().is_some_and(Destination::is_rest)) {
            if let Some(&(begin, end, to)) = self.spans.front().filter(|span| span.0 <= self.at) {
                self.spans.pop_front();
                self.give(end.saturating_sub(begin.max(self.at)), to, &mut pieces);
                continue;
            }
            let next = self.spans.front().map_or(u64::MAX, |span| span.0);
            let Some((to, left)) = self.emitted.front_mut() else { break };
            let (to, len) = (*to, (*left).min(next - self.at));
            *left -= len;
            if *left == 0 {
                self.emitted.pop_front();
            }
            self.give(len, to, &mut pieces);
        }
        pieces
    }
}

impl PySplitter {
    /// Runs `read`. Text that the guard drops goes to the destination `dropped`.
    fn run(
        &mut self,
        dropped: Destination,
        read: impl FnOnce(&mut Guard, &mut Fate<'_>) -> Result<(), LimitError>,
    ) -> (Result<(), LimitError>, &mut Fates) {
        // Headers of messages show what follows; other markers can only show the end of a call.
        let messages = self.guard.grammar().is_some_and(Grammar::has_messages);
        let marker = if messages { Destination::Rest } else { Destination::AfterCall };
        let markers = self.keep_markup.then_some(marker);
        let Self { guard, fates, effects, .. } = self;
        let mut sink = Fate { fates, effects, markers, dropped };
        (read(guard, &mut sink), fates)
    }

    /// Feeds text, by the ids of its tokens if there are any, and returns the text that is certain
    /// after it.
    fn feed(
        &mut self,
        py: Python<'_>,
        lead: bool,
        (text, ids): (&str, Option<&[u32]>),
    ) -> PyResult<Pieces> {
        let divided = ids.map(|ids| divided(self.texts.as_mut(), text, ids)).transpose()?;
        self.fates.text.push_str(divided.as_ref().map_or(text, |divided| divided.text()));
        let (result, fates) = self.run(Destination::Rest, |guard, sink| match &divided {
            None => guard.push(text, sink),
            Some(divided) => divided.tokens().try_for_each(|token| guard.push_token(token, sink)),
        });
        let pieces = fates.settle(lead);
        match result {
            Ok(()) => Ok(pieces),
            Err(error) => Err(stream_error(py, error, pieces)),
        }
    }

    /// Ends the message. Text that the guard drops goes to the destination `dropped`.
    fn end(&mut self, dropped: Destination, end: End) -> (Result<(), LimitError>, &mut Fates) {
        let waiting = waiting(&mut self.texts);
        self.fates.text.push_str(&waiting);
        self.run(dropped, |guard, sink| finish_after(guard, (&waiting, end), sink))
    }
}

#[pymethods]
impl PySplitter {
    /// Creates a splitter. See `Settings` for the keyword arguments.
    #[new]
    #[pyo3(signature = (**settings))]
    fn new(settings: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let read = Settings::new(settings)?;
        let (profile, guard) = read.guard(Ids::counting())?;
        let texts = read.token_text(&guard);
        let effects = guard.edges().iter().map(Effect::of).collect();
        let reopening = match profile.tool_in_reasoning {
            InReasoning::Suspend => reasoning_tags(settings)?.0,
            _ => None,
        };
        let whole = match reasoning_of(settings)? {
            None if profile.response_template.is_some() => None,
            None if guard.grammar().is_some_and(Grammar::has_messages) => None,
            None => Some(String::new()),
            Some(Reasoning::Format(format))
                if format.open.is_empty() && format.close.is_empty() =>
            {
                Some(format.prepend.unwrap_or_default().into_owned())
            }
            Some(_) => None,
        };
        let fates = Fates::default();
        Ok(Self { guard, fates, texts, effects, keep_markup: false, reopening, whole })
    }

    /// Feeds the next piece of text and returns the reasoning and the rest that are certain. `ids`
    /// are the ids of its tokens.
    #[pyo3(signature = (text, ids = None))]
    fn push(&mut self, py: Python<'_>, text: &str, ids: Option<Vec<u32>>) -> PyResult<Pieces> {
        if let Some(first) = &mut self.whole {
            return Ok((String::new(), std::mem::take(first) + text));
        }
        self.feed(py, false, (text, ids.as_deref()))
    }

    /// Ends the message and returns its last reasoning and rest.
    #[pyo3(signature = (end = "stop"))]
    fn finish(&mut self, py: Python<'_>, end: &str) -> PyResult<Pieces> {
        let end = self::end(end)?;
        let (result, fates) = self.end(Destination::AfterCall, end);
        let mut pieces = fates.settle(false);
        fates.give(u64::MAX, Destination::AfterCall, &mut pieces);
        result.map(|()| pieces.clone()).map_err(|error| stream_error(py, error, pieces))
    }

    /// Feeds the next piece of text while the message may still begin with reasoning. The first
    /// piece of the rest includes all later text, because another parser reads from there on.
    #[pyo3(signature = (text, ids = None))]
    fn push_lead(&mut self, py: Python<'_>, text: &str, ids: Option<Vec<u32>>) -> PyResult<Pieces> {
        if self.whole.is_some() {
            return self.push(py, text, ids);
        }
        let (reasoning, mut rest) = self.feed(py, true, (text, ids.as_deref()))?;
        if self.fates.next().is_some_and(Destination::is_rest) {
            // Tell the other parser that reasoning continues after this call.
            let open = self.fates.last == Some(Destination::Reasoning);
            rest.extend(self.reopening.as_deref().filter(|_| open));
            rest.push_str(&std::mem::take(&mut self.fates.text));
            rest.push_str(&waiting(&mut self.texts));
        }
        Ok((reasoning, rest))
    }

    /// Ends a message for which `push_lead` has returned no rest. The rest then has only visible
    /// text.
    fn finish_lead(&mut self, py: Python<'_>, end: &str) -> PyResult<Pieces> {
        let end = self::end(end)?;
        let (result, fates) = self.end(Destination::Nowhere, end);
        for span in &mut fates.spans {
            span.2 = Destination::Nowhere;
        }
        let pieces = fates.settle(false);
        result.map(|()| pieces.clone()).map_err(|error| stream_error(py, error, pieces))
    }

    /// Returns an independent copy with the same state.
    fn copy(&self) -> Self {
        self.clone()
    }

    /// Whether reasoning is open, or `None` before the stream shows it.
    #[getter]
    fn thinking(&self) -> Option<bool> {
        self.fates.thinking
    }
}
