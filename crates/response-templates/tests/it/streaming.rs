//! What is certain comes out with the piece that makes it so.

use guard_laws::TemplateMachine;
use response_templates::{Parser, Tools};
use serde_json::json;
use stream_laws::{Event, Machine as _, Record};

use crate::support::{NAMED, PLAIN, TAGGED, machine, template};

/// The events of each piece.
fn each(mut machine: TemplateMachine, pieces: &[&str]) -> Vec<Vec<Event>> {
    let mut all = Vec::new();
    for piece in pieces {
        let mut record = Record::default();
        machine.push(piece, &mut record);
        all.push(record.events);
    }
    let mut record = Record::default();
    machine.finish(&mut record);
    all.push(record.events);
    all
}

fn arguments(fragment: &str) -> Event {
    Event::CallArguments { index: 0, fragment: fragment.to_owned() }
}

fn text(channel: u8, text: &str) -> Event {
    Event::Text { channel, text: text.to_owned() }
}

fn is_start(event: &Event, named: &str) -> bool {
    matches!(event, Event::CallStart { name, .. } if name == named)
}

#[test]
fn arguments_come_with_their_first_byte() {
    let events =
        each(machine(PLAIN), &[r#"<c>{"name": "f""#, r#", "arguments": {"#, "\"a", "\": 1}}"]);
    assert!(is_start(&events[0][0], "f"), "{events:?}");
    assert_eq!(events[1], [arguments("{")]);
    assert_eq!(events[2], [arguments("\"a")]);
    assert_eq!(events[3], [arguments("\": 1}")]);
}

#[test]
fn a_name_in_the_opener_comes_with_the_opener() {
    let events = each(machine(NAMED), &["<c wind>", "{\"kn", "ots\": 4", "0}</c>x"]);
    assert!(is_start(&events[0][0], "wind"), "{events:?}");
    assert_eq!(events[1], [arguments("{\"kn")]);
    // A number may go on.
    assert_eq!(events[2], [arguments("ots\": ")]);
    assert_eq!(events[3][0], arguments("40}"));
    let events = each(machine(TAGGED), &["</t><c wind>", "<a>1</>"]);
    assert!(events[0].is_empty(), "what comes later may close a thought: {events:?}");
}

#[test]
fn only_arguments_that_a_schema_may_change_wait() {
    let schema = json!({"properties": {"n": {"type": "integer"}, "s": {"type": "string"}}});
    let parser = Parser::new(&template(NAMED)).tools(Tools::new([("f", schema)]));
    let pieces = ["<c f>", "{\"s\": \"1", "2\", \"n\": \"1", "2\", \"m\": \"1"];
    let events = each(TemplateMachine(parser), &pieces);
    assert_eq!(events[1], [arguments("{\"s\": \"1")]);
    assert_eq!(events[2], [arguments("2\", \"n\": ")]);
    assert_eq!(events[3], [arguments("12"), arguments(", \"m\": \"1")]);
}

#[test]
fn text_waits_for_blanks_and_markers_alone() {
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
fn half_a_pair_of_escapes_waits() {
    let pieces = ["<c f>{\"a\": \"", "\\ud83d", "\\ude00", "\\ud83d", "x\"}"];
    let events = each(machine(NAMED), &pieces);
    assert_eq!(events[1], []);
    assert_eq!(events[2], [arguments("\\ud83d\\ude00")]);
    assert_eq!(events[3], []);
    assert_eq!(events[4], [arguments("\\ufffd"), arguments("x\"}")]);
}

#[test]
fn a_call_that_the_prompt_began_is_told_from_its_beginning() {
    let parser = Parser::new(&template(NAMED)).prompt("<bot><c f>{\"a\":");
    let events = each(TemplateMachine(parser), &[" 1}</c>"]);
    assert!(is_start(&events[0][0], "f"), "{events:?}");
    let all: String = events
        .iter()
        .flatten()
        .filter_map(|event| match event {
            Event::CallArguments { fragment, .. } => Some(fragment.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(all, "{\"a\": 1}");
}
