//! Guards made from the request their stream answers.

use llm_stream_guard::{
    BuildError, CallOptions, End, Event, Guard, GuardBuilder, Ids, Message, Parallel, Profile,
    ReasoningOptions, Start, StopString, ToolChoice, profile, profiles,
};
use serde_json::{Value, json};

fn tool(name: &str) -> Value {
    json!({"type": "function", "function": {"name": name, "parameters": {"type": "object"}}})
}

/// Reasoning, content and names of calls.
fn read(builder: GuardBuilder, wire: &str) -> (String, String, Vec<String>) {
    let guard = builder.build().unwrap_or_else(|error| panic!("{error}"));
    let message = guard.parse(wire, End::Stop).unwrap();
    let names = message.calls.iter().map(|call| call.name.to_string()).collect();
    (message.reasoning, message.content, names)
}

const OPENED: &str = "Okay, rain.\n</think>\n\nIt rains.";

#[test]
fn model_id_starts_as_its_template_and_profile_name_in_content() {
    for id in
        ["Qwen/Qwen3-30B-A3B-Thinking-2507", "deepseek-ai/DeepSeek-R1", "MiniMaxAI/MiniMax-M2"]
    {
        let (thought, text, _) = read(Guard::for_model(id).unwrap(), OPENED);
        assert!(thought.starts_with("Okay, rain."), "{id}");
        assert_eq!(text.trim(), "It rains.", "{id}");
    }
    let named = Guard::builder(&profile("minimax_m2").unwrap());
    assert_eq!(read(named, "It rains.").1, "It rains.");
    assert_eq!(read(Guard::for_model("minimax-m2").unwrap(), "It rains.").0, "It rains.");
}

#[test]
fn builder_rules_match_the_built_guard() {
    let body = json!({"tools": [tool("f"), tool("g")], "parallel_tool_calls": false,
        "tool_choice": {"type": "allowed_tools", "mode": "required", "tools": [tool("g")]}});
    let rules = Guard::for_model("Qwen/Qwen3-8B").unwrap().request(&body).rules();
    assert_eq!((&rules.choice, rules.parallel), (&ToolChoice::Required, Parallel::One));
    assert!(rules.tools.get("g").is_some() && rules.tools.get("f").is_none());
    let off = json!({"chat_template_kwargs": {"enable_thinking": false}});
    let glm = |body: &Value| Guard::for_model("zai-org/GLM-4.7").unwrap().request(body);
    let opened = "[gMASK]<sop><|assistant|>\n<think>";
    let mut in_content = ReasoningOptions::default();
    in_content.start = Some(Start::Content);
    let builders = [
        glm(&json!({})),
        glm(&off),
        glm(&off).prompt(opened),
        glm(&json!({})).prompt("<|assistant|>\n"),
        glm(&off).prompt(opened).reasoning(in_content),
        Guard::builder(&profile("hermes").unwrap()),
        Guard::builder(&profile("harmony").unwrap()),
    ];
    let mut seen = Vec::new();
    for builder in builders {
        let start = builder.rules().start;
        let thought = read(builder, "x").0;
        assert_eq!(start == Start::Reasoning, thought == "x", "{thought}");
        seen.push(start == Start::Reasoning);
    }
    assert_eq!(seen, [true, false, true, false, false, false, false]);
}

#[test]
fn template_arguments_and_options_turn_reasoning_on_and_off() {
    let is_thought =
        |id: &str, body: Value| read(Guard::for_model(id).unwrap().request(&body), "x").0 == "x";
    let (on, off) = ("zai-org/GLM-4.7", "deepseek-ai/DeepSeek-V3.1");
    assert!(is_thought(on, json!({})));
    assert!(!is_thought(on, json!({"chat_template_kwargs": {"enable_thinking": false}})));
    assert!(
        is_thought(on, json!({"chat_template_kwargs": {"thinking": false}})),
        "not its argument"
    );
    assert!(!is_thought(on, json!({"reasoning_effort": "none"})));
    assert!(is_thought(on, json!({"reasoning_effort": "high"})));
    assert!(!is_thought(on, json!({"thinking": {"type": "disabled"}})));
    assert!(!is_thought(off, json!({})));
    assert!(is_thought(off, json!({"chat_template_kwargs": {"thinking": true}})));
    assert!(is_thought(off, json!({"reasoning": {"enabled": true}})));
    let either = "deepseek-ai/DeepSeek-V3.2";
    assert!(!is_thought(either, json!({})));
    // Its template reads the effort, which wins.
    let effort = "Aleph-Alpha/Kolibri-1";
    assert!(is_thought(effort, json!({})));
    assert!(!is_thought(effort, json!({"chat_template_kwargs": {"enable_thinking": false}})));
    let arguments = json!({"enable_thinking": false, "reasoning_effort": "low"});
    assert!(is_thought(effort, json!({"chat_template_kwargs": arguments})));
    let arguments =
        json!({"chat_template_kwargs": {"enable_thinking": true}, "reasoning_effort": "none"});
    assert!(!is_thought(effort, arguments));
    for name in ["thinking", "enable_thinking"] {
        assert!(is_thought(either, json!({"chat_template_kwargs": {name: true}})), "{name}");
    }
    let always = "Qwen/Qwen3-4B-Thinking-2507";
    assert!(is_thought(always, json!({"chat_template_kwargs": {"enable_thinking": false}})));
}

