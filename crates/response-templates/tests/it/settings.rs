//! Limits and settings of parsers.

use guard_laws::TemplateMachine;
use response_templates::{
    Boundaries, MalformedPolicy, MessageError, NoAnchor, TemplateParser, TemplateSettings,
};
use stream_laws::{
    COMPLETE, CONTENT, Cut, CutPlan, REASONING, RecordedEvent, RunRecord, check_chunk_invariance,
    run,
};

use crate::support::{
    DIALECT, NAMED, PARAMETERS, PLAIN, TAGGED, all_arguments, machine, machine_with, template,
};

/// Fields with lists of calls whose names are in the JSON.
const NAMES: &str = r#""tool_calls": {"open": "<c>", "close": "</c>", "content": "json",
    "transform_each": true, "transform": {"type": "function",
    "function": {"name": "{n}", "arguments": "{args}"}}}, "content": {}"#;

fn outcomes(record: &RunRecord) -> Vec<&str> {
    let outcome = |event: &'_ RecordedEvent| matches!(event, RecordedEvent::CallEnd { .. });
    let ends = record.events.iter().filter(|event| outcome(event));
    ends.filter_map(|event| match event {
        RecordedEvent::CallEnd { outcome, .. } => Some(outcome.as_str()),
        _ => None,
    })
    .collect()
}

fn kinds(record: &RunRecord) -> Vec<&str> {
    record.diagnostics.iter().map(|one| one.kind.as_str()).collect()
}

#[test]
fn closer_in_a_string_ends_a_region_unless_boundaries_are_string_aware() {
    let wire = r#"<c>{"name": "f", "arguments": {"s": "a </c> b"}}</c>x"#;
    let exact = run(&machine(PLAIN), wire, Cut::Whole);
    assert_eq!(outcomes(&exact), ["malformed"]);
    let aware = machine_with(PLAIN, |it| it.boundaries = Boundaries::StringAware);
    for cut in [Cut::Whole, Cut::EachScalar] {
        let record = run(&aware, wire, cut);
        assert_eq!(outcomes(&record), [COMPLETE]);
        assert_eq!(record.channel_text(CONTENT), "x");
    }
}

#[test]
fn string_aware_boundaries_ignore_closers_in_delimited_strings() {
    let aware = machine_with(DIALECT, |it| it.boundaries = Boundaries::StringAware);
    for cut in [Cut::Whole, Cut::EachScalar] {
        let record = run(&aware, "<c f>{s:<q>a </c> \"<</q>}</c>x", cut);
        assert_eq!(outcomes(&record), [COMPLETE]);
        assert_eq!(record.channel_text(CONTENT), "x");
    }
    // The end decides whether the delimiter in the string counts. Until then closers count.
    let record = run(&aware, "<c f>{s:\"<q> </c>x", Cut::Whole);
    assert_eq!(record.channel_text(CONTENT), "x");
}

