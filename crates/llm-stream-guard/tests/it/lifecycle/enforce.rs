//! Redaction of the live stream, and of the record of it.

use llm_stream_guard::{
    Guard, Guarded, OwnedEvent, guard_text,
    jail_match::{Jail, JailPair, OnFail},
    lifecycle::{
        Component, Ending, ErrorInfo, Lifecycle, MatchTooLong, MessageCollector, Recogniser,
        RedactEvents, RedactText, Redactor, SanitizerVerdict, Substitute, Vault, WithheldInfo,
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
fn redaction_is_chunk_invariant_and_holds_only_possible_matches() {
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
    let WithheldInfo { bytes, kind, .. } = log.end().withheld;
    assert_eq!((bytes, kind), (1, "marker"));
}

/// Replaces keys and mail addresses, whatever their text.
#[cfg(feature = "regex")]
fn expressions() -> Redactor {
    use llm_stream_guard::jail_match::{JailPair, Mark};
    let pattern = |expression: &'static str| JailPair::single(Mark::pattern(expression).hold(40));
    let jail = Jail::builder()
        .rule(pattern(r"sk-[A-Za-z0-9]{8,}"))
        .rule(pattern(r"[a-z0-9_.]+@[a-z0-9_.]+\.[a-z]{2,}"))
        .build();
    Redactor::new(jail.unwrap(), "***")
}

// Contract: S4.13.
#[cfg(feature = "regex")]
#[test]
fn expressions_are_redacted_across_chunks_within_their_hold() {
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
fn match_over_the_limit_ends_the_stream_without_leaking() {
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
fn jail_that_drops_long_matches_continues_after_them() {
    let rule = JailPair::new("[[", "]]").limit(4, OnFail::Drop).unclosed(OnFail::Drop);
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
fn arguments_are_redacted_as_json_at_the_end_of_the_call() {
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
fn arguments_over_the_redaction_limit_end_the_stream_unemitted() {
    let rail = RedactEvents::new(redactor()).arguments(8);
    let (events, _) = redacted(WIRE, 3, rail);
    assert!(matches!(events.last(), Some(OwnedEvent::CallStart { .. })), "{events:?}");
}

#[test]
fn redacting_sanitizer_redacts_the_record_and_fails_closed() {
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
    assert_ne!(SanitizerVerdict::Keep, SanitizerVerdict::Omit);
}

/// The whole text redacted, and the same of every cut.
fn seen(redactor: &Redactor, text: &str) -> Result<String, MatchTooLong> {
    let over = |pieces: &[&str]| {
        let (mut redactor, mut out) = (redactor.clone(), String::new());
        let pushed = pieces.iter().try_for_each(|piece| redactor.push(piece, &mut out));
        redactor.finish(&mut out);
        pushed.map(|()| out)
    };
    let whole = over(&[text]);
    // In the middle of a long text, only a match that outgrew its hold goes on.
    let middle = 4 << 10..text.len().saturating_sub(1 << 10);
    for (at, _) in text.char_indices().filter(|(at, _)| !middle.contains(at)) {
        assert_eq!(over(&[&text[..at], &text[at..]]), whole, "cut at {at}");
    }
    let scalars: Vec<String> = text.chars().map(String::from).collect();
    let scalars: Vec<&str> = scalars.iter().map(String::as_str).collect();
    assert_eq!(over(&scalars), whole, "scalar by scalar");
    whole
}

// Contract: S4.13.
#[cfg(feature = "regex")]
#[test]
fn match_longer_than_its_hold_never_shows_its_tail() {
    use llm_stream_guard::jail_match::Mark;
    let key = || Mark::pattern("sk-[a-z]{4,}").hold(10);
    let text = "a sk-abcdefghijklmnop b sk-abcd";
    let followed = Redactor::of([Recogniser::new("key", key())]).unwrap();
    assert_eq!(seen(&followed, text).unwrap(), "a [key] b [key]");
    let ended = Recogniser::new("key", key()).too_long(OnFail::End);
    assert_eq!(seen(&Redactor::of([ended]).unwrap(), text), Err(MatchTooLong));
    // A jail follows it, too, unless its rule sets another policy.
    let jail = |pair| Redactor::new(Jail::builder().rule(pair).build().unwrap(), "***");
    assert_eq!(seen(&jail(JailPair::single(key())), text).unwrap(), "a *** b ***");
    let ended = JailPair::single(key()).limit(usize::MAX, OnFail::End);
    assert_eq!(seen(&jail(ended), text), Err(MatchTooLong));
}

// Contract: S4.11.
#[test]
fn redacting_sanitizer_reads_keys_and_json_in_strings() {
    let run = |data: serde_json::Value| {
        let log = Log::default();
        let record = crate::lifecycle::support::record(&log)
            .finalizer(move |_| data)
            .sanitizer(redactor().sanitizer("keys", 0));
        drain(record.wrap(items([])));
        log.end().data.unwrap()
    };
    let call = json!({"function": {"arguments": "{\"[[k]]\": \"[\\u005bs]] x\"}"}});
    assert_eq!(run(call), json!({"function": {"arguments": "{\"***\": \"*** x\"}"}}));
    // Cut as it may be.
    let cut = json!({"arguments": "{\"a\": \"[\\u005bsecret]], [[s"});
    assert_eq!(run(cut), json!({"arguments": "{\"a\": \"***, ***"}));
    // JSON that is the answer itself; keys; two that become one.
    assert_eq!(run(json!({"content": "[\"\\u005b[s]]\"]"})), json!({"content": "[\"***\"]"}));
    let keys = json!({"[[a]]": 1, "[[b]]": [2], "c": "[[d]]"});
    assert_eq!(run(keys), json!({"***": 1, "***'": [2], "c": "***"}));
}

#[test]
fn substitutes_label_mask_hash_and_restore_matches() {
    let name = || Recogniser::new("name", "Ann Lee").mark("Bo");
    let with = |substitute| Redactor::of([name().substitute(substitute)]).unwrap();
    let text = "Ann Lee, Bo, Ann Lee";
    assert_eq!(seen(&with(Substitute::label("X")), text).unwrap(), "X, X, X");
    assert_eq!(seen(&with(Substitute::mask(2)), text).unwrap(), "*** *ee, Bo, *** *ee");
    let hashed = seen(&with(Substitute::hash([7; 16])), text).unwrap();
    let hashes: Vec<&str> = hashed.split(", ").collect();
    assert!(hashes[0] == hashes[2] && hashes[0] != hashes[1], "{hashed}");
    assert!(hashes[0].starts_with("[name:") && hashes[0].len() == "[name:]".len() + 16);
    assert_ne!(seen(&with(Substitute::hash([8; 16])), text).unwrap(), hashed, "keyed");
    let asked = Substitute::with(|found| format!("<{} {}>", found.name, found.text.len()));
    assert_eq!(seen(&with(asked), text).unwrap(), "<name 7>, <name 2>, <name 7>");

    let vault = Vault::default();
    let redacted = seen(&with(Substitute::token(&vault)), text).unwrap();
    assert_eq!(redacted, "[name_1], [name_2], [name_1]");
    let restorer = Redactor::restoring(&vault).unwrap();
    assert_eq!(seen(&restorer, &redacted).unwrap(), text);
    assert_eq!(seen(&restorer, "[name_3] [name_1").unwrap(), "[name_3] [name_1");
    // Of a full vault nothing comes back.
    let full = Vault::with_limit(11);
    assert_eq!(seen(&with(Substitute::token(&full)), text).unwrap(), "[name_1], [name], [name_1]");
    assert_eq!(seen(&Redactor::restoring(&Vault::default()).unwrap(), text).unwrap(), text);
}

#[test]
fn restored_text_is_json_escaped_in_arguments_at_every_chunk_size() {
    let vault = Vault::default();
    let quote = Recogniser::new("quote", "say \"hi\"").substitute(Substitute::token(&vault));
    seen(&Redactor::of([quote]).unwrap(), "say \"hi\"").unwrap();
    let wire = "<think>[quote_1]?</think>[quote_1]!<tool_call>{\"name\": \"f\", \"arguments\": \
                {\"a\": \"[quote_1]\"}}</tool_call>";
    for size in [1, 4, wire.len()] {
        let rail = RedactEvents::new(Redactor::restoring(&vault).unwrap()).arguments(1 << 10);
        let (_, data) = redacted(wire, size, rail);
        assert_eq!(
            (&data["reasoning"], &data["content"]),
            (&json!("say \"hi\"?"), &json!("say \"hi\"!"))
        );
        assert_eq!(data["calls"][0]["arguments"], "{\"a\": \"say \\\"hi\\\"\"}", "{size}");
    }
}

#[cfg(feature = "regex")]
mod ready_made {
    use super::*;

    fn found(text: &str) -> String {
        seen(&Redactor::of(Recogniser::ready_made()).unwrap(), text).unwrap()
    }

    #[test]
    fn recognisers_find_their_kind_of_data() {
        for (text, expected) in [
            ("write ann.lee+x@mail.example.org.", "write [email]."),
            ("Ann <ann@example.org>, bo@x.io", "Ann <[email]>, [email]"),
            ("card 4111 1111 1111 1111, 5500-0000-0000-0004", "card [credit_card], [credit_card]"),
            ("378282246310005 and 4111111111111111 12", "[credit_card] and [credit_card] 12"),
            ("pay DE89 3704 0044 0532 0130 00 AND go", "pay [iban] AND go"),
            ("GB82WEST12345698765432", "[iban]"),
            ("from 192.168.0.1:80 to 2001:db8::1.", "from [ip_address]:80 to [ip_address]."),
            ("call +49 (30) 901820-0 or 212-555-0123", "call [phone] or [phone]"),
            ("sk-proj-abcdefghijklmnopqrstuvwx done", "[api_key] done"),
            ("AKIAIOSFODNN7EXAMPLE=id", "[api_key]=id"),
        ] {
            assert_eq!(found(text), expected, "{text:?}");
        }
        let long = format!("key ghp_{} end", "a1".repeat(600));
        assert_eq!(found(&long), "key [api_key] end");
    }

    #[test]
    fn jwts_of_every_length_are_found() {
        let part = |len: usize| format!("eyJ{}", "aB3_-".repeat(len / 5));
        for header in [20, 100, 900, 2000] {
            for payload in [20, 400, 600, 1200, 2400, 20_000] {
                let signature = "x9Y-_".repeat(70);
                let token = [part(header), part(payload), signature].join(".");
                for text in [format!("Bearer {token}. Next"), format!("Bearer {token}")] {
                    let expected = text.replace(&token, "[api_key]");
                    assert_eq!(found(&text), expected, "{header} and {payload}");
                }
            }
        }
        // Encrypted: the second part is a key, and five parts follow each other.
        let encrypted = format!(
            "{}.{}.{}.{}.{}",
            part(100),
            "kE_".repeat(120),
            "aa11bb22cc",
            "dd".repeat(900),
            "tag"
        );
        assert_eq!(found(&format!("({encrypted})")), "([api_key])");
        for text in ["eyJhbGciOiJIUzI1NiJ9", "eyJhbGciOiJIUzI1NiJ9.", "eyJhbGciOi.short.x"] {
            assert_eq!(found(text), text);
        }
    }

    #[test]
    fn addresses_that_begin_with_an_underscore_are_found() {
        for (text, expected) in [
            ("_jo@x.io", "[email]"),
            ("to __build__@ci.example.org.", "to [email]."),
            ("<_a_@x.io>,_b@y.io", "<[email]>,[email]"),
            ("é_c@x.io", "é[email]"),
        ] {
            assert_eq!(found(text), expected, "{text:?}");
        }
    }

    #[test]
    fn recognisers_skip_matches_that_fail_their_checks() {
        for text in [
            "card 4111 1111 1111 1112",
            "DE88 3704 0044 0532 0130 00",
            "version 999.1.2.3, at 12:30:45, std::mem::swap, face::bad",
            "a@b, @home, x@-y.org, a..b@x",
            "order 1234567890123456, 3.14159, 2026-11-22",
            "task-force, sk-short, AKIA",
            "let x = a[1] + b; // 100 + 200",
        ] {
            assert_eq!(found(text), text);
        }
        // And a predicate of one's own.
        let ours = Recogniser::email().when(|found| !found.ends_with("@example.org"));
        let redactor = Redactor::of([ours]).unwrap();
        assert_eq!(seen(&redactor, "a@example.org b@x.io").unwrap(), "a@example.org [email]");
    }
}
