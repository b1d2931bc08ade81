//! Grammars that constrain servers to the calls that a request demands.

use family_export::{CallGrammar, ExportError, OWN_FORMAT, ToolDemand};
use llm_stream_guard::{AnswerRules, Profile, Server};
use serde_json::Value;

use crate::body::Body;
use crate::limits::MAX_TOOLS_BYTES;

/// Returns whether a request itself sets the form of its answer.
pub(crate) fn has_own_format(body: &Body) -> bool {
    OWN_FORMAT.iter().any(|own| body.has(own))
}

/// Returns the demand of a request, whose tools are in `view`. `None` if it demands nothing, sets
/// the form of its answer itself, or asks a server that takes no grammars.
pub(crate) fn demand(
    (view, body): (&Value, &Body),
    (rules, profile): (AnswerRules, &Profile),
    server: Option<Server>,
) -> Option<ToolDemand> {
    let demand = ToolDemand::new(view, (rules, profile), server?)?;
    if has_own_format(body) {
        return None;
    }
    let length = body.text("tools").map_or(0, |tools| tools.get().len());
    if length > MAX_TOOLS_BYTES {
        tracing::warn!(length, "the tools of a request are too long for a grammar");
        return None;
    }
    Some(demand)
}

/// Makes the grammar of a demand, which is slow for long schemas.
pub(crate) fn made(demand: ToolDemand) -> MadeGrammar {
    let made = demand.grammar();
    MadeGrammar { demand, made }
}

/// A grammar for a server, or the reason why there is none.
#[derive(Debug)]
pub(crate) struct MadeGrammar {
    demand: ToolDemand,
    made: Result<CallGrammar, ExportError>,
}

impl MadeGrammar {
    /// Writes the grammar into a request, and logs that.
    pub(crate) fn write(&self, body: &mut Body) {
        let family = self.demand.family();
        let grammar = match &self.made {
            Ok(grammar) => grammar,
            Err(error) => {
                tracing::warn!(family, "no grammar can be made for a request");
                // The reason may contain names of tools.
                tracing::debug!("no grammar for {family}: {error}");
                return;
            }
        };
        let fields = self.demand.fields(grammar);
        for (name, value) in &fields {
            body.set(name, value);
        }
        let field = fields.first().map_or("", |(name, _)| name);
        let (widened, narrowed) = (grammar.widened().len(), grammar.narrowed().len());
        tracing::info!(family, field, widened, narrowed, "upstream is held to a grammar of calls");
        for what in grammar.widened() {
            tracing::debug!("the grammar of {family} does not check: {what}");
        }
        for what in grammar.narrowed() {
            tracing::debug!("the grammar of {family} does not admit: {what}");
        }
    }
}