#[test]
fn only_switches_of_reasoning_forbid_a_thought() {
    let may_think = |arguments: Value| {
        let body = json!({"chat_template_kwargs": arguments});
        Guard::for_model("Qwen/Qwen3-8B").unwrap().request(&body).rules().may_think
    };
    assert!(may_think(json!({})));
    for name in ["add_vision_id", "continue_final_message", "clear_thinking"] {
        assert!(may_think(json!({name: false})), "{name}");
        assert!(!may_think(json!({name: false, "enable_thinking": false})), "{name}");
    }
    let switches = profiles().into_iter().flat_map(|profile| profile.switch.into_keys());
    for name in switches.filter(|name| name != "reasoning_effort") {
        assert!(!may_think(json!({&name: false})), "{name}");
    }
}

#[test]
fn continued_assistant_message_determines_the_start() {
    let body = json!({
        "messages": [{"role": "assistant", "content": "<think>a</think>b"}],
        "continue_final_message": true,
    });
    let guard = Guard::for_model("Qwen/Qwen3-4B-Thinking-2507").unwrap();
    assert_eq!(read(guard.request(&body), "c").1, "c");
}

#[test]
fn tools_that_are_not_functions_are_set_aside() {
    let body = json!({"tools": [
        tool("a"),
        {"type": "custom", "custom": {"name": "grep"}},
        {"type": "web_search"},
        {"name": "b", "input_schema": {}},
    ], "tool_choice": {"type": "custom", "custom": {"name": "grep"}}});
    let builder = Guard::for_model("qwen3").unwrap().request(&body);
    assert_eq!(builder.tools_set_aside().len(), 2);
    let wire = "<tool_call>{\"name\": \"b\", \"arguments\": {}}</tool_call>";
    assert_eq!(read(builder, wire).2, ["b"]);
}

#[test]
fn tool_choices_are_read_in_the_forms_of_every_api() {
    let named = Some(ToolChoice::Named("a".into()));
    let rows = [
        (json!("any"), Some(ToolChoice::Required)),
        (json!({"type": "any"}), Some(ToolChoice::Required)),
        (json!({"type": "none"}), Some(ToolChoice::None)),
        (json!({"type": "tool", "name": "a"}), named.clone()),
        (json!({"type": "function", "function": {"name": "a"}}), named),
        (json!("some"), None),
        (json!(1), None),
    ];
    for (choice, expected) in rows {
        assert_eq!(ToolChoice::from_json(&choice), expected, "{choice}");
    }
    let call =
        |name| format!("<tool_call>{{\"name\": \"{name}\", \"arguments\": {{}}}}</tool_call>");
    let wire = call("a") + &call("b");
    let calls = |rest: Value| {
        let mut body = json!({"tools": [tool("a"), tool("b")]});
        for (key, value) in rest.as_object().unwrap() {
            body[key] = value.clone();
        }
        read(Guard::for_model("qwen3").unwrap().request(&body), &wire).2
    };
    assert_eq!(calls(json!({})), ["a", "b"]);
    assert_eq!(calls(json!({"parallel_tool_calls": false})), ["a"]);
    assert_eq!(
        calls(json!({"tool_choice": {"type": "auto", "disable_parallel_tool_use": true}})),
        ["a"]
    );
    assert!(calls(json!({"tool_choice": "none"})).is_empty());
    assert_eq!(calls(json!({"tool_choice": {"type": "tool", "name": "b"}})), ["b"]);
    let allowed = json!({"type": "allowed_tools", "allowed_tools": {
        "mode": "required", "tools": [{"type": "function", "function": {"name": "b"}}],
    }});
    assert!(calls(json!({"tool_choice": allowed})).contains(&"b".to_owned()));
}

#[test]
fn stop_strings_of_the_request_end_the_message() {
    for body in
        [json!({"stop": "END"}), json!({"stop": ["x", "END"]}), json!({"stop_sequences": ["END"]})]
    {
        assert_eq!(read(Guard::for_model("qwen3").unwrap().request(&body), "a END b").1, "a ");
    }
}

#[test]
fn number_of_choices_is_read_from_the_request() {
    let guard = || Guard::for_model("qwen3").unwrap();
    assert_eq!(guard().answers(), 1);
    assert_eq!(guard().request(&json!({"n": 3})).request(&json!({"n": null})).answers(), 3);
}

