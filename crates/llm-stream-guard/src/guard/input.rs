//! The input stages of a guard, which process text before the cursor reads it.

use std::sync::Arc;

use jail_match::{
    Channel, Diagnostic, DiagnosticKind, End, Event, LimitError, ServerItem, Sink, Span, SpanKind,
    Utf8,
};

use super::{
    collapse::Watch,
    cursor::Cursor,
    markers_held::MarkersHeld,
    message_end::{EndWatch, MessageEnd},
    output::Chain,
    remap_stage::RemapStage,
    tokens::Token,
};
use crate::stop::{StopStrings, Stopped};

/// The input stages, in their order. A stage that is not configured is `None`.
#[derive(Debug, Clone, Default)]
pub(super) struct Input {
    pub(super) watch: Option<Box<Watch>>,
    pub(super) wire: Option<Box<RemapStage>>,
    pub(super) text: TextInput,
}

/// The stages for canonical text.
#[derive(Debug, Clone, Default)]
pub(super) struct TextInput {
    stop: Option<Box<StopStage>>,
    /// Visible text that is emitted before the first text of the model.
    prepend: Option<Arc<Box<str>>>,
    first: FirstText,
    /// How the message ended, so that no more text reaches the cursor.
    ended: Option<MessageEnd>,
}

/// The treatment of the model's first text.
#[derive(Debug, Clone, Copy, Default)]
struct FirstText {
    /// Whether a text that an option puts first was emitted.
    prepended: bool,
    /// Whether the answer to the request is JSON, although the prompt may have opened reasoning.
    asks_json: bool,
    /// Whether the first visible character can still be that of the JSON.
    may_be_json: bool,
}

/// The stop strings, and the marker tokens in the text that they hold back.
#[derive(Debug, Clone)]
struct StopStage {
    strings: StopStrings,
    markers: MarkersHeld,
}

impl Input {
    /// Whether all stages are absent or have nothing left to do.
    pub(super) fn is_passed(&self) -> bool {
        let Self { watch, wire, text: TextInput { stop, prepend, first, .. } } = self;
        let prepended = prepend.is_none() || first.prepended;
        watch.is_none() && stop.is_none() && wire.is_none() && prepended && !first.may_be_json
    }

    pub(super) fn reset(&mut self) {
        let Self { watch, wire, text: TextInput { stop, first, ended, .. } } = self;
        watch.iter_mut().for_each(|stage| stage.reset());
        wire.iter_mut().for_each(|stage| stage.reset());
        for StopStage { strings, markers } in stop.iter_mut().map(|stage| &mut **stage) {
            strings.reset();
            markers.reset();
        }
        first.reset();
        *ended = None;
    }

    /// Returns the result of every push after a collapse ended the message.
    pub(super) fn collapsed(&self) -> Option<Result<(), LimitError>> {
        self.watch.as_ref().and_then(|watch| watch.over())
    }

    pub(super) fn stopped(&self) -> Option<Stopped> {
        self.text.stop.as_ref().and_then(|stop| stop.strings.stopped())
    }

    /// Returns the stop string that ended the message.
    pub(super) fn stop_string(&self) -> Option<&str> {
        let stop = &self.text.stop.as_ref()?.strings;
        stop.stopped().map(|stopped| stop.text(stopped.string))
    }

    /// Whether visible text is still to be emitted before the model's.
    pub(super) fn puts_first(&self) -> bool {
        self.text.prepend.is_some()
    }

    /// Whether a stage ended the message.
    pub(super) fn ended(&self) -> bool {
        self.text.ended()
    }

    /// Returns how the message ended.
    pub(super) fn message_end(&self) -> Option<MessageEnd> {
        self.text.ended
    }

    /// Returns the bytes of text held by the stages.
    pub(super) fn held(&self) -> usize {
        self.wire.as_ref().map_or(0, |wire| wire.held()).saturating_add(self.buffered())
    }

    /// Bytes in buffers that grow with input.
    pub(super) fn buffered(&self) -> usize {
        let stop = self.text.stop.as_ref();
        stop.map_or(0, |stop| stop.strings.held().saturating_add(stop.markers.held()))
    }

