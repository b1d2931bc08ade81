//! The request for a server: it is asked for raw text, and held to a grammar where the request
//! demands calls.
//!
//! ```text
//! {"tools": [..], "tool_choice": "required"}
//!   vLLM       structured_outputs: {"structural_tag": ".."}
//!   SGLang     response_format: {"type": "structural_tag", ..}, tool_choice: "auto"
//!   llama.cpp  grammar: "root ::= ..", tool_choice: "none"
//! ```

use llm_stream_guard::{
    Answer, AnswerRules, GuardBuilder, Profile, Server, ToolChoice, forward_request,
};
use serde_json::{Map, Value, json};

use crate::{CallGrammar, ExportError, call_grammar};

/// The family for models whose own family has no calls. If a call is required, every guard reads
/// JSON.
const PLAIN: &str = "bare_json";

/// Fields by which a request itself sets the form of its answer.
pub const OWN_FORMAT: [&str; 11] = [
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

/// A request that demands calls or strict arguments from a server that takes grammars.
#[derive(Debug)]
pub struct ToolDemand {
    rules: AnswerRules,
    profile: Profile,
    server: Server,
}

impl ToolDemand {
    /// Returns the demand of a request, whose tools are in `body`: for a call, or for strict
    /// arguments. `None` if it demands neither, or asks a server that takes no grammars. A request
    /// that has a field of [`OWN_FORMAT`] must not be given a second format.
    #[must_use]
    pub fn new(
        body: &Value,
        (rules, profile): (AnswerRules, &Profile),
        server: Server,
    ) -> Option<Self> {
        let takes = matches!(server, Server::Vllm | Server::Sglang | Server::LlamaCpp);
        if !takes || !takes_grammar(body, &rules) || rules.tools.is_empty() {
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

    /// Returns the name of the family.
    #[must_use]
    pub fn family(&self) -> &str {
        &self.profile.name
    }

    /// Makes the grammar of the calls, which is slow for long schemas.
    ///
    /// # Errors
    /// No grammar expresses a part of the family or of the request.
    pub fn grammar(&self) -> Result<CallGrammar, ExportError> {
        call_grammar(&self.profile, &self.rules)
    }

    /// Returns the fields by which the server takes the grammar.
    #[must_use]
    pub fn fields(&self, grammar: &CallGrammar) -> Vec<(&'static str, Value)> {
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

/// Returns whether a request demands a call.
#[must_use]
pub fn demands_call(rules: &AnswerRules) -> bool {
    matches!(rules.choice, ToolChoice::Required | ToolChoice::Named(_))
}

/// Returns whether the answer to a request may be held to a grammar: it demands a call, or a tool is
/// declared with `strict: true`.
#[must_use]
pub fn takes_grammar(body: &Value, rules: &AnswerRules) -> bool {
    let is_strict = rules.choice == ToolChoice::Auto && has_strict_tool(body);
    is_strict || demands_call(rules)
}

fn has_strict_tool(body: &Value) -> bool {
    let tools = body.get("tools").and_then(Value::as_array).into_iter().flatten();
    let mut strict = tools.map(|tool| tool.get("function").unwrap_or(tool).get("strict"));
    strict.any(|strict| strict == Some(&Value::Bool(true)))
}

/// Changes the body of a chat-completion request so that `server` answers with the raw text of a
/// model of `profile`, held to a grammar if the request demands calls. `builder` is that of the
/// guard for the answer, and has read the request. Returns the form of the answer, and the reason
/// why no grammar was made.
///
/// ```
/// use family_export::raw_request;
/// use llm_stream_guard::{Answer, Guard, Server, profile_for_model};
/// use serde_json::json;
///
/// let mut body = json!({"model": "Qwen/Qwen3-8B", "messages": [], "tool_choice": "required",
///     "tools": [{"type": "function", "function": {"name": "tide"}}]});
/// let profile = profile_for_model("Qwen/Qwen3-8B")?;
/// let builder = Guard::builder(&profile).request(&body);
/// let (answer, fault) = raw_request(&mut body, (&builder, &profile), Server::Vllm);
/// assert_eq!((answer, fault), (Answer::Raw, None));
/// assert_eq!((&body["tool_choice"], &body["skip_special_tokens"]), (&json!("none"), &json!(false)));
/// assert!(body["structured_outputs"]["structural_tag"].is_string());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "a server that parses answers itself needs no guard"]
pub fn raw_request(
    body: &mut Value,
    (builder, profile): (&GuardBuilder, &Profile),
    server: Server,
) -> (Answer, Option<ExportError>) {
    let has_format = OWN_FORMAT.iter().any(|own| body.get(own).is_some_and(|it| !it.is_null()));
    let demand = match has_format {
        true => None,
        false => ToolDemand::new(body, (builder.rules(), profile), server),
    };
    let answer = forward_request(body, server);
    let made = demand.as_ref().map(|demand| Ok((demand, demand.grammar()?))).transpose();
    match (made, body.as_object_mut()) {
        (Ok(Some((demand, grammar))), Some(body)) => {
            set(body, demand.fields(&grammar));
            (answer, None)
        }
        (Ok(_), _) => (answer, None),
        (Err(error), _) => (answer, Some(error)),
    }
}

fn set(body: &mut Map<String, Value>, fields: Vec<(&'static str, Value)>) {
    body.extend(fields.into_iter().map(|(name, value)| (name.to_owned(), value)));
}

#[cfg(test)]
mod tests {
    use llm_stream_guard::{Answer, Guard, Server, profile};
    use serde_json::{Value, json};

    use super::raw_request;

    fn sent(mut body: Value, server: Server) -> Value {
        let profile = profile("qwen3").unwrap();
        let builder = Guard::builder(&profile).request(&body);
        let (answer, fault) = raw_request(&mut body, (&builder, &profile), server);
        assert_eq!((answer, fault), (Answer::Raw, None));
        body
    }

    #[test]
    fn request_for_calls_gets_the_grammar_of_each_server() {
        let tools = json!([{"type": "function", "function": {"name": "tide"}}]);
        let body = |choice: &str| json!({"messages": [], "tools": tools, "tool_choice": choice});
        let vllm = sent(body("required"), Server::Vllm);
        assert_eq!(vllm["tool_choice"], "none");
        assert!(vllm["structured_outputs"]["structural_tag"].is_string());
        let sglang = sent(body("required"), Server::Sglang);
        assert_eq!(sglang["tool_choice"], "auto");
        assert_eq!(sglang["response_format"]["type"], "structural_tag");
        let llama = sent(body("required"), Server::LlamaCpp);
        assert!(llama["grammar"].as_str().unwrap().starts_with("root ::="));
        for server in [Server::Vllm, Server::Sglang, Server::LlamaCpp] {
            let free = sent(body("auto"), server);
            assert!(free.get("grammar").is_none() && free.get("structured_outputs").is_none());
            let mut own = body("required");
            own["response_format"] = json!({"type": "json_object"});
            assert_eq!(sent(own, server)["response_format"]["type"], "json_object");
        }
    }

    #[test]
    fn strict_tool_is_held_to_its_schema_where_the_model_chooses() {
        let tools = json!([{"type": "function", "function": {"name": "tide", "strict": true}}]);
        let body = json!({"messages": [], "tools": tools});
        assert!(sent(body, Server::Vllm).get("structured_outputs").is_some());
    }
}
