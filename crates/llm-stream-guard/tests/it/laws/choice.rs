//! Tool choice: what is read as calls when the request requires, names or forbids them.

use guard_laws::{GuardMachine, call_options};
use llm_stream_guard::{
    BadPayload, BuildError, CallOptions, Delivery, End, Guard, GuardBuilder, LimitPolicy, Limits,
    Message, Outcome, Parallel, ToolChoice, Tools, UnknownTools, profile,
};
use serde_json::json;
use stream_laws::{
    CutPlan, Random, Work, check_bounded, check_chunk_invariance, check_delivery, check_isolation,
    check_linear, check_nothing_lost, check_prompt, check_total,
};

const POLICIES: [BadPayload; 3] =
    [BadPayload::BestEffort, BadPayload::RecoverAsText, BadPayload::Reject];

fn tools() -> Tools {
    let tool = |name: &str, properties| (name.to_owned(), json!({"properties": properties}));
    Tools::new([
        tool("tide", json!({"port": {"type": "string"}, "day": {"type": "integer"}})),
        tool("enrol", json!({"name": {"type": "string"}, "arguments": {"type": "object"}})),
        tool("wait", json!({})),
    ])
}

fn named(name: &str) -> ToolChoice {
    ToolChoice::Named(name.into())
}

fn builder(family: &str, choice: ToolChoice) -> GuardBuilder {
    let profile = profile(family).expect("a registered profile");
    Guard::builder(&profile).tools(tools()).tool_choice(choice)
}

fn parse(builder: GuardBuilder, wire: &str) -> Message {
    builder.build().expect("a registered profile").parse(wire, End::Stop).expect("limits release")
}

/// Names and arguments of the calls, then content, then the kinds of diagnostics.
fn told(message: &Message) -> (Vec<(&str, &str)>, &str, Vec<&str>) {
    let calls = message.calls.iter().map(|call| (&*call.name, &*call.arguments)).collect();
    let kinds = message.diagnostics.iter().map(|diagnostic| diagnostic.kind.name()).collect();
    (calls, &message.content, kinds)
}

// Contract: S1.28.
#[test]
fn required_choice_accepts_an_object_an_array_or_family_syntax() {
    let tide = ("tide", "{\"port\": \"Brest\"}");
    for (wire, calls) in [
        (
            "[{\"name\": \"tide\", \"arguments\": {\"port\": \"Brest\"}}, {\"name\": \"wait\", \"parameters\": {}}]",
            vec![tide, ("wait", "{}")],
        ),
        ("\n {\"parameters\": {\"port\": \"Brest\"}, \"name\": \"tide\"} ", vec![tide]),
        ("{\"function\": {\"name\": \"tide\", \"arguments\": {\"port\": \"Brest\"}}}", vec![tide]),
        (
            "<tool_call>{\"name\": \"tide\", \"arguments\": {\"port\": \"Brest\"}}</tool_call>",
            vec![tide],
        ),
        (
            "{\"name\": \"wait\", \"arguments\": {}}, {\"name\": \"wait\", \"arguments\": {}}",
            vec![("wait", "{}"); 2],
        ),
        (
            "{\"name\": \"tide\", \"arguments\": {\"port\": \"<tool_call></think>\"}}",
            vec![("tide", "{\"port\": \"<tool_call></think>\"}")],
        ),
    ] {
        for bad in POLICIES {
            let message = parse(
                builder("qwen3", ToolChoice::Required)
                    .calls(call_options(|it| it.bad_payload = bad)),
                wire,
            );
            assert_eq!(told(&message), (calls.clone(), "", vec![]), "{wire} {bad:?}");
        }
    }
    // Families whose own calls begin with the same bytes.
    for (family, wire) in [
        ("llama3_json", "{\"name\": \"tide\", \"parameters\": {\"port\": \"Brest\"}}"),
        ("pythonic", "[tide(port=\"Brest\")]"),
    ] {
        let profile = llm_stream_guard::Profile::tools(family);
        let builder = Guard::builder(&profile).tools(tools()).tool_choice(ToolChoice::Required);
        let message = parse(builder, wire);
        assert_eq!(told(&message).0.first().map(|call| call.0), Some("tide"), "{family}");
        assert_eq!(message.content, "", "{family}");
    }
}

