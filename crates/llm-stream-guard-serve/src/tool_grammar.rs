//! Grammars that constrain servers to the calls that a request demands, or to the form that it sets
//! for an answer after a thought.

use family_export::{AnswerDemand, ExportError, GrammarFields, OWN_FORMAT};
use llm_stream_guard::{Answer, AnswerRules, Profile, Server};
use serde_json::Value;

use crate::body::Body;
use crate::limits::MAX_TOOLS_BYTES;

/// Returns the demand of a request, whose view is `view`. `None` if it demands nothing, sets a form
/// that the server applies itself, or asks a server that takes no grammars.
pub(crate) fn demand(
    (view, body): (&Value, &Body),
    (rules, profile): (AnswerRules, &Profile),
    (server, answer): (Option<Server>, Answer),
) -> Option<AnswerDemand> {
    let demand = AnswerDemand::new(view, (rules, profile), server?)?;
    if answer == Answer::Parsed && demand.is_for_format() {
        return None;
    }
    let fields: &[&str] = if demand.is_for_format() { &OWN_FORMAT } else { &["tools"] };
    let length: usize =
        fields.iter().filter_map(|name| body.text(name)).map(|it| it.get().len()).sum();
    if length > MAX_TOOLS_BYTES {
        tracing::warn!(length, "the schemas of a request are too long for a grammar");
        return None;
    }
    Some(demand)
}

/// Makes the grammar of a demand, which is slow for long schemas.
pub(crate) fn made(demand: AnswerDemand) -> MadeGrammar {
    let made = demand.fields();
    MadeGrammar { demand, made }
}

/// The fields of a grammar for a server, or the reason why there is none.
#[derive(Debug)]
pub(crate) struct MadeGrammar {
    demand: AnswerDemand,
    made: Result<GrammarFields, ExportError>,
}

impl MadeGrammar {
    /// Writes the grammar into a request, and logs that.
    pub(crate) fn write(&self, body: &mut Body) {
        let family = self.demand.family();
        let GrammarFields { fields, widened, narrowed, .. } = match &self.made {
            Ok(made) => made,
            Err(error) => {
                match self.demand.is_for_format() {
                    true => tracing::warn!(
                        family,
                        "the form of an answer is sent unchanged: the model cannot think before it"
                    ),
                    false => tracing::warn!(family, "no grammar can be made for a request"),
                }
                // The reason may contain names of tools.
                tracing::debug!("no grammar for {family}: {error}");
                return;
            }
        };
        for (name, value) in fields {
            match value {
                Value::Null => drop(body.take_text(name)),
                value => body.set(name, value),
            }
        }
        let field = fields.first().map_or("", |(name, _)| name);
        let what = match self.demand.is_for_format() {
            true => "a thought and the form of the answer",
            false => "calls",
        };
        tracing::info!(
            family,
            field,
            widened = widened.len(),
            narrowed = narrowed.len(),
            "upstream is held to a grammar of {what}"
        );
        for what in widened {
            tracing::debug!("the grammar of {family} does not check: {what}");
        }
        for what in narrowed {
            tracing::debug!("the grammar of {family} does not admit: {what}");
        }
    }
}
