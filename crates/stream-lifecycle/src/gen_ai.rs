//! END events in the terms of OpenTelemetry's conventions for generative AI.

use std::borrow::Cow;

use serde_json::{Map, Value};

use crate::{ending::Ending, event::EndEvent};

impl EndEvent {
    /// Returns the attributes of a client span, by the names of OpenTelemetry's conventions for
    /// generative AI.
    ///
    /// Unknown attributes are missing, and no attribute has content. `gen_ai.request.model` is the
    /// requested model, and `gen_ai.response.model` is the model that answered. Usage is read by
    /// the names of chat completions and of other APIs.
    ///
    /// Attributes of the call ([`crate::Lifecycle::attributes`]) that begin with `gen_ai.` or
    /// `server.` are copied. Set the provider there, as `gen_ai.provider.name`.
    #[must_use]
    pub fn gen_ai_attributes(&self) -> Vec<(Cow<'static, str>, Value)> {
        let mut all: Vec<(Cow<'static, str>, Value)> = Vec::new();
        let mut add = |name: &'static str, value: Option<Value>| {
            all.extend(value.map(|value| (name.into(), value)));
        };
        let text = |text: &Option<String>| text.clone().map(Value::from);
        add("gen_ai.operation.name", Some("chat".into()));
        add("gen_ai.request.model", text(&self.call.model));
        add("gen_ai.response.id", text(&self.response.id));
        add("gen_ai.response.model", text(&self.response.model));
        let reasons = &self.response.finish_reasons;
        add(
            "gen_ai.response.finish_reasons",
            (!reasons.is_empty()).then(|| reasons.clone().into()),
        );
        let usage = self.response.usage.as_ref().and_then(Value::as_object);
        let input = ["prompt_tokens", "input_tokens"];
        add("gen_ai.usage.input_tokens", count(usage, &input));
        add("gen_ai.usage.output_tokens", count(usage, &["completion_tokens", "output_tokens"]));
        let details = |name: &str| usage.and_then(|usage| usage.get(name)?.as_object());
        let details = details("prompt_tokens_details").or_else(|| details("input_tokens_details"));
        let cached = count(details, &["cached_tokens"]);
        add(
            "gen_ai.usage.cache_read.input_tokens",
            cached.or_else(|| count(usage, &["cache_read_input_tokens"])),
        );
        add("error.type", self.error_type().map(Value::from));
        for (name, value) in &self.call.attributes {
            if name.starts_with("gen_ai.") || name.starts_with("server.") {
                all.retain(|(other, _)| other != name);
                all.push((name.clone().into(), value.clone()));
            }
        }
        all
    }

    /// Returns the durations of a client, in seconds, by the names of the same conventions.
    #[must_use]
    pub fn gen_ai_metrics(&self) -> Vec<(&'static str, f64)> {
        let first = self.time_to_first_item;
        let measured = [
            ("gen_ai.client.operation.duration", self.times.duration()),
            ("gen_ai.client.operation.time_to_first_chunk", first),
        ];
        let known = measured.into_iter().filter_map(|(name, time)| Some((name, time?)));
        known.map(|(name, time)| (name, time.as_secs_f64())).collect()
    }

    /// Returns the class of the error, if the stream ended with one.
    fn error_type(&self) -> Option<String> {
        match &self.ending {
            Ending::Failed { error, .. } => Some(error.class.clone().into_owned()),
            Ending::Limit { what, .. } => Some(format!("limit:{what}")),
            ending if ending.status() == "error" => Some(ending.name().to_owned()),
            _ => None,
        }
    }
}

/// Returns the first count that is present.
fn count(usage: Option<&Map<String, Value>>, names: &[&str]) -> Option<Value> {
    let usage = usage?;
    names.iter().find_map(|name| usage.get(*name).filter(|value| value.is_u64()).cloned())
}
