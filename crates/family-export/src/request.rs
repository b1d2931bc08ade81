//! The request for a server: it is asked for raw text, and held to a grammar where the request
//! demands calls or sets the form of an answer that may begin with a thought.
//!
//! ```text
//! {"tools": [..], "tool_choice": "required"}, {"response_format": {"type": "json_object"}}
//!   vLLM       structured_outputs: {"structural_tag": ".."}
//!   SGLang     response_format: {"type": "structural_tag", ..}, tool_choice: "auto"
//!   llama.cpp  grammar: "root ::= ..", tool_choice: "none"
//! ```

use std::borrow::Cow;

use llm_stream_guard::{
    Answer, AnswerRules, GuardBuilder, Profile, Reasoning, Server, Start, ToolChoice,
    forward_request,
};
use serde_json::{Map, Value, json};

use crate::{
    ExportError,
    answer_format::{AnswerFormat, OWN_FORMAT, sets_format},
    call_grammar,
    grammar::format_grammar,
    has_response_template,
};

/// The family for models whose own family has no calls. If a call is required, every guard reads
/// JSON.
const PLAIN: &str = "bare_json";

/// A request to a server that takes grammars, whose answer is to be held to one.
#[derive(Debug)]
pub struct AnswerDemand {
    rules: AnswerRules,
    profile: Profile,
    server: Server,
    /// The form that the request sets, or the reason why it cannot be read.
    format: Option<Result<AnswerFormat, ExportError>>,
}

/// The fields of a request that hold a server to a grammar.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct GrammarFields {
    /// The fields to set. A field of `null` is to be removed.
    pub fields: Vec<(&'static str, Value)>,
    /// The restrictions of the schemas that the grammar does not check, each as a phrase.
    pub widened: Vec<String>,
    /// The valid answers that the grammar does not admit, each as a phrase.
    pub narrowed: Vec<String>,
}

impl AnswerDemand {
    /// Returns the demand of a request, whose tools and format are in `body`. There are two kinds:
    ///
    /// - for a call, or for the arguments of strict tools;
    /// - for an answer in a form that the request sets ([`OWN_FORMAT`]), after a thought. The
    ///   server alone would hold the thought to that form, too.
    ///
    /// Returns `None` if the request demands neither, sets a form for a model that does not think,
    /// sets a form with the family's own markup, which is one of the whole answer, sets a form and
    /// demands a call, or asks a server that takes no grammars.
    #[must_use]
    pub fn new(
        body: &Value,
        (rules, profile): (AnswerRules, &Profile),
        server: Server,
    ) -> Option<Self> {
        if !matches!(server, Server::Vllm | Server::Sglang | Server::LlamaCpp) {
            return None;
        }
        let mut profile = profile.clone();
        if sets_format(body) {
            let thinks = rules.start == Start::Reasoning || rules.may_think;
            if !thinks || demands_call(&rules) {
                return None;
            }
            let format = AnswerFormat::read(body);
            if format.as_ref().is_ok_and(|format| has_markup(format, &profile)) {
                return None;
            }
            return Some(Self { rules, profile, server, format: Some(format) });
        }
        if !takes_grammar(body, &rules) || rules.tools.is_empty() {
            return None;
        }
        if profile.grammar().is_ok_and(|grammar| grammar.is_none())
            && !has_response_template(&profile)
            && demands_call(&rules)
        {
            profile.tools = Some(PLAIN.to_owned());
        }
        Some(Self { rules, profile, server, format: None })
    }

    /// Returns the name of the family.
    #[must_use]
    pub fn family(&self) -> &str {
        &self.profile.name
    }

    /// Returns whether the demand is for an answer in a form that the request sets.
    #[must_use]
    pub fn is_for_format(&self) -> bool {
        self.format.is_some()
    }

