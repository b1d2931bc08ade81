//! Grammars that constrain servers to the calls that a request demands.
//!
//! ```text
//! {"tools": [..], "tool_choice": "required"}
//!   vLLM       structured_outputs: {"structural_tag": ".."}
//!   SGLang     response_format: {"type": "structural_tag", ..}, tool_choice: "auto"
//!   llama.cpp  grammar: "root ::= ..", tool_choice: "none"
//! ```

use family_export::{CallGrammar, ExportError, call_grammar};
use llm_stream_guard::{AnswerRules, Profile, Server, ToolChoice};
use serde_json::{Value, json};

use crate::body::Body;
use crate::limits::MAX_TOOLS_BYTES;

/// The family for models whose own family has no calls. If a call is required, every guard reads
/// JSON.
const PLAIN: &str = "bare_json";

/// Fields by which a request itself sets the form of its answer.
const OWN_FORMAT: [&str; 11] = [
    "ebnf",
    "grammar",
    "guided_choice",
    "guided_grammar",
    "guided_json",
    "guided_regex",
    "json_schema",
    "regex",
    "response_format",
    "structural_tag",
    "structured_outputs",
];

/// A request that demands calls or strict arguments from a server.
#[derive(Debug)]
pub(crate) struct Demand {
    rules: AnswerRules,
    profile: Profile,
    server: Server,
}

/// Returns whether a request demands a call.
pub(crate) fn demands_call(rules: &AnswerRules) -> bool {
    matches!(rules.choice, ToolChoice::Required | ToolChoice::Named(_))
}

/// Returns whether the proxy may constrain an answer with a grammar.
pub(crate) fn takes_grammar(view: &Value, rules: &AnswerRules) -> bool {
    demands_call(rules) || has_strict_tool(view)
}

/// Returns whether a request itself sets the form of its answer.
pub(crate) fn has_own_format(body: &Body) -> bool {
    OWN_FORMAT.iter().any(|own| body.has(own))
}

impl Demand {
    /// Returns the demand of a request: for a call, or for strict arguments. `view` has its tools.
    /// `None` if it demands neither, sets the form of its answer itself, or asks a server that takes
    /// no grammars.
    pub(crate) fn new(
        (view, body): (&Value, &Body),
        (rules, profile): (AnswerRules, &Profile),
        server: Option<Server>,
    ) -> Option<Self> {
        let takes = |it: &Server| matches!(it, Server::Vllm | Server::Sglang | Server::LlamaCpp);
        let server = server.filter(takes)?;
        let is_strict = rules.choice == ToolChoice::Auto && has_strict_tool(view);
        if !(is_strict || demands_call(&rules)) || rules.tools.is_empty() {
            return None;
        }
        if has_own_format(body) {
            return None;
        }
        let length = body.text("tools").map_or(0, |tools| tools.get().len());
        if length > MAX_TOOLS_BYTES {
            tracing::warn!(length, "the tools of a request are too long for a grammar");
            return None;
        }
        let mut profile = profile.clone();
        if profile.grammar().is_ok_and(|grammar| grammar.is_none())
            && profile.response_template.is_none()
            && demands_call(&rules)
        {
            profile.tools = Some(PLAIN.to_owned());
        }
        Some(Self { rules, profile, server })
    }

    /// Makes the grammar, which is slow for long schemas.
    pub(crate) fn made(self) -> Made {
        let made = call_grammar(&self.profile, &self.rules);
        Made { family: self.profile.name, server: self.server, made }
    }
}

/// A grammar for a server, or the reason why there is none.
#[derive(Debug)]
pub(crate) struct Made {
    family: String,
    server: Server,
    made: Result<CallGrammar, ExportError>,
}

impl Made {
    /// Writes the grammar into a request, and logs that.
    pub(crate) fn write(&self, body: &mut Body) {
        let family = self.family.as_str();
        let grammar = match &self.made {
            Ok(grammar) => grammar,
            Err(error) => {
                tracing::warn!(family, "no grammar can be made for a request");
                // The reason may contain names of tools.
                tracing::debug!("no grammar for {family}: {error}");
                return;
            }
        };
        let fields = self.fields(grammar);
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

    /// Returns the fields by which the server takes the grammar.
    fn fields(&self, grammar: &CallGrammar) -> Vec<(&'static str, Value)> {
        match self.server {
            Server::Vllm => {
                let tag = grammar.structural_tag().to_string();
                // The current name of the field, and its earlier name.
                let earlier = ("guided_grammar", grammar.gbnf().into());
                vec![("structured_outputs", json!({"structural_tag": tag})), earlier]
            }
            // The server refuses a demand for calls together with another constraint.
            Server::Sglang => {
                vec![("response_format", grammar.structural_tag()), ("tool_choice", "auto".into())]
            }
            Server::LlamaCpp => {
                vec![("grammar", grammar.gbnf().into()), ("tool_choice", "none".into())]
            }
            _ => Vec::new(),
        }
    }
}

/// Returns whether a tool of a chat completion is declared with `strict: true`.
fn has_strict_tool(body: &Value) -> bool {
    let tools = body.get("tools").and_then(Value::as_array).into_iter().flatten();
    let mut strict = tools.map(|tool| tool.get("function").unwrap_or(tool).get("strict"));
    strict.any(|strict| strict == Some(&Value::Bool(true)))
}