// Contract: S1.30.
#[test]
fn answer_without_the_required_call_is_text() {
    for wire in ["I cannot do that.", "{\"port\": 1}", "[1] is a note", "{braces} and more"] {
        for choice in [ToolChoice::Required, named("tide")] {
            if choice != ToolChoice::Required && wire.starts_with("{\"") {
                continue;
            }
            let message = parse(builder("qwen3", choice), wire);
            assert_eq!(told(&message), (vec![], wire, vec![]));
        }
    }
}

// Contract: S1.29.
#[test]
fn named_tool_accepts_bare_or_wrapped_arguments() {
    for (name, wire, arguments) in [
        ("tide", "{\"port\": \"Brest\"}", "{\"port\": \"Brest\"}"),
        ("tide", "\n{ \"day\" : 3 }\n", "{ \"day\" : 3 }"),
        ("tide", "{}", "{}"),
        ("tide", "{\"name\": \"tide\", \"arguments\": {\"day\": 3}}", "{\"day\": 3}"),
        (
            "tide",
            "{\"type\": \"function\", \"function\": {\"name\": \"tide\", \"parameters\": {\"day\": 3}}}",
            "{\"day\": 3}",
        ),
        ("tide", "[{\"name\": \"tide\", \"arguments\": {\"day\": 3}}]", "{\"day\": 3}"),
        (
            "tide",
            "<tool_call>{\"name\": \"tide\", \"arguments\": {\"day\": 3}}</tool_call>",
            "{\"day\": 3}",
        ),
        // A key that is a parameter of the tool is one.
        (
            "enrol",
            "{\"name\": \"Ada\", \"arguments\": {}}",
            "{\"name\": \"Ada\", \"arguments\": {}}",
        ),
        ("wait", "{\"name\": \"slowly\"}", "{\"name\": \"slowly\"}"),
    ] {
        for bad in POLICIES {
            let message = parse(
                builder("qwen3", named(name)).calls(call_options(|it| it.bad_payload = bad)),
                wire,
            );
            assert_eq!(told(&message), (vec![(name, arguments)], "", vec![]), "{wire} {bad:?}");
            assert_eq!(message.calls[0].outcome, Some(Outcome::Complete));
        }
    }
}

// Contract: S1.29.
#[test]
fn calls_of_other_tools_are_dropped_and_reported() {
    for wire in [
        "{\"name\": \"wait\", \"arguments\": {\"port\": 1}}",
        "{\"name\": \"unheard_of\", \"arguments\": {}}",
        "<tool_call>{\"name\": \"wait\", \"arguments\": {}}</tool_call>",
    ] {
        let message = parse(builder("qwen3", named("tide")), wire);
        assert_eq!(told(&message), (vec![], "", vec!["unwanted_call"]), "{wire}");
    }
    let wire = "[{\"name\": \"wait\", \"arguments\": {}}, {\"name\": \"tide\", \"arguments\": {}}]";
    let message = parse(builder("qwen3", named("tide")), wire);
    assert_eq!(told(&message), (vec![("tide", "{}")], "", vec!["unwanted_call"]));
}

#[test]
fn named_choice_of_an_undeclared_tool_is_refused() {
    let built = builder("qwen3", named("tides")).build();
    let Err(error @ BuildError::Unknown(_)) = built else { panic!("{built:?}") };
    assert!(error.to_string().contains("tide"), "{error}");
    let undeclared = builder("qwen3", named("anything")).tools(Tools::none());
    let message = parse(undeclared, "{\"x\": 1}");
    assert_eq!(told(&message).0, [("anything", "{\"x\": 1}")]);
}

// Contract: S1.28.
#[test]
fn call_starts_with_the_first_byte_of_its_arguments_which_then_stream() {
    let mut guard = builder("qwen3", named("tide")).build().expect("a registered profile");
    let mut message = Message::default();
    let mut push = |text: &str, message: &mut Message| {
        let mut sink = |event: llm_stream_guard::Event<'_>| {
            message.collect(event);
        };
        guard.push(text, &mut sink).expect("no limit");
    };
    push("{\"port\"", &mut message);
    assert_eq!(told(&message).0, [("tide", "{\"port\"")]);
    push(": \"Bre", &mut message);
    assert_eq!(told(&message).0, [("tide", "{\"port\": \"Bre")]);
    let mut guard = builder("qwen3", ToolChoice::Required).build().expect("a registered profile");
    let mut message = Message::default();
    let mut push = |text: &str, message: &mut Message| {
        let mut sink = |event: llm_stream_guard::Event<'_>| {
            message.collect(event);
        };
        guard.push(text, &mut sink).expect("no limit");
    };
    push("[{\"name\": \"tide\", \"arguments\": ", &mut message);
    assert_eq!(told(&message).0, []);
    push("{", &mut message);
    assert_eq!(told(&message).0, [("tide", "{")]);
}

