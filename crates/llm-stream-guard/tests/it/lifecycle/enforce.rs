//! Redaction of the live stream, and of the record of it.

use llm_stream_guard::{
    Guard, Guarded, OwnedEvent, guard_text,
    jail_match::{Jail, OnFail, Pair},
    lifecycle::{
        Component, Ending, ErrorInfo, Lifecycle, MessageCollector, RedactEvents, RedactText,
        Redactor, Verdict, Withheld,
    },
    profile,
};
use serde_json::json;

use crate::lifecycle::support::{Broken, Does, Log, drain, items, next, poll, recorded, upstream};

/// Catches what stands between `[[` and `]]`, up to 16 bytes of it.
fn redactor() -> Redactor {
    Redactor::new(Jail::builder().start("[[").end("]]").limit(16).build().unwrap(), "***")
}

#[test]
fn redaction_does_not_depend_on_the_cuts_and_holds_no_more_than_it_must() {
    let text = "key [[hunter2]] [ok] [[a]] end [";
    let expected = "key *** [ok] *** end [";
    let cut = |size: usize| -> Vec<Result<String, Broken>> {
        let chars: Vec<char> = text.chars().collect();
        chars.chunks(size).map(|piece| Ok(piece.iter().collect())).collect()
    };
    for size in 1..=text.len() {
        let log = Log::default();
        let stream =
            recorded(&log).enforce(RedactText::new(redactor())).wrap(tokio_stream::iter(cut(size)));
        let seen: String = drain(stream).into_iter().map(Result::unwrap).collect();
        assert_eq!(seen, expected, "pieces of {size}");
        assert_eq!(log.end().data, Some(expected.into()), "the record is guarded, too");
    }
    let log = Log::default();
    let inner = upstream([Does::Item("text ["), Does::Wait]);
    let mut stream = Box::pin(recorded(&log).enforce(RedactText::new(redactor())).wrap(inner));
    assert_eq!(next(&mut stream), Some(Ok("text ".into())));
    assert!(poll(&mut stream).is_pending());
    drop(stream);
    let Withheld { bytes, kind, .. } = log.end().withheld;
    assert_eq!((bytes, kind), (1, "marker"));
}

/// Replaces keys and mail addresses, whatever their text.
#[cfg(feature = "regex")]
fn expressions() -> Redactor {
    use llm_stream_guard::jail_match::{Mark, Pair};
    let pattern = |expression: &'static str| Pair::single(Mark::pattern(expression).hold(40));
    let jail = Jail::builder()
        .rule(pattern(r"sk-[A-Za-z0-9]{8,}"))
        .rule(pattern(r"[a-z0-9_.]+@[a-z0-9_.]+\.[a-z]{2,}"))
        .build();
    Redactor::new(jail.unwrap(), "***")
}

#[cfg(feature = "regex")]
#[test]
fn s4_13_expressions_are_redacted_across_chunks_within_their_hold() {
    let text = "é key sk-abcdefgh12, mail ann.lee@example.org. sk-short";
    let expected = "é key ***, mail ***. sk-short";
    let chars: Vec<char> = text.chars().collect();
    let redactor = expressions();
    let rail = || RedactText::new(redactor.clone());
    for size in 1..=chars.len() {
        let pieces = chars.chunks(size).map(|piece| Ok(piece.iter().collect::<String>()));
        let (log, rail) = (Log::default(), rail());
        let stream = recorded(&log).enforce(rail).wrap(tokio_stream::iter(pieces));
        let seen: String = drain(stream).into_iter().map(Result::unwrap).collect();
        assert_eq!(seen, expected, "pieces of {size}");
    }
    // What may become a match is held, and no more of it than stated.
    let log = Log::default();
    let inner = upstream([Does::Item("say sk-abcdefghij"), Does::Wait]);
    let mut stream = Box::pin(recorded(&log).enforce(rail()).wrap(inner));
    assert_eq!(next(&mut stream), Some(Ok("say ".into())));
    assert!(poll(&mut stream).is_pending());
    drop(stream);
    assert_eq!(log.end().withheld.bytes, "sk-abcdefghij".len());
    let log = Log::default();
    let long: &'static str = "a".repeat(200).leak();
    let inner = upstream([Does::Item(long), Does::Wait]);
    let mut stream = Box::pin(recorded(&log).enforce(rail()).wrap(inner));
    assert!(next(&mut stream).is_some());
    drop(stream);
    assert!(log.end().withheld.bytes <= 41, "{:?}", log.end().withheld);
}

#[test]
fn a_match_over_the_limit_ends_the_stream_rather_than_leak() {
    let log = Log::default();
    let stream = recorded(&log).enforce(RedactText::new(redactor())).wrap(items([
        "a [[0123456789abcdef",
        "secret]] b",
        "c",
    ]));
    let seen: String = drain(stream).into_iter().map(Result::unwrap).collect();
    assert_eq!(seen, "a ***");
    let error = ErrorInfo::class("redaction_limit");
    assert_eq!(log.end().ending, Ending::Failed { who: Component::Guardrail, error });
}

