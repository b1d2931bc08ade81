//! The rewriting of responses: whole bodies, streamed events, and single texts.
//!
//! A stream whose text is cut inside a marker:
//!
//! ```text
//! event                     forwarded text      state after it
//! "delta": "sure\n[[CA"     "sure\n"            `[[CA` is held
//! "delta": "LL]]"           "<tool_call>"       nothing is held
//! "finish_reason": "stop"                       the decoder of the text is dropped
//! ```

use alloc::{collections::BTreeMap, string::String, vec::Vec};

use serde_json::Value;

use crate::{
    bodies::shape::{BodyError, BodyShape, StreamEvent, TextField, TextId, TextKind},
    decode::StreamDecoder,
    piece::DecodedPiece,
    regime::Regime,
    segment::Syntax,
    tally::RemapReport,
};

/// A rewriter of one response from wire to canonical form. Created by [`Regime::response`].
///
/// Each text (choice, part, field) has its own decoder until it ends. Use one value per response.
///
/// ```
/// use serde_json::json;
/// use wire_remap::{Regime, RemapTable, bodies::OpenAiChat};
/// let mut response = Regime::on(RemapTable::hermes()).response();
/// let chunk = |text| json!({"choices": [{"index": 0, "delta": {"content": text}}]});
/// let mut seen = String::new();
/// for text in ["sure\n[[CA", "LL]]", "{}[[/CALL]]"] {
///     let mut event = chunk(text);
///     response.event(&mut event, &OpenAiChat);
///     seen += event["choices"][0]["delta"]["content"].as_str().unwrap();
/// }
/// assert_eq!(seen, "sure\n<tool_call>{}</tool_call>");
/// ```
#[derive(Debug, Clone)]
pub struct ResponseRemap {
    regime: Regime,
    decoders: BTreeMap<TextId, StreamDecoder>,
    report: RemapReport,
    /// The number of events inserted so far. It is added to later sequence numbers.
    inserted: u64,
    limit: usize,
}

/// The texts that an event ended. `None` matches all.
#[derive(Debug, Clone, Copy)]
struct Ended {
    choice: Option<u64>,
    part: Option<u64>,
    field: Option<TextKind>,
}

impl Ended {
    fn covers(&self, id: TextId) -> bool {
        self.choice.is_none_or(|choice| choice == id.choice)
            && self.part.is_none_or(|part| part == id.part)
            && self.field.is_none_or(|field| field == id.field)
    }
}

impl Regime {
    /// Returns a rewriter of one response, for its whole body or its streamed events.
    #[must_use]
    pub fn response(&self) -> ResponseRemap {
        let (decoders, report) = (BTreeMap::new(), RemapReport::default());
        let limit = ResponseRemap::TEXTS;
        ResponseRemap { regime: self.clone(), decoders, report, inserted: 0, limit }
    }

    /// Returns a decoder for one text of a response.
    fn decoder_of(&self, syntax: Syntax) -> Option<StreamDecoder> {
        let decoder = StreamDecoder::with_syntax(self.table()?, syntax);
        Some(decoder.detection(self.detection().unwrap_or_default()))
    }
}

impl ResponseRemap {
    /// Default maximum number of texts open at once.
    pub const TEXTS: usize = 1024;

    /// Sets the maximum number of open texts, over all choices, fields and calls.
    ///
    /// Pieces of further texts pass unchanged and are counted in [`RemapReport::undecoded`].
    #[must_use]
    pub fn with_limit(self, limit: usize) -> Self {
        Self { limit, ..self }
    }

    /// Returns the regime of this response.
    #[must_use]
    pub fn regime(&self) -> &Regime {
        &self.regime
    }

    /// Rewrites a whole response in place.
    ///
    /// # Errors
    ///
    /// Returns an error if the body is not an object. It is then unchanged. A regime that is off
    /// never fails.
    pub fn body(&mut self, body: &mut Value, shape: &dyn BodyShape) -> Result<(), BodyError> {
        if self.regime.table().is_none() {
            return Ok(());
        }
        if !body.is_object() {
            return Err(BodyError::new("response", "an object", Some(body)));
        }
        shape.response(body, &mut |field| decode_whole(&self.regime, field, &mut self.report));
        Ok(())
    }