    /// Reads the next text, up to a collapse that ends the message.
    pub(super) fn push(
        &mut self,
        token: Token<'_>,
        cursor: &mut Cursor,
        out: &mut Chain<'_>,
    ) -> Result<(), LimitError> {
        let Some(watch) = &mut self.watch else { return self.decode(token, cursor, out) };
        if let Some(over) = watch.over() {
            return over;
        }
        let counts = watch.see(token.text);
        let whole = counts == token.text.len();
        let seen = if whole { token } else { Token::of_text(&token.text[..counts]) };
        self.decode(seen, cursor, out)?;
        match self.collapsed() {
            None => Ok(()),
            Some(over) => {
                // Repeated openers must not become an answer or a whole call.
                self.end(End::Aborted, cursor, out)?;
                over
            }
        }
    }

    fn decode(
        &mut self,
        token: Token<'_>,
        cursor: &mut Cursor,
        out: &mut Chain<'_>,
    ) -> Result<(), LimitError> {
        let Self { wire, text, .. } = self;
        match wire {
            None => text.push(token, cursor, out),
            Some(wire) if out.acts_on(token) => {
                // A marker token is not a part of a delimiter.
                wire.finish(text, cursor, out)?;
                wire.pass(token.text);
                text.push(token, cursor, out)
            }
            Some(wire) => wire.push(token.text, text, cursor, out),
        }
    }

    /// Emits a scalar whose other bytes did not come.
    pub(super) fn end_scalar(
        &mut self,
        utf8: &mut Utf8,
        cursor: &mut Cursor,
        out: &mut Chain<'_>,
    ) -> Result<(), LimitError> {
        let mut pushed = Ok(());
        utf8.finish(|text| pushed = self.push(Token::of_text(text), cursor, out));
        pushed
    }

    /// Emits text held as the start of a stop string or a delimiter as text.
    pub(super) fn settle(
        &mut self,
        cursor: &mut Cursor,
        out: &mut Chain<'_>,
    ) -> Result<(), LimitError> {
        if let Some(wire) = &mut self.wire {
            wire.finish(&mut self.text, cursor, out)?;
        }
        self.text.stopping(|stop, on| stop.finish(on), cursor, out)
    }

    /// Skips the text that an option puts before the model's first text.
    pub(super) fn skip_prepended(&mut self) {
        self.text.first.prepended = true;
    }

    /// Ends the message and releases held text.
    pub(super) fn finish(
        &mut self,
        end: End,
        cursor: &mut Cursor,
        out: &mut Chain<'_>,
    ) -> Result<(), LimitError> {
        match self.collapsed() {
            Some(over) => over,
            None => self.end(end, cursor, out),
        }
    }

    fn end(
        &mut self,
        end: End,
        cursor: &mut Cursor,
        out: &mut Chain<'_>,
    ) -> Result<(), LimitError> {
        if let Some(wire) = &mut self.wire {
            wire.finish(&mut self.text, cursor, out)?;
        }
        self.text.finish(end, cursor, out)
    }
}

impl TextInput {
    pub(super) fn new(stop: Option<StopStrings>, prepend: Option<impl AsRef<str>>) -> Self {
        let stage = |strings| Box::new(StopStage { strings, markers: MarkersHeld::default() });
        let prepend = prepend.map(|text| Arc::new(Box::from(text.as_ref())));
        Self { stop: stop.map(stage), prepend, ..Self::default() }
    }

    /// Reads an answer that begins with a bracket as content, if `asks` is set.
    pub(super) fn of_json(mut self, asks: bool) -> Self {
        self.first.asks_json = asks;
        self.first.reset();
        self
    }

    /// Whether no more text reaches the cursor.
    pub(super) fn ended(&self) -> bool {
        self.ended.is_some()
    }

    pub(super) fn push(
        &mut self,
        token: Token<'_>,
        cursor: &mut Cursor,
        out: &mut Chain<'_>,
    ) -> Result<(), LimitError> {
        if let Some(StopStage { strings, markers }) = self.stop.as_deref_mut() {
            if strings.stopped().is_none() && out.acts_on(token) {
                markers.note(strings.given(), token.text);
            }
            return self.stopping(|stop, on| stop.push(token.text, on), cursor, out);
        }
        let prepend = self.prepend.as_ref().map(|text| &***text);
        self.first.prepend(prepend, token.text, out);
        self.first.push(token, cursor, out)
    }