#[test]
fn generated_ids_follow_the_family_and_continue_the_history() {
    let call = |id: &str| json!({"id": id, "type": "function", "function": {"name": "a"}});
    let body = json!({
        "messages": [
            {"role": "user", "content": "go"},
            {"role": "assistant", "tool_calls": [call("functions.a:0"), call("functions.a:1")]},
            {"role": "assistant", "content": [{"type": "tool_use"}, {"type": "text"}]},
        ],
        "tools": [tool("a"), tool("b")],
        "tool_choice": "required",
        "chat_template_kwargs": {"thinking": false},
    });
    let ids = |model: &str, body: &Value| {
        let mut options = CallOptions::default();
        options.ids = Ids::counting();
        let guard = Guard::for_model(model).unwrap().calls(options).request(body).build();
        let guard = guard.unwrap();
        let payload = r#"[{"name": "b", "parameters": {}}, {"name": "a", "parameters": {}}]"#;
        let calls = guard.parse(payload, End::Stop).unwrap().calls;
        calls.into_iter().map(|call| call.id.to_string()).collect::<Vec<_>>()
    };
    let (mut first, later) = (body.clone(), &body);
    first["messages"] = json!([]);
    assert_eq!(ids("kimi-k2.5", &first), ["functions.b:0", "functions.a:1"]);
    assert_eq!(ids("kimi-k2.5", later), ["functions.b:3", "functions.a:4"]);
    assert_eq!(ids("qwen3", later)[0], format!("call_{:024}", 3));
}

#[test]
fn request_errors_name_the_field() {
    let fault = |body: Value| {
        Guard::for_model("qwen3").unwrap().request(&body).build().map(drop).unwrap_err().to_string()
    };
    let rows = [
        (json!([]), "request: expected an object"),
        (json!({"tools": 1}), "request, `tools`: expected a list of tools"),
        (
            json!({"tools": [tool("a"), {"type": "function", "function": {}}]}),
            "request, `tools[1].function.name`: expected a string",
        ),
        (
            json!({"tool_choice": "maybe"}),
            "request, `tool_choice`: expected `auto`, `none`, `required` or a tool",
        ),
        (json!({"stop": [1]}), "request, `stop[0]`: expected a string"),
        (json!({"n": 0}), "request, `n`: expected a positive number"),
    ];
    for (body, expected) in rows {
        assert_eq!(fault(body), expected);
    }
    assert!(Guard::for_model("zephyr-7b-beta").is_err());
}

#[test]
fn tools_without_a_call_grammar_are_an_error_unless_choice_is_none_or_required() {
    let built = |choice: Value| {
        let body = json!({"tools": [tool("a")], "tool_choice": choice});
        Guard::for_model("LGAI-EXAONE/EXAONE-Deep-7.8B").unwrap().request(&body).build().map(drop)
    };
    assert!(matches!(built(json!("auto")), Err(BuildError::NoToolGrammar { .. })));
    assert!(matches!(built(json!(null)), Err(BuildError::NoToolGrammar { .. })));
    assert_eq!(built(json!("none")), Ok(()));
    assert_eq!(built(json!("required")), Ok(()), "what is required is read without a grammar");
    let body = json!({"tools": [{"type": "web_search"}]});
    assert!(Guard::builder(&Profile::named("x")).request(&body).build().is_ok());
}

/// Where the start of an answer is known from the model's id alone, a server that was asked for
/// JSON shows by the first character whether it let the model think.
#[test]
fn json_that_the_request_asks_for_is_content() {
    let format = json!({"type": "json_schema", "json_schema": {"name": "a", "schema": {}}});
    for (field, value) in [
        ("response_format", format),
        ("response_format", json!({"type": "json_object"})),
        ("guided_json", json!({"type": "object"})),
        ("structured_outputs", json!({"json": {"type": "object"}})),
    ] {
        let builder = Guard::for_model("Qwen/QwQ-32B").unwrap().request(&json!({field: value}));
        let guard = builder.stop([StopString::hidden("STOP")]).build().unwrap();
        for (wire, reasoning, content) in [
            (r#"{"city": "Oslo"}"#, "", r#"{"city": "Oslo"}"#),
            ("\n [1, 2]", "", "[1, 2]"),
            ("A list.\n</think>\n\n[1]", "A list.", "[1]"),
        ] {
            for size in 1..=wire.len() {
                let (mut guard, mut message) = (guard.clone(), Message::default());
                let mut sink = |event: Event<'_>| message.collect(event);
                for chunk in wire.as_bytes().chunks(size) {
                    guard.push_bytes(chunk, &mut sink).unwrap();
                }
                guard.finish(End::Stop, &mut sink).unwrap();
                let seen = (message.reasoning.trim(), message.content.trim());
                assert_eq!(seen, (reasoning, content), "{field}: {wire:?} by {size}");
            }
        }
    }
    let free = Guard::for_model("Qwen/QwQ-32B").unwrap().request(&json!({})).build().unwrap();
    assert_eq!(free.parse("{x} is a set.</think>Yes.", End::Stop).unwrap().content, "Yes.");
}
