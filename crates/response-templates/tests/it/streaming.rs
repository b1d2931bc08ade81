//! Streaming: events are emitted with the chunk that makes them certain.

use guard_laws::TemplateMachine;
use response_templates::{Boundaries, TemplateParser, Tools};
use serde_json::json;
use stream_laws::{RecordedEvent, RunRecord, StreamMachine as _};

use crate::support::{
    DIALECT, KINDS, LINED, NAMED, PARAMETERS, PLAIN, TAGGED, all_arguments, machine, machine_with,
    template,
};

/// Returns the events of each piece.
fn each(mut machine: TemplateMachine, pieces: &[&str]) -> Vec<Vec<RecordedEvent>> {
    let mut all = Vec::new();
    for piece in pieces {
        let mut record = RunRecord::default();
        machine.push(piece, &mut record);
        all.push(record.events);
    }
    let mut record = RunRecord::default();
    machine.finish(&mut record);
    all.push(record.events);
    all
}

fn arguments(fragment: &str) -> RecordedEvent {
    RecordedEvent::CallArguments { index: 0, fragment: fragment.to_owned() }
}

fn text(channel: u8, text: &str) -> RecordedEvent {
    RecordedEvent::Text { channel, text: text.to_owned() }
}

fn is_start(event: &RecordedEvent, named: &str) -> bool {
    matches!(event, RecordedEvent::CallStart { name, .. } if name == named)
}