    /// Searches for stop strings, reads the text before them, and accounts for the rest.
    fn stopping(
        &mut self,
        step: impl FnOnce(&mut StopStrings, &mut dyn FnMut(&str)),
        cursor: &mut Cursor,
        out: &mut Chain<'_>,
    ) -> Result<(), LimitError> {
        let Self { stop, prepend, first, .. } = self;
        let Some(StopStage { strings: stop, markers }) = stop.as_deref_mut() else { return Ok(()) };
        let (before, mut result) = (stop.stopped(), Ok(()));
        let prepend = prepend.as_ref().map(|text| &***text);
        let mut read = |token: Token<'_>| {
            if result.is_ok() {
                first.prepend(prepend, token.text, out);
                result = first.push(token, cursor, out);
            }
        };
        step(stop, &mut |text| markers.pass(text, &mut read));
        if stop.held() == 0 || stop.stopped().is_some() {
            markers.cut(&mut read);
        }
        let Some(stopped) = stop.stopped() else { return result };
        if result.is_ok() {
            // All received text is certain now.
            result = self.end_cursor(End::Stop, cursor, out);
        }
        account(before, stopped, out);
        result
    }

    fn finish(
        &mut self,
        end: End,
        cursor: &mut Cursor,
        out: &mut Chain<'_>,
    ) -> Result<(), LimitError> {
        let result = self.stopping(|stop, on| stop.finish(on), cursor, out);
        let stopped = self.stop.as_ref().and_then(|stop| stop.strings.stopped());
        let Some(stopped) = stopped else {
            return result.and_then(|()| self.end_cursor(end, cursor, out));
        };
        // This also applies after a limit failed the message: its limit may have been reported
        // already.
        if stopped.dropped > 0 {
            let kind = DiagnosticKind::AfterStop;
            out.event(Diagnostic::new(kind, stopped.end, stopped.dropped).into());
        }
        result
    }

    /// Ends the message at the cursor. A second call has no effect.
    fn end_cursor(
        &mut self,
        end: End,
        cursor: &mut Cursor,
        out: &mut Chain<'_>,
    ) -> Result<(), LimitError> {
        if self.ended.is_some() {
            return Ok(());
        }
        let mut watch = EndWatch::new(cursor.has_begun_call(), out);
        let finished = cursor.finish(end, &mut watch);
        self.ended = Some(watch.message_end(end, cursor.ends_in_reasoning(end)));
        out.report_mixed();
        finished?;
        out.cursor_ended(end, cursor.is_unclosed());
        Ok(())
    }
}

impl FirstText {
    fn reset(&mut self) {
        (self.prepended, self.may_be_json) = (false, self.asks_json);
    }

    /// Emits the text that an option puts before the model's first text.
    fn prepend(&mut self, prepend: Option<&str>, text: &str, out: &mut Chain<'_>) {
        if let Some(prepend) = prepend
            && !self.prepended
            && !text.is_empty()
        {
            self.prepended = true;
            out.event(Event::Content(prepend));
        }
    }

    /// Reads the next text. A bracket as the first visible character begins the JSON that the
    /// request asks for, and no reasoning.
    fn push(
        &mut self,
        token: Token<'_>,
        cursor: &mut Cursor,
        out: &mut Chain<'_>,
    ) -> Result<(), LimitError> {
        let visible = |text: &str| text.find(|scalar: char| !scalar.is_ascii_whitespace());
        let first = if self.may_be_json { visible(token.text) } else { None };
        self.may_be_json &= first.is_none();
        let json = first.and_then(|at| token.text.split_at_checked(at));
        let Some((blanks, rest)) = json.filter(|(_, rest)| rest.starts_with(['{', '['])) else {
            return cursor.push_token(token, out);
        };
        cursor.push_token(Token::of_text(blanks), out)?;
        cursor.server_item(ServerItem::Channel(Channel::CONTENT), out)?;
        cursor.push_token(Token { text: rest, ..token }, out)
    }
}

/// Accounts for a stop string and the text after it, since `before`.
fn account(before: Option<Stopped>, now: Stopped, out: &mut Chain<'_>) {
    let mut span = |kind, at, len| {
        if len > 0 {
            out.account(Span { kind, at, len });
        }
    };
    if before.is_none() {
        span(SpanKind::Markup, now.shown, now.end - now.shown);
    }
    let dropped = before.map_or(0, |before| before.dropped);
    span(SpanKind::Dropped, now.end + dropped, now.dropped - dropped);
}
