//! Request bodies of every shape.

use serde_json::{Value, json};
use wire_remap::{
    Location, MarkerPolicy, Provenance, Regime, RemapReport, RemapTable, Scope,
    bodies::{AnthropicMessages, BodyShape, GeminiContents, OpenAiChat, OpenAiResponses},
};

fn hermes() -> Regime {
    Regime::on(RemapTable::hermes())
}

fn apply(regime: &Regime, body: &Value, shape: &dyn BodyShape) -> (Value, RemapReport) {
    let mut wire = body.clone();
    let report = regime.request().apply(&mut wire, shape).unwrap();
    (wire, report)
}

/// Returns a request as an agent harness sends it, with a marker in every place that can hold one.
fn chat() -> Value {
    json!({
        "model": "qwen3.6-27b",
        "stream": true,
        "messages": [
            {"role": "system", "content": "Put calls between <tool_call> and </tool_call>."},
            {"role": "developer", "content": [{"type": "text", "text": "One <tool_call> a turn."}]},
            {"role": "user", "name": "<tool_call>", "content": [
                {"type": "text", "text": "what is [[CALL]]?"},
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,<tool_call>"}},
                {"type": "unheard_of", "text": "<tool_call>"},
            ]},
            {
                "role": "assistant",
                "content": "<tool_call>\n{\"name\": \"read\"}\n</tool_call>",
                "reasoning": "I need a <tool_call>.",
                "reasoning_content": "a <toolcall>",
                "reasoning_details": [
                    {"type": "reasoning.text", "text": "<tool_call>", "signature": null},
                    {"type": "reasoning.text", "text": "<tool_call>", "signature": "c2ln"},
                ],
                "refusal": null,
                "tool_calls": [
                    {"id": "call_1", "type": "function", "function": {
                        "name": "grep", "arguments": "{\"pattern\": \"<\\/tool_call>\", \"n\": 1e2}"}},
                    {"id": "call_2", "type": "custom", "custom": {"name": "sh", "input": "echo '<tool_call>'"}},
                ],
            },
            {"role": "tool", "tool_call_id": "<tool_call>", "content": "a.rs: <tool_call>"},
            {"role": "function", "name": "old", "content": "<tool_call>"},
            {"role": "assistant", "content": "<tool_call>\n{\"name\":"},
        ],
        "stop": ["</tool_call>", "END"],
        "prediction": {"type": "content", "content": "x <tool_call>"},
        "response_format": {"type": "text"},
        "tools": [{"type": "function", "function": {
            "name": "grep",
            "description": "Finds <tool_call> in files",
            "parameters": {"type": "object", "properties": {
                "description": {"type": "string", "description": "such as <tool_call>"},
                "mode": {"enum": ["<tool_call>", "x"], "default": "<tool_call>"},
            }},
        }}],
    })
}

// Contract: S2.8, S2.9, S2.20.
#[test]
fn every_text_of_a_chat_request_is_encoded_and_counted() {
    let (wire, report) = apply(&hermes(), &chat(), &OpenAiChat);
    assert_eq!(wire["messages"][0]["content"], "Put calls between [[CALL]] and [[/CALL]].");
    assert_eq!(wire["messages"][2]["content"][0]["text"], "what is [[~CALL]]?");
    assert_eq!(wire["messages"][3]["content"], "[[CALL]]\n{\"name\": \"read\"}\n[[/CALL]]");
    let arguments = &wire["messages"][3]["tool_calls"][0]["function"]["arguments"];
    assert_eq!(arguments, "{\"pattern\": \"[[/CALL]]\", \"n\": 1e2}");
    assert_eq!(wire["messages"][3]["reasoning_content"], "a [[TOOLCALL]]");
    assert_eq!(wire["stop"], json!(["[[/CALL]]", "END"]));
    assert_eq!(wire["prediction"]["content"], "x [[CALL]]");
    let parameters = &wire["tools"][0]["function"]["parameters"]["properties"];
    assert_eq!(parameters["description"]["description"], "such as [[CALL]]");
    assert_eq!(parameters["mode"], json!({"enum": ["[[CALL]]", "x"], "default": "[[CALL]]"}));
    let encoded = |location| report.tally(location).encoded;
    for (location, count) in [
        (Location::System, 2),
        (Location::Developer, 1),
        (Location::User, 0),
        (Location::Assistant, 2),
        (Location::ToolResult, 2),
        (Location::Prefill, 1),
        (Location::Reasoning, 3),
        (Location::Arguments, 2),
        (Location::ToolDescription, 2),
        (Location::ToolValue, 2),
        (Location::Stop, 1),
        (Location::Prediction, 1),
    ] {
        assert_eq!(encoded(location), count, "{location:?}");
    }
    assert_eq!(report.tally(Location::User).escaped, 1);
    assert_eq!(report.tally(Location::Stop).texts, 2);
    assert_eq!(report.total().encoded, 19);
}