    /// Makes the grammar, which is slow for long schemas, and returns the fields by which the
    /// server takes it.
    ///
    /// # Errors
    /// No grammar expresses a part of the family or of the request. The request is then sent
    /// unchanged.
    pub fn fields(&self) -> Result<GrammarFields, ExportError> {
        if self.profile.remap.is_some() {
            return Err(ExportError::new("its delimiters are remapped, which no grammar knows"));
        }
        let (tag, gbnf, widened, narrowed) = match &self.format {
            Some(format) => {
                let format = format.as_ref().map_err(Clone::clone)?;
                let made = format_grammar(&self.profile, &self.rules, format)?;
                (made.tag, made.gbnf, Vec::new(), made.narrowed)
            }
            None => {
                let made = call_grammar(&self.profile, &self.rules)?;
                let notes = (made.widened().to_vec(), made.narrowed().to_vec());
                (made.structural_tag(), Ok(made.gbnf()), notes.0, notes.1)
            }
        };
        let mut fields: Vec<(&'static str, Value)> = match self.server {
            Server::Vllm => {
                // The current name of the field, and its earlier name.
                let earlier = gbnf.ok().map(|gbnf| ("guided_grammar", gbnf.into()));
                let tag = json!({"structural_tag": tag.to_string()});
                [("structured_outputs", tag)].into_iter().chain(earlier).collect()
            }
            // The server refuses a demand for calls together with another constraint.
            Server::Sglang => vec![("response_format", tag), ("tool_choice", "auto".into())],
            Server::LlamaCpp => vec![("grammar", gbnf?.into()), ("tool_choice", "none".into())],
            _ => Vec::new(),
        };
        if self.format.is_some() {
            if self.rules.tools.is_empty() {
                fields.retain(|(name, _)| *name != "tool_choice");
            }
            let is_set = |name: &&str| fields.iter().any(|(set, _)| set == name);
            let removed: Vec<_> = OWN_FORMAT.into_iter().filter(|name| !is_set(name)).collect();
            fields.extend(removed.into_iter().map(|name| (name, Value::Null)));
        }
        // The notes are about the GBNF; XGrammar reads the schema itself.
        let narrowed = if self.takes_schemas() { Vec::new() } else { narrowed };
        Ok(GrammarFields { fields, widened, narrowed })
    }

    /// Returns whether the server reads the schema of a format itself.
    fn takes_schemas(&self) -> bool {
        self.format.is_some() && self.server != Server::LlamaCpp
    }
}

/// Returns whether a form has a family's markup in it, and so is one of the whole answer.
fn has_markup(format: &AnswerFormat, profile: &Profile) -> bool {
    let text = match format {
        AnswerFormat::Grammar(text) | AnswerFormat::Regex(text) => Cow::Borrowed(text.as_str()),
        AnswerFormat::Tag(tag) => Cow::Owned(tag.to_string()),
        AnswerFormat::Json(_) | AnswerFormat::Choice(_) => return false,
    };
    let tags: Vec<String> = match profile.reasoning_format() {
        Ok(Some(Reasoning::Format(format))) => {
            format.open.iter().chain(&format.close).map(ToString::to_string).collect()
        }
        _ => Vec::new(),
    };
    let grammar = profile.grammar().ok().flatten();
    let markers = grammar.iter().flat_map(|grammar| grammar.openers().chain(grammar.removed()));
    let mut marks = tags.iter().map(String::as_str).chain(markers);
    marks.any(|mark| mark.len() > 1 && text.contains(mark.trim_ascii()))
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
/// model of `profile`, held to a grammar if the request demands calls, or sets the form of an answer
/// before which the model may think. `builder` is that of the guard for the answer, and has read the
/// request. Returns the form of the answer, and the reason why no grammar was made.
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
    let demand = AnswerDemand::new(body, (builder.rules(), profile), server);
    let answer = forward_request(body, server);
    // A server that reads the answer itself applies the form after the thought.
    let demand = demand.filter(|it| answer == Answer::Raw || !it.is_for_format());
    let made = demand.map(|demand| demand.fields());
    match (made.transpose(), body.as_object_mut()) {
        (Ok(Some(made)), Some(body)) => {
            set(body, made.fields);
            (answer, None)
        }
        (Ok(_), _) => (answer, None),
        (Err(error), _) => (answer, Some(error)),
    }
}