// Contract: S1.34.
#[test]
fn calls_quoted_in_reasoning_before_the_payload_are_text() {
    let thought = "use {\"name\": \"wait\", \"arguments\": {}} or a <tool_call>, hm";
    let wire = format!("<think>{thought}</think>\n\n{{\"name\": \"wait\", \"arguments\": {{}}}}");
    for choice in [ToolChoice::Required, named("wait")] {
        for bad in POLICIES {
            let message = parse(
                builder("qwen3", choice.clone()).calls(call_options(|it| it.bad_payload = bad)),
                &wire,
            );
            assert_eq!(told(&message), (vec![("wait", "{}")], "", vec![]), "{choice:?} {bad:?}");
            assert_eq!(message.reasoning, thought);
        }
    }
    // Thinking was off, and the model closes it all the same.
    let message = parse(builder("qwen3", named("wait")), "</think>{}");
    assert_eq!(told(&message), (vec![("wait", "{}")], "", vec!["orphan_closer"]));
}

#[test]
fn payload_in_a_thought_is_not_a_call() {
    let payload = "{\"name\": \"wait\", \"arguments\": {}}";
    for (family, open, close) in
        [("glm45", "<think>", "</think>"), ("apertus", "<|inner_prefix|>", "<|inner_suffix|>")]
    {
        for choice in [ToolChoice::Required, named("wait")] {
            let wire = format!("{open}{payload}{close}Hi.");
            let message = parse(builder(family, choice), &wire);
            assert_eq!(told(&message), (vec![], "Hi.", vec![]), "{family}");
            assert_eq!(message.reasoning, payload, "{family}");
        }
    }
}

// Contract: S1.31.
#[test]
fn malformed_payload_follows_the_bad_payload_policy() {
    let good = "{\"name\": \"wait\", \"arguments\": {}}";
    let broken = "{\"name\": \"tide\", \"arguments\": {\"day\": }}";
    let wire = format!("[{good}, {broken}]");
    let required =
        |bad| builder("qwen3", ToolChoice::Required).calls(call_options(|it| it.bad_payload = bad));
    let message = parse(required(BadPayload::BestEffort), &wire);
    let outcomes: Vec<_> = message.calls.iter().map(|call| call.outcome).collect();
    assert_eq!(outcomes, [Some(Outcome::Complete), Some(Outcome::Malformed)]);
    assert_eq!(message.content, "");
    let message = parse(required(BadPayload::RecoverAsText), &wire);
    assert_eq!((message.calls.len(), message.content.as_str()), (0, &*wire));
    let message = parse(required(BadPayload::Reject), &wire);
    assert_eq!(told(&message), (vec![], "", vec!["bad_payload"]));
    assert_eq!(message.diagnostics[0].bytes, wire.len() as u64 - 1);
}

#[test]
fn rejection_is_reported_and_nothing_is_emitted_after_it() {
    let builder = builder("qwen3", named("tide"))
        .calls(call_options(|it| it.bad_payload = BadPayload::Reject));
    let mut guard = builder.build().expect("a registered profile");
    let mut message = Message::default();
    let mut sink = |event: llm_stream_guard::Event<'_>| {
        message.collect(event);
    };
    guard.push("\n{\"port\": Brest} and more", &mut sink).expect("no limit");
    let rejected = guard.rejected().expect("it was rejected");
    assert_eq!(rejected.at, 2);
    assert_eq!(
        rejected.to_string(),
        "byte 2: expected nothing but calls in JSON; the payload was dropped"
    );
    guard.finish(End::Stop, &mut sink).expect("no limit");
    assert_eq!(told(&message), (vec![], "", vec!["bad_payload"]));
    guard.reset();
    assert_eq!(guard.rejected(), None);
}

