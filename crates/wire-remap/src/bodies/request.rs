//! The rewriting of request bodies.

use alloc::string::String;

use serde_json::Value;

use crate::{
    bodies::shape::{BodyError, BodyShape, TextField},
    encode::StreamEncoder,
    regime::Regime,
    table::RemapTable,
    tally::{Location, RemapReport},
};

/// A rewriter of request bodies from canonical to wire form. Created by [`Regime::request`].
///
/// ```
/// use serde_json::json;
/// use wire_remap::{Location, Regime, RemapTable, bodies::OpenAiChat};
/// let regime = Regime::on(RemapTable::hermes());
/// let mut body = json!({
///     "messages": [{"role": "system", "content": "Calls go between <tool_call> and </tool_call>."}],
///     "stop": ["</tool_call>"],
/// });
/// let report = regime.request().apply(&mut body, &OpenAiChat)?;
/// assert_eq!(body["stop"][0], "[[/CALL]]");
/// assert_eq!(report.tally(Location::System).encoded, 2);
/// # Ok::<(), wire_remap::bodies::BodyError>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct RequestRemap<'r> {
    regime: &'r Regime,
}

impl Regime {
    /// Returns a rewriter of request bodies.
    #[must_use]
    pub fn request(&self) -> RequestRemap<'_> {
        RequestRemap { regime: self }
    }
}

impl RequestRemap<'_> {
    /// Rewrites every text in scope and returns the counters.
    ///
    /// Apply it to a copy of the request, so that the transcript stays canonical.
    ///
    /// # Errors
    ///
    /// Returns an error if the body does not have the shape. It is then unchanged. A regime that is
    /// off never fails.
    pub fn apply(&self, body: &mut Value, shape: &dyn BodyShape) -> Result<RemapReport, BodyError> {
        let mut report = RemapReport::default();
        let Some(table) = self.regime.table() else { return Ok(report) };
        shape.check_request(body)?;
        shape.request(body, &mut |field| self.encode(table, field, &mut report));
        Ok(report)
    }

    fn encode(&self, table: &RemapTable, field: TextField<'_>, report: &mut RemapReport) {
        let Some(quoting) = self.regime.outgoing(field.location) else { return };
        if field.location == Location::Stop {
            let piece =
                |canonical: &str| canonical != field.text && canonical.contains(&*field.text);
            let fragment = table.pairs().iter().any(|pair| piece(pair.canonical()));
            report.stop_fragments += u64::from(fragment && field.text.len() > 1);
        }
        let mut encoder = StreamEncoder::with_quoting(table, quoting, field.syntax);
        let mut out = String::with_capacity(field.text.len());
        encoder.push(field.text, &mut out);
        encoder.finish(&mut out);
        let tally = report.tally_mut(field.location);
        tally.texts += 1;
        *tally += encoder.tally();
        if encoder.tally().changed() {
            *field.text = out;
        }
    }
}