// Contract: S2.8.
#[test]
fn images_names_ids_signed_text_and_unknown_parts_are_unchanged() {
    let body = chat();
    let (wire, _) = apply(&hermes(), &body, &OpenAiChat);
    for path in [
        "/messages/2/name",
        "/messages/2/content/1",
        "/messages/2/content/2",
        "/messages/3/reasoning_details/1",
        "/messages/4/tool_call_id",
        "/tools/0/function/name",
        "/response_format",
        "/model",
    ] {
        assert_eq!(wire.pointer(path), body.pointer(path), "{path}");
        assert!(wire.pointer(path).is_some(), "{path}");
    }
    let left = serde_json::to_string(&wire).unwrap().matches("<tool_call>").count();
    assert_eq!(left, 5);
}

#[test]
fn request_is_unchanged_when_remapping_is_off() {
    let (wire, report) = apply(&Regime::off(), &chat(), &OpenAiChat);
    assert_eq!((wire, report), (chat(), RemapReport::default()));
}

#[test]
fn encoded_request_decodes_to_the_original() {
    // The shape visits the same texts in the other direction.
    let body = chat();
    let (mut wire, _) = apply(&hermes(), &body, &OpenAiChat);
    let table = RemapTable::hermes();
    OpenAiChat.request(&mut wire, &mut |field| *field.text = table.decode(field.text).into_owned());
    // The escape `\/` is not restored; a JSON reader does not see it.
    let text = serde_json::to_string(&body).unwrap().replace(r"<\\/tool_call>", "</tool_call>");
    assert_eq!(serde_json::to_string(&wire).unwrap(), text);
}

// Contract: S2.8, X.13.
#[test]
fn texts_outside_the_scope_are_unchanged() {
    let none = Scope { reasoning: false, arguments: false, schemas: false };
    let (wire, report) = apply(&hermes().with_scope(none), &chat(), &OpenAiChat);
    assert_eq!(wire["messages"][3]["reasoning"], chat()["messages"][3]["reasoning"]);
    assert_eq!(wire["messages"][3]["tool_calls"], chat()["messages"][3]["tool_calls"]);
    assert_eq!(wire["tools"], chat()["tools"]);
    for location in [Location::Reasoning, Location::Arguments, Location::ToolDescription] {
        assert_eq!(report.tally(location).texts, 0);
    }
    // Values of a schema are unchanged without arguments, because their echoes would not be
    // decoded.
    let (wire, _) =
        apply(&hermes().with_scope(Scope { schemas: true, ..none }), &chat(), &OpenAiChat);
    let function = &wire["tools"][0]["function"];
    assert_eq!(function["description"], "Finds [[CALL]] in files");
    assert_eq!(function["parameters"]["properties"]["mode"]["default"], "<tool_call>");
}

// Contract: S2.13.
#[test]
fn provenance_selects_the_policy_of_user_and_tool_text() {
    let body = json!({"messages": [
        {"role": "system", "content": "<tool_call>"},
        {"role": "user", "content": "<tool_call> [[CALL]]"},
        {"role": "tool", "content": "<tool_call> [[CALL]]"},
    ]});
    let provenance = Provenance { user: MarkerPolicy::EscapeLiteral, tool: MarkerPolicy::Leave };
    let regime = hermes().with_provenance(provenance).unwrap();
    let (wire, _) = apply(&regime, &body, &OpenAiChat);
    assert_eq!(wire["messages"][0]["content"], "[[CALL]]");
    assert_eq!(wire["messages"][1]["content"], "[[~~CALL]] [[~CALL]]");
    assert_eq!(wire["messages"][2]["content"], "<tool_call> [[CALL]]");
    assert_eq!(regime.decode("[[~~CALL]] [[~CALL]]"), "<tool_call> [[CALL]]");
    let mut streamed = String::new();
    let mut encoder = regime.encoder(Location::User).unwrap();
    encoder.push("<tool_", &mut streamed);
    encoder.push("call>", &mut streamed);
    assert_eq!(streamed, "[[~~CALL]]");
    assert!(regime.encoder(Location::ToolResult).is_none());
}