fn set(body: &mut Map<String, Value>, fields: Vec<(&'static str, Value)>) {
    for (name, value) in fields {
        match value {
            Value::Null => drop(body.remove(name)),
            value => drop(body.insert(name.to_owned(), value)),
        }
    }
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

    const SERVERS: [Server; 3] = [Server::Vllm, Server::Sglang, Server::LlamaCpp];

    /// The grammar in a request, as text of a structural tag or GBNF.
    fn grammar(sent: &Value) -> String {
        let tag = sent.pointer("/structured_outputs/structural_tag").and_then(Value::as_str);
        let gbnf = sent.get("grammar").and_then(Value::as_str);
        tag.or(gbnf).map_or_else(|| sent["response_format"].to_string(), str::to_owned)
    }

    #[test]
    fn format_of_a_thinking_model_follows_an_optional_thought() {
        let schema = json!({"type": "object", "required": ["city"], "additionalProperties": false,
            "properties": {"city": {"type": "string"}}});
        let format = json!({"type": "json_schema", "json_schema": {"schema": schema}});
        for server in SERVERS {
            let body = json!({"messages": [], "response_format": format});
            let got = sent(body.clone(), server);
            let made = grammar(&got);
            assert!(made.contains("<think>") && made.contains("city"), "{server:?}: {got}");
            assert_eq!(got.get("response_format").is_some(), server == Server::Sglang, "{got}");
            assert!(got.get("tool_choice").is_none(), "{got}");
            let mut closed = body;
            closed["chat_template_kwargs"] = json!({"enable_thinking": false});
            assert_eq!(sent(closed, server)["response_format"], format, "{server:?}");
        }
        let vllm = sent(json!({"messages": [], "guided_json": schema}), Server::Vllm);
        assert!(vllm.get("guided_json").is_none(), "{vllm}");
        assert!(vllm["guided_grammar"].as_str().unwrap().contains("<think>"), "{vllm}");
    }

    #[test]
    fn own_grammars_and_choices_follow_the_thought() {
        for (name, value, text) in [
            (
                "grammar",
                json!("root ::= \"yes\" | word\nword ::= [a-z]+"),
                "answer-word ::= [a-z]+",
            ),
            ("guided_choice", json!(["yes", "no"]), "\"yes\" | \"no\""),
        ] {
            let llama = sent(json!({"messages": [], name: value}), Server::LlamaCpp);
            let made = llama["grammar"].as_str().unwrap();
            assert!(made.contains("<think>") && made.contains(text), "{made}");
            assert_eq!(
                made.matches("root ::=").count() - made.matches("answer-root ::=").count(),
                1
            );
        }
        let sglang = sent(json!({"messages": [], "regex": "a+"}), Server::Sglang);
        assert_eq!(sglang["response_format"]["format"]["elements"][1]["pattern"], "a+");
        assert!(sglang.get("regex").is_none());
    }

    #[test]
    fn format_that_no_grammar_expresses_passes_with_a_reason() {
        let profile = profile("qwen3").unwrap();
        let schema =
            json!({"type": "object", "properties": {"a": {"type": "string", "pattern": "b"}}});
        for (mut body, server, reason) in [
            (json!({"json_schema": schema}), Server::LlamaCpp, "`pattern`"),
            (json!({"regex": "a+"}), Server::LlamaCpp, "XGrammar only"),
            (json!({"guided_grammar": "start: \"a\""}), Server::Vllm, "not in GBNF"),
        ] {
            body["messages"] = json!([]);
            let builder = Guard::builder(&profile).request(&body);
            let before = body.clone();
            let (_, fault) = raw_request(&mut body, (&builder, &profile), server);
            assert!(fault.unwrap().to_string().contains(reason), "{reason}");
            for (name, value) in before.as_object().unwrap() {
                assert_eq!(&body[name], value);
            }
        }
    }

    #[test]
    fn grammar_with_markup_of_the_family_is_one_of_the_whole_answer() {
        let profile = llm_stream_guard::profile_for_model("Qwen/Qwen3-8B").unwrap();
        for (grammar, is_own) in [
            (r#"root ::= "<think>" [a-z]+ "</think>" [a-z]+"#, true),
            (r#"root ::= [a-z]+ "</think>" [a-z]+"#, true),
            (r#"root ::= [a-z]+ "<tool_call>" [a-z]+"#, true),
            (r#"root ::= "<b>" [a-z]+"#, false),
        ] {
            let mut body = json!({"messages": [], "grammar": grammar});
            let builder = Guard::builder(&profile).request(&body);
            let (_, fault) = raw_request(&mut body, (&builder, &profile), Server::LlamaCpp);
            assert_eq!((fault, body["grammar"] == grammar), (None, is_own), "{grammar}");
        }
    }

    #[test]
    fn json_may_begin_at_once_where_the_prompt_opened_the_thought() {
        let profile = llm_stream_guard::profile_for_model("Qwen/QwQ-32B").unwrap();
        let mut body = json!({"messages": [], "response_format": {"type": "json_object"}});
        let builder = Guard::builder(&profile).request(&body);
        assert_eq!(builder.rules().start, llm_stream_guard::Start::Reasoning);
        let (_, fault) = raw_request(&mut body, (&builder, &profile), Server::LlamaCpp);
        assert_eq!(fault, None);
        let made = body["grammar"].as_str().unwrap();
        assert!(made.starts_with("root ::= (text-0-0 (\"\\n\"){0,2})? "), "{made}");
        let first = made.lines().find(|line| line.starts_with("text-0-0 ::=")).unwrap();
        assert!(first.contains("] text-0-0 |") && first.contains("\\u005B{]"), "{first}");
    }
}
