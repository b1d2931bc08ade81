//! Tests that the encoder writes calls like the models' chat templates.

use serde_json::json;
use stream_laws::CutPlan;
use toolcall_parsers::{EncodeCall, Tools, encode, encode_form, grammar};

use super::reads_back;

const TIDE: EncodeCall<'_> = EncodeCall::new("lookup_tide", r#"{"port":"Brest","day":3}"#);
const MONEY: EncodeCall<'_> = EncodeCall::new("convert_money", r#"{"amount":12.50,"to":"SEK"}"#);
const PING: EncodeCall<'_> = EncodeCall::new("ping", "{}");

fn tools() -> Tools {
    let properties = |properties| json!({"type": "object", "properties": properties});
    let (string, number) = (json!({"type": "string"}), json!({"type": "number"}));
    Tools::new([
        ("lookup_tide", properties(json!({"port": string, "day": number}))),
        ("convert_money", properties(json!({"amount": number, "to": string}))),
        ("ping", properties(json!({}))),
    ])
}

/// The family, one call, and three calls.
const ROWS: &[(&str, &str, &str)] = &[
    (
        "hermes",
        "<tool_call>\n{\"name\": \"lookup_tide\", \"arguments\": {\"port\": \"Brest\", \"day\": 3}}\n</tool_call>",
        "<tool_call>\n{\"name\": \"lookup_tide\", \"arguments\": {\"port\": \"Brest\", \"day\": 3}}\n</tool_call>\n\
         <tool_call>\n{\"name\": \"convert_money\", \"arguments\": {\"amount\": 12.50, \"to\": \"SEK\"}}\n</tool_call>\n\
         <tool_call>\n{\"name\": \"ping\", \"arguments\": {}}\n</tool_call>",
    ),
    (
        "llama3_json",
        "{\"name\": \"lookup_tide\", \"parameters\": {\"port\": \"Brest\", \"day\": 3}}",
        "{\"name\": \"lookup_tide\", \"parameters\": {\"port\": \"Brest\", \"day\": 3}}; \
         {\"name\": \"convert_money\", \"parameters\": {\"amount\": 12.50, \"to\": \"SEK\"}}; \
         {\"name\": \"ping\", \"parameters\": {}}",
    ),
    (
        "mistral",
        "[TOOL_CALLS]lookup_tide[ARGS]{\"port\": \"Brest\", \"day\": 3}",
        "[TOOL_CALLS]lookup_tide[ARGS]{\"port\": \"Brest\", \"day\": 3}\
         [TOOL_CALLS]convert_money[ARGS]{\"amount\": 12.50, \"to\": \"SEK\"}[TOOL_CALLS]ping[ARGS]{}",
    ),
    (
        "deepseek_v3_1",
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>lookup_tide<｜tool▁sep｜>{\"port\": \"Brest\", \"day\": 3}<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>lookup_tide<｜tool▁sep｜>{\"port\": \"Brest\", \"day\": 3}<｜tool▁call▁end｜>\
         <｜tool▁call▁begin｜>convert_money<｜tool▁sep｜>{\"amount\": 12.50, \"to\": \"SEK\"}<｜tool▁call▁end｜>\
         <｜tool▁call▁begin｜>ping<｜tool▁sep｜>{}<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
    ),
    (
        "pythonic",
        "[lookup_tide(port='Brest', day=3)]",
        "[lookup_tide(port='Brest', day=3), convert_money(amount=12.50, to='SEK'), ping()]",
    ),
    (
        "llama4_pythonic",
        "[lookup_tide(port='Brest', day=3)]",
        "[lookup_tide(port='Brest', day=3), convert_money(amount=12.50, to='SEK'), ping()]",
    ),
    (
        "olmo3",
        "<function_calls>lookup_tide(port='Brest', day=3)</function_calls>",
        "<function_calls>lookup_tide(port='Brest', day=3)\nconvert_money(amount=12.50, to='SEK')\nping()</function_calls>",
    ),
    (
        "lfm2",
        "<|tool_call_start|>[lookup_tide(port='Brest', day=3)]<|tool_call_end|>",
        "<|tool_call_start|>[lookup_tide(port='Brest', day=3), convert_money(amount=12.50, to='SEK'), ping()]<|tool_call_end|>",
    ),
    (
        "granite_pythonic",
        "lookup_tide(port='Brest', day=3)",
        "lookup_tide(port='Brest', day=3)\nconvert_money(amount=12.50, to='SEK')\nping()",
    ),
    (
        "harn_text",
        "<tool_call>\nlookup_tide({ port: \"Brest\", day: 3 })\n</tool_call>",
        "<tool_call>\nlookup_tide({ port: \"Brest\", day: 3 })\n\
         convert_money({ amount: 12.50, to: \"SEK\" })\nping()\n</tool_call>",
    ),
    (
        "ollama_generic",
        "{\"name\": \"lookup_tide\", \"arguments\": {\"port\": \"Brest\", \"day\": 3}}",
        "{\"name\": \"lookup_tide\", \"arguments\": {\"port\": \"Brest\", \"day\": 3}}\n\
         {\"name\": \"convert_money\", \"arguments\": {\"amount\": 12.50, \"to\": \"SEK\"}}\n\
         {\"name\": \"ping\", \"arguments\": {}}",
    ),
    (
        "llamacpp_generic",
        "{\"tool_call\": {\"name\": \"lookup_tide\", \"arguments\": {\"port\": \"Brest\", \"day\": 3}}}",
        "{\"tool_call\": {\"name\": \"lookup_tide\", \"arguments\": {\"port\": \"Brest\", \"day\": 3}}}\n\
         {\"tool_call\": {\"name\": \"convert_money\", \"arguments\": {\"amount\": 12.50, \"to\": \"SEK\"}}}\n\
         {\"tool_call\": {\"name\": \"ping\", \"arguments\": {}}}",
    ),
    (
        "sarashina",
        "<|tool_calls|>[{'name': 'lookup_tide', 'arguments': {'port': 'Brest', 'day': 3}}]",
        "<|tool_calls|>[{'name': 'lookup_tide', 'arguments': {'port': 'Brest', 'day': 3}}, \
         {'name': 'convert_money', 'arguments': {'amount': 12.50, 'to': 'SEK'}}, {'name': 'ping', 'arguments': {}}]",
    ),
    (
        "qwen3_coder",
        "<tool_call>\n<function=lookup_tide>\n<parameter=port>\nBrest\n</parameter>\n<parameter=day>\n3\n</parameter>\n</function>\n</tool_call>",
        "<tool_call>\n<function=lookup_tide>\n<parameter=port>\nBrest\n</parameter>\n<parameter=day>\n3\n</parameter>\n</function>\n</tool_call>\n\
         <tool_call>\n<function=convert_money>\n<parameter=amount>\n12.50\n</parameter>\n<parameter=to>\nSEK\n</parameter>\n</function>\n</tool_call>\n\
         <tool_call>\n<function=ping>\n</function>\n</tool_call>",
    ),
    (
        "deepseek_v3",
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>lookup_tide\n```json\n{\"port\": \"Brest\", \"day\": 3}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>lookup_tide\n```json\n{\"port\": \"Brest\", \"day\": 3}\n```<｜tool▁call▁end｜>\n\
         <｜tool▁call▁begin｜>function<｜tool▁sep｜>convert_money\n```json\n{\"amount\": 12.50, \"to\": \"SEK\"}\n```<｜tool▁call▁end｜>\n\
         <｜tool▁call▁begin｜>function<｜tool▁sep｜>ping\n```json\n{}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
    ),
    (
        "kimi_k2",
        "<|tool_calls_section_begin|><|tool_call_begin|>functions.lookup_tide:0<|tool_call_argument_begin|>{\"port\": \"Brest\", \"day\": 3}<|tool_call_end|><|tool_calls_section_end|>",
        "<|tool_calls_section_begin|><|tool_call_begin|>functions.lookup_tide:0<|tool_call_argument_begin|>{\"port\": \"Brest\", \"day\": 3}<|tool_call_end|>\
         <|tool_call_begin|>functions.convert_money:1<|tool_call_argument_begin|>{\"amount\": 12.50, \"to\": \"SEK\"}<|tool_call_end|>\
         <|tool_call_begin|>functions.ping:2<|tool_call_argument_begin|>{}<|tool_call_end|><|tool_calls_section_end|>",
    ),
    (
        "functionary_v32",
        "lookup_tide\n{\"port\": \"Brest\", \"day\": 3}",
        "lookup_tide\n{\"port\": \"Brest\", \"day\": 3}>>>convert_money\n{\"amount\": 12.50, \"to\": \"SEK\"}>>>ping\n{}",
    ),
    (
        "apertus",
        "<|tools_prefix|>[{\"lookup_tide\": {\"port\": \"Brest\", \"day\": 3}}]<|tools_suffix|>",
        "<|tools_prefix|>[{\"lookup_tide\": {\"port\": \"Brest\", \"day\": 3}}, {\"convert_money\": {\"amount\": 12.50, \"to\": \"SEK\"}}, {\"ping\": {}}]<|tools_suffix|>",
    ),
    (
        "internlm2",
        "<|action_start|><|plugin|>\n{\"name\": \"lookup_tide\", \"arguments\": {\"port\": \"Brest\", \"day\": 3}}<|action_end|>",
        "<|action_start|><|plugin|>\n{\"name\": \"lookup_tide\", \"arguments\": {\"port\": \"Brest\", \"day\": 3}}<|action_end|>\
         <|action_start|><|plugin|>\n{\"name\": \"convert_money\", \"arguments\": {\"amount\": 12.50, \"to\": \"SEK\"}}<|action_end|>\
         <|action_start|><|plugin|>\n{\"name\": \"ping\", \"arguments\": {}}<|action_end|>",
    ),
    (
        "minimax_m2",
        "<minimax:tool_call>\n<invoke name=\"lookup_tide\">\n<parameter name=\"port\">Brest</parameter>\n<parameter name=\"day\">3</parameter>\n</invoke>\n</minimax:tool_call>",
        "<minimax:tool_call>\n<invoke name=\"lookup_tide\">\n<parameter name=\"port\">Brest</parameter>\n<parameter name=\"day\">3</parameter>\n</invoke>\n\
         <invoke name=\"convert_money\">\n<parameter name=\"amount\">12.50</parameter>\n<parameter name=\"to\">SEK</parameter>\n</invoke>\n\
         <invoke name=\"ping\">\n</invoke>\n</minimax:tool_call>",
    ),
    (
        "deepseek_v3_2",
        "<｜DSML｜function_calls>\n<｜DSML｜invoke name=\"lookup_tide\">\n<｜DSML｜parameter name=\"port\" string=\"true\">Brest</｜DSML｜parameter>\n<｜DSML｜parameter name=\"day\" string=\"false\">3</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜function_calls>",
        "<｜DSML｜function_calls>\n<｜DSML｜invoke name=\"lookup_tide\">\n<｜DSML｜parameter name=\"port\" string=\"true\">Brest</｜DSML｜parameter>\n<｜DSML｜parameter name=\"day\" string=\"false\">3</｜DSML｜parameter>\n</｜DSML｜invoke>\n\
         <｜DSML｜invoke name=\"convert_money\">\n<｜DSML｜parameter name=\"amount\" string=\"false\">12.50</｜DSML｜parameter>\n<｜DSML｜parameter name=\"to\" string=\"true\">SEK</｜DSML｜parameter>\n</｜DSML｜invoke>\n\
         <｜DSML｜invoke name=\"ping\">\n</｜DSML｜invoke>\n</｜DSML｜function_calls>",
    ),
    (
        "glm45",
        "<tool_call>lookup_tide\n<arg_key>port</arg_key>\n<arg_value>Brest</arg_value>\n<arg_key>day</arg_key>\n<arg_value>3</arg_value>\n</tool_call>",
        "<tool_call>lookup_tide\n<arg_key>port</arg_key>\n<arg_value>Brest</arg_value>\n<arg_key>day</arg_key>\n<arg_value>3</arg_value>\n</tool_call>\n\
         <tool_call>convert_money\n<arg_key>amount</arg_key>\n<arg_value>12.50</arg_value>\n<arg_key>to</arg_key>\n<arg_value>SEK</arg_value>\n</tool_call>\n\
         <tool_call>ping\n</tool_call>",
    ),
    (
        "glm47",
        "<tool_call>lookup_tide<arg_key>port</arg_key><arg_value>Brest</arg_value><arg_key>day</arg_key><arg_value>3</arg_value></tool_call>",
        "<tool_call>lookup_tide<arg_key>port</arg_key><arg_value>Brest</arg_value><arg_key>day</arg_key><arg_value>3</arg_value></tool_call>\
         <tool_call>convert_money<arg_key>amount</arg_key><arg_value>12.50</arg_value><arg_key>to</arg_key><arg_value>SEK</arg_value></tool_call>\
         <tool_call>ping</tool_call>",
    ),
    (
        "hy_v3",
        "<tool_calls>\n<tool_call>lookup_tide<tool_sep>\n<arg_key>port</arg_key>\n<arg_value>Brest</arg_value>\n<arg_key>day</arg_key>\n<arg_value>3</arg_value>\n</tool_call>\n</tool_calls>",
        "<tool_calls>\n<tool_call>lookup_tide<tool_sep>\n<arg_key>port</arg_key>\n<arg_value>Brest</arg_value>\n<arg_key>day</arg_key>\n<arg_value>3</arg_value>\n</tool_call>\n\
         <tool_call>convert_money<tool_sep>\n<arg_key>amount</arg_key>\n<arg_value>12.50</arg_value>\n<arg_key>to</arg_key>\n<arg_value>SEK</arg_value>\n</tool_call>\n\
         <tool_call>ping<tool_sep>\n</tool_call>\n</tool_calls>",
    ),
    (
        "step3",
        "<｜tool_calls_begin｜><｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name=\"lookup_tide\"><steptml:parameter name=\"port\">Brest</steptml:parameter><steptml:parameter name=\"day\">3</steptml:parameter></steptml:invoke><｜tool_call_end｜><｜tool_calls_end｜>",
        "<｜tool_calls_begin｜><｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name=\"lookup_tide\"><steptml:parameter name=\"port\">Brest</steptml:parameter><steptml:parameter name=\"day\">3</steptml:parameter></steptml:invoke><｜tool_call_end｜>\
         <｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name=\"convert_money\"><steptml:parameter name=\"amount\">12.50</steptml:parameter><steptml:parameter name=\"to\">SEK</steptml:parameter></steptml:invoke><｜tool_call_end｜>\
         <｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name=\"ping\"></steptml:invoke><｜tool_call_end｜><｜tool_calls_end｜>",
    ),
    (
        "gemma4",
        "<|tool_call>call:lookup_tide{day:3,port:<|\"|>Brest<|\"|>}<tool_call|>",
        "<|tool_call>call:lookup_tide{day:3,port:<|\"|>Brest<|\"|>}<tool_call|><|tool_call>call:convert_money{amount:12.50,to:<|\"|>SEK<|\"|>}<tool_call|><|tool_call>call:ping{}<tool_call|>",
    ),
    (
        "functiongemma",
        "<start_function_call>call:lookup_tide{port:<escape>Brest<escape>,day:<escape>3<escape>}<end_function_call>",
        "<start_function_call>call:lookup_tide{port:<escape>Brest<escape>,day:<escape>3<escape>}<end_function_call>\
         <start_function_call>call:convert_money{amount:<escape>12.50<escape>,to:<escape>SEK<escape>}<end_function_call>\
         <start_function_call>call:ping{}<end_function_call>",
    ),
    (
        "minimax_m3",
        "]<]minimax[>[<tool_call>\n]<]minimax[>[<invoke name=\"lookup_tide\">]<]minimax[>[<port>Brest]<]minimax[>[</port>]<]minimax[>[<day>3]<]minimax[>[</day>]<]minimax[>[</invoke>\n]<]minimax[>[</tool_call>",
        "]<]minimax[>[<tool_call>\n]<]minimax[>[<invoke name=\"lookup_tide\">]<]minimax[>[<port>Brest]<]minimax[>[</port>]<]minimax[>[<day>3]<]minimax[>[</day>]<]minimax[>[</invoke>\n\
         ]<]minimax[>[<invoke name=\"convert_money\">]<]minimax[>[<amount>12.50]<]minimax[>[</amount>]<]minimax[>[<to>SEK]<]minimax[>[</to>]<]minimax[>[</invoke>\n\
         ]<]minimax[>[<invoke name=\"ping\">]<]minimax[>[</invoke>\n]<]minimax[>[</tool_call>",
    ),
    (
        "harmony",
        "<|start|>assistant to=functions.lookup_tide<|channel|>commentary json<|message|>{\"port\": \"Brest\", \"day\": 3}<|call|>",
        "<|start|>assistant to=functions.lookup_tide<|channel|>commentary json<|message|>{\"port\": \"Brest\", \"day\": 3}<|call|>\
         <|start|>assistant to=functions.convert_money<|channel|>commentary json<|message|>{\"amount\": 12.50, \"to\": \"SEK\"}<|call|>\
         <|start|>assistant to=functions.ping<|channel|>commentary json<|message|>{}<|call|>",
    ),
    (
        "inkling",
        "<|message_model|><|content_invoke_tool_json|>{\"name\":\"lookup_tide\",\"args\":{\"port\":\"Brest\",\"day\":3}}<|end_message|>",
        "<|message_model|><|content_invoke_tool_json|>{\"name\":\"lookup_tide\",\"args\":{\"port\":\"Brest\",\"day\":3}}<|end_message|>\
         <|message_model|><|content_invoke_tool_json|>{\"name\":\"convert_money\",\"args\":{\"amount\":12.50,\"to\":\"SEK\"}}<|end_message|>\
         <|message_model|><|content_invoke_tool_json|>{\"name\":\"ping\",\"args\":{}}<|end_message|>",
    ),
    (
        "kimi_k3",
        "<|open|>tools<|sep|><|open|>call tool=\"lookup_tide\" index=\"1\"<|sep|><|open|>argument key=\"port\" type=\"string\"<|sep|>Brest<|close|>argument<|sep|><|open|>argument key=\"day\" type=\"number\"<|sep|>3<|close|>argument<|sep|><|close|>call<|sep|><|close|>tools<|sep|>",
        "<|open|>tools<|sep|><|open|>call tool=\"lookup_tide\" index=\"1\"<|sep|><|open|>argument key=\"port\" type=\"string\"<|sep|>Brest<|close|>argument<|sep|><|open|>argument key=\"day\" type=\"number\"<|sep|>3<|close|>argument<|sep|><|close|>call<|sep|><|open|>call tool=\"convert_money\" index=\"2\"<|sep|><|open|>argument key=\"amount\" type=\"number\"<|sep|>12.50<|close|>argument<|sep|><|open|>argument key=\"to\" type=\"string\"<|sep|>SEK<|close|>argument<|sep|><|close|>call<|sep|><|open|>call tool=\"ping\" index=\"3\"<|sep|><|close|>call<|sep|><|close|>tools<|sep|>",
    ),
    (
        "muse_glimmer",
        "<|start|>assistant to=lookup_tide<|message|><atem:function_calls>\n<atem:invoke name=\"lookup_tide\">\n<atem:parameter name=\"port\">Brest</atem:parameter>\n<atem:parameter name=\"day\">3</atem:parameter>\n</atem:invoke>\n</atem:function_calls><|eom|>",
        "<|start|>assistant to=lookup_tide<|message|><atem:function_calls>\n<atem:invoke name=\"lookup_tide\">\n<atem:parameter name=\"port\">Brest</atem:parameter>\n<atem:parameter name=\"day\">3</atem:parameter>\n</atem:invoke>\n</atem:function_calls><|eom|>\
         <|start|>assistant to=convert_money<|message|><atem:function_calls>\n<atem:invoke name=\"convert_money\">\n<atem:parameter name=\"amount\">12.50</atem:parameter>\n<atem:parameter name=\"to\">SEK</atem:parameter>\n</atem:invoke>\n</atem:function_calls><|eom|>\
         <|start|>assistant to=ping<|message|><atem:function_calls>\n<atem:invoke name=\"ping\">\n</atem:invoke>\n</atem:function_calls><|eom|>",
    ),
    (
        "beam",
        "<|start|>assistant to=lookup_tide<|channel|>analysis <|constrain|>xml<|message|><rfl:parameter name=\"port\">\nBrest\n</rfl:parameter>\n<rfl:parameter name=\"day\">\n3\n</rfl:parameter><|call|>",
        "<|start|>assistant to=lookup_tide<|channel|>analysis <|constrain|>xml<|message|><rfl:parameter name=\"port\">\nBrest\n</rfl:parameter>\n<rfl:parameter name=\"day\">\n3\n</rfl:parameter><|call|>\
         <|start|>assistant to=convert_money<|channel|>analysis <|constrain|>xml<|message|><rfl:parameter name=\"amount\">\n12.50\n</rfl:parameter>\n<rfl:parameter name=\"to\">\nSEK\n</rfl:parameter><|call|>\
         <|start|>assistant to=ping<|channel|>analysis <|constrain|>xml<|message|><|call|>",
    ),
];

#[test]
fn encoded_calls_equal_those_of_chat_templates() {
    let mut wrong = Vec::new();
    for (family, one, three) in ROWS {
        let grammar = grammar(family).expect("it is registered");
        for (calls, expected) in [(&[TIDE][..], one), (&[TIDE, MONEY, PING], three)] {
            let wire = encode(&grammar, calls, &tools()).unwrap_or_else(|no| panic!("{no}"));
            if wire != *expected {
                wrong.push(format!("{family}: {wire:?}, not {expected:?}"));
            }
            reads_back(&grammar, &tools(), calls, &wire, CutPlan::standard(3))
                .unwrap_or_else(|violation| panic!("{family}: {violation}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn both_mistral_forms_write_ids() {
    let grammar = grammar("mistral").expect("it is registered");
    let calls = [TIDE.with_id("aB3dE6gH9"), PING];
    let wire = |n: usize| {
        let wire = encode_form(&grammar, n, &calls, &Tools::none());
        wire.unwrap_or_else(|no| panic!("{no}"))
    };
    assert_eq!(
        wire(0),
        "[TOOL_CALLS] [{\"name\": \"lookup_tide\", \"arguments\": {\"port\": \"Brest\", \"day\": 3}, \"id\": \"aB3dE6gH9\"}, \
         {\"name\": \"ping\", \"arguments\": {}}]"
    );
    assert_eq!(
        wire(1),
        "[TOOL_CALLS]lookup_tide[CALL_ID]aB3dE6gH9[ARGS]{\"port\": \"Brest\", \"day\": 3}[TOOL_CALLS]ping[ARGS]{}"
    );
}

#[test]
fn python_values_are_written_in_python_syntax() {
    let arguments = r#"{"a": null, "b": [true, false, {}], "c": {"k k": -1e-7}, "d": "it's", "e": "\"'\\\n\u0000\u0007é"}"#;
    let call = EncodeCall::new("f", arguments);
    let grammar = grammar("pythonic").expect("it is registered");
    assert_eq!(
        encode(&grammar, &[call], &Tools::none()).unwrap_or_else(|no| panic!("{no}")),
        r#"[f(a=None, b=[True, False, {}], c={'k k': -1e-7}, d="it's", e='"\'\\\n\x00\x07é')]"#
    );
}

#[test]
fn values_that_tags_cannot_contain_are_written_as_cdata() {
    let grammar = grammar("minicpm5").expect("it is registered");
    let call = EncodeCall::new("f", r#"{"a": " x", "b": "</param>]]>", "c": "plain & <b>"}"#);
    assert_eq!(
        encode(&grammar, &[call], &Tools::none()).unwrap_or_else(|no| panic!("{no}")),
        "<function name=\"f\"><param name=\"a\"><![CDATA[ x]]></param>\
         <param name=\"b\"><![CDATA[</param>]]]]><![CDATA[>]]></param>\
         <param name=\"c\"><![CDATA[plain & <b>]]></param></function>"
    );
}

#[test]
fn encoding_no_calls_yields_empty_text() {
    for grammar in toolcall_parsers::grammars() {
        assert_eq!(encode(&grammar, &[], &Tools::none()), Ok(String::new()), "{}", grammar.name());
    }
}

#[test]
fn round_trip_law_detects_a_wrong_wire() {
    let grammar = grammar("hermes").expect("it is registered");
    let wire = encode(&grammar, &[TIDE, PING], &tools()).unwrap_or_else(|no| panic!("{no}"));
    let check = |wire: &str| reads_back(&grammar, &tools(), &[TIDE, PING], wire, CutPlan::quick(1));
    assert!(check(&wire).is_ok());
    // Faults of an encoder: a missing escape, a renamed call, a rounded number, a missing quote.
    for (right, wrong) in
        [("Brest", "Br\"est"), ("ping", "pong"), ("3}", "3.0000001}"), ("\"ping\"", "ping")]
    {
        assert!(check(&wire.replace(right, wrong)).is_err(), "{right} as {wrong}");
    }
    assert!(check(&wire[..wire.len() / 2]).is_err());
}
