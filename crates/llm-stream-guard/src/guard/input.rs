//! The input stages of a guard: what is done with text before the cursor reads it.

use std::sync::Arc;

use jail_match::{Diagnostic, DiagnosticKind, End, Event, LimitError, Sink, Span, SpanKind};
use wire_remap::{Piece, StreamDecoder};

use super::{collapse::Watch, cursor::Cursor, output::Chain};
use crate::stop::{StopStrings, Stopped};

/// What is done with text, in this order. A stage that is not configured is none.
#[derive(Debug, Clone, Default)]
pub(super) struct Input {
    pub(super) watch: Option<Box<Watch>>,
    pub(super) stop: Option<Box<StopStrings>>,
    pub(super) decoder: Option<Box<StreamDecoder>>,
    /// Visible text that comes before the first of the model.
    pub(super) prepend: Option<Arc<str>>,
    pub(super) prepended: bool,
    /// A stage ended the message: nothing reaches the cursor any more.
    pub(super) ended: bool,
}

impl Input {
    /// Whether no stage is there, or none that has anything left to do.
    pub(super) fn is_passed(&self) -> bool {
        let Self { watch, stop, decoder, prepend, prepended, .. } = self;
        let prepended = prepend.is_none() || *prepended;
        watch.is_none() && stop.is_none() && decoder.is_none() && prepended
    }

    pub(super) fn reset(&mut self) {
        let Self { watch, stop, decoder, prepended, ended, .. } = self;
        watch.iter_mut().for_each(|stage| stage.reset());
        stop.iter_mut().for_each(|stage| stage.reset());
        decoder.iter_mut().for_each(|stage| stage.reset());
        (*prepended, *ended) = (false, false);
    }

    /// What every push comes to since a collapse ended the message.
    pub(super) fn collapsed(&self) -> Option<Result<(), LimitError>> {
        self.watch.as_ref().and_then(|watch| watch.over())
    }

    pub(super) fn stopped(&self) -> Option<Stopped> {
        self.stop.as_ref().and_then(|stop| stop.stopped())
    }

    /// Bytes of text held.
    pub(super) fn held(&self) -> usize {
        self.decoder.as_ref().map_or(0, |decoder| decoder.held())
            + self.stop.as_ref().map_or(0, |stop| stop.held())
    }

    /// Bytes in buffers that grow with input.
    pub(super) fn buffered(&self) -> usize {
        self.stop.as_ref().map_or(0, |stop| stop.held())
    }

    /// Reads the next text as far as it goes before a collapse that ends the message.
    pub(super) fn push(
        &mut self,
        text: &str,
        cursor: &mut Cursor,
        out: &mut Chain<'_>,
    ) -> Result<(), LimitError> {
        let Some(watch) = &mut self.watch else { return self.push_watched(text, cursor, out) };
        if let Some(over) = watch.over() {
            return over;
        }
        let counts = watch.see(text);
        self.push_watched(&text[..counts], cursor, out)?;
        match self.collapsed() {
            None => Ok(()),
            Some(over) => {
                // Nothing of the garbage becomes an answer or a whole call.
                self.end(End::Aborted, cursor, out)?;
                over
            }
        }
    }

    fn push_watched(
        &mut self,
        text: &str,
        cursor: &mut Cursor,
        out: &mut Chain<'_>,
    ) -> Result<(), LimitError> {
        if self.stop.is_some() {
            return self.stopping(|stop, on| stop.push(text, on), cursor, out);
        }
        self.place_first(text, out);
        decode(&mut self.decoder, text, cursor, out)
    }

    /// Before the model's first text comes what is to stand before it.
    fn place_first(&mut self, text: &str, out: &mut Chain<'_>) {
        place_first(&self.prepend, &mut self.prepended, text, out);
    }

    /// Runs the stop strings and reads what they let through; accounts for what they do not.
    fn stopping(
        &mut self,
        step: impl FnOnce(&mut StopStrings, &mut dyn FnMut(&str)),
        cursor: &mut Cursor,
        out: &mut Chain<'_>,
    ) -> Result<(), LimitError> {
        let Self { stop, decoder, prepend, prepended, .. } = self;
        let Some(stop) = stop else { return Ok(()) };
        let before = stop.stopped();
        let mut result = Ok(());
        step(stop, &mut |text| {
            if result.is_ok() {
                place_first(prepend, prepended, text, out);
                result = decode(decoder, text, cursor, out);
            }
        });
        let Some(stopped) = stop.stopped() else { return result };
        if result.is_ok() {
            // All that came is certain now.
            result = self.end_cursor(End::Stop, cursor, out);
        }
        // With wire decoding the cursor counts another text's bytes.
        if self.decoder.is_none() {
            account(before, stopped, out);
        }
        result
    }

    /// Ends the message.
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
        self.stopping(|stop, on| stop.finish(on), cursor, out)?;
        let Some(stopped) = self.stopped() else { return self.end_cursor(end, cursor, out) };
        if stopped.dropped > 0 {
            let kind = DiagnosticKind::AfterStop;
            out.event(Diagnostic::new(kind, stopped.end, stopped.dropped).into());
        }
        Ok(())
    }

    /// Everything that was let through is read to its end. A second time does nothing.
    fn end_cursor(
        &mut self,
        end: End,
        cursor: &mut Cursor,
        out: &mut Chain<'_>,
    ) -> Result<(), LimitError> {
        if std::mem::replace(&mut self.ended, true) {
            return Ok(());
        }
        if let Some(decoder) = &mut self.decoder {
            decoded(|on| decoder.finish(on), cursor, out)?;
        }
        cursor.finish(end, out)?;
        out.cursor_ended(end);
        Ok(())
    }
}

fn place_first(prepend: &Option<Arc<str>>, done: &mut bool, text: &str, out: &mut Chain<'_>) {
    if let Some(prepend) = prepend
        && !*done
        && !text.is_empty()
    {
        *done = true;
        out.event(Event::Content(prepend));
    }
}

/// Reads text through the wire decoder, if there is one.
fn decode(
    decoder: &mut Option<Box<StreamDecoder>>,
    text: &str,
    cursor: &mut Cursor,
    out: &mut Chain<'_>,
) -> Result<(), LimitError> {
    match decoder {
        None => cursor.push(text, out),
        Some(decoder) => decoded(|on| decoder.push(text, on), cursor, out),
    }
}

/// Runs a step of the wire decoder and reads what it lets through.
fn decoded(
    step: impl FnOnce(&mut dyn FnMut(Piece<'_>)),
    cursor: &mut Cursor,
    out: &mut Chain<'_>,
) -> Result<(), LimitError> {
    let mut result = Ok(());
    step(&mut |piece| {
        if result.is_ok() {
            result = cursor.read(piece, out);
        }
    });
    result
}

/// Accounts for a stop string and what followed it, since `before`.
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
