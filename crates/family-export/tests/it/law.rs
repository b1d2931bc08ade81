//! The law that texts of a grammar parse to complete calls whose arguments satisfy the schemas.

use family_export::CallGrammar;
use llm_stream_guard::{
    Diagnostic, DiagnosticKind, End, Guard, Outcome, Profile, ReasoningOptions, Start, ToolChoice,
    Tools,
};
use serde_json::{Value, json};

use crate::schema::violation;

/// Returns tools whose schemas have every property that grammars express.
pub(crate) fn tools() -> Value {
    json!([
        {"name": "get_weather", "parameters": {"type": "object", "properties": {
            "city": {"type": "string"}, "unit": {"enum": ["celsius", "fahrenheit"]},
            "days": {"type": "integer", "minimum": 1, "maximum": 14}}, "required": ["city"]}},
        {"name": "search_files", "parameters": {"type": "object", "properties": {
            "exact": {"type": "boolean"}, "query": {"type": "string"},
            "limits": {"type": "object", "properties": {
                "from": {"type": "integer"},
                "tags": {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 3}},
                "required": ["from"]}},
            "required": ["query", "limits"]}},
        {"name": "set_value", "parameters": {"type": "object", "properties": {
            "id": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
            "ratio": {"type": "number"}, "note": {"type": ["string", "null"]},
            "points": {"type": "array", "items": {"type": "array", "items": {"type": "number"}}},
            "short": {"type": "string", "minLength": 1, "maxLength": 4}},
            "required": ["id"]}},
        {"name": "list_all", "parameters": {"type": "object", "properties": {}}}
    ])
}

/// The law that texts of a grammar are valid calls.
pub(crate) struct Law<'l> {
    pub(crate) profile: &'l Profile,
    pub(crate) tools: &'l Value,
    /// The request's choice. Guards that know it read the text, and guards that do not.
    pub(crate) choice: ToolChoice,
    pub(crate) start: Start,
    /// Whether an answer without a call is admitted.
    pub(crate) may_answer: bool,
}

impl<'l> Law<'l> {
    /// Returns the law for answers that must be calls.
    pub(crate) fn required(profile: &'l Profile, tools: &'l Value) -> Self {
        let (choice, start) = (ToolChoice::Required, Start::Content);
        Self { profile, tools, choice, start, may_answer: false }
    }

    /// Returns the reason why a text of the grammar breaks the law, if it does.
    pub(crate) fn broken(&self, grammar: &CallGrammar, text: &str) -> Option<String> {
        let choices = [ToolChoice::Auto, self.choice.clone()];
        choices.into_iter().find_map(|choice| self.broken_under(choice, grammar, text))
    }

    fn broken_under(
        &self,
        choice: ToolChoice,
        grammar: &CallGrammar,
        text: &str,
    ) -> Option<String> {
        let tools = Tools::from_json(self.tools).unwrap();
        let mut reasoning = ReasoningOptions::default();
        reasoning.start = Some(self.start);
        let builder = Guard::builder(self.profile).tools(tools).tool_choice(choice);
        let guard = builder.reasoning(reasoning).build().unwrap();
        let message = guard.parse(text, End::Stop).unwrap();
        if message.calls.is_empty() && !self.may_answer {
            return Some(format!("no call: {message:?}"));
        }
        if !self.may_answer && !message.content.trim().is_empty() {
            return Some(format!("content {:?}", message.content));
        }
        let has_lengths = !grammar.widened().iter().any(|it| it.starts_with("lengths"));
        // No grammar can keep an open object from repeating a key. The first one counts.
        let twice = |it: &Diagnostic| it.kind == DiagnosticKind::DuplicateParameter;
        let repeats = message.diagnostics.iter().any(twice);
        for call in &message.calls {
            let repaired = repeats && call.outcome == Some(Outcome::Repaired);
            if call.outcome != Some(Outcome::Complete) && !repaired {
                return Some(format!("outcome {:?} of {:?}", call.outcome, call.arguments));
            }
            let tool = self.tools.as_array().unwrap().iter().find(|tool| tool["name"] == call.name);
            let Some(tool) = tool else { return Some(format!("name {:?}", call.name)) };
            let arguments: Value = match serde_json::from_str(&call.arguments) {
                Ok(arguments) => arguments,
                Err(error) if error.to_string().contains("out of range") => continue,
                Err(error) => return Some(format!("{error}: {}", call.arguments)),
            };
            if let Some(why) = violation(&tool["parameters"], &arguments, has_lengths) {
                return Some(why);
            }
        }
        None
    }
}
