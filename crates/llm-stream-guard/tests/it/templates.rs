//! Guards whose checkpoint brings its own grammar.

use guard_laws::{GuardMachine, reasoning_options};
use llm_stream_guard::{
    BuildError, CallOptions, End, Format, Guard, GuardBuilder, LimitPolicy, Limits, Parallel,
    Profile, Repair, Start, StopString, Tools, Whitespace,
    response_templates::{Boundaries, ErrorKind},
};
use serde_json::json;
use stream_laws::{
    CONTENT, Cut, CutPlan, REASONING, RecordedEvent, check_byte_chunk_invariance,
    check_chunk_invariance, check_nothing_lost, run,
};

const TEMPLATE: &str = r#"{"start_anchor": "<bot>", "fields": {
    "thinking": {"open": "<t>", "close_pattern": "</t>\\s*"},
    "tool_calls": {"open_pattern": "\\s*<c (?P<name>\\w+)>", "close": "</c>", "repeats": true,
                   "content": "json",
                   "transform": {"type": "function",
                                 "function": {"name": "{name}", "arguments": "{content}"}}},
    "content": {"close": "<end>"}}}"#;

const WIRE: &str =
    "<t> Why? </t>\n Because <b. <c f>{\"a\": \"é\"}</c>\n<c g>[]</c><c h>oops</c> Done<end>";

fn profile() -> Profile {
    Profile::from_response_template(TEMPLATE).expect("a good template")
}

fn machine(builder: GuardBuilder) -> GuardMachine {
    GuardMachine::new(builder.build().expect("a guard"), End::Stop)
}

#[test]
fn template_reads_the_message_at_every_cut() {
    let machine = machine(Guard::builder(&profile()));
    let record = run(&machine, WIRE, Cut::Whole);
    assert_eq!(record.channel_text(REASONING), "Why?");
    assert_eq!(record.channel_text(CONTENT), "Because <b.Done");
    let starts =
        record.events.iter().filter(|event| matches!(event, RecordedEvent::CallStart { .. }));
    assert_eq!(starts.count(), 3);
    check_chunk_invariance(&machine, WIRE, CutPlan::standard(1))
        .unwrap_or_else(|it| panic!("{it}"));
    check_byte_chunk_invariance(&machine, WIRE.as_bytes(), CutPlan::standard(2))
        .unwrap_or_else(|it| panic!("{it}"));
    let drops = ["noise", "malformed_region", "bad_payload"];
    check_nothing_lost(&machine, WIRE, &drops, CutPlan::standard(3))
        .unwrap_or_else(|it| panic!("{it}"));
}