// Contract: S2.9.
#[test]
fn stop_sequence_that_is_part_of_a_marker_is_counted() {
    let body = json!({"messages": [], "stop": ["</tool_call", "<tool_call>", "x"]});
    let (wire, report) = apply(&hermes(), &body, &OpenAiChat);
    assert_eq!(wire["stop"], json!(["</tool_call", "[[CALL]]", "x"]));
    assert_eq!(report.stop_fragments(), 1);
}

#[test]
fn raw_prompt_is_encoded() {
    let body = json!({"prompt": ["<tool_call>", "x"], "suffix": "</tool_call>"});
    let (wire, report) = apply(&hermes(), &body, &OpenAiChat);
    assert_eq!(wire, json!({"prompt": ["[[CALL]]", "x"], "suffix": "[[/CALL]]"}));
    assert_eq!(report.tally(Location::Prompt).encoded, 2);
}

// Contract: S2.10.
#[test]
fn anthropic_request_has_the_same_scope() {
    let body = json!({
        "system": [{"type": "text", "text": "use <tool_call>", "cache_control": {"type": "ephemeral"}}],
        "messages": [
            {"role": "user", "content": "<tool_call>?"},
            {"role": "assistant", "content": [
                {"type": "thinking", "thinking": "<tool_call>", "signature": "c2ln"},
                {"type": "thinking", "thinking": "<tool_call>", "signature": ""},
                {"type": "text", "text": "<tool_call>"},
                {"type": "tool_use", "id": "t", "name": "f", "input": {"a": ["<tool_call>"], "<tool_call>": 1}},
            ]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "t", "content": [{"type": "text", "text": "<tool_call>"}]},
                {"type": "image", "source": {"data": "<tool_call>"}},
            ]},
            {"role": "assistant", "content": "<tool_call>"},
        ],
        "stop_sequences": ["</tool_call>"],
        "tools": [{"name": "f", "description": "<tool_call>", "input_schema": {"type": "object"}}],
    });
    let (wire, report) = apply(&hermes(), &body, &AnthropicMessages);
    assert_eq!(wire["system"][0]["text"], "use [[CALL]]");
    assert_eq!(wire["messages"][1]["content"][0], body["messages"][1]["content"][0]);
    assert_eq!(wire["messages"][1]["content"][1]["thinking"], "[[CALL]]");
    let input = &wire["messages"][1]["content"][3]["input"];
    assert_eq!(input, &json!({"a": ["[[CALL]]"], "[[CALL]]": 1}));
    assert_eq!(wire["messages"][2]["content"][0]["content"][0]["text"], "[[CALL]]");
    assert_eq!(wire["messages"][2]["content"][1], body["messages"][2]["content"][1]);
    assert_eq!(wire["stop_sequences"][0], "[[/CALL]]");
    let locations = [
        Location::System,
        Location::User,
        Location::Assistant,
        Location::ToolResult,
        Location::Prefill,
        Location::Reasoning,
        Location::Arguments,
        Location::ToolDescription,
        Location::Stop,
    ];
    for location in locations {
        let expected = if location == Location::Arguments { 2 } else { 1 };
        assert_eq!(report.tally(location).encoded, expected, "{location:?}");
    }
    assert_eq!(report.total().encoded, 10);
}

