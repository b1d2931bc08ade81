//! The parser: the text of a message in chunks, and the regions in it.

use alloc::sync::Arc;

use jail_match::{ByRef, DiagnosticKind, End, Event, Held, HeldKind, Sink};
use toolcall_parsers::{CallLimits, Calls, Ids, Options, Repair, StopAfter, Tolerance, Tools};

use super::{
    emitter::Emitter,
    region::{Current, RegionContext},
    settings::{Boundaries, NoAnchor, TemplateSettings, UnusedOption},
    state::{Phase, State},
    watch::Watch,
};
use crate::{
    json::JsonObject,
    message::{self, FieldRegion, MessageError},
    template::ResponseTemplate,
};

/// A parser of one message, which arrives in chunks, by a template.
///
/// | field | events |
/// |---|---|
/// | `content` | content |
/// | `thinking`, `reasoning_content`, `reasoning` | reasoning |
/// | `tool_calls` | calls |
/// | any other | text of a separate channel ([`ResponseTemplate::channel`]) |
///
/// A value that is not a string is written as JSON. Events do not depend on how the text was cut.
#[derive(Debug, Clone)]
pub struct TemplateParser {
    pub(super) template: ResponseTemplate,
    pub(super) watches: Arc<[Watch]>,
    pub(super) settings: TemplateSettings,
    pub(super) tools: Tools,
    /// The part of the prompt that was read.
    pub(super) prompt: Arc<str>,
    pub(super) state: State,
}

impl TemplateParser {
    /// Creates a parser of messages that are written by `template`.
    #[must_use]
    pub fn new(template: &ResponseTemplate) -> Self {
        let watches: Arc<[Watch]> = Watch::all(&template.inner).into();
        let state = State::new(template, &watches, Calls::new(Tools::none(), Options::default()));
        let template = template.clone();
        let (settings, tools, prompt) = (TemplateSettings::default(), Tools::none(), Arc::from(""));
        Self { template, watches, settings, tools, prompt, state }
    }

    /// Sets the settings. Call this before any text is read.
    #[must_use]
    pub fn settings(self, settings: TemplateSettings) -> Self {
        Self { settings, ..self }
    }

    /// Sets the tools that the request declared: text arguments are cast to the types of their
    /// schemas. Call this before any text is read.
    #[must_use]
    pub fn tools(mut self, tools: Tools) -> Self {
        let options = self.state.calls.options().clone();
        self.state.calls = Calls::new(tools.clone(), options);
        Self { tools, ..self }
    }

    /// Sets the policies of calls: ids, parallel calls, wanted calls, unknown tools. Call this
    /// before any text is read.
    ///
    /// # Errors
    /// Returns an error that names an option which has no effect with templates.
    pub fn options(mut self, options: Options) -> Result<Self, UnusedOption> {
        let unused = [
            ("repair", options.repair != Repair::default()),
            ("stop", options.stop != StopAfter::default()),
            ("tolerance", options.tolerance != Tolerance::default()),
            ("limits", options.limits != CallLimits::default()),
        ];
        if let Some((name, _)) = unused.into_iter().find(|(_, set)| *set) {
            return Err(UnusedOption { name });
        }
        self.state.calls = Calls::new(self.tools.clone(), options);
        Ok(self)
    }

    /// Sets the source of ids for the next calls.
    pub fn set_ids(&mut self, ids: Ids) {
        self.state.calls.set_ids(ids);
    }

    /// Returns the calls of the message, with the declared tools and the options.
    #[must_use]
    pub const fn calls(&self) -> &Calls {
        &self.state.calls
    }

    /// Reads the prompt, whose last turn may have begun the message. Call this last, before any
    /// text is read. Text of the prompt is not emitted. A call that began in the prompt is emitted
    /// from its start.
    #[must_use]
    pub fn prompt(mut self, prompt: &str) -> Self {
        self.prompt = match (self.template.last_turn(prompt), self.settings.no_anchor) {
            (Some(turn), _) => turn.into(),
            (None, NoAnchor::Read) => prompt.into(),
            (None, NoAnchor::Ignore) => "".into(),
        };
        self.read_prompt();
        self
    }