    /// Rewrites a streamed event in place, and returns events to send before it.
    ///
    /// Such events are needed only if a text ended inside a possible marker, and the event that
    /// ends it has no member for text. Sequence numbers are adjusted.
    pub fn event(&mut self, event: &mut Value, shape: &dyn BodyShape) -> Vec<Value> {
        let mut before = Vec::new();
        if self.regime.table().is_none() {
            return before;
        }
        let mut ended = Vec::new();
        shape.event(event, &mut |found| match found {
            StreamEvent::Delta { id, text } => {
                let mut out = String::with_capacity(text.len());
                if self.push(id, text, |piece| out.push_str(piece.text())) {
                    *text = out;
                }
            }
            StreamEvent::Whole(field) => decode_whole(&self.regime, field, &mut self.report),
            StreamEvent::End { choice, part, field } => ended.push(Ended { choice, part, field }),
        });
        for ended in ended {
            let ids: Vec<TextId> =
                self.decoders.keys().copied().filter(|&id| ended.covers(id)).collect();
            for id in ids {
                let rest = self.end_str(id);
                if !rest.is_empty() {
                    before.extend(shape.leftover(event, id, &rest));
                }
            }
        }
        self.number(event, &mut before);
        before
    }

    /// Ends the stream and returns events with the held text. Returns none if the stream's events
    /// ended all texts.
    pub fn finish(&mut self, shape: &dyn BodyShape) -> Vec<Value> {
        let ids: Vec<TextId> = self.decoders.keys().copied().collect();
        let mut events = Vec::new();
        for id in ids {
            let rest = self.end_str(id);
            if !rest.is_empty() {
                events.push(shape.tail(id, &rest));
            }
        }
        events
    }

    /// Feeds the next piece of one text, for callers that parse responses themselves.
    ///
    /// Returns whether the text is remapped. If not, `on` is not called, and the piece can be used
    /// unchanged.
    pub fn push(&mut self, id: TextId, text: &str, on: impl FnMut(DecodedPiece<'_>)) -> bool {
        if !self.regime.covers(id.field.location()) {
            return false;
        }
        if !self.decoders.contains_key(&id) {
            if self.regime.table().is_some() && self.decoders.len() >= self.limit {
                self.report.undecoded += 1;
                return false;
            }
            let Some(decoder) = self.regime.decoder_of(id.field.syntax()) else { return false };
            self.report.tally_mut(id.field.location()).texts += 1;
            self.decoders.insert(id, decoder);
        }
        if let Some(decoder) = self.decoders.get_mut(&id) {
            decoder.push(text, on);
        }
        true
    }

    /// Ends one text and reports its held text.
    pub fn end(&mut self, id: TextId, on: impl FnMut(DecodedPiece<'_>)) {
        if let Some(mut decoder) = self.decoders.remove(&id) {
            decoder.finish(on);
            *self.report.tally_mut(id.field.location()) += decoder.tally();
        }
    }

    fn end_str(&mut self, id: TextId) -> String {
        let mut rest = String::new();
        self.end(id, |piece| rest.push_str(piece.text()));
        rest
    }

    /// Returns the number of bytes received and not yet forwarded, over all texts.
    #[must_use]
    pub fn held(&self) -> usize {
        self.decoders.values().map(StreamDecoder::held).sum()
    }

    /// Returns the counters so far, by location.
    #[must_use]
    pub fn report(&self) -> RemapReport {
        let mut report = self.report.clone();
        for (id, decoder) in &self.decoders {
            *report.tally_mut(id.field.location()) += decoder.tally();
        }
        report
    }

    /// Numbers the event and the events inserted before it, so that all numbers are consecutive.
    fn number(&mut self, event: &mut Value, before: &mut [Value]) {
        let Some(number) = event.get("sequence_number").and_then(Value::as_u64) else { return };
        for inserted in before.iter_mut() {
            if let Value::Object(members) = inserted {
                let number = number.saturating_add(self.inserted);
                members.insert("sequence_number".into(), number.into());
            }
            self.inserted = self.inserted.saturating_add(1);
        }
        event["sequence_number"] = number.saturating_add(self.inserted).into();
    }
}

fn decode_whole(regime: &Regime, field: TextField<'_>, report: &mut RemapReport) {
    if !regime.covers(field.location) {
        return;
    }
    let Some(mut decoder) = regime.decoder_of(field.syntax) else { return };
    let mut out = String::with_capacity(field.text.len());
    decoder.push_str(field.text, &mut out);
    decoder.finish_str(&mut out);
    let tally = report.tally_mut(field.location);
    tally.texts += 1;
    *tally += decoder.tally();
    if decoder.tally().changed() {
        *field.text = out;
    }
}