#[test]
fn truncated_payload_is_text_only_under_recover_as_text() {
    for (bad, content, kinds) in [
        (BadPayload::BestEffort, "", vec!["cut_opener"]),
        (BadPayload::RecoverAsText, "{\"na", vec![]),
        (BadPayload::Reject, "", vec!["bad_payload"]),
    ] {
        let message = parse(
            builder("qwen3", named("tide")).calls(call_options(|it| it.bad_payload = bad)),
            "{\"na",
        );
        assert_eq!(told(&message), (vec![], content, kinds), "{bad:?}");
    }
    let message = parse(builder("qwen3", named("tide")), "{\"port\": \"Bre");
    assert_eq!(message.calls[0].outcome, Some(Outcome::Incomplete));
}

#[test]
fn payload_over_the_candidate_limit_is_not_kept() {
    // The byte after it may begin another call and is looked at, too.
    let limits = Limits { candidate: 64, ..Limits::default() };
    let fits = format!("{{\"port\": \"{}\"}}", "x".repeat(64 - 13));
    let long = format!("{{\"port\": \"{}\"}}", "x".repeat(64 - 12));
    for (bad, wire, calls, content, kinds) in [
        (BadPayload::RecoverAsText, &fits, 1, "", vec![]),
        (BadPayload::RecoverAsText, &long, 0, &*long, vec!["candidate_limit"]),
        (BadPayload::Reject, &fits, 1, "", vec![]),
        // What opens it is not counted.
        (BadPayload::Reject, &format!(" {long}x"), 0, "", vec!["bad_payload"]),
    ] {
        let builder = builder("qwen3", named("tide"))
            .calls(call_options(|it| it.bad_payload = bad))
            .limits(limits);
        let long = wire.len() >= 64;
        let wire = if long && bad == BadPayload::Reject {
            wire.replace("\"}", "xx\"}")
        } else {
            wire.clone()
        };
        let message = parse(builder, &wire);
        let told = (message.calls.len(), message.content.as_str());
        assert_eq!(told, (calls, content), "{bad:?} {wire}");
        let got: Vec<_> = message.diagnostics.iter().map(|one| one.kind.name()).collect();
        assert_eq!(got, kinds, "{bad:?} {wire}");
    }
}

#[test]
fn parallel_one_emits_only_the_first_call_of_a_payload() {
    let mut options = CallOptions::default();
    options.parallel = Parallel::One;
    let wire = "[{\"name\": \"tide\", \"arguments\": {}}, {\"name\": \"wait\", \"arguments\": {}}]";
    let message = parse(builder("qwen3", ToolChoice::Required).calls(options), wire);
    assert_eq!(told(&message), (vec![("tide", "{}")], "", vec!["parallel_call"]));
}

#[test]
fn message_headers_are_read_under_every_tool_choice() {
    let header = "<|channel|>commentary to=functions.tide <|constrain|>json<|message|>";
    let own =
        format!("<|channel|>analysis<|message|>hm<|end|><|start|>assistant{header}{{}}<|call|>");
    let bare = "<|channel|>final<|message|>{\"name\": \"tide\", \"arguments\": {}}<|return|>";
    for (choice, wire, calls, kinds) in [
        (ToolChoice::Auto, &*own, 1, vec![]),
        (ToolChoice::Required, &*own, 1, vec![]),
        (ToolChoice::Required, bare, 1, vec![]),
        (named("tide"), &*own, 1, vec![]),
        (named("tide"), bare, 1, vec![]),
        (named("wait"), &*own, 0, vec!["unwanted_call"]),
        (ToolChoice::None, &*own, 0, vec!["unwanted_call"]),
    ] {
        let message = parse(builder("harmony", choice.clone()), wire);
        let (told, content, told_kinds) = told(&message);
        assert_eq!((told.len(), content, told_kinds), (calls, "", kinds), "{choice:?} {wire}");
    }
}

#[test]
fn undeclared_tool_names_pass_are_reported_or_dropped_by_policy() {
    let wire = "a<tool_call>{\"name\": \"ebb\", \"arguments\": {}}</tool_call>b";
    for (policy, calls, kinds) in [
        (UnknownTools::Pass, vec![("ebb", "{}")], vec![]),
        (UnknownTools::Report, vec![("ebb", "{}")], vec!["undeclared_tool"]),
        (UnknownTools::Drop, vec![], vec!["undeclared_tool"]),
    ] {
        let mut options = CallOptions::default();
        options.unknown_tools = policy;
        let message = parse(builder("qwen3", ToolChoice::Auto).calls(options), wire);
        assert_eq!(told(&message), (calls, "ab", kinds), "{policy:?}");
    }
}

