//! The parser: finds where regions begin and end, and hands them their text.

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

/// Reads one message by a template, in chunks.
///
/// Text of the field `content` is content. Text of `thinking`, `reasoning_content` and `reasoning`
/// is reasoning. The field `tool_calls` becomes calls. Any other field becomes text of a separate
/// channel ([`ResponseTemplate::channel`]); values that are not strings are written as JSON. Events
/// do not depend on how the text was cut.
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
    /// A parser of messages written by `template`.
    #[must_use]
    pub fn new(template: &ResponseTemplate) -> Self {
        let watches: Arc<[Watch]> = Watch::all(&template.inner).into();
        let state = State::new(template, &watches, Calls::new(Tools::none(), Options::default()));
        let template = template.clone();
        let (settings, tools, prompt) = (TemplateSettings::default(), Tools::none(), Arc::from(""));
        Self { template, watches, settings, tools, prompt, state }
    }

    /// With other settings. To be called before anything is read.
    #[must_use]
    pub fn settings(self, settings: TemplateSettings) -> Self {
        Self { settings, ..self }
    }

    /// With the tools the request declared: arguments that are text become what their schemas
    /// say. To be called before anything is read.
    #[must_use]
    pub fn tools(mut self, tools: Tools) -> Self {
        let options = self.state.calls.options().clone();
        self.state.calls = Calls::new(tools.clone(), options);
        Self { tools, ..self }
    }

    /// With policies for calls: ids, parallel calls, which calls are wanted, unknown tools. To be
    /// called before anything is read.
    ///
    /// # Errors
    /// An option that is set and concerns families alone.
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

    /// Makes ids as `ids` says from here on.
    pub fn set_ids(&mut self, ids: Ids) {
        self.state.calls.set_ids(ids);
    }

    /// The policies for calls.
    #[must_use]
    pub const fn call_options(&self) -> &Options {
        self.state.calls.options()
    }

    /// With the prompt, whose last turn may have begun the message. To be called last, before
    /// anything is read. Nothing of the prompt is emitted, but a call that it began.
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
        self.read(chunk, &mut ByRef(sink));
    }

    fn read(&mut self, chunk: &str, sink: &mut dyn Sink) {
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

    /// The message is over; how does not matter, but that an open call is incomplete.
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

    /// Makes the parser as new, its prompt read.
    pub fn reset(&mut self) {
        let mut calls = self.state.calls.clone();
        calls.reset();
        self.state = State::new(&self.template, &self.watches, calls);
        self.read_prompt();
    }

    /// Another message begins in the same stream, without a prompt: this one ends. Places in events
    /// go on; regions and the message are those of the new one.
    pub fn next_message<S: Sink + ?Sized>(&mut self, sink: &mut S) {
        self.end(&mut ByRef(sink));
        let State { calls, base, from, origin, .. } = &self.state;
        let origin = origin.saturating_add(base.saturating_sub(*from));
        self.state = State::new(&self.template, &self.watches, calls.clone());
        self.state.origin = origin;
    }

    /// The regions that closed, if [`TemplateSettings::keep_regions`] says so: those of the prompt first.
    #[must_use]
    pub fn regions(&self) -> &[FieldRegion] {
        &self.state.record
    }

    /// The message as the reference implementation gives it: an object with a member for each
    /// field.
    ///
    /// # Errors
    /// [`TemplateSettings::keep_regions`] is off, or fields that are not optional are missing.
    pub fn message(&self) -> Result<JsonObject, MessageError> {
        if !self.settings.keep_regions {
            return Err(MessageError::RegionsNotKept);
        }
        Ok(message::message(&self.template, &self.state.record)?)
    }

    /// Returns the text that was received and neither emitted nor accounted for.
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

    /// Live bytes in buffers that grow with the input.
    #[must_use]
    pub fn buffered(&self) -> usize {
        self.state.buffer.len().saturating_add(self.state.current.buffered())
    }

    /// The work done so far: steps of patterns and characters.
    #[must_use]
    pub fn work(&self) -> u64 {
        self.state.searches.iter().fold(self.state.base, |sum, one| sum.saturating_add(one.work))
    }

    /// Calls `act` with the region that is open and its context.
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