/// Tests patterns that drop blanks at the edges of a value, or that end a value at any `<`.
#[test]
fn string_aware_boundaries_ignore_closers_in_tag_values() {
    let tags = r"<(?P<key>\\w+)>(?P<value>.*?)</>";
    let aware = |pattern: &str| {
        machine_with(&PARAMETERS.replace(tags, pattern), |it| {
            it.boundaries = Boundaries::StringAware;
        })
    };
    for (pattern, wire, means) in [
        (
            r"<(?P<key>\\w+)>\\n?(?P<value>.*?)\\n?</>",
            "<c f><a>\n</c>\n</></c>x",
            r#"{"a": "</c>"}"#,
        ),
        (
            r"<(?P<key>\\w+)>\\s*(?P<value>.*?)\\s*</>",
            "<c f><a> </c>\n</></c>x",
            r#"{"a": "</c>"}"#,
        ),
        (r"<(?P<key>\\w+)>\\s*(?P<value>[^<]*)", "<c f><a> b\n</c>x", r#"{"a": "b\n"}"#),
        (r"<(?P<key>\\w+)>\\s*(?P<value>[^<]*)", "<c f><a></c>x", r#"{"a": ""}"#),
    ] {
        for cut in [Cut::Whole, Cut::EachScalar] {
            let record = run(&aware(pattern), wire, cut);
            assert_eq!(record.channel_text(CONTENT), "x", "{pattern}");
            assert_eq!(all_arguments(&record.events), means, "{pattern}");
        }
    }
}

#[test]
fn malformed_region_is_dropped_or_text_by_policy() {
    let wire = "<c>oops</c>x";
    let dropped = run(&machine(PLAIN), wire, Cut::Whole);
    assert_eq!(dropped.channel_text(CONTENT), "x");
    assert_eq!(kinds(&dropped), ["malformed_region"]);
    assert_eq!((dropped.diagnostics[0].offset, dropped.diagnostics[0].bytes), (3, 4));
    let shown = machine_with(PLAIN, |it| it.malformed = MalformedPolicy::Text);
    let shown = run(&shown, wire, Cut::Whole);
    assert_eq!(shown.channel_text(CONTENT), "oopsx");
}

#[test]
fn prompt_without_a_turn_is_ignored_by_default() {
    let prompt = "Think.<t>";
    let ignored = TemplateMachine::new(TemplateParser::new(&template(PLAIN)).prompt(prompt));
    assert_eq!(run(&ignored, "a", Cut::Whole).channel_text(CONTENT), "a");
    let mut settings = TemplateSettings::default();
    settings.no_anchor = NoAnchor::Read;
    let read = TemplateMachine::new(
        TemplateParser::new(&template(PLAIN)).settings(settings).prompt(prompt),
    );
    assert_eq!(run(&read, "a", Cut::Whole).channel_text(REASONING), "a");
}

#[test]
fn last_turn_of_a_prompt_is_found() {
    let template = template(PLAIN);
    assert_eq!(template.last_turn("<bot>one<bot>two"), Some("two"));
    assert_eq!(template.last_turn("one"), None);
}

#[test]
fn text_held_over_the_limit_is_emitted() {
    let machine = machine_with(TAGGED, |it| it.hold = 20);
    let record = run(&machine, "<s>a</s>0123456789</t><c f></c>", Cut::EachScalar);
    let record_of_whole = run(&machine, "<s>a</s>0123456789</t><c f></c>", Cut::Whole);
    assert_eq!(record.coalesced(), record_of_whole.coalesced());
    assert!(kinds(&record).contains(&"candidate_limit"), "{record:?}");
}

#[test]
fn whitespace_over_its_limit_is_text_at_every_cut() {
    let machine = machine_with(PLAIN, |it| it.blanks = 1);
    for wire in ["a   ", "a   b", "a \u{2003} b  c"] {
        let record = run(&machine, wire, Cut::Whole);
        assert_eq!(record.channel_text(CONTENT), wire);
        assert!(kinds(&record).contains(&"whitespace_limit"), "{record:?}");
        check_chunk_invariance(&machine, wire, CutPlan::standard(0)).unwrap();
    }
}

#[test]
fn text_is_emitted_before_the_diagnostic_of_later_held_text() {
    let machine = machine_with(PLAIN, |it| it.hold = 1);
    for wire in ["ab<tx", "ab<c>{}</c>d<ct", "a<en<en"] {
        let record = run(&machine, wire, Cut::Whole);
        assert!(kinds(&record).contains(&"candidate_limit"), "{record:?}");
        check_chunk_invariance(&machine, wire, CutPlan::standard(0)).unwrap();
    }
}

#[test]
fn call_without_a_name_is_a_bad_payload() {
    for (fields, wire) in [
        (PLAIN, r#"<c>{"name": "", "arguments": {}}</c>x"#),
        (PLAIN, r#"<c>{"arguments": {}, "name": ""}</c>x"#),
        (NAMES, r#"<c>[{"n": "", "args": {}}]</c>x"#),
    ] {
        for cut in [Cut::Whole, Cut::EachScalar] {
            let record = run(&machine(fields), wire, cut);
            assert_eq!(outcomes(&record), [""; 0], "{wire}");
            assert_eq!(kinds(&record), ["bad_payload"], "{wire}");
            assert_eq!(record.channel_text(CONTENT), "x");
        }
    }
}

#[test]
fn message_is_an_error_unless_regions_are_kept() {
    let TemplateMachine(mut parser) = machine(PLAIN);
    parser.push("one", &mut |_: response_templates::Event<'_>| {});
    parser.finish(response_templates::End::Stop, &mut |_: response_templates::Event<'_>| {});
    assert_eq!(parser.message(), Err(MessageError::RegionsNotKept));
}

#[test]
fn region_over_its_limit_is_malformed() {
    let machine = machine_with(NAMED, |it| it.region = 10);
    for cut in [Cut::Whole, Cut::EachScalar] {
        let record = run(&machine, "<c f>{\"a\": \"0123456789\"}</c>x", cut);
        assert_eq!(outcomes(&record), ["malformed"]);
        assert_eq!(record.channel_text(CONTENT), "x");
    }
}

#[test]
fn message_keeps_the_last_region_and_events_report_all() {
    let machine = machine_with(PLAIN, |it| it.keep_regions = true);
    let TemplateMachine(mut parser) = machine;
    let mut text = String::new();
    let mut sink = |event: response_templates::Event<'_>| {
        if let Some((_, piece)) = event.as_text() {
            text.push_str(piece);
        }
    };
    parser.push("one<end>two", &mut sink);
    parser.finish(response_templates::End::Stop, &mut sink);
    assert_eq!(text, "onetwo");
    let message = parser.message().expect("nothing is required");
    assert_eq!(message.get("content").and_then(|it| it.as_str()), Some("two"));
    assert_eq!(parser.regions().len(), 2);
}