#[test]
fn tool_choice_none_drops_and_reports_calls() {
    let call = "<tool_call>{\"name\": \"wait\", \"arguments\": {}}</tool_call>";
    let message = parse(builder("qwen3", ToolChoice::None), &format!("a{call}b"));
    assert_eq!(told(&message), (vec![], "ab", vec!["unwanted_call"]));
    // Without markup only declared tools tell a call from an answer in JSON.
    let profile = llm_stream_guard::Profile::tools("llama3_json");
    let bare = "{\"name\": \"wait\", \"parameters\": {}}";
    let none = || Guard::builder(&profile).tool_choice(ToolChoice::None);
    assert_eq!(told(&parse(none(), bare)), (vec![], bare, vec![]));
    let message = parse(none().tools(tools()), bare);
    assert_eq!(told(&message), (vec![], "", vec!["unwanted_call"]));
}

#[test]
fn tool_choice_is_parsed_from_request_json() {
    for (json, choice) in [
        (json!("auto"), Some(ToolChoice::Auto)),
        (json!("none"), Some(ToolChoice::None)),
        (json!("required"), Some(ToolChoice::Required)),
        (json!({"type": "function", "function": {"name": "tide"}}), Some(named("tide"))),
        (json!({"type": "function"}), None),
        (json!("maybe"), None),
        (json!(1), None),
    ] {
        assert_eq!(ToolChoice::from_json(&json), choice, "{json}");
    }
}

fn plain(builder: GuardBuilder, bad: BadPayload) -> GuardBuilder {
    builder.calls(call_options(|it| it.bad_payload = bad))
}

/// Every mode, in families whose own calls look nothing and something like the payload.
fn machines(
    adjust: impl Fn(GuardBuilder, BadPayload) -> GuardBuilder,
) -> Vec<(String, GuardMachine)> {
    let mut machines = Vec::new();
    for family in ["qwen3", "llama3_json", "pythonic", "mistral", "harmony"] {
        for choice in [ToolChoice::None, ToolChoice::Required, named("tide"), named("enrol")] {
            for bad in POLICIES {
                let profile =
                    profile(family).unwrap_or_else(|_| llm_stream_guard::Profile::tools(family));
                let builder = Guard::builder(&profile).tools(tools());
                let builder = adjust(builder.tool_choice(choice.clone()), bad);
                let guard = builder.build().expect("a registered family");
                let name = format!("{family} {choice:?} {bad:?}");
                machines.push((name, GuardMachine::new(guard, End::Stop)));
            }
        }
    }
    machines
}

const PARTS: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    ",",
    ";",
    ":",
    "\"",
    " ",
    "\n",
    "x",
    "1",
    "{\"name\": \"tide\"",
    "\"arguments\": {",
    "{\"name\": \"wait\", \"arguments\": {}}",
    "{\"port\": \"Brest\"}",
    "{\"name\": \"Ada\"",
    "\"parameters\"",
    "<think>",
    "</think>",
    "<tool_call>",
    "</tool_call>",
    "[TOOL_CALLS]",
    "tide(port=\"x\")",
    "null",
    "<|channel|>final<|message|>",
    "<|channel|>commentary to=functions.tide<|message|>",
    "<|end|>",
    "\\u00",
];

fn wires() -> Vec<String> {
    let mut random = Random::new(8);
    let soup = |random: &mut Random| -> String {
        (0..1 + random.below(9)).map(|_| PARTS[random.below(PARTS.len())]).collect()
    };
    let mut wires: Vec<String> = (0..70).map(|_| soup(&mut random)).collect();
    let begun =
        "[{\"name\": \"tide\", \"arguments\": {\"day\": 3}}, {\"name\": \"wait\", \"arguments\": {";
    wires.extend((0..25).map(|_| {
        let at = random.below(begun.len());
        format!("{}{}", &begun[..at], soup(&mut random))
    }));
    wires
}

