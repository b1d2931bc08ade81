//! The calls of the renderings, without the text that opens and ends the turn.

use super::{
    DeriveError,
    align::{Aligned, Style, align},
    pieces::common_ends,
    renderings::Renderings,
    samples::{CONTENT, LED, SampleCall},
};

/// The bodies of the samples: their wires without the end of the turn.
pub(super) struct Bodies {
    bodies: Vec<Result<String, DeriveError>>,
    calls: Vec<Vec<SampleCall>>,
    /// The text between content and a call, up to the end of the call.
    led: Option<String>,
}

impl Bodies {
    /// Cuts the end of the turn from all wires.
    pub(super) fn new(renderings: &Renderings<'_>, end: &str) -> Self {
        let body = |n| {
            let wire = renderings.wire(n)?;
            let whole = wire.strip_suffix(end).or_else(|| wire.strip_suffix(end.trim_end()));
            Ok(whole.unwrap_or(wire).to_owned())
        };
        let after = |text: String| text.split_once(CONTENT).map(|(_, led)| led.to_owned());
        Self {
            bodies: (0..renderings.wires.len()).map(body).collect(),
            calls: renderings.wires.iter().map(|(sample, _)| sample.calls.clone()).collect(),
            led: body(LED).ok().and_then(after),
        }
    }

    /// Returns the calls of a sample.
    pub(super) fn calls(&self, n: usize) -> &[SampleCall] {
        self.calls.get(n).map_or(&[], Vec::as_slice)
    }

    /// Returns the wire of a sample, cut at the holes of a style.
    pub(super) fn aligned(&self, n: usize, style: Style) -> Option<Aligned> {
        align(self.body(n).ok()?, self.calls(n), style)
    }

    /// Returns the body of a sample.
    pub(super) fn body(&self, n: usize) -> Result<&str, DeriveError> {
        match self.bodies.get(n) {
            Some(Ok(body)) => Ok(body),
            Some(Err(problem)) => Err(problem.clone()),
            None => Err(DeriveError::new("it was not rendered")),
        }
    }

    /// Returns the text before the first hole of a call, without the text that belongs to the turn:
    /// blanks, an empty thought, and tags that are not repeated after content.
    pub(super) fn opener<'h>(&self, head: &'h str) -> &'h str {
        let at = self.repeated(head).or_else(|| {
            // Content next to calls is not rendered.
            head.rfind("</think>").map(|at| at + "</think>".len())
        });
        at.map_or(head, |at| &head[at..]).trim_start()
    }

    /// Returns the position in the text before a call of the part that is repeated after content.
    fn repeated(&self, head: &str) -> Option<usize> {
        let led = self.led.as_ref()?.trim_start();
        let tails = || head.char_indices().map(|(at, _)| at);
        let tail = |at: usize| head[at..].trim_start();
        let begins = tails().find(|&at| !tail(at).is_empty() && led.starts_with(tail(at)));
        begins.or_else(|| {
            let (before, _) = led.split_once("zfunc")?;
            let len = *common_ends(head, before).first()?;
            head.len().checked_sub(len).filter(|&at| !tail(at).is_empty())
        })
    }

    /// Returns the text between content and what opens a call, if it is not blank.
    pub(super) fn gap(&self, head: &str) -> Option<&str> {
        let opener = self.opener(head);
        let (gap, _) = self.led.as_ref()?.split_once(opener).filter(|_| !opener.is_empty())?;
        Some(gap.trim()).filter(|gap| !gap.is_empty())
    }
}