// Contract: S2.10.
#[test]
fn responses_request_has_the_same_scope() {
    let body = json!({
        "instructions": "use <tool_call>",
        "input": [
            {"role": "developer", "content": "<tool_call>"},
            {"type": "message", "role": "user", "content": [
                {"type": "input_text", "text": "<tool_call>"},
                {"type": "input_image", "image_url": "<tool_call>"},
            ]},
            {"type": "reasoning", "id": "r", "encrypted_content": "<tool_call>", "summary": [{"type": "summary_text", "text": "<tool_call>"}]},
            {"type": "message", "role": "assistant", "content": [
                {"type": "output_text", "text": "<tool_call>", "annotations": []},
                {"type": "refusal", "refusal": "</tool_call>"},
            ]},
            {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{\"a\":\"\\u003ctool_call>\"}"},
            {"type": "function_call_output", "call_id": "c", "output": "<tool_call>"},
            {"type": "item_reference", "id": "<tool_call>"},
        ],
        "tools": [{"type": "function", "name": "f", "description": "<tool_call>", "parameters": {}}],
    });
    let (wire, report) = apply(&hermes(), &body, &OpenAiResponses);
    assert_eq!(wire["input"][4]["arguments"], "{\"a\":\"[[CALL]]\"}");
    assert_eq!(wire["input"][2]["encrypted_content"], "<tool_call>");
    assert_eq!(wire["input"][6], body["input"][6]);
    let counts = [
        (Location::System, 1),
        (Location::Developer, 1),
        (Location::User, 1),
        (Location::Assistant, 2),
        (Location::ToolResult, 1),
        (Location::Reasoning, 1),
        (Location::Arguments, 1),
        (Location::ToolDescription, 1),
    ];
    for (location, count) in counts {
        assert_eq!(report.tally(location).encoded, count, "{location:?}");
    }
    let (wire, _) = apply(&hermes(), &json!({"input": "<tool_call>"}), &OpenAiResponses);
    assert_eq!(wire["input"], "[[CALL]]");
}

/// Returns the body encoded, every string of it that holds a marker; `kept` says where it must
/// stay.
fn check_all_but(body: &Value, shape: &dyn BodyShape, kept: &[&str]) {
    let (wire, _) = apply(&hermes(), body, shape);
    let mut expected = serde_json::to_string(body).unwrap().replace("<tool_call>", "[[CALL]]");
    for text in kept {
        expected = expected.replace(&text.replace("<tool_call>", "[[CALL]]"), text);
    }
    assert_eq!(wire, serde_json::from_str::<Value>(&expected).unwrap());
}

// Contract: S2.10.
#[test]
fn documents_servers_tools_and_examples_of_anthropic_are_encoded() {
    let text = json!([{"type": "text", "text": "<tool_call>"}]);
    let body = json!({
        "messages": [
            {"role": "user", "content": [
                {"type": "document", "title": "<tool_call>", "context": "<tool_call>", "source": {"type": "text", "media_type": "text/plain", "data": "<tool_call>"}},
                {"type": "document", "source": {"type": "content", "content": text}},
                {"type": "document", "source": {"type": "content", "content": "<tool_call>"}},
                {"type": "document", "source": {"type": "base64", "data": "b64 <tool_call>"}},
                {"type": "search_result", "source": "url <tool_call>", "title": "<tool_call>", "content": text},
            ]},
            {"role": "assistant", "content": [
                {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": "<tool_call>"}},
                {"type": "bash_code_execution_tool_result", "tool_use_id": "s", "content": {"stdout": "<tool_call>", "stderr": "<tool_call>"}},
                {"type": "mcp_tool_use", "id": "m", "name": "f", "server_name": "x", "input": {"a": ["<tool_call>"]}},
                {"type": "mcp_tool_result", "tool_use_id": "m", "content": text},
            ]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "t", "content": [{"type": "search_result", "source": "s", "title": "t", "content": text}]},
            ]},
        ],
        "tools": [{"name": "f", "input_schema": {}, "input_examples": [{"a": "<tool_call>"}]}],
    });
    check_all_but(&body, &AnthropicMessages, &["b64 <tool_call>", "url <tool_call>"]);
}

// Contract: S2.8.
#[test]
fn schemas_documents_and_untyped_parts_of_a_chat_request_are_encoded() {
    let body = json!({
        "messages": [
            {"role": "user", "content": [{"text": "<tool_call>"}, "<tool_call>"]},
            {"role": "assistant", "content": null, "thinking": "<tool_call>"},
            {"role": "tool", "content": {"rows": ["<tool_call>"], "n": 1}},
        ],
        "response_format": {"type": "json_schema", "json_schema": {"name": "n <tool_call>",
            "description": "<tool_call>", "schema": {"properties": {"a": {"enum": ["<tool_call>"]}}}}},
        "documents": [{"title": "<tool_call>", "text": "<tool_call>"}],
        "bad_words": ["<tool_call>"],
        "tools": [{"type": "function", "function": {"name": "f", "returns": {"description": "<tool_call>"}}}],
    });
    check_all_but(&body, &OpenAiChat, &["n <tool_call>"]);
}

