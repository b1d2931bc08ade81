//! END in the words of OpenTelemetry's conventions.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex},
};

use serde_json::{Value, json};
use stream_lifecycle::{Collector, EndEvent, FinishInfo, GenAiSpan, Lifecycle, ResponseInfo};
use tracing::{
    field::{Field, Visit},
    span,
};

use crate::support::{Broken, Does, HandClock, Log, drain, items, next, upstream};

/// A collector with facts about the response.
struct Says(Value);

impl Collector<String, Broken> for Says {
    fn observe(&mut self, _: &String) -> Result<(), Broken> {
        Ok(())
    }

    fn finish(self: Box<Self>, _: FinishInfo<'_>) -> Value {
        Value::Null
    }

    fn response(&self) -> ResponseInfo {
        let mut info = ResponseInfo::default();
        (info.id, info.model) = (Some("r-1".into()), Some("served".into()));
        info.finish_reasons = vec!["stop".into(), "length".into()];
        info.usage = Some(self.0.clone());
        info
    }
}

fn record(log: &Log, usage: Value) -> Lifecycle<String, Broken> {
    let attributes = json!({"gen_ai.provider.name": "vllm", "team": "x"});
    Lifecycle::new("call-1")
        .model("asked")
        .attributes(attributes.as_object().cloned().unwrap())
        .subscriber(log.subscriber())
        .collect_with(Says(usage))
}

fn attributes(end: &EndEvent) -> Value {
    let all = end.gen_ai_attributes();
    let names: BTreeMap<_, _> = all.iter().cloned().collect();
    assert_eq!(names.len(), all.len(), "each once");
    serde_json::to_value(names).unwrap()
}

#[test]
fn end_maps_to_the_attributes_of_a_client_span() {
    let usage = json!({"prompt_tokens": 5, "completion_tokens": 7, "total_tokens": 12,
        "prompt_tokens_details": {"cached_tokens": 3}});
    let (log, clock) = (Log::default(), HandClock::default());
    let record = record(&log, usage).clock(Arc::new(clock.clone()));
    let mut stream = Box::pin(record.wrap(items(["a", "b"])));
    clock.advance(2);
    next(&mut stream);
    clock.advance(3);
    drain(stream);
    let end = log.end();
    assert_eq!(
        attributes(&end),
        json!({
            "gen_ai.operation.name": "chat", "gen_ai.provider.name": "vllm",
            "gen_ai.request.model": "asked", "gen_ai.response.model": "served",
            "gen_ai.response.id": "r-1", "gen_ai.response.finish_reasons": ["stop", "length"],
            "gen_ai.usage.input_tokens": 5, "gen_ai.usage.output_tokens": 7,
            "gen_ai.usage.cache_read.input_tokens": 3,
        })
    );
    let metrics = [
        ("gen_ai.client.operation.duration", 5.0),
        ("gen_ai.client.operation.time_to_first_chunk", 2.0),
    ];
    assert_eq!(end.gen_ai_metrics(), metrics);
}

#[test]
fn unknown_attributes_are_omitted_and_an_error_has_its_class() {
    let log = Log::default();
    let record = Lifecycle::<String, Broken>::new("a").subscriber(log.subscriber());
    let describe = |_: &Broken| stream_lifecycle::ErrorInfo::class("overloaded");
    drain(record.describe_error(describe).wrap(upstream([Does::Fail("x")])));
    let end = log.end();
    let expected = json!({"gen_ai.operation.name": "chat", "error.type": "overloaded"});
    assert_eq!(attributes(&end), expected);
    assert_eq!(end.gen_ai_metrics(), []);
}

/// Keeps the fields of spans.
#[derive(Clone, Default)]
struct Fields(Arc<Mutex<BTreeMap<String, String>>>);

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.0.lock().unwrap().insert(field.name().to_owned(), format!("{value:?}"));
    }
}

impl tracing::Subscriber for Fields {
    fn enabled(&self, _: &tracing::Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, span: &span::Attributes<'_>) -> span::Id {
        span.record(&mut self.clone());
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, values: &span::Record<'_>) {
        values.record(&mut self.clone());
    }

    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}

    fn event(&self, _: &tracing::Event<'_>) {}

    fn enter(&self, _: &span::Id) {}

    fn exit(&self, _: &span::Id) {}
}

#[test]
fn span_has_every_attribute_as_a_field() {
    let fields = Fields::default();
    let log = Log::default();
    tracing::subscriber::with_default(fields.clone(), || {
        let span = GenAiSpan::new();
        let usage = json!({"input_tokens": 5, "output_tokens": 7, "cache_read_input_tokens": 1});
        let stream = record(&log, usage)
            .clock(Arc::new(HandClock::default()))
            .context(span.context())
            .subscriber(Arc::new(span))
            .wrap(upstream([Does::Item("a"), Does::Fail("x")]));
        drain(stream);
    });
    let fields = fields.0.lock().unwrap().clone();
    let end = log.end();
    for (name, value) in end.gen_ai_attributes() {
        let recorded = fields.get(&*name).unwrap_or_else(|| panic!("no field {name}"));
        let same = [value.to_string(), format!("{:?}", value.to_string())];
        assert!(same.contains(recorded), "{name}: {recorded}");
    }
    assert_eq!(fields["otel.status_code"], "\"ERROR\"");
    assert_eq!(fields["gen_ai.client.operation.duration"], "0.0");
}
