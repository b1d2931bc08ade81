//! Outbound: request bodies.

use alloc::string::String;

use serde_json::Value;

use crate::{
    encode::StreamEncoder,
    regime::Regime,
    shape::{BodyError, BodyShape, Spot},
    table::RemapTable,
    tally::{Location, RemapReport},
};

/// Rewrites request bodies from canonical to wire form; made by [`Regime::request`].
///
/// ```
/// use serde_json::json;
/// use wire_remap::{Location, OpenAiChat, Regime, RemapTable};
/// let regime = Regime::on(RemapTable::hermes());
/// let mut body = json!({
///     "messages": [{"role": "system", "content": "Calls go between <tool_call> and </tool_call>."}],
///     "stop": ["</tool_call>"],
/// });
/// let report = regime.request().apply(&mut body, &OpenAiChat)?;
/// assert_eq!(body["stop"][0], "[[/CALL]]");
/// assert_eq!(report.at(Location::System).encoded, 2);
/// # Ok::<(), wire_remap::BodyError>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct RequestRemap<'r> {
    regime: &'r Regime,
}

impl Regime {
    /// The outbound half: rewrites request bodies.
    #[must_use]
    pub fn request(&self) -> RequestRemap<'_> {
        RequestRemap { regime: self }
    }
}

impl RequestRemap<'_> {
    /// Rewrites every text in scope and says what was done. Work on a copy: the transcript
    /// stays canonical.
    ///
    /// # Errors
    ///
    /// When the body has not the shape; it is then unchanged. Never when the regime is off.
    pub fn apply(&self, body: &mut Value, shape: &dyn BodyShape) -> Result<RemapReport, BodyError> {
        let mut report = RemapReport::default();
        let Some(table) = self.regime.table() else { return Ok(report) };
        shape.check_request(body)?;
        shape.request(body, &mut |spot| self.encode(table, spot, &mut report));
        Ok(report)
    }

    #[expect(
        clippy::arithmetic_side_effects,
        reason = "counts texts of a body in memory, with 64 bits; `Tally` adds without overflow"
    )]
    fn encode(&self, table: &RemapTable, spot: Spot<'_>, report: &mut RemapReport) {
        let Some(quoting) = self.regime.outgoing(spot.location) else { return };
        if spot.location == Location::Stop {
            let piece = |canonical: &str| canonical != spot.text && canonical.contains(&*spot.text);
            let fragment = table.pairs().iter().any(|pair| piece(pair.canonical()));
            report.stop_fragments += u64::from(fragment && spot.text.len() > 1);
        }
        let mut encoder = StreamEncoder::of(table, quoting, spot.syntax);
        let mut out = String::with_capacity(spot.text.len());
        encoder.push(spot.text, &mut out);
        encoder.finish(&mut out);
        let tally = report.at_mut(spot.location);
        tally.texts += 1;
        *tally += encoder.tally();
        if encoder.tally().changed() {
            *spot.text = out;
        }
    }
}