// Contract: S2.10.
#[test]
fn gemini_request_has_the_same_scope() {
    let body = json!({
        "systemInstruction": {"parts": [{"text": "<tool_call>"}]},
        "contents": [
            {"role": "user", "parts": [{"text": "<tool_call>"}, {"inlineData": {"mimeType": "image/png", "data": "b64 <tool_call>"}}]},
            {"role": "model", "parts": [
                {"text": "<tool_call>", "thought": true},
                {"text": "signed <tool_call>", "thought": true, "thoughtSignature": "c2ln"},
                {"functionCall": {"name": "f", "args": {"a": ["<tool_call>"]}}},
            ]},
            {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {"result": "<tool_call>"}}}]},
            {"role": "model", "parts": [{"text": "<tool_call>"}]},
        ],
        "generationConfig": {"stopSequences": ["<tool_call>"], "responseSchema": {"description": "<tool_call>"}},
        "tools": [{"functionDeclarations": [{"name": "f", "description": "<tool_call>", "parameters": {"description": "<tool_call>"}}]}],
    });
    check_all_but(&body, &GeminiContents, &["b64 <tool_call>", "signed <tool_call>"]);
    let (_, report) = apply(&hermes(), &body, &GeminiContents);
    for (location, count) in [
        (Location::System, 1),
        (Location::User, 1),
        (Location::Reasoning, 1),
        (Location::Arguments, 1),
        (Location::ToolResult, 1),
        (Location::Prefill, 1),
        (Location::Stop, 1),
        (Location::ToolDescription, 3),
    ] {
        assert_eq!(report.tally(location).encoded, count, "{location:?}");
    }
}

// Contract: S2.10.
#[test]
fn server_side_calls_and_formats_of_a_responses_request_are_encoded() {
    let body = json!({
        "input": [
            {"type": "mcp_list_tools", "tools": [{"name": "f", "description": "<tool_call>", "input_schema": {"description": "<tool_call>"}}]},
            {"type": "mcp_approval_request", "arguments": "{\"a\":\"<tool_call>\"}"},
            {"type": "mcp_call", "arguments": "{\"a\":\"<tool_call>\"}", "output": "<tool_call>", "error": null},
            {"type": "local_shell_call", "action": {"type": "exec", "command": ["echo", "<tool_call>"]}},
            {"type": "local_shell_call_output", "output": "<tool_call>"},
            {"type": "shell_call", "action": {"commands": ["echo <tool_call>"]}},
            {"type": "shell_call_output", "output": [{"stdout": "<tool_call>", "stderr": ""}]},
            {"type": "apply_patch_call", "operation": {"type": "update_file", "path": "p <tool_call>", "diff": "<tool_call>"}},
            {"type": "apply_patch_call_output", "output": "<tool_call>"},
            {"type": "code_interpreter_call", "code": "<tool_call>", "outputs": [{"type": "logs", "logs": "<tool_call>"}]},
        ],
        "text": {"format": {"type": "json_schema", "name": "n", "description": "<tool_call>", "schema": {"description": "<tool_call>"}}},
        "prompt": {"id": "p", "variables": {"a": "<tool_call>", "b": {"type": "input_text", "text": "<tool_call>"}}},
    });
    check_all_but(&body, &OpenAiResponses, &["p <tool_call>"]);
}

#[test]
fn body_of_another_shape_is_refused_unchanged() {
    let cases: [(Value, &dyn BodyShape, &str); 7] = [
        (json!("<tool_call>"), &OpenAiChat, "body: expected an object, found a string"),
        (json!([{"messages": []}]), &AnthropicMessages, "body: expected an object, found an array"),
        (json!({}), &OpenAiChat, "messages: expected an array, found nothing"),
        (
            json!({"messages": {"content": "<tool_call>"}}),
            &OpenAiChat,
            "messages: expected an array, found an object",
        ),
        (
            json!({"messages": [{"role": "user", "content": "<tool_call>"}, "<tool_call>"]}),
            &OpenAiChat,
            "messages: expected an array of objects, found a string",
        ),
        (
            json!({"prompt": 7}),
            &OpenAiChat,
            "prompt: expected a string or an array, found a number",
        ),
        (
            json!({"input": 1.5, "instructions": "<tool_call>"}),
            &OpenAiResponses,
            "input: expected an array, found a number",
        ),
    ];
    for (body, shape, message) in cases {
        let mut wire = body.clone();
        let error = hermes().request().apply(&mut wire, shape).unwrap_err();
        assert_eq!(error.to_string(), format!("{message}; the body was not changed"));
        assert_eq!(wire, body);
    }
}

