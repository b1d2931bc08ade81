//! Invented templates, of shapes that no family of the project has: each derives, and the file reads
//! wires that were not rendered for the derivation.

use super::{EACH, derive, template};
use crate::{Checkpoint, End, Guard, derive_trusted};

/// A template's calls, a wire of its shape with two calls, and the text that the file must have.
type Row = (&'static str, &'static str, &'static str, &'static str);

/// The calls in the wire of each row.
const CALLS: [(&str, &str); 2] =
    [("ping", r#"{"to":"Ann & Bo","n":3}"#), ("pong", r#"{"why":"so \"it\" is"}"#)];

const ROWS: [Row; 19] = [
    (
        "JSON in tags, with other keys",
        "{{ '<act>' }}{\"tool\": {{ f.name | tojson }}, \"args\": {{ f.arguments | tojson }}}</act>",
        r#"<act>{"tool": "ping", "args": {"to": "Ann & Bo", "n": 3}}</act><act>{"tool": "pong", "args": {"why": "so \"it\" is"}}</act>"#,
        "call = '<act>{object}</act>'",
    ),
    (
        "name in an attribute, JSON as the body",
        "<use tool=\"{{ f.name }}\">{{ f.arguments | tojson }}</use>\n",
        "<use tool=\"ping\">{\"to\": \"Ann & Bo\", \"n\": 3}</use>\n<use tool=\"pong\">{\"why\": \"so \\\"it\\\" is\"}</use>\n",
        "call = '<use tool=\"{name}\">{arguments}</use>",
    ),
    (
        "name on a line, then JSON",
        "<<CALL>>{{ f.name }}\n{{ f.arguments | tojson }}\n<<END>>\n",
        "<<CALL>>ping\n{\"to\": \"Ann & Bo\", \"n\": 3}\n<<END>>\n<<CALL>>pong\n{\"why\": \"so \\\"it\\\" is\"}\n<<END>>\n",
        "{name}",
    ),
    (
        "keys and values between tags each",
        "<job>{{ f.name }}\n{% for k, v in f.arguments.items() %}<k>{{ k }}</k>\n<v>{{ v if v is string else v | tojson }}</v>\n{% endfor %}</job>\n",
        "<job>ping\n<k>to</k>\n<v>Ann & Bo</v>\n<k>n</k>\n<v>3</v>\n</job>\n<job>pong\n<k>why</k>\n<v>so \"it\" is</v>\n</job>\n",
        "<k>{key}</k>\\n<v>{value}</v>",
    ),
    (
        "parameter tags with their own words",
        "<op={{ f.name }}>\n{% for k, v in f.arguments.items() %}<field={{ k }}>\n{{ v if v is string else v | tojson }}\n</field>\n{% endfor %}</op>\n",
        "<op=ping>\n<field=to>\nAnn & Bo\n</field>\n<field=n>\n3\n</field>\n</op>\n<op=pong>\n<field=why>\nso \"it\" is\n</field>\n</op>\n",
        "<field={key}>",
    ),
    (
        "elements with the names of parameters",
        "<do name=\"{{ f.name }}\">{% for k, v in f.arguments.items() %}<{{ k }}>{{ v if v is string else v | tojson }}</{{ k }}>{% endfor %}</do>",
        "<do name=\"ping\"><to>Ann & Bo</to><n>3</n></do><do name=\"pong\"><why>so \"it\" is</why></do>",
        "<{key}>{value}</{key}>",
    ),
    (
        "keyword arguments of Python",
        "<py>{{ f.name }}({% for k, v in f.arguments.items() %}{{ k }}={% if v is string %}'{{ v | replace('\\\\', '\\\\\\\\') | replace(\"'\", \"\\\\'\") | replace('\\n', '\\\\n') | replace('\\t', '\\\\t') }}'{% else %}{{ v }}{% endif %}{{ ', ' if not loop.last }}{% endfor %})</py>",
        "<py>ping(to='Ann & Bo', n=3)</py><py>pong(why='so \"it\" is')</py>",
        "{name}({arguments:python})",
    ),
    (
        "special tokens in place of tags",
        "<|act|>{{ f.name }}<|in|>{{ f.arguments | tojson }}<|done|>",
        "<|act|>ping<|in|>{\"to\": \"Ann & Bo\", \"n\": 3}<|done|><|act|>pong<|in|>{\"why\": \"so \\\"it\\\" is\"}<|done|>",
        "special_tokens = true",
    ),
    (
        "arguments as a string of JSON",
        "<act>{\"tool\": {{ f.name | tojson }}, \"input\": {{ f.arguments | tojson | tojson }}}</act>",
        r#"<act>{"tool": "ping", "input": "{\"to\": \"Ann & Bo\", \"n\": 3}"}</act><act>{"tool": "pong", "input": "{\"why\": \"so \\\"it\\\" is\"}"}</act>"#,
        "arguments = ['input']",
    ),
    (
        "separators between calls",
        "{{ '<sep/>' if not loop.first }}<c>{\"n\": {{ f.name | tojson }}, \"a\": {{ f.arguments | tojson }}}</c>",
        r#"<c>{"n": "ping", "a": {"to": "Ann & Bo", "n": 3}}</c><sep/><c>{"n": "pong", "a": {"why": "so \"it\" is"}}</c>"#,
        "<sep/>",
    ),
    (
        "ids",
        "<call id=\"{{ c.id }}\" name=\"{{ f.name }}\">{{ f.arguments | tojson }}</call>\n",
        "<call id=\"a1\" name=\"ping\">{\"to\": \"Ann & Bo\", \"n\": 3}</call>\n<call id=\"a2\" name=\"pong\">{\"why\": \"so \\\"it\\\" is\"}</call>\n",
        "{id}",
    ),
    (
        "indices",
        "<call n=\"{{ loop.index0 }}\" name=\"{{ f.name }}\">{{ f.arguments | tojson }}</call>\n",
        "<call n=\"0\" name=\"ping\">{\"to\": \"Ann & Bo\", \"n\": 3}</call>\n<call n=\"1\" name=\"pong\">{\"why\": \"so \\\"it\\\" is\"}</call>\n",
        "{index}",
    ),
    (
        "a name again in the end tag",
        "<do_{{ f.name }}>{{ f.arguments | tojson }}</do_{{ f.name }}>",
        "<do_ping>{\"to\": \"Ann & Bo\", \"n\": 3}</do_ping><do_pong>{\"why\": \"so \\\"it\\\" is\"}</do_pong>",
        "</do_{name}>",
    ),
    (
        "a dictionary of Python",
        "<py>{{ f.name }}: {{ f.arguments }}</py>\n",
        "<py>ping: {'to': 'Ann & Bo', 'n': 3}</py>\n<py>pong: {'why': 'so \"it\" is'}</py>\n",
        "{arguments:python}",
    ),
    (
        "a constant member in an object",
        "<act>{\"type\": \"function\", \"name\": {{ f.name | tojson }}, \"arguments\": {{ f.arguments | tojson }}}</act>",
        r#"<act>{"type": "function", "name": "ping", "arguments": {"to": "Ann & Bo", "n": 3}}</act><act>{"type": "function", "name": "pong", "arguments": {"why": "so \"it\" is"}}</act>"#,
        "[calls]",
    ),
    (
        "an object in an object",
        "<act>{\"function\": {\"name\": {{ f.name | tojson }}, \"arguments\": {{ f.arguments | tojson }}}}</act>",
        r#"<act>{"function": {"name": "ping", "arguments": {"to": "Ann & Bo", "n": 3}}}</act><act>{"function": {"name": "pong", "arguments": {"why": "so \"it\" is"}}}</act>"#,
        "[calls]",
    ),
    (
        "types on the wire",
        "<run={{ f.name }}>{% for k, v in f.arguments.items() %}<p k=\"{{ k }}\" string=\"{{ 'true' if v is string else 'false' }}\">{{ v if v is string else v | tojson }}</p>{% endfor %}</run>",
        "<run=ping><p k=\"to\" string=\"true\">Ann & Bo</p><p k=\"n\" string=\"false\">3</p></run><run=pong><p k=\"why\" string=\"true\">so \"it\" is</p></run>",
        "types = \"wire\"",
    ),
    (
        "the name as the key",
        "<act>{ {{- f.name | tojson }}: {{ f.arguments | tojson }}}</act>",
        r#"<act>{"ping": {"to": "Ann & Bo", "n": 3}}</act><act>{"pong": {"why": "so \"it\" is"}}</act>"#,
        "name_is_key",
    ),
    (
        "marks in square brackets",
        "[CALL_TOOL]{{ f.name }}[WITH_ARGS]{{ f.arguments | tojson }}[/CALL_TOOL]",
        "[CALL_TOOL]ping[WITH_ARGS]{\"to\": \"Ann & Bo\", \"n\": 3}[/CALL_TOOL][CALL_TOOL]pong[WITH_ARGS]{\"why\": \"so \\\"it\\\" is\"}[/CALL_TOOL]",
        "[WITH_ARGS]",
    ),
];

/// Shapes that the language may not be able to say: each derives and is read, or is refused.
const DOUBTFUL: [(&str, &str); 20] = [
    (
        "Action: {{ f.name }}\nAction Input: {{ f.arguments | tojson }}\n",
        "Action: ping\nAction Input: {\"to\": \"Ann & Bo\", \"n\": 3}\nAction: pong\nAction Input: {\"why\": \"so \\\"it\\\" is\"}\n",
    ),
    (
        "```tool\n{\"tool\": {{ f.name | tojson }}, \"args\": {{ f.arguments | tojson }}}\n```\n",
        "```tool\n{\"tool\": \"ping\", \"args\": {\"to\": \"Ann & Bo\", \"n\": 3}}\n```\n```tool\n{\"tool\": \"pong\", \"args\": {\"why\": \"so \\\"it\\\" is\"}}\n```\n",
    ),
    (
        "@{{ f.name }}{{ f.arguments | tojson }}\n",
        "@ping{\"to\": \"Ann & Bo\", \"n\": 3}\n@pong{\"why\": \"so \\\"it\\\" is\"}\n",
    ),
    (
        "<do>{{ f.name }}({{ f.arguments | tojson }})</do>",
        "<do>ping({\"to\": \"Ann & Bo\", \"n\": 3})</do><do>pong({\"why\": \"so \\\"it\\\" is\"})</do>",
    ),
    (
        "<invoke><name>{{ f.name }}</name><args>{{ f.arguments | tojson }}</args></invoke>\n",
        "<invoke><name>ping</name><args>{\"to\": \"Ann & Bo\", \"n\": 3}</args></invoke>\n<invoke><name>pong</name><args>{\"why\": \"so \\\"it\\\" is\"}</args></invoke>\n",
    ),
    (
        "<tool n=\"{{ f.name }}\">{% for k, v in f.arguments.items() %}<a k=\"{{ k }}\">{{ v | tojson }}</a>{% endfor %}</tool>",
        "<tool n=\"ping\"><a k=\"to\">\"Ann & Bo\"</a><a k=\"n\">3</a></tool><tool n=\"pong\"><a k=\"why\">\"so \\\"it\\\" is\"</a></tool>",
    ),
    (
        "🔧{{ f.name }}🔩{{ f.arguments | tojson }}🔚",
        "🔧ping🔩{\"to\": \"Ann & Bo\", \"n\": 3}🔚🔧pong🔩{\"why\": \"so \\\"it\\\" is\"}🔚",
    ),
    (
        "{{ '\n---\n' if not loop.first }}<t>{{ f.name }}</t>{{ f.arguments | tojson }}",
        "<t>ping</t>{\"to\": \"Ann & Bo\", \"n\": 3}\n---\n<t>pong</t>{\"why\": \"so \\\"it\\\" is\"}",
    ),
    (
        "<do>{\"args\": {{ f.arguments | tojson }}, \"name\": {{ f.name | tojson }}}</do>",
        "<do>{\"args\": {\"to\": \"Ann & Bo\", \"n\": 3}, \"name\": \"ping\"}</do><do>{\"args\": {\"why\": \"so \\\"it\\\" is\"}, \"name\": \"pong\"}</do>",
    ),
    (
        "<do>{\"id\": {{ c.id | tojson }}, \"fn\": {{ f.name | tojson }}, \"in\": {{ f.arguments | tojson }}}</do>",
        "<do>{\"id\": \"x1\", \"fn\": \"ping\", \"in\": {\"to\": \"Ann & Bo\", \"n\": 3}}</do><do>{\"id\": \"x2\", \"fn\": \"pong\", \"in\": {\"why\": \"so \\\"it\\\" is\"}}</do>",
    ),
    (
        "call:{{ f.name }}{ {%- for k, v in f.arguments.items() %}{{ k }}:{{ v | tojson }}{{ ',' if not loop.last }}{% endfor -%} }\n",
        "call:ping{to:\"Ann & Bo\",n:3}\ncall:pong{why:\"so \\\"it\\\" is\"}\n",
    ),
    (
        "<|call|>{{ f.name }}{ {%- for k, v in f.arguments.items() %}{{ k }}: {{ v | tojson }}{{ ', ' if not loop.last }}{% endfor -%} }<|end_call|>",
        "<|call|>ping{to: \"Ann & Bo\", n: 3}<|end_call|><|call|>pong{why: \"so \\\"it\\\" is\"}<|end_call|>",
    ),
    (
        "<|tool|>{{ f.name }}\n{% for k, v in f.arguments.items() %}<|key|>{{ k }}<|val|>{{ v if v is string else v | tojson }}{% endfor %}<|/tool|>",
        "<|tool|>ping\n<|key|>to<|val|>Ann & Bo<|key|>n<|val|>3<|/tool|><|tool|>pong\n<|key|>why<|val|>so \"it\" is<|/tool|>",
    ),
    (
        "<fn>{{ f.name }}</fn>{% for k, v in f.arguments.items() %}<arg><k>{{ k }}</k><v>{{ v if v is string else v | tojson }}</v></arg>{% endfor %}<run/>",
        "<fn>ping</fn><arg><k>to</k><v>Ann & Bo</v></arg><arg><k>n</k><v>3</v></arg><run/><fn>pong</fn><arg><k>why</k><v>so \"it\" is</v></arg><run/>",
    ),
    (
        "{\"tool\": {{ f.name | tojson }}, \"args\": {{ f.arguments | tojson }}}\n",
        "{\"tool\": \"ping\", \"args\": {\"to\": \"Ann & Bo\", \"n\": 3}}\n{\"tool\": \"pong\", \"args\": {\"why\": \"so \\\"it\\\" is\"}}\n",
    ),
    (
        "TOOL {{ f.name }} ARGS {{ f.arguments | tojson }} END\n",
        "TOOL ping ARGS {\"to\": \"Ann & Bo\", \"n\": 3} END\nTOOL pong ARGS {\"why\": \"so \\\"it\\\" is\"} END\n",
    ),
    (
        "§{{ f.name }}§{{ f.arguments | tojson }}§§",
        "§ping§{\"to\": \"Ann & Bo\", \"n\": 3}§§§pong§{\"why\": \"so \\\"it\\\" is\"}§§",
    ),
    (
        "<call>\n  <name>{{ f.name }}</name>\n  <args>\n{% for k, v in f.arguments.items() %}    <{{ k }}>{{ v if v is string else v | tojson }}</{{ k }}>\n{% endfor %}  </args>\n</call>\n",
        "<call>\n  <name>ping</name>\n  <args>\n    <to>Ann & Bo</to>\n    <n>3</n>\n  </args>\n</call>\n<call>\n  <name>pong</name>\n  <args>\n    <why>so \"it\" is</why>\n  </args>\n</call>\n",
    ),
    (
        "<call>{\"name\": {{ f.name | tojson }}, \"parameters\": {{ f.arguments | tojson }}, \"kind\": \"tool\"}</call>",
        "<call>{\"name\": \"ping\", \"parameters\": {\"to\": \"Ann & Bo\", \"n\": 3}, \"kind\": \"tool\"}</call><call>{\"name\": \"pong\", \"parameters\": {\"why\": \"so \\\"it\\\" is\"}, \"kind\": \"tool\"}</call>",
    ),
    (
        "<call>{{ f.name }}|{{ c.id }}|{{ f.arguments | tojson }}</call>",
        "<call>ping|a|{\"to\": \"Ann & Bo\", \"n\": 3}</call><call>pong|b|{\"why\": \"so \\\"it\\\" is\"}</call>",
    ),
];

#[test]
fn doubtful_shapes_are_read_right_or_refused() {
    let mut faults = Vec::new();
    for (calls, wire) in DOUBTFUL {
        match derive(&[EACH, calls, "{% endfor -%}"].concat()) {
            Ok(derived) => faults.extend(fault(&derived.file, &derived.profile, wire)),
            Err(refusal) => println!("{calls}: {refusal}"),
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n\n"));
}

/// Reads a wire with the calls of [`CALLS`], with and without text around it. Returns a fault.
fn fault(file: &str, profile: &crate::Profile, wire: &str) -> Option<String> {
    let tools = serde_json::json!([
        {"type": "function", "function": {"name": "ping", "parameters": {"type": "object",
            "properties": {"to": {"type": "string"}, "n": {"type": "integer"}}}}},
        {"type": "function", "function": {"name": "pong", "parameters": {"type": "object",
            "properties": {"why": {"type": "string"}}}}},
    ]);
    let tools = crate::Tools::from_json(&tools).unwrap();
    let guard = Guard::builder(profile).tools(tools).build().unwrap();
    for text in [wire.to_owned(), format!("Well.\n{wire}<|end|>")] {
        let message = guard.parse(&text, End::Stop).unwrap();
        let value = |text: &str| -> serde_json::Value { serde_json::from_str(text).unwrap() };
        let found: Vec<_> =
            message.calls.iter().map(|call| (&*call.name, value(&call.arguments))).collect();
        let expected = CALLS.map(|(name, arguments)| (name, value(arguments)));
        let content = if text.starts_with("Well.") { "Well." } else { "" };
        if found != expected || message.content.trim() != content {
            return Some(format!("{found:?} {:?}\n{file}", message.content));
        }
    }
    None
}

#[test]
fn calls_of_invented_shapes_are_derived_and_read() {
    let mut faults = Vec::new();
    for (what, calls, wire, part) in ROWS {
        match derive(&[EACH, calls, "{% endfor -%}"].concat()) {
            Ok(derived) if !derived.file.contains(part) => {
                faults.push(format!("{what}: no {part}\n{}", derived.file));
            }
            Ok(derived) => {
                let fault = fault(&derived.file, &derived.profile, wire);
                faults.extend(fault.map(|fault| format!("{what}: {fault}")));
            }
            Err(refusal) => faults.push(format!("{what}: {refusal}")),
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n\n"));
}

#[test]
fn sections_of_invented_shapes_are_derived_and_read() {
    let rows = [
        (
            "<plan>[{%- for c in m.tool_calls -%}{%- set f = c.function -%}{\"n\": {{ f.name | tojson }}, \"a\": {{ f.arguments | tojson }}}{{ ', ' if not loop.last }}{%- endfor -%}]</plan>",
            r#"<plan>[{"n": "ping", "a": {"to": "Ann & Bo", "n": 3}}, {"n": "pong", "a": {"why": "so \"it\" is"}}]</plan>"#,
            "[{calls:, }]",
        ),
        (
            "<|calls|>\n{%- for c in m.tool_calls -%}{%- set f = c.function -%}<|call|>{{ f.name }}<|args|>{{ f.arguments | tojson }}<|call_end|>{%- endfor -%}<|calls_end|>",
            "<|calls|><|call|>ping<|args|>{\"to\": \"Ann & Bo\", \"n\": 3}<|call_end|><|call|>pong<|args|>{\"why\": \"so \\\"it\\\" is\"}<|call_end|><|calls_end|>",
            "{calls}",
        ),
        (
            "<steps>\n{%- for c in m.tool_calls %}{%- set f = c.function %}\n<step of=\"{{ f.name }}\">\n{%- for k, v in f.arguments.items() %}\n<in name=\"{{ k }}\">{{ v if v is string else v | tojson }}</in>\n{%- endfor %}\n</step>\n{%- endfor %}\n</steps>",
            "<steps>\n<step of=\"ping\">\n<in name=\"to\">Ann & Bo</in>\n<in name=\"n\">3</in>\n</step>\n<step of=\"pong\">\n<in name=\"why\">so \"it\" is</in>\n</step>\n</steps>",
            "<in name=\"{key}\">{value}</in>",
        ),
        (
            "```calls\n{%- for c in m.tool_calls %}{%- set f = c.function %}\n{\"tool\": {{ f.name | tojson }}, \"args\": {{ f.arguments | tojson }}}\n{%- endfor %}\n```",
            "```calls\n{\"tool\": \"ping\", \"args\": {\"to\": \"Ann & Bo\", \"n\": 3}}\n{\"tool\": \"pong\", \"args\": {\"why\": \"so \\\"it\\\" is\"}}\n```",
            "{object}",
        ),
    ];
    let mut faults = Vec::new();
    for (calls, wire, part) in rows {
        match derive(calls) {
            Ok(derived) if !derived.file.contains(part) => {
                faults.push(format!("no {part}\n{}", derived.file));
            }
            Ok(derived) => faults.extend(fault(&derived.file, &derived.profile, wire)),
            Err(refusal) => faults.push(format!("{calls}: {refusal}")),
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n\n"));
}

#[test]
fn messages_with_channels_are_derived_and_read() {
    let text = "{%- for m in messages -%}{%- if m.role == 'assistant' -%}\
        {%- if m.reasoning_content -%}<|from|>assistant<|to|>self<|body|>{{ m.reasoning_content }}<|stop|>{%- endif -%}\
        {%- if m.content -%}<|from|>assistant<|to|>user<|body|>{{ m.content }}<|stop|>{%- endif -%}\
        {%- for c in m.tool_calls or [] -%}<|from|>assistant<|to|>tool {{ c.function.name }}<|body|>{{ c.function.arguments | tojson }}<|stop|>{%- endfor -%}\
        {%- else -%}<|from|>{{ m.role }}<|body|>{{ m.content }}<|stop|>{%- endif -%}{%- endfor -%}\
        {%- if add_generation_prompt -%}<|from|>assistant{%- endif -%}";
    let derived = derive_trusted(&Checkpoint::from_template(text))
        .unwrap_or_else(|refusal| panic!("{refusal}"));
    let guard = Guard::builder(&derived.profile).build().unwrap();
    let wire = "<|to|>self<|body|>Hm.<|stop|><|from|>assistant<|to|>user<|body|>Well.<|stop|><|from|>assistant<|to|>tool ping<|body|>{\"n\": 3}<|stop|>";
    let message = guard.parse(wire, End::Stop).unwrap();
    let shown = (message.reasoning.trim(), message.content.trim(), &*message.calls[0].name);
    assert_eq!(shown, ("Hm.", "Well.", "ping"), "{}", derived.file);
}

#[test]
fn templates_that_lose_or_mix_parts_are_refused_with_the_renderings() {
    let rows = [
        ("a name only", "<do>{{ f.name }}</do>"),
        ("values only", "<do>{{ f.name }}: {{ f.arguments.values() | join(', ') }}</do>"),
        (
            "the first argument only",
            "<do>{{ f.name }}: {{ f.arguments.items() | list | first }}</do>",
        ),
        (
            "a value that the next key ends",
            "<do>{{ f.name }}{% for k, v in f.arguments.items() %} {{ k }}={{ v }}{% endfor %}</do>",
        ),
        (
            "values without escapes in quotes",
            "<do {{ f.name }}{% for k, v in f.arguments.items() %} {{ k }}=\"{{ v }}\"{% endfor %}/>",
        ),
        (
            "values without escapes in JSON",
            "<do>{\"name\": \"{{ f.name }}\", \"arguments\": { {%- for k, v in f.arguments.items() %}\"{{ k }}\": \"{{ v }}\"{{ ', ' if not loop.last }}{% endfor -%} }}</do>",
        ),
        (
            "lines",
            "<do>\n{{ f.name }}\n{% for k, v in f.arguments.items() %}{{ k }}: {{ v }}\n{% endfor %}</do>",
        ),
        (
            "shortened values",
            "<do>{\"name\": \"{{ f.name }}\", \"arguments\": {{ (f.arguments | tojson)[:40] }}}</do>",
        ),
        (
            "values without their type",
            "<do {{ f.name }}>{% for k, v in f.arguments.items() %}<{{ k }}>{{ v | length if v is mapping else v }}</{{ k }}>{% endfor %}</do>",
        ),
    ];
    for (what, calls) in rows {
        let refusal = derive(&[EACH, calls, "{% endfor -%}"].concat());
        let refusal = refusal.map(|derived| derived.file).expect_err(what);
        assert_eq!(refusal.renderings().len(), 2, "{what}: {refusal}");
    }
    let answers = template("").replace("{{ m.content or '' }}", "");
    let refusal = derive_trusted(&Checkpoint::from_template(&answers));
    assert!(refusal.is_err());
}
