//! Tests of tools in the prompt: what is written, and that a guard reads it back.

use serde_json::{Value, json};

use super::{PromptToolsError, move_tools_to_prompt};
use crate::{End, Guard, profile};

fn tools() -> Value {
    json!([
        {"type": "function", "function": {
            "name": "tide", "description": "Tide at a port",
            "parameters": {"type": "object", "required": ["port", "day"], "properties": {
                "port": {"type": "string"}, "day": {"type": "integer"}, "units": {"type": "array"},
            }},
        }},
        {"type": "function", "function": {"name": "ping"}},
    ])
}

fn call(id: &str, name: &str, arguments: &str) -> Value {
    json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}})
}

fn moved(family: &str, mut body: Value) -> Value {
    move_tools_to_prompt(&mut body, &profile(family).unwrap()).unwrap();
    body
}

/// Returns the content of each message with its role.
fn contents(body: &Value) -> Vec<(&str, &str)> {
    let messages = body["messages"].as_array().unwrap();
    let content = |it: &'_ Value| it["content"].as_str().map(|_| ()).is_some();
    assert!(messages.iter().all(content), "{messages:?}");
    messages
        .iter()
        .map(|it| (it["role"].as_str().unwrap(), it["content"].as_str().unwrap()))
        .collect()
}

#[test]
fn conversation_of_calls_becomes_text_that_a_guard_reads_back() {
    for family in ["json_in_tags", "xml_calls", "hermes", "qwen3_coder", "pythonic", "glm45"] {
        let arguments = r#"{"port":"Brest","day":3,"units":["m","ft"]}"#;
        let calls = json!([call("a", "tide", arguments), call("b", "ping", "{}")]);
        let request = json!({
            "model": "any", "tools": tools(), "tool_choice": "auto", "parallel_tool_calls": true,
            "messages": [
                {"role": "system", "content": "Be brief."},
                {"role": "user", "content": "High tide?"},
                {"role": "assistant", "content": Value::Null, "tool_calls": calls},
                {"role": "tool", "tool_call_id": "b", "content": "pong"},
                {"role": "tool", "tool_call_id": "a", "content": "At 5."},
            ],
        });
        let sent = moved(family, request.clone());
        let fields: Vec<&String> = sent.as_object().unwrap().keys().collect();
        assert_eq!(fields, ["model", "messages"], "{family}");
        let sent = contents(&sent);
        let roles: Vec<&str> = sent.iter().map(|(role, _)| *role).collect();
        assert_eq!(roles, ["system", "user", "assistant", "user"], "{family}");
        assert!(sent[0].1.starts_with("Be brief.\n\nYou can call tools."), "{family}");
        assert!(sent[0].1.contains("Tide at a port"), "{family}");
        assert!(!sent[2].1.contains("\"id\""), "{family}: {}", sent[2].1);
        // Results are in the order of the calls.
        let results =
            "<tool_response>\nAt 5.\n</tool_response>\n<tool_response>\npong\n</tool_response>";
        assert_eq!(sent[3].1, results, "{family}");

        // The example of the prompt and the written history are calls for the guard.
        let example = sent[0].1.split("This calls `tide`:\n").nth(1).unwrap();
        let example = example.split("\nWrite your message").next().unwrap();
        let guard = Guard::builder(&profile(family).unwrap()).request(&request).build().unwrap();
        let read = |text: &str| {
            let message = guard.parse(text, End::Stop).unwrap();
            let calls = message.calls.iter();
            calls
                .map(|call| (call.name.clone(), serde_json::from_str(&call.arguments).unwrap()))
                .collect()
        };
        let of_example: Vec<(String, Value)> = read(example);
        assert_eq!(of_example, [("tide".into(), json!({"port": "text", "day": 1}))], "{family}");
        let of_history: Vec<(String, Value)> = read(sent[2].1);
        let expected = serde_json::from_str(arguments).unwrap();
        assert_eq!(of_history, [("tide".into(), expected), ("ping".into(), json!({}))], "{family}");
    }
}

#[test]
fn rules_about_calls_are_sentences_and_forbidden_tools_are_not_declared() {
    let asked = |more: Value| {
        let mut body = json!({"tools": tools(), "messages": [{"role": "user", "content": "Hi"}]});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let sent = moved("json_in_tags", body);
        assert!(sent.get("tools").is_none() && sent.get("tool_choice").is_none());
        contents(&sent)[0].1.to_owned()
    };
    assert!(asked(json!({})).ends_with("in the next message."));
    assert!(asked(json!({"tool_choice": "required"})).ends_with("\nYou must call a tool now."));
    let named = json!({"tool_choice": {"type": "function", "function": {"name": "ping"}}});
    assert!(asked(named).ends_with("\nYou must call the tool `ping` now."));
    let single = json!({"parallel_tool_calls": false});
    assert!(asked(single).ends_with("\nWrite at most one call in a message."));
    assert_eq!(asked(json!({"tool_choice": "none"})), "Hi");
    let allowed = json!({"tool_choice": {"type": "allowed_tools", "allowed_tools": {
        "mode": "auto", "tools": [{"type": "function", "function": {"name": "ping"}}],
    }}});
    let text = asked(allowed);
    assert!(text.contains("\"ping\"") && !text.contains("\"tide\""), "{text}");
}

