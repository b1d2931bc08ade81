//! The END event's content: sanitizers, codec, metadata, the retained payload.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use stream_lifecycle::{Ending, Lifecycle, OmittedWhy, Sanitizer, SanitizerVerdict};

use crate::support::{Broken, Does, Log, drain, items, record, recorded, upstream};

/// Appends its name to a string aggregate.
fn append(name: &'static str, priority: i32) -> Sanitizer {
    Sanitizer::new(name, priority, move |data, _| {
        SanitizerVerdict::Replace(format!("{} {name}", data.as_str().unwrap_or("-")).into())
    })
}

fn object(value: Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap()
}

// Contract: S4.11.
#[test]
fn sanitizers_chain_by_priority_then_registration() {
    let log = Log::default();
    let stream = recorded(&log)
        .sanitizer(append("late", 9))
        .sanitizer(append("z-first", 0))
        .sanitizer(append("a-second", 0))
        .sanitizer(append("early", -1))
        .sanitizer(Sanitizer::new("keep", 5, |data, about| {
            assert_eq!(data, "x early z-first a-second");
            assert_eq!((about.call.id.as_str(), about.ending), ("call-1", &Ending::Complete));
            SanitizerVerdict::Keep
        }))
        .wrap(items(["x"]));
    drain(stream);
    assert_eq!(log.end().data, Some("x early z-first a-second late".into()));
}

// Contract: S4.11.
#[test]
fn omit_and_fail_stop_the_chain_and_clear_data_and_annotation() {
    for (verdict, why) in [
        (SanitizerVerdict::Omit, OmittedWhy::Omitted),
        (SanitizerVerdict::Fail("no model".into()), OmittedWhy::Failed("no model".into())),
    ] {
        let log = Log::default();
        let stream = recorded(&log)
            .sanitizer(Sanitizer::new("stop", 0, move |_, _| verdict.clone()))
            .sanitizer(Sanitizer::new("never", 1, |_, _| unreachable!("the chain stopped")))
            .codec(Arc::new(|_: &Value| Ok(json!("annotated"))))
            .wrap(items(["secret"]));
        assert_eq!(drain(stream), [Ok("secret".to_owned())]);
        let end = log.end();
        assert_eq!((end.ending, end.data, end.annotated), (Ending::Complete, None, None));
        let omitted = end.omitted.unwrap();
        assert_eq!((omitted.by.as_ref(), omitted.why), ("stop", why));
        assert_eq!(end.faults, []);
    }
}

// Contract: S4.12.
#[test]
fn registered_sanitizers_stay_and_later_ones_are_added() {
    let log = Log::default();
    let (start, later) = (append("start", 0), append("later", 0));
    let both = vec![later, start.clone()];
    let stream = recorded(&log).sanitizer(start).reread_sanitizers(|| both).wrap(items(["x"]));
    drain(stream);
    // Each sanitizer runs once, and those of the start come first.
    assert_eq!(log.end().data, Some("x start later".into()));
    // Later sanitizers of equal priority run in the order of the list.
    let log = Log::default();
    let later = || vec![append("c", 0), append("b", 0), append("early", -1), append("a", 0)];
    let stream = recorded(&log).sanitizer(append("y", 0)).sanitizer(append("x", 0));
    drain(stream.reread_sanitizers(later).wrap(items(["-"])));
    assert_eq!(log.end().data, Some("- early y x c b a".into()));
    // An emptied registry removes no sanitizer.
    let log = Log::default();
    let stream = recorded(&log).sanitizer(append("start", 0)).reread_sanitizers(Vec::new);
    drain(stream.wrap(items(["x"])));
    assert_eq!(log.end().data, Some("x start".into()));
    // A registry that cannot be read fails closed.
    let log = Log::default();
    let stream = recorded(&log).reread_sanitizers(|| std::panic::panic_any("poisoned"));
    drain(stream.wrap(items(["x"])));
    let end = log.end();
    assert_eq!((end.data, end.omitted.unwrap().why), (None, OmittedWhy::Panicked));
}

// Contract: S4.13.
#[test]
fn sanitizers_do_not_change_items_of_the_consumer() {
    let log = Log::default();
    let omit = Sanitizer::new("omit", 0, |_, _| SanitizerVerdict::Omit);
    let all = drain(recorded(&log).sanitizer(omit).wrap(items(["my", " secret"])));
    assert_eq!(all, [Ok("my".to_owned()), Ok(" secret".to_owned())]);
    assert_eq!(log.end().data, None);
}