#[test]
fn a_jail_that_drops_long_matches_goes_on_behind_them() {
    let rule = Pair::new("[[", "]]").limit(4, OnFail::Drop).unclosed(OnFail::Drop);
    let jail = Jail::builder().rule(rule).build().unwrap();
    let log = Log::default();
    let stream = recorded(&log).enforce(RedactText::new(Redactor::new(jail, "***"))).wrap(items([
        "a [[long",
        " secret]] b [[c]] [[",
        "d",
    ]));
    let seen: String = drain(stream).into_iter().map(Result::unwrap).collect();
    assert_eq!(seen, "a *** b *** ***");
    assert_eq!(log.end().ending, Ending::Complete);
}

/// Runs a wire through guard and redaction; everything the consumer saw, joined.
fn redacted(wire: &str, size: usize, rail: RedactEvents) -> (Vec<OwnedEvent>, serde_json::Value) {
    let pieces: Vec<Result<String, Broken>> = wire
        .chars()
        .collect::<Vec<_>>()
        .chunks(size)
        .map(|piece| Ok(piece.iter().collect()))
        .collect();
    let log = Log::default();
    let guard = Guard::builder(&profile("qwen3").unwrap()).build().unwrap();
    let stream = Lifecycle::new("a")
        .subscriber(log.subscriber())
        .enforce(rail)
        .collect_with(MessageCollector::default())
        .wrap(guard_text(tokio_stream::iter(pieces), guard))
        .probe(Guarded::progress);
    let events = drain(stream).into_iter().map(Result::unwrap).collect();
    (events, log.end().data.unwrap())
}

const WIRE: &str = "<think>the key is [[k1]]</think>It is [[k2]], [[k3\n<tool_call>{\"name\": \"f\", \
                    \"arguments\": {\"a\": \"x [[\\u006b4]] y\", \"n\": 1e0}}</tool_call>";

#[test]
fn events_are_redacted_in_place_by_channel() {
    for size in [1, 2, 5, WIRE.len()] {
        let (_, data) = redacted(WIRE, size, RedactEvents::new(redactor()));
        assert_eq!(data["reasoning"], "the key is ***", "{size}");
        // An open match ends with its run of text.
        assert_eq!(data["content"], "It is ***, ***", "{size}");
        let arguments = data["calls"][0]["arguments"].as_str().unwrap();
        assert!(arguments.contains("[[\\u006b4]]"), "calls pass unless asked for");
    }
}

#[test]
fn arguments_are_redacted_as_json_when_the_call_ended() {
    for size in [1, 3, WIRE.len()] {
        let rail = RedactEvents::new(redactor()).arguments(1 << 10);
        let (events, data) = redacted(WIRE, size, rail);
        let call = &data["calls"][0];
        assert_eq!(call["arguments"], "{\"a\": \"x *** y\", \"n\": 1e0}", "{size}");
        assert_eq!(call["outcome"], "complete");
        let fragments =
            events.iter().filter(|event| matches!(event, OwnedEvent::CallArguments { .. }));
        assert_eq!(fragments.count(), 1);
    }
}

#[test]
fn arguments_over_the_limit_end_the_stream_unseen() {
    let rail = RedactEvents::new(redactor()).arguments(8);
    let (events, _) = redacted(WIRE, 3, rail);
    assert!(matches!(events.last(), Some(OwnedEvent::CallStart { .. })), "{events:?}");
}

#[test]
fn a_redacting_sanitizer_cleans_the_record_and_fails_closed() {
    let log = Log::default();
    let record = recorded(&log).sanitizer(redactor().sanitizer("keys", 0));
    assert_eq!(drain(record.wrap(items(["a [[b", "]] c"]))).len(), 2);
    assert_eq!(log.end().data, Some("a *** c".into()));

    let log = Log::default();
    let record = recorded(&log).sanitizer(redactor().sanitizer("keys", 0));
    drain(record.wrap(items(["[[0123456789abcdef0123456789abcdef]]"])));
    let end = log.end();
    assert_eq!((end.data, end.omitted.unwrap().by.as_ref()), (None, "keys"));

    // Every string, at every depth.
    let log = Log::default();
    let record = crate::lifecycle::support::record(&log)
        .finalizer(|_| json!({"a": ["[[x]]", {"b": "[[y]]!"}], "n": 1}))
        .sanitizer(redactor().sanitizer("keys", 0));
    drain(record.wrap(items([])));
    assert_eq!(log.end().data, Some(json!({"a": ["***", {"b": "***!"}], "n": 1})));
    assert_ne!(Verdict::Keep, Verdict::Omit);
}