#[test]
fn arguments_are_emitted_from_their_first_byte() {
    let events =
        each(machine(PLAIN), &[r#"<c>{"name": "f""#, r#", "arguments": {"#, "\"a", "\": 1}}"]);
    assert!(is_start(&events[0][0], "f"), "{events:?}");
    assert_eq!(events[1], [arguments("{")]);
    assert_eq!(events[2], [arguments("\"a")]);
    assert_eq!(events[3], [arguments("\": 1}")]);
}

#[test]
fn name_in_the_opener_is_emitted_with_the_opener() {
    let events = each(machine(NAMED), &["<c wind>", "{\"kn", "ots\": 4", "0}</c>x"]);
    assert!(is_start(&events[0][0], "wind"), "{events:?}");
    assert_eq!(events[1], [arguments("{\"kn")]);
    // A number may continue.
    assert_eq!(events[2], [arguments("ots\": ")]);
    assert_eq!(events[3][0], arguments("40}"));
    let events = each(machine(TAGGED), &["</t><c wind>", "<a>1</>"]);
    assert!(events[0].is_empty(), "later text may close the reasoning: {events:?}");
}

#[test]
fn parameter_in_a_tag_is_emitted_after_the_end_of_the_tag() {
    let events = each(machine(PARAMETERS), &["<c f>", "<a>x</", "><b>y", "</>", "</c>"]);
    assert!(is_start(&events[0][0], "f"), "{events:?}");
    assert_eq!(events[0][1], arguments("{"));
    // The region may still end, and an unclosed tag is not a parameter.
    assert_eq!(events[1], []);
    assert_eq!(events[2], [arguments("\"a\": \"x\"")]);
    assert_eq!(events[3], [arguments(", \"b\": \"y\"")]);
    assert_eq!(events[4][0], arguments("}"));
    let events = each(machine(PARAMETERS), &["<c f>", "none", "</c>"]);
    assert_eq!(events[2][0], arguments("}"));
    let lost = each(machine(PARAMETERS), &["<c f><a>x</><b>y</c>"]);
    let ended = RecordedEvent::CallEnd { index: 0, outcome: stream_laws::COMPLETE.into() };
    assert_eq!(lost[0][1..], [arguments("{"), arguments("\"a\": \"x\""), arguments("}"), ended]);
}

#[test]
fn string_aware_tag_values_stream() {
    let aware = || machine_with(PARAMETERS, |it| it.boundaries = Boundaries::StringAware);
    let pieces = ["<c f><a", ">", "x \"y", "\" <b", "r></", "c></", ">", "</c>"];
    let events = each(aware(), &pieces);
    assert_eq!(events[0][1], arguments("{"));
    assert_eq!(events[1], [arguments("\"a\": \"")]);
    assert_eq!(events[2], [arguments("x \\\"y")]);
    assert_eq!(events[3], [arguments("\\\" <b")]);
    assert_eq!(events[4], [arguments("r>")], "the tag may end here");
    assert_eq!(events[5], [arguments("</c>")]);
    assert_eq!(events[6], [arguments("\"")]);
    assert_eq!(events[7][0], arguments("}"));
    let cut = each(aware(), &["<c f><a>x</c>y"]);
    let ended = RecordedEvent::CallEnd { index: 0, outcome: "incomplete".into() };
    assert_eq!(cut[1][0], ended, "{cut:?}");
}

#[test]
fn value_without_an_end_marker_streams() {
    let pattern = r"<(?P<key>\\w+)>\\s*(?P<value>[^<]*)";
    let fields = PARAMETERS.replace(r"<(?P<key>\\w+)>(?P<value>.*?)</>", pattern);
    let events = each(machine(&fields), &["<c f><a>", " ", " x", "y ", "z<b", ">", "</c>"]);
    assert_eq!(events[0][1], arguments("{"));
    assert_eq!(events[1], [], "blanks before a value do not belong to it");
    assert_eq!(events[2], [arguments("\"a\": \"x")]);
    assert_eq!(events[3], [arguments("y ")]);
    assert_eq!(events[4], [arguments("z\"")]);
    assert_eq!(events[6][..1], [arguments(", \"b\": \"\"}")]);
}

#[test]
fn value_in_a_line_streams() {
    let pieces =
        ["<c f>", " a", " ", ": ", "x", " \t", "y: z", " \n", "none\n", "b:", "\n", "</c>"];
    let events = each(machine(LINED), &pieces);
    assert!(is_start(&events[0][0], "f"), "{events:?}");
    assert_eq!(events[0][1], arguments("{"));
    let expected = ["", "", "\"a\": \"", "x", "", " \\ty: z", "\"", "", ", \"b\": \"", "\"", "}"];
    for (events, expected) in events[1..].iter().zip(expected) {
        match expected {
            "" => assert_eq!(events, &[]),
            expected => assert_eq!(events[0], arguments(expected)),
        }
    }
}

#[test]
fn text_value_streams_once_json_is_ruled_out() {
    let json =
        r#""content_args": {"value_parser": {"name": "json", "args": {"allow_non_json": true}}}"#;
    let fields = LINED.replace(r#""kv-lines""#, &format!(r#""kv-lines", {json}"#));
    let events = each(machine(&fields), &["<c f>a: [1", ", x", " y", "\nb: 1", "\n"]);
    assert_eq!(events[0][1..], [arguments("{")]);
    assert_eq!(events[1], [arguments("\"a\": \"[1, x")]);
    assert_eq!(events[2], [arguments(" y")]);
    assert_eq!(events[3], [arguments("\"")]);
    assert_eq!(events[4], [arguments(", \"b\": 1")]);
}

#[test]
fn json_dialect_is_emitted_as_json_as_it_arrives() {
    let pieces = ["<c f>{", "city:<q>Pa", "r\"is", "</", "q>,n:[tru", "e]}</c>"];
    let events = each(machine(DIALECT), &pieces);
    assert!(is_start(&events[0][0], "f"), "{events:?}");
    assert_eq!(events[0][1], arguments("{"));
    assert_eq!(events[1], [arguments("\"city\":\"Pa")]);
    assert_eq!(events[2], [arguments("r\\\"is")]);
    assert_eq!(events[3], [], "the string may end here");
    assert_eq!(events[4], [arguments("\",\"n\":[")]);
    assert_eq!(events[5][0], arguments("true]}"));
}

#[test]
fn strings_of_every_delimiter_are_emitted_as_they_arrive() {
    let pieces = ["<c f>{a:'x<", "b',b:<q>it's", "</q>", ",c:'<", "q", ">y'}", "</c>"];
    let events = each(machine(KINDS), &pieces);
    assert_eq!(events[0][1..], [arguments("{\"a\":\"x")]);
    assert_eq!(events[1], [arguments("<b\",\"b\":\"it's")]);
    assert_eq!(events[2], [arguments("\"")]);
    assert_eq!(events[3], [arguments(",\"c\":\"")]);
    // The first kind counts in strings of the second, if it is closed.
    assert_eq!(events[5], []);
    assert_eq!(events[6][0], arguments("<q>y\"}"));
}

#[test]
fn arguments_before_overlapping_delimiters_stream() {
    let fields = DIALECT.replace(r#"["<q>", "</q>"]"#, r#"["<q>", "</q>"], ["<q", "q>"]"#);
    assert_ne!(fields, DIALECT);
    let events = each(machine(&fields), &["<c f>{a:1,b:[2", ",<", "q>x</q", ">]}", "</c>"]);
    assert_eq!(events[0][1..], [arguments("{\"a\":1,\"b\":[")]);
    assert_eq!(events[1..4], [vec![arguments("2,")], vec![], vec![]]);
    assert_eq!(events[4][0], arguments("\"x\"]}"));
}

#[test]
fn delimiter_in_a_string_opens_a_string_if_closed_later() {
    for (wire, outcome) in [
        (r#"<c f>{a:"x <q> y"}</c>"#, stream_laws::COMPLETE),
        (r#"<c f>{a:"x <q> y",b:<q>z</q>}</c>"#, "malformed"),
    ] {
        let all = each(machine(DIALECT), &[wire]).concat();
        let ended = RecordedEvent::CallEnd { index: 0, outcome: outcome.into() };
        assert!(all.contains(&ended), "{wire}: {all:?}");
        assert_eq!(all[1], arguments("{\"a\":\"x "), "{wire}: {all:?}");
    }
}

#[test]
fn parameters_are_cast_to_their_schema_one_by_one() {
    let schema = json!({"properties": {"n": {"type": "integer"}, "s": {"type": "string"}}});
    let tools = || Tools::new([("f", schema.clone())]);
    for (fields, pieces) in [
        (PARAMETERS, ["<c f><n>12</>", "<s>12</>"]),
        (LINED, ["<c f>n: 12\n", "s: 12\n"]),
        (DIALECT, ["<c f>{n:<q>12</q>", ",s:<q>12</q>"]),
    ] {
        let parser = TemplateParser::new(&template(fields)).tools(tools());
        let events = each(TemplateMachine::new(parser), &pieces);
        let said = |events: &[RecordedEvent]| -> String {
            let fragments = events.iter().filter_map(|event| match event {
                RecordedEvent::CallArguments { fragment, .. } => Some(fragment.replace(": ", ":")),
                _ => None,
            });
            fragments.collect::<String>().replace(", ", ",")
        };
        assert_eq!(said(&events[0]), "{\"n\":12", "{fields}");
        assert_eq!(said(&events[1]), ",\"s\":\"12\"", "{fields}");
    }
}

#[test]
fn arguments_of_calls_without_a_wrapper_are_not_cast() {
    let schema = json!({"properties": {"n": {"type": "integer"}}});
    let bare =
        NAMED.replace("\"type\": \"function\",", "").replace("\"function\": {\"name\"", "\"name\"");
    let bare = bare.replace("\"{content}\"}}}", "\"{content}\"}}");
    let parser = TemplateParser::new(&template(&bare)).tools(Tools::new([("f", schema)]));
    let events = each(TemplateMachine::new(parser), &["<c f>", "{\"n\": \"1"]);
    assert_eq!(events[1], [arguments("{\"n\": \"1")]);
}

#[test]
fn call_with_arguments_that_are_not_json_is_not_complete() {
    let lenient =
        DIALECT.replace("\"unquoted_keys\"", "\"allow_non_json\": true, \"unquoted_keys\"");
    for wire in ["<c f>{a:1} x</c>", "<c f></c>", "<c f>{a:1</c>", "<c f>{a:</c>"] {
        let mut record = RunRecord::default();
        let mut machine = machine(&lenient);
        machine.push(wire, &mut record);
        machine.finish(&mut record);
        let complete = record.events.iter().any(
            |event| matches!(event, RecordedEvent::CallEnd { outcome, .. } if outcome == stream_laws::COMPLETE),
        );
        assert!(!complete, "{wire}: {:?}", record.events);
    }
}

#[test]
fn only_arguments_that_the_schema_may_cast_are_withheld() {
    let schema = json!({"properties": {"n": {"type": "integer"}, "s": {"type": "string"}}});
    let parser = TemplateParser::new(&template(NAMED)).tools(Tools::new([("f", schema)]));
    let pieces = ["<c f>", "{\"s\": \"1", "2\", \"n\": \"1", "2\", \"m\": \"1"];
    let events = each(TemplateMachine::new(parser), &pieces);
    assert_eq!(events[1], [arguments("{\"s\": \"1")]);
    assert_eq!(events[2], [arguments("2\", \"n\": ")]);
    assert_eq!(events[3], [arguments("12"), arguments(", \"m\": \"1")]);
}

#[test]
fn only_whitespace_and_marker_prefixes_of_text_are_withheld() {
    let events = each(machine(PLAIN), &[" a", " ", "b <", "b", " <t>", "x", "\n</t>"]);
    let expected = [
        vec![text(0, "a")],
        vec![],
        vec![text(0, " "), text(0, "b")],
        vec![text(0, " "), text(0, "<b")],
        vec![],
        vec![text(1, "x")],
    ];
    assert_eq!(events[..6], expected);
}

#[test]
fn first_half_of_an_escaped_surrogate_pair_is_withheld() {
    let pieces = ["<c f>{\"a\": \"", "\\ud83d", "\\ude00", "\\ud83d", "x\"}"];
    let events = each(machine(NAMED), &pieces);
    assert_eq!(events[1], []);
    assert_eq!(events[2], [arguments("\\ud83d\\ude00")]);
    assert_eq!(events[3], []);
    assert_eq!(events[4], [arguments("\\ufffd"), arguments("x\"}")]);
}

#[test]
fn call_that_began_in_the_prompt_is_emitted_from_its_start() {
    let parser = TemplateParser::new(&template(NAMED)).prompt("<bot><c f>{\"a\":");
    let events = each(TemplateMachine::new(parser), &[" 1}</c>"]);
    assert!(is_start(&events[0][0], "f"), "{events:?}");
    assert_eq!(all_arguments(events.iter().flatten()), "{\"a\": 1}");
}