fn every_machine(
    adjust: impl Fn(GuardBuilder, BadPayload) -> GuardBuilder,
    law: impl Fn(&GuardMachine, &[String]) -> Result<(), stream_laws::LawViolation>,
) {
    let wires = wires();
    let broken: Vec<String> = machines(adjust)
        .iter()
        .filter_map(|(name, machine)| Some(format!("{name}: {}", law(machine, &wires).err()?)))
        .collect();
    assert!(broken.is_empty(), "{} broken\n{}", broken.len(), broken.join("\n"));
}

const PLAN: CutPlan = CutPlan::quick(23);

#[test]
fn output_is_chunk_invariant_and_every_byte_is_accounted_for() {
    every_machine(plain, |machine, wires| {
        wires.iter().try_for_each(|wire| {
            check_chunk_invariance(machine, wire, PLAN)?;
            check_nothing_lost(machine, wire, &["cut_opener"], PLAN)?;
            check_total(machine, wire, PLAN)
        })
    });
}

#[test]
fn text_is_emitted_promptly() {
    let ends = [
        "x",
        "\n",
        "}",
        "\"}",
        "]",
        ": 1}",
        "\": 1}",
        "\"tide\", \"arguments\": {}}",
        "{}}",
        "{\"name\": \"tide\", \"arguments\": {}}",
        "name\": \"tide\", \"arguments\": {}}",
        "\": {}}",
        " \"arguments\": {}}",
        "\"tide\"",
    ];
    // What else may come of the families' own openers is the concern of the laws over profiles.
    for (name, machine) in machines(plain) {
        // A payload that may be text again is held on purpose.
        if name.starts_with("qwen3") && !name.ends_with("RecoverAsText") {
            let wires = wires();
            // What follows in the wire is what best commits a candidate of it.
            for wire in wires.iter().filter(|wire| wire.len() <= 48).take(60) {
                let rests = wire.char_indices().map(|(at, _)| &wire[at..]);
                let call = "<tool_call>{\"name\": \"wait\", \"arguments\": {}}</tool_call>";
                let markers = ["<think>x</think>", "</think>", "<|im_end|>", call];
                let markers =
                    markers.iter().flat_map(|it| it.char_indices().map(|(at, _)| &it[at..]));
                let witnesses: Vec<&str> = ends.into_iter().chain(rests).chain(markers).collect();
                check_prompt(&machine, wire, &witnesses)
                    .unwrap_or_else(|broken| panic!("{name}: {broken}"));
            }
        }
    }
}

#[test]
fn memory_and_work_are_bounded() {
    const LIMITS: Limits =
        Limits { candidate: 96, whitespace: 32, depth: 8, policy: LimitPolicy::Release };
    let options = |bad| {
        let mut options = call_options(|it| it.bad_payload = bad);
        (options.limits.name, options.limits.early_arguments) = (64, 64);
        options.limits.value = 64;
        options
    };
    let heads = [
        "{",
        "[",
        "{\"",
        "{\"name\": \"",
        "{\"arguments\": {\"a\": \"",
        "[{\"name\": \"tide\"",
        "{\"port\": \"",
        "{\"type\": \"",
        "[{\"name\": \"tide\", \"arguments\": {}}",
    ];
    every_machine(
        |builder, bad| builder.limits(LIMITS).calls(options(bad)),
        |machine, _| {
            for head in heads {
                for unit in ["x", " ", "{", "[", "\\"] {
                    let pieces = std::iter::once(head).chain(std::iter::repeat_n(unit, 800));
                    // A key is kept once more, for comparison with the keys after it.
                    check_bounded(machine, pieces, 96 + 32 + 4 * 64)?;
                    let work = Work { bytes: 1024, per_byte: 128, growth_percent: 220 };
                    check_linear(machine, |bytes| head.to_owned() + &unit.repeat(bytes), work)?;
                }
            }
            Ok(())
        },
    );
}

#[test]
fn concurrent_guards_are_isolated_and_delivery_modes_agree() {
    let atomic = machines(|builder, bad| plain(builder, bad).delivery(Delivery::Atomic));
    let wires = wires();
    for ((name, streaming), (_, atomic)) in machines(plain).iter().zip(&atomic) {
        for wire in &wires {
            check_delivery(atomic, streaming, wire, PLAN)
                .unwrap_or_else(|broken| panic!("{name}: {broken}"));
        }
        let some: Vec<&str> = wires.iter().map(String::as_str).take(8).collect();
        check_isolation(streaming, &some, 3).unwrap_or_else(|broken| panic!("{name}: {broken}"));
    }
}