/// A custom shape, as a user of the crate implements it.
struct Bare;

impl BodyShape for Bare {
    fn check_request(&self, _: &Value) -> Result<(), wire_remap::bodies::BodyError> {
        Ok(())
    }
    fn request(&self, body: &mut Value, visit: &mut dyn FnMut(wire_remap::bodies::TextField<'_>)) {
        if let Some(Value::String(text)) = body.get_mut("q") {
            let (location, syntax) = (Location::User, wire_remap::Syntax::Text);
            visit(wire_remap::bodies::TextField { location, syntax, text });
        }
    }
    fn response(&self, _: &mut Value, _: &mut dyn FnMut(wire_remap::bodies::TextField<'_>)) {}
    fn event(&self, _: &mut Value, _: &mut dyn FnMut(wire_remap::bodies::StreamEvent<'_>)) {}
    fn leftover(&self, _: &mut Value, _: wire_remap::bodies::TextId, _: &str) -> Option<Value> {
        None
    }
    fn tail(&self, _: wire_remap::bodies::TextId, _: &str) -> Value {
        Value::Null
    }
}

// Contract: S2.10.
#[test]
fn custom_shape_is_remapped() {
    let (wire, report) = apply(&hermes(), &json!({"q": "<tool_call>", "r": "<tool_call>"}), &Bare);
    assert_eq!(wire, json!({"q": "[[CALL]]", "r": "<tool_call>"}));
    assert_eq!(report.tally(Location::User).encoded, 1);
}

// The body that the model sees has no canonical markers, and decodes to the original.
// Contract: S2.3, S2.8.
#[test]
fn member_names_visible_to_the_model_are_encoded() {
    const M: &str = "a <tool_call> b";
    let schema = json!({
        "type": "object",
        "properties": {M: {"type": "string", "pattern": M}, "z": {"$ref": format!("#/$defs/{M}")}},
        "patternProperties": {M: {}},
        "$defs": {M: {"const": {M: [M]}}},
        "dependentRequired": {M: [M]},
        "dependentSchemas": {M: {"required": [M]}},
        "required": ["z", M],
        "default": {M: {M: 1}},
    });
    let all: [(&dyn BodyShape, Value); 4] = [
        (
            &OpenAiChat,
            json!({
                "messages": [{"role": "assistant", "tool_calls": [
                    {"function": {"name": "f", "arguments": {M: {M: 1}}}},
                    {"function": {"name": "f", "arguments": json!({M: [{M: 2}]}).to_string()}},
                ]}],
                "tools": [{"type": "function", "function": {"name": "f", "parameters": schema}}],
            }),
        ),
        (
            &AnthropicMessages,
            json!({
                "messages": [{"role": "assistant", "content": [
                    {"type": "tool_use", "id": "1", "name": "f", "input": {M: {M: [1]}, "z": 1}},
                ]}],
                "tools": [{"name": "f", "input_schema": schema}],
            }),
        ),
        (
            &OpenAiResponses,
            json!({
                "input": [{"type": "function_call", "name": "f", "arguments": json!({M: 1}).to_string()}],
                "tools": [{"type": "function", "name": "f", "parameters": schema}],
            }),
        ),
        (
            &GeminiContents,
            json!({
                "contents": [{"role": "model", "parts": [{"functionCall": {"name": "f", "args": {M: {M: 1}}}}]}],
                "tools": [{"functionDeclarations": [{"name": "f", "parameters": schema}]}],
            }),
        ),
    ];
    for (shape, body) in all {
        let mut wire = body.clone();
        Regime::on(RemapTable::hermes()).request().apply(&mut wire, shape).unwrap();
        let text = wire.to_string();
        assert!(!text.contains("<tool_call>") && text.contains("a [[CALL]] b"), "{text}");
        let back = text.replace("[[CALL]]", "<tool_call>");
        assert_eq!(serde_json::from_str::<Value>(&back).unwrap(), body);
    }
}
