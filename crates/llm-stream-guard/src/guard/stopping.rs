//! Stop strings in front of everything else.

use jail_match::{End, LimitError, Span, SpanKind};
use toolcall_parsers::{CallSink, Diagnostic, DiagnosticKind};

use super::Guard;
use crate::stop::{Stop, Stopped};

impl Guard {
    /// Runs the stop stage and feeds what it lets through; accounts for what it does not.
    pub(super) fn stopping<S: CallSink + ?Sized>(
        &mut self,
        step: impl FnOnce(&mut Stop, &mut dyn FnMut(&str)),
        sink: &mut S,
    ) -> Result<(), LimitError> {
        let Some(mut stop) = self.stop.take() else { return Ok(()) };
        let before = stop.stopped();
        let mut result = Ok(());
        step(&mut stop, &mut |text| {
            if result.is_ok() {
                result = self.push_on(text, sink);
            }
        });
        if let Some(stopped) = stop.stopped()
            // With wire decoding the cursor counts another text's bytes.
            && self.remap.is_none()
        {
            account(before, stopped, sink);
        }
        self.stop = Some(stop);
        result
    }

    /// Ends the stop stage; how the message ended.
    pub(super) fn finish_stop<S: CallSink + ?Sized>(
        &mut self,
        end: End,
        sink: &mut S,
    ) -> Result<End, LimitError> {
        self.stopping(|stop, on| stop.finish(on), sink)?;
        let Some(stopped) = self.stopped() else { return Ok(end) };
        if stopped.dropped > 0 {
            let (at, bytes) = (stopped.end, stopped.dropped);
            let kind = DiagnosticKind::AfterStop;
            sink.diagnostic(Diagnostic { kind, at, bytes, call: None });
        }
        Ok(End::Stop)
    }
}

fn account<S: CallSink + ?Sized>(before: Option<Stopped>, now: Stopped, sink: &mut S) {
    let mut span = |kind, at, len| {
        if len > 0 {
            sink.account(Span { kind, at, len });
        }
    };
    if before.is_none() {
        span(SpanKind::Markup, now.shown, now.end - now.shown);
    }
    let dropped = before.map_or(0, |before| before.dropped);
    span(SpanKind::Dropped, now.end + dropped, now.dropped - dropped);
}