// Contract: S4.14.
#[test]
fn codec_sees_the_sanitized_aggregate_and_its_error_is_in_end() {
    let log = Log::default();
    let stream = recorded(&log)
        .sanitizer(append("clean", 0))
        .codec(Arc::new(|data: &Value| Ok(json!({"decoded": data}))))
        .wrap(items(["x"]));
    drain(stream);
    let end = log.end();
    assert_eq!(end.annotated, Some(json!({"decoded": "x clean"})));
    assert_eq!(end.codec_error, None);

    let log = Log::default();
    let codec = Arc::new(|_: &Value| Err("no usage".to_owned()));
    drain(recorded(&log).codec(codec).wrap(items(["x"])));
    let end = log.end();
    assert_eq!((end.annotated, end.codec_error.as_deref()), (None, Some("no usage")));
    assert_eq!(end.data, Some("x".into()), "the aggregate stays");
}

// Contract: S4.15.
#[test]
fn metadata_overrides_attributes_and_the_ending_overrides_both() {
    let log = Log::default();
    let stream = record(&log)
        .attributes(object(json!({"tags": {"a": 1, "b": 2}, "team": "x"})))
        .metadata(object(json!({"tags": {"b": 3}, "status": "mine"})))
        .wrap(upstream([Does::Fail("x")]));
    drain(stream);
    let merged = json!({
        "tags": {"a": 1, "b": 3}, "team": "x",
        "status": "error", "ending": "failed", "error_class": std::any::type_name::<Broken>(),
    });
    assert_eq!(Value::Object(log.end().metadata), merged);
}

// Contract: S4.16.
#[test]
fn null_aggregate_stays_null() {
    let log = Log::default();
    let stream = record(&log).sanitizer(Sanitizer::new("keep", 0, |_, _| SanitizerVerdict::Keep));
    drain(stream.wrap(items([])));
    assert_eq!(log.end().data, Some(Value::Null));
}

#[test]
fn end_event_has_the_call_metadata() {
    let log = Log::default();
    let stream = Lifecycle::<String, Broken>::new("id-7")
        .tap("raw")
        .name("chat")
        .model("m")
        .parent("agent")
        .subscriber(log.subscriber())
        .wrap(items([]));
    assert_eq!(stream.call().tap, "raw");
    drain(stream);
    let end = serde_json::to_value(log.end()).unwrap();
    let call = json!({
        "id": "id-7", "tap": "raw", "name": "chat", "model": "m", "parent": "agent",
        "attributes": {},
    });
    assert_eq!(end["call"], call);
    assert_eq!(end["ending"], json!({"kind": "complete"}));
    assert_eq!(end["withheld"], json!({"bytes": 0, "kind": "nothing", "items": 0}));
}

#[test]
fn collector_is_built_from_a_state_and_two_closures() {
    let log = Log::default();
    let stream = record(&log)
        .collect(
            Vec::new(),
            |seen, item| {
                if item == "no" {
                    return Err(Broken("refused"));
                }
                seen.push(item.clone());
                Ok(())
            },
            |seen, finish| json!([seen, finish.ending.name()]),
        )
        .wrap(items(["a", "b", "no", "c"]));
    drain(stream);
    assert_eq!(log.end().data, Some(json!([["a", "b"], "failed"])));
}

#[test]
fn lifecycle_accepts_closures_and_json_values() {
    let log = Log::default();
    let (send, ended) = std::sync::mpsc::channel();
    let stream = recorded(&log)
        .attributes(json!({"team": "x"}))
        .metadata(json!(["not", "an", "object"]))
        .codec_fn(|data| data.as_str().map(|text| text.len().into()).ok_or("no text".into()))
        .subscriber_fn(move |event| {
            let _ = send.send(event.end().is_some());
        })
        .wrap(items(["abc"]));
    drain(stream);
    assert_eq!(ended.iter().collect::<Vec<_>>(), [false, true]);
    let end = log.end();
    assert_eq!(end.annotated, Some(3.into()));
    assert_eq!(end.metadata["team"], "x");
    assert_eq!(end.metadata["metadata"], json!(["not", "an", "object"]));
}