#[test]
fn tokenizer_file_is_read_and_only_its_template_is_kept() {
    let file = format!(r#"{{"chat_template": "x", "response_template": {TEMPLATE}}}"#);
    let profile = Profile::from_response_template(&file).expect("a file");
    assert!(!profile.response_template.as_ref().expect("kept").as_json().contains("chat_template"));
    assert!(profile.needs_special_tokens);
    let error = Profile::from_response_template(r#"{"response_schema": {}}"#).expect_err("refused");
    assert_eq!(error.kind, ErrorKind::ResponseSchema);
}

#[test]
fn template_reads_the_complete_prompt_or_a_continued_message() {
    let builder = Guard::builder(&profile()).prompt("<user>Well?<bot><t>");
    assert_eq!(run(&machine(builder), "Aye.", Cut::Whole).channel_text(REASONING), "Aye.");
    let body = json!({
        "messages": [{"role": "assistant", "content": "<t>So"}], "continue_final_message": true
    });
    let builder = Guard::builder(&profile()).request(&body);
    let record = run(&machine(builder), " be it</t>x", Cut::Whole);
    assert_eq!(record.channel_text(REASONING), " be it");
}

#[test]
fn call_options_and_stages_apply_to_template_output() {
    let mut options = CallOptions::default();
    options.parallel = Parallel::One;
    let record = run(&machine(Guard::builder(&profile()).calls(options)), WIRE, Cut::Whole);
    let starts =
        record.events.iter().filter(|event| matches!(event, RecordedEvent::CallStart { .. }));
    assert_eq!(starts.count(), 1);
    let stop = [StopString::hidden("Done")];
    let builder = Guard::builder(&profile())
        .stop(stop)
        .reasoning(reasoning_options(|it| it.nonempty_content = Some(100)));
    let record = run(&machine(builder), WIRE, Cut::EachScalar);
    assert_eq!(record.channel_text(CONTENT), "Because <b.");
}

#[test]
fn options_that_would_do_nothing_are_refused() {
    let mut repair = CallOptions::default();
    repair.repair = Repair::Close;
    let limits = Limits { policy: LimitPolicy::Error, ..Limits::default() };
    let new = || Guard::builder(&profile());
    let of = |change: fn(&mut Profile)| {
        let mut profile = profile();
        change(&mut profile);
        Guard::builder(&profile)
    };
    let all = [
        (of(|it| it.format = Some(Format::passthrough("none"))), "format"),
        (new().reasoning(reasoning_options(|it| it.start = Some(Start::Reasoning))), "start"),
        (of(|it| it.whitespace = Whitespace::Trim), "whitespace"),
        (of(|it| it.token_suffix = Some(":1".to_owned())), "token_suffix"),
        (new().limits(limits), "limits.policy"),
        (new().calls(repair), "repair"),
        (new().tool_choice(llm_stream_guard::ToolChoice::Required), "tool_choice"),
    ];
    for (builder, option) in all {
        assert_eq!(builder.build().err(), Some(BuildError::NotWithTemplate { option }));
    }
}

#[test]
fn tools_of_a_request_need_a_template_with_calls() {
    let body = json!({"messages": [], "tools": [{"type": "function", "function": {"name": "f"}}]});
    assert!(Guard::builder(&profile()).request(&body).build().is_ok());
    let text = r#"{"start_anchor": "A", "fields": {"content": {}}}"#;
    let plain = Profile::from_response_template(text).expect("a template");
    let error = Guard::builder(&plain).request(&body).build().expect_err("no calls are read");
    assert!(matches!(error, BuildError::NoToolGrammar { .. }));
}

#[test]
fn template_exposes_the_message_object() {
    let mut profile = profile();
    profile.template_settings.keep_regions = true;
    let tools = Tools::new([("f", json!({"properties": {"a": {"type": "integer"}}}))]);
    let mut guard = Guard::builder(&profile).tools(tools).build().expect("a guard");
    guard
        .push("<c f>{\"a\": \"7\"}</c>", &mut |_: llm_stream_guard::Event<'_>| {})
        .expect("no limit");
    guard.finish(End::Stop, &mut |_: llm_stream_guard::Event<'_>| {}).expect("no limit");
    let message = guard.template().expect("a template").message().expect("nothing is missing");
    let said = message.get("tool_calls").expect("calls").to_string();
    assert_eq!(said, r#"[{"type": "function", "function": {"name": "f", "arguments": {"a": 7}}}]"#);
}

#[test]
fn message_boundary_separates_template_messages() {
    let mut guard = Guard::builder(&profile()).build().expect("a guard");
    let (mut text, mut places) = (String::new(), Vec::new());
    let mut sink = |event: llm_stream_guard::Event<'_>| match event {
        llm_stream_guard::Event::Diagnostic(it) => places.push(it.at),
        event => {
            if let Some((_, piece)) = event.as_text() {
                text.push_str(piece);
            }
        }
    };
    guard.push("<t>one", &mut sink).expect("no limit");
    guard.message_boundary(&mut sink);
    guard.push("two<c f>x</c>", &mut sink).expect("no limit");
    guard.finish(End::Stop, &mut sink).expect("no limit");
    assert_eq!((text.as_str(), places.as_slice()), ("onetwo", &[14][..]));
}

/// Calls in JSON with the name in it, in a dialect, in tags and in lines.
const WRITTEN: [(&str, &str, &str); 4] = [
    (r#""json""#, "{", r#""a\"b": "text \u00e9 <b", "n": [1, -2.5e3, {"k": true}], "#),
    (
        r#""json", "content_args": {"unquoted_keys": true, "string_delims": [["<q>", "</q>"]]}"#,
        "{",
        r#"a:<q>text "é" <b</q>,n:[1,{k:true}],"#,
    ),
    (
        r#""xml-inline", "content_args": {"tag_pattern": "<(?P<key>\\w+)>\\s*(?P<value>.*?)\\s*</>"}"#,
        "",
        "<a> text \"é\" <b and so on </>\n",
    ),
    (r#""kv-lines""#, "", "a: text \"é\" and : so on \n"),
];

#[test]
fn template_chunk_does_not_allocate_in_the_steady_state() {
    let mut sink = |_: llm_stream_guard::Event<'_>| ();
    let mut counted = |guard: &mut Guard, text: &str| {
        let chunks: Vec<&str> = text.split_inclusive(|c: char| !c.is_alphanumeric()).collect();
        let spent = allocation_counter::measure(|| {
            for chunk in &chunks {
                let _ = guard.push(chunk, &mut sink);
            }
        });
        spent.count_total
    };
    for aware in [Boundaries::Exact, Boundaries::StringAware] {
        for (content, head, piece) in WRITTEN {
            let text = TEMPLATE.replace(r#""json""#, content);
            let mut profile = Profile::from_response_template(&text).expect("a good template");
            profile.template_settings.boundaries = aware;
            let mut guard = Guard::builder(&profile).build().expect("a guard");
            // The first call's buffers are those of the second.
            let (call, body) = (format!("<c f>{head}{piece}{piece}"), piece.repeat(40));
            let texts =
                ["<t>Why? ", &"Because <b, ".repeat(40), "</t> So \n", &"it <is, \n".repeat(40)];
            for round in 0..3 {
                for (n, text) in texts.into_iter().chain([call.as_str(), &body]).enumerate() {
                    let spent = counted(&mut guard, text);
                    // What a dialect becomes is in a buffer of its own, which doubles.
                    let most = if content.contains("string_delims") && n == 5 { 8 } else { 0 };
                    assert!(
                        round == 0 || n % 2 == 0 || spent <= most,
                        "{spent}: {text:.90}, {content}"
                    );
                }
                let _ = counted(&mut guard, "</c>");
            }
        }
    }
}