#[test]
fn calls_that_the_family_cannot_write_are_lines_of_json() {
    let calls = json!([call("a", "tide", r#"{"port": "Bre"#), call("b", "gone", "")]);
    let sent = moved(
        "json_in_tags",
        json!({"messages": [
            {"role": "assistant", "content": "Let me look.", "tool_calls": calls},
            {"role": "user", "content": "And?"},
        ]}),
    );
    let text = "Let me look.\n{\"name\":\"tide\",\"arguments\":\"{\\\"port\\\": \\\"Bre\"}\n\
        {\"name\":\"gone\",\"arguments\":{}}";
    assert_eq!(contents(&sent), [("assistant", text), ("user", "And?")]);
    // A tool that is no longer declared is written by the types of its values.
    let calls = json!([call("a", "gone", r#"{"n": 2}"#)]);
    let sent = moved(
        "xml_calls",
        json!({"tools": tools(), "messages": [
            {"role": "assistant", "tool_calls": calls},
        ]}),
    );
    let written = "<call name=\"gone\">\n<parameter name=\"n\">2</parameter>\n</call>";
    assert_eq!(contents(&sent)[1].1, written);
}

#[test]
fn results_join_the_next_message_of_the_user_and_keep_images() {
    let image = json!({"type": "image_url", "image_url": {"url": "data:,"}});
    let text = json!({"type": "text", "text": "A map"});
    let request = |content: Value, next: Value| {
        json!({"messages": [
            {"role": "assistant", "function_call": {"name": "ping", "arguments": "{}"}},
            {"role": "function", "name": "ping", "content": content},
            {"role": "user", "content": next},
        ]})
    };
    let sent = moved("json_in_tags", request(json!("5"), json!("Thanks")));
    let results = "<tool_response>\n5\n</tool_response>\nThanks";
    assert_eq!(contents(&sent)[1], ("user", results));
    let sent = moved("json_in_tags", request(json!([text, image]), json!("Thanks")));
    let shown = json!({"type": "text", "text": "<tool_response>\nA map\n</tool_response>"});
    let thanks = json!({"type": "text", "text": "Thanks"});
    assert_eq!(sent["messages"][1]["content"], json!([shown, image, thanks]));
    let sent = moved("json_in_tags", request(json!("A map"), json!([image])));
    assert_eq!(sent["messages"][1]["content"], json!([shown, image]));
    let sent = moved("json_in_tags", request(json!({"deep": 1}), json!([])));
    let shown = json!({"type": "text", "text": "<tool_response>\n{\"deep\":1}\n</tool_response>"});
    assert_eq!(sent["messages"][1]["content"], json!([shown]));
}

#[test]
fn tools_that_are_no_functions_stay_with_their_calls_and_results() {
    let custom = json!({"type": "custom", "custom": {"name": "shell"}});
    let made = json!({"id": "c", "type": "custom", "custom": {"name": "shell", "input": "ls"}});
    let result = json!({"role": "tool", "tool_call_id": "c", "content": "a.txt"});
    let mut tools = tools();
    tools.as_array_mut().unwrap().push(custom.clone());
    let sent = moved(
        "json_in_tags",
        json!({"tools": tools, "messages": [
            {"role": "developer", "content": [{"type": "text", "text": "Be brief."}]},
            {"role": "assistant", "content": "", "tool_calls": [call("a", "ping", "{}"), made.clone()]},
            {"role": "tool", "tool_call_id": "a", "content": "pong"},
            result.clone(),
        ]}),
    );
    assert_eq!(sent["tools"], json!([custom]));
    let messages = sent["messages"].as_array().unwrap();
    assert_eq!(messages[0]["content"].as_array().unwrap().len(), 2);
    assert_eq!(messages[1]["tool_calls"], json!([made]));
    assert!(messages[1]["content"].as_str().unwrap().contains("\"ping\""));
    assert_eq!(messages[3], result);
}

#[test]
fn malformed_requests_and_families_without_calls_leave_the_body_unchanged() {
    let body = json!({"tools": tools(), "messages": [{"role": "user", "content": "Hi"}]});
    let mut sent = body.clone();
    let error = move_tools_to_prompt(&mut sent, &profile("deepseek_r1").unwrap()).unwrap_err();
    assert_eq!(error, PromptToolsError::NoCalls("deepseek_r1".into()));
    assert_eq!(sent, body);
    let mut wrong = json!({"tools": [{"type": "function"}], "messages": []});
    let error = move_tools_to_prompt(&mut wrong, &profile("hermes").unwrap()).unwrap_err();
    assert_eq!(error.to_string(), "request, `tools[0].name`: expected a string");
    for same in [json!(null), json!({"prompt": "Hi", "tools": tools()}), json!({"messages": []})] {
        let mut sent = same.clone();
        move_tools_to_prompt(&mut sent, &profile("hermes").unwrap()).unwrap();
        assert_eq!(sent, same);
    }
    for odd in [json!([null, 3, "x", {}]), json!([{"role": "tool"}, {"role": 1, "tool_calls": 2}])]
    {
        let mut sent = json!({"tools": tools(), "messages": odd});
        move_tools_to_prompt(&mut sent, &profile("hermes").unwrap()).unwrap();
        assert_eq!(sent["messages"][0]["role"], "system");
    }
}