    fn read_prompt(&mut self) {
        let prompt = Arc::clone(&self.prompt);
        self.state.from = prompt.len() as u64;
        self.push(&prompt, &mut |_: Event<'_>| {});
        self.state.calls.reset();
        self.state.current.end_prompt();
    }

    /// Returns the template of this parser.
    #[must_use]
    pub const fn template(&self) -> &ResponseTemplate {
        &self.template
    }

    /// Reads the next chunk. After [`TemplateParser::finish`], text is ignored.
    pub fn push<S: Sink + ?Sized>(&mut self, chunk: &str, sink: &mut S) {
        self.read_chunk(chunk, &mut ByRef(sink));
    }

    fn read_chunk(&mut self, chunk: &str, sink: &mut dyn Sink) {
        if self.state.phase == Phase::Finished || chunk.is_empty() {
            return;
        }
        if self.state.buffer.is_empty() {
            let kept = self.run(chunk, sink);
            self.state.buffer.push_str(&chunk[kept..]);
        } else {
            let mut text = core::mem::take(&mut self.state.buffer);
            text.push_str(chunk);
            let kept = self.run(&text, sink);
            text.drain(..kept);
            self.state.buffer = text;
        }
    }

    /// Ends the message. An open call is incomplete, whatever `end` is.
    pub fn finish<S: Sink + ?Sized>(&mut self, end: End, sink: &mut S) {
        let _ = end;
        self.end(&mut ByRef(sink));
    }

    fn end(&mut self, sink: &mut dyn Sink) {
        if self.state.phase == Phase::Finished {
            return;
        }
        if self.state.phase == Phase::Reading {
            self.state.phase = Phase::Ending;
        }
        let text = core::mem::take(&mut self.state.buffer);
        self.run(&text, sink);
        let (start, end) = (self.state.halted, self.state.base);
        let halted = self.state.phase == Phase::Halted;
        self.with_region(sink, |current, cx| {
            if halted {
                cx.out.dropped(DiagnosticKind::Halted, start, end);
            }
            current.close(true, cx);
        });
        self.state.phase = Phase::Finished;
    }

    /// Resets the parser to the end of its prompt.
    pub fn reset(&mut self) {
        let mut calls = self.state.calls.clone();
        calls.reset();
        self.state = State::new(&self.template, &self.watches, calls);
        self.read_prompt();
    }

    /// Ends the message and begins another in the same stream, without a prompt. Places in events
    /// continue. [`Self::regions`] and [`Self::message`] then describe the new message.
    pub fn next_message<S: Sink + ?Sized>(&mut self, sink: &mut S) {
        self.end(&mut ByRef(sink));
        let State { calls, base, from, origin, .. } = &self.state;
        let origin = origin.saturating_add(base.saturating_sub(*from));
        self.state = State::new(&self.template, &self.watches, calls.clone());
        self.state.origin = origin;
    }

    /// Returns the name of the field whose closer has not come. The end of the message closes no
    /// field. Fields without a closer are never open.
    #[must_use]
    pub fn open_field(&self) -> Option<&str> {
        let field = self.template.inner.fields.get(self.state.watch.checked_sub(1)?)?;
        field.close.as_ref().map(|_| field.name.as_str())
    }

    /// Returns the closed regions if [`TemplateSettings::keep_regions`] is set. Regions of the
    /// prompt come first.
    #[must_use]
    pub fn regions(&self) -> &[FieldRegion] {
        &self.state.record
    }

    /// Returns the message as the reference implementation does: an object with a member for each
    /// field.
    ///
    /// # Errors
    /// Returns an error if [`TemplateSettings::keep_regions`] is not set, or required fields are
    /// missing.
    pub fn message(&self) -> Result<JsonObject, MessageError> {
        if !self.settings.keep_regions {
            return Err(MessageError::RegionsNotKept);
        }
        Ok(message::message(&self.template, &self.state.record)?)
    }

    /// Returns the size and the reason of the text that was received and neither emitted nor
    /// accounted for.
    #[must_use]
    pub fn held(&self) -> Held {
        let State { buffer, done, current, phase, .. } = &self.state;
        let text = buffer.len().saturating_sub(*done);
        let inner = current.held(&self.template.inner);
        let kind = match (text, inner) {
            _ if matches!(phase, Phase::Halted | Phase::Finished) => return Held::default(),
            (0, 0) => HeldKind::Nothing,
            (1.., _) => HeldKind::Marker,
            (0, _) if current.streams(&self.template.inner) => HeldKind::Whitespace,
            (0, _) => HeldKind::Call,
        };
        Held { bytes: text.saturating_add(inner), kind }
    }

    /// Returns the number of bytes in buffers that grow with the input.
    #[must_use]
    pub fn buffered(&self) -> usize {
        self.state.buffer.len().saturating_add(self.state.current.buffered())
    }

    /// Returns the number of steps that patterns took and of characters that were read.
    #[must_use]
    pub fn work(&self) -> u64 {
        self.state.searches.iter().fold(self.state.base, |sum, one| sum.saturating_add(one.work))
    }

    /// Calls `act` with the current region and its context.
    pub(super) fn with_region(
        &mut self,
        sink: &mut dyn Sink,
        act: impl FnOnce(&mut Current, &mut RegionContext<'_>),
    ) {
        let mut current = core::mem::take(&mut self.state.current);
        let Self { template, settings, tools, state, .. } = self;
        let calls = &mut state.calls;
        let mut cx = RegionContext {
            inner: &template.inner,
            tools,
            seen: &mut state.seen,
            record: settings.keep_regions.then_some(&mut state.record),
            blanks: settings.blanks,
            region: settings.region,
            string_aware: settings.boundaries == Boundaries::StringAware,
            malformed: settings.malformed,
            out: Emitter { sink, calls, from: state.from, origin: state.origin },
        };
        act(&mut current, &mut cx);
        self.state.current = current;
    }
}
