//! Tests of the caller's policies in every family: number of calls, names, repair, ids, stopping.
//! Also large values in small chunks.

use toolcall_parsers::{
    Diagnostic, DiagnosticKind, EncodeCall, End, Event, Grammar, Ids, Message, Options, Outcome,
    Parallel, Parser, Repair, StopAfter, Tools, UnknownTools, Whitespace, encode, grammar,
    grammars, parse,
};

const BELL: EncodeCall<'_> = EncodeCall::new("ring_bell", r#"{"word": "ding"}"#);
const NOTE: EncodeCall<'_> = EncodeCall::new("take_note", r#"{"text": "dong"}"#);

fn tools() -> Tools {
    let schema = |key: &str| {
        let string = serde_json::json!({"type": "string"});
        serde_json::json!({"type": "object", "properties": {key: string}})
    };
    Tools::new([("ring_bell", schema("word")), ("take_note", schema("text"))])
}

/// Returns every family that can write these calls, and the wire.
fn wires(calls: &[EncodeCall<'_>]) -> Vec<(Grammar, String)> {
    let written = grammars().filter_map(|grammar| {
        let wire = encode(&grammar, calls, &tools()).ok()?;
        Some((grammar, wire))
    });
    let written: Vec<_> = written.collect();
    assert!(written.len() + 3 >= grammars().count(), "only {} families", written.len());
    written
}

fn parser(grammar: &Grammar, tools: Tools, options: Options) -> Parser {
    let builder = Parser::builder(grammar.clone()).tools(tools).options(options);
    builder.whitespace(Whitespace::Verbatim).build().expect("a sound table")
}

fn read(grammar: &Grammar, options: Options, wire: &str) -> Message {
    parse(&parser(grammar, tools(), options), wire, End::Stop).expect("limits release")
}

/// Reads `wire` character by character: policies must not depend on chunks.
fn read_slowly(grammar: &Grammar, options: Options, wire: &str) -> Message {
    let mut parser = parser(grammar, tools(), options);
    let mut message = Message::default();
    let mut sink = |event: Event<'_>| message.collect(event);
    for scalar in wire.split_inclusive(|_: char| true) {
        parser.push(scalar, &mut sink).expect("limits release");
    }
    parser.finish(End::Stop, &mut sink).expect("limits release");
    message
}

fn kinds(message: &Message) -> Vec<DiagnosticKind> {
    message.diagnostics.iter().map(|diagnostic| diagnostic.kind).collect()
}

fn names(message: &Message) -> Vec<&str> {
    message.calls.iter().map(|call| call.name.as_str()).collect()
}

#[test]
fn parallel_one_emits_only_the_first_call_of_every_family() {
    for (grammar, wire) in wires(&[BELL, NOTE]) {
        let mut options = Options::default();
        options.parallel = Parallel::One;
        for message in
            [read(&grammar, options.clone(), &wire), read_slowly(&grammar, options.clone(), &wire)]
        {
            assert_eq!(names(&message), ["ring_bell"], "{}", grammar.name());
            let reported = kinds(&message).contains(&DiagnosticKind::ParallelCall);
            assert!(reported, "{}: {:?}", grammar.name(), message.diagnostics);
        }
    }
}

#[test]
fn stop_after_first_call_drops_later_text_and_calls() {
    let mut options = Options::default();
    (options.stop, options.ids) = (StopAfter::FirstCall, Ids::counting());
    for (grammar, wire) in wires(&[BELL]) {
        // Text and another call, which must not be emitted.
        let wire = format!("{wire}\n\nDone. {wire}");
        let whole = read(&grammar, options.clone(), &wire);
        assert_eq!(names(&whole), ["ring_bell"], "{}: {wire}", grammar.name());
        assert_eq!(whole.calls[0].outcome, Some(Outcome::Complete), "{}", grammar.name());
        let dropped = whole.diagnostics.iter().filter(|Diagnostic { bytes, .. }| *bytes > 0);
        assert!(dropped.count() > 0, "{}: {:?}", grammar.name(), whole.diagnostics);
        let shown = whole.content + &whole.reasoning;
        assert!(!shown.contains("Done"), "{}: {shown:?}", grammar.name());
        let slow = read_slowly(&grammar, options.clone(), &wire);
        assert_eq!((slow.calls, slow.diagnostics), (whole.calls, whole.diagnostics));
    }
}

#[test]
fn stopped_parser_reports_dropped_bytes_and_restarts_after_reset() {
    let mut options = Options::default();
    options.stop = StopAfter::FirstCall;
    let grammar = toolcall_parsers::grammar("hermes").expect("registered");
    let mut parser = parser(&grammar, tools(), options);
    let call = encode(&grammar, &[BELL], &tools()).expect("it can be written");
    for _ in 0..2 {
        let mut message = Message::default();
        let mut sink = |event: Event<'_>| message.collect(event);
        parser.push("Hi. ", &mut sink).expect("limits release");
        assert!(!parser.is_stopped());
        parser.push(&call, &mut sink).expect("limits release");
        assert!(parser.is_stopped());
        parser.push("12345", &mut sink).expect("limits release");
        parser.push("678", &mut sink).expect("limits release");
        parser.finish(End::Stop, &mut sink).expect("limits release");
        assert_eq!((message.content.as_str(), message.calls.len()), ("Hi. ", 1));
        assert_eq!(message.diagnostics.iter().map(|d| d.bytes).collect::<Vec<_>>(), [8]);
        parser.reset();
    }
}

#[test]
fn undeclared_names_are_reported_on_request() {
    let mut options = Options::default();
    options.unknown_tools = UnknownTools::Report;
    for (grammar, wire) in wires(&[BELL]) {
        let other = Tools::new([("another", serde_json::Value::Null)]);
        let parser = parser(&grammar, other, options.clone());
        let message = parse(&parser, &wire, End::Stop).expect("limits release");
        match message.calls.as_slice() {
            // Without a marker, only a declared name makes it a call.
            [] => assert!(message.content.contains("ring_bell"), "{}", grammar.name()),
            calls => {
                assert_eq!(calls.len(), 1, "{}", grammar.name());
                let reported = kinds(&message).contains(&DiagnosticKind::UndeclaredTool);
                assert!(reported, "{}: {:?}", grammar.name(), message.diagnostics);
            }
        }
        let silent = kinds(&read(&grammar, options.clone(), &wire));
        assert!(!silent.contains(&DiagnosticKind::UndeclaredTool), "{}", grammar.name());
    }
}

#[test]
fn truncated_call_is_repaired_only_on_request() {
    let mut repair = Options::default();
    repair.repair = Repair::Close;
    let mut repaired = 0;
    for (grammar, wire) in wires(&[BELL]) {
        let cut = wire.find("ding").expect("the value is in the wire") + 2;
        let off = read(&grammar, Options::default(), &wire[..cut]);
        assert!(
            off.calls.iter().all(|call| call.outcome == Some(Outcome::Incomplete)),
            "{}: {off:?}",
            grammar.name()
        );
        for call in read(&grammar, repair.clone(), &wire[..cut]).calls {
            if call.outcome == Some(Outcome::Repaired) {
                repaired += 1;
                let arguments: serde_json::Value =
                    serde_json::from_str(&call.arguments).expect("repaired arguments are JSON");
                assert!(arguments.is_object(), "{}: {arguments}", grammar.name());
            }
        }
    }
    assert!(repaired > 50, "only {repaired} families repair");
}

#[test]
fn finished_calls_have_object_arguments_after_a_cut_at_any_byte() {
    let mut options = Options::default();
    options.repair = Repair::Close;
    for (grammar, wire) in wires(&[BELL]) {
        // Also with Python's quotes, and with `null` as the arguments.
        let object = [r#"{"word": "ding"}"#, r#"{"word":"ding"}"#];
        let null = object.iter().fold(wire.clone(), |wire, object| wire.replace(object, "null"));
        for wire in [wire.replace('"', "'"), null, wire] {
            for cut in (0..=wire.len()).filter(|&at| wire.is_char_boundary(at)) {
                for call in read(&grammar, options.clone(), &wire[..cut]).calls {
                    let arguments = serde_json::from_str::<serde_json::Value>(&call.arguments);
                    let whole = call.outcome.is_some_and(Outcome::runs);
                    assert!(
                        !whole || arguments.is_ok_and(|it| it.is_object()),
                        "{}: {:?} of {:?}",
                        grammar.name(),
                        call.arguments,
                        &wire[..cut]
                    );
                }
            }
        }
    }
}

#[test]
fn generated_ids_differ_from_ids_of_the_wire() {
    let grammar = grammars().find(|it| it.name() == "mistral").expect("registered");
    let ids = |id: &str| {
        let wire = format!(
            r#"[TOOL_CALLS][{{{id}"name": "f", "arguments": {{}}}}, {{"name": "g", "arguments": {{"": 1}}}}]"#
        );
        let mut options = Options::default();
        options.ids = Ids::counting();
        let calls = read(&grammar, options, &wire).calls;
        assert_eq!((calls.len(), calls[1].arguments.as_str()), (2, r#"{"": 1}"#));
        calls.into_iter().map(|call| call.id).collect::<Vec<_>>()
    };
    for made in ids("") {
        let ids = ids(&format!(r#""id": "{made}", "#));
        assert_eq!(ids[0], made);
        assert_ne!(ids[1], made);
    }
}

#[test]
fn call_ids_differ_and_come_from_the_id_source_or_the_wire() {
    let mut options = Options::default();
    options.ids = Ids::new(|_: &str, n| format!("own-{n}"));
    for (grammar, wire) in wires(&[BELL, NOTE]) {
        let calls = read(&grammar, options.clone(), &wire).calls;
        assert_eq!(calls.len(), 2, "{}", grammar.name());
        assert_ne!(calls[0].id, calls[1].id, "{}", grammar.name());
        let own = calls.iter().filter(|call| call.id.starts_with("own-")).count();
        // Some families write an id with each call.
        assert!(own == 2 || own == 0, "{}: {:?}", grammar.name(), calls);
    }
}

#[test]
fn call_ids_differ_between_parsers_clones_and_messages() {
    let wire = r#"<tool_call>{"name": "f", "arguments": {}}</tool_call>"#;
    let hermes = || grammars().find(|it| it.name() == "hermes").expect("registered");
    let built = || Parser::new(hermes()).expect("a sound table");
    let parser = built();
    let mut ids = std::collections::BTreeSet::new();
    for mut parser in [parser.clone(), parser, built()] {
        for _ in 0..2 {
            let mut message = Message::default();
            let mut sink = |event: Event<'_>| message.collect(event);
            parser.push(wire, &mut sink).expect("no limit");
            parser.finish(End::Stop, &mut sink).expect("no limit");
            ids.extend(message.calls.into_iter().map(|call| call.id));
            parser.reset();
        }
    }
    assert_eq!(ids.len(), 6, "{ids:?}");
    assert!(ids.iter().all(|id| id.len() == "call_".len() + 24 && id.starts_with("call_")));
}

#[test]
fn large_value_in_single_bytes_is_exact_and_streams() {
    large_values_arrive(64 << 10, 1);
}

#[test]
fn value_of_one_mebibyte_is_exact_and_streams() {
    large_values_arrive(1 << 20, 61);
}

/// Reads a string of about `len` bytes in pieces of `step` bytes.
fn large_values_arrive(len: usize, step: usize) {
    let line = "a \"quoted\" line, <b>markup</b> & {braces}, 100 %\n";
    let text: String = line.repeat(len / line.len());
    let arguments = serde_json::json!({ "text": text }).to_string();
    for (grammar, wire) in wires(&[EncodeCall::new("take_note", &arguments)]) {
        let mut parser = parser(&grammar, tools(), Options::default());
        let mut message = Message::default();
        let mut held = 0;
        let mut rest = wire.as_str();
        while !rest.is_empty() {
            let cut = (step..rest.len()).find(|&at| rest.is_char_boundary(at));
            let (piece, following) = rest.split_at(cut.unwrap_or(rest.len()));
            let mut sink = |event: Event<'_>| message.collect(event);
            parser.push(piece, &mut sink).expect("limits release");
            held = held.max(parser.held().bytes);
            rest = following;
        }
        let mut sink = |event: Event<'_>| message.collect(event);
        parser.finish(End::Stop, &mut sink).expect("limits release");
        assert_eq!(message.calls.len(), 1, "{}", grammar.name());
        let got: serde_json::Value =
            serde_json::from_str(&message.calls[0].arguments).expect("arguments are JSON");
        assert_eq!(got["text"], text.as_str(), "{}", grammar.name());
        // Declared strings are emitted while they arrive.
        assert!(held < 256, "{} held {held} bytes", grammar.name());
    }
}

#[test]
fn inexpressible_values_are_reported_apart_from_malformed_ones() {
    let lfm2 = grammar("lfm2").expect("a registered family");
    let diagnostics = |value: &str| {
        let wire = format!("<|tool_call_start|>[f(x=1, y={value})]<|tool_call_end|>");
        let parser = parser(&lfm2, Tools::default(), Options::default());
        kinds(&parse(&parser, &wire, End::Stop).expect("limits release"))
    };
    for value in ["1j", "b'x'", "nan"] {
        assert_eq!(
            diagnostics(value),
            [DiagnosticKind::Inexpressible, DiagnosticKind::Skipped],
            "{value}"
        );
    }
    for value in ["", "...", "[1"] {
        assert_eq!(diagnostics(value), [DiagnosticKind::Skipped], "{value:?}");
    }
}

#[test]
fn end_tag_in_a_value_ends_the_call_only_within_the_limit_of_held_text() {
    let coder = grammar("qwen3_coder").expect("a registered family");
    let value = "v".repeat(40);
    let end = "</tool_call> so.";
    let tools = Tools::new([("f", serde_json::json!({"properties": {"a": {"type": "integer"}}}))]);
    let outcome = |limit: usize| {
        let mut options = Options::default();
        options.limits.value = limit;
        let parser = parser(&coder, tools.clone(), options);
        let wire = format!("<tool_call>\n<function=f>\n<parameter=a>\n{value}{end}");
        let message = parse(&parser, &wire, End::Stop).expect("limits release");
        (message.calls[0].outcome, message.content)
    };
    assert_eq!(outcome(1 << 20), (Some(Outcome::Repaired), " so.".to_owned()));
    // What was released under the limit cannot end the call afterwards.
    assert_eq!(outcome(8), (Some(Outcome::Incomplete), String::new()));
}
