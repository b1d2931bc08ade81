//! `explain`: recordings of real faults, and the forms of the answer.

use serde_json::Value;

use crate::support::{command, refused, root, run, run_on, sample, scratch};

/// Recordings, how each is read, and the causes the summary names.
const FAULTS: &[(&str, &[&str], &[&str])] = &[
    ("prompt_opened_thinking", &["--family", "qwen3"], &["prompt_opened_reasoning"]),
    ("wrong_family", &["--family", "qwen3"], &["wrong_family"]),
    ("stripped_tokens", &["--model", "moonshotai/Kimi-K2-Instruct"], &["stripped_markers"]),
    ("truncated_call", &["--model", "Qwen/Qwen3-8B"], &["truncated_call"]),
    ("opener_in_prose", &["--model", "Qwen/Qwen3-8B"], &["opener_in_prose"]),
    ("usage_in_call", &["--model", "Qwen/Qwen3-8B"], &["usage_in_call"]),
];

fn fault(name: &str) -> String {
    sample(&format!("faults/{name}.sse"))
}

fn json(args: &[&str]) -> Value {
    let output = run(&[&["explain", "--json"], args].concat());
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

fn text(args: &[&str], columns: &str) -> String {
    let mut command = command(&[&["explain"], args].concat());
    let output = command.env("COLUMNS", columns).output().expect("the binary runs");
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

fn kinds(explanation: &Value) -> Vec<&str> {
    let findings = explanation["summary"]["findings"].as_array().expect("a list");
    findings.iter().map(|finding| finding["kind"].as_str().expect("a name")).collect()
}

#[test]
fn summary_names_the_cause_of_every_fault_at_every_cut() {
    for &(name, how, causes) in FAULTS {
        let file = fault(name);
        for cut in [&[][..], &["--chunk", "1"], &["--chunk", "7"]] {
            let report = json(&[&[file.as_str()], how, cut].concat());
            assert_eq!(kinds(&report["explanations"][0]), causes, "{name} {cut:?}");
        }
        let shown = text(&[&[file.as_str()], how].concat(), "80");
        assert!(shown.contains(causes[0]), "{name}: {shown}");
    }
}

#[test]
fn suggested_remedy_of_every_fault_removes_it() {
    let cured: &[(&str, &[&str])] = &[
        ("prompt_opened_thinking", &[]),
        ("wrong_family", &[]),
        ("prompt_opened_thinking", &["--family", "qwen3", "--start", "reasoning"]),
        ("wrong_family", &["--family", "mistral"]),
    ];
    for (name, how) in cured {
        let file = fault(name);
        let report = json(&[&[file.as_str()], *how].concat());
        assert_eq!(kinds(&report["explanations"][0]), [""; 0], "{name}");
    }
    let report = json(&[&fault("wrong_family"), "--family", "qwen3"]);
    assert_eq!(report["explanations"][0]["summary"]["looks_like"][0], "mistral");
}

#[test]
fn family_comment_in_a_recording_selects_the_family() {
    let stream = std::fs::read_to_string(fault("wrong_family")).expect("a sample");
    let file = scratch("named.sse", &format!(": family qwen3\n\n{stream}"));
    let report = json(&[&file]);
    assert_eq!(report["explanations"][0]["name"], "qwen3");
    assert_eq!(kinds(&report["explanations"][0]), ["wrong_family"]);
    let named = json(&[&file, "--family", "mistral"]);
    assert_eq!(named["explanations"][0]["name"], "mistral");
    let parsed = run(&["parse", "--output", "jsonl", &file]);
    assert!(!String::from_utf8_lossy(&parsed.stdout).contains("call_start"));
    // A family of the proxy's configuration is not known here.
    let file = scratch("own.sse", &format!(": family own.toml\n\n{stream}"));
    assert_eq!(json(&[&file])["explanations"][0]["name"], "mistral");
    let whole = r#"{"choices": [{"index": 0, "finish_reason": "stop",
        "message": {"content": "<tool_call>{\"name\": \"f\", \"arguments\": {\"a\": }}"}}]}"#;
    let whole = whole.replace('\n', "\ndata: ");
    let file = scratch("whole.sse", &format!(": family qwen3\n\ndata: {whole}\n\n"));
    let report = json(&[&file]);
    assert_eq!(report["explanations"][0]["summary"]["calls"][0]["outcome"], "malformed");
}

#[test]
fn recorded_times_are_reported_as_latency() {
    let report = json(&[&fault("truncated_call"), "--model", "Qwen/Qwen3-8B"]);
    let explanation = &report["explanations"][0];
    let delay = &explanation["summary"]["delay"];
    assert!(delay["ms"].as_f64().is_some_and(|ms| ms > 0.0), "{delay}");
    let steps = explanation["steps"].as_array().expect("steps");
    assert!(steps.windows(2).all(|pair| pair[0]["ms"].as_f64() <= pair[1]["ms"].as_f64()));
    assert_eq!(steps.last().expect("an end")["end"], "length");
}

#[test]
fn regions_and_steps_cover_every_sample() {
    for (name, family) in [
        ("hermes.sse", "hermes"),
        ("hermes_think.sse", "qwen3"),
        ("deepseek_v3_1.sse", "deepseek_v3_1"),
        ("two_choices.sse", "qwen3"),
        ("qwen3_coder.sse", "qwen3_coder"),
        ("invalid_utf8.txt", "hermes"),
        ("strings.jsonl", "qwen3"),
        ("native_calls.sse", "qwen3"),
    ] {
        let report = json(&[&sample(name), "--family", family]);
        for explanation in report["explanations"].as_array().expect("a list") {
            let whole = explanation["wire"].as_str().expect("text").len() as u64;
            let sum = |list: &str| {
                let parts = explanation[list].as_array().expect("a list").iter();
                parts.map(|part| part["len"].as_u64().expect("a length")).sum::<u64>()
            };
            assert_eq!((sum("regions"), sum("steps")), (whole, whole), "{name}");
            assert!(!explanation.to_string().contains("rewritten"), "{name}");
        }
    }
}

#[test]
fn text_fits_the_width_and_has_no_escapes_in_a_pipe() {
    for columns in ["50", "80", "200"] {
        let shown = text(&[&fault("truncated_call"), "--family", "qwen3"], columns);
        let width: usize = columns.parse().expect("a number");
        let title = shown.lines().next().expect("a title");
        for line in shown.lines().filter(|line| *line != title) {
            assert!(line.chars().count() <= width, "{columns}: {line}");
        }
        assert!(!shown.contains('\x1b'));
    }
    let input = b"\x1b[31m red";
    let output = run_on(input, &["explain", "--family", "qwen3"]);
    assert!(!output.stdout.contains(&0x1b));
}

#[test]
fn several_families_are_compared_side_by_side() {
    let args = [&fault("wrong_family"), "--compare", "qwen3,mistral"];
    let report = json(&args);
    let names: Vec<_> = report["explanations"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|explanation| explanation["name"].as_str().expect("a name"))
        .collect();
    assert_eq!(names, ["qwen3", "mistral"]);
    let shown = text(&args, "80");
    assert!(shown.contains("Read as `qwen3`") && shown.contains("Read as `mistral`"), "{shown}");
    assert!(!shown.contains("Chunk by chunk"));
    refused(&["explain", &fault("wrong_family"), "--compare", "qwen4"], &["--compare", "qwen4"]);
    refused(&["explain", "no/such/file"], &["no/such/file"]);
}

/// Reasoning, calls named in their opener, and the rest.
const TEMPLATE: &str = r#"{"response_template": {"start_anchor": "<bot>", "fields": {
    "thinking": {"open": "<t>", "close": "</t>"},
    "tool_calls": {"open_pattern": "<c (?P<name>\\w+)>", "close": "</c>", "content": "json",
        "repeats": true, "transform": {"name": "{name}", "arguments": "{content}"}},
    "content": {}}}}"#;

#[test]
fn prompt_determines_the_start_with_a_template_or_a_family() {
    let template = scratch("prompted_template.json", TEMPLATE);
    let wire = scratch("prompted.txt", "x</t>y");
    let prompt = scratch("prompted_prompt.txt", "<bot>old<t>z</t><bot><t>");
    let args = [wire.as_str(), "--template", &template, "--prompt", &prompt];
    assert!(text(&args, "90").contains("answer        1 byte\n  reasoning     1 byte\n"));
    let wire = scratch("prompted_family.txt", "x</think>y");
    let prompt = scratch("prompted_family_prompt.txt", "<|im_start|>assistant\n<think>\n");
    let args = [wire.as_str(), "--family", "qwen3", "--prompt", &prompt];
    assert!(text(&args, "90").contains("answer        1 byte\n  reasoning     1 byte\n"));
    refused(&["explain", &wire, "--family", "qwen3", "--prompt", "no/file"], &["--prompt no/file"]);
}

#[test]
fn own_template_of_a_checkpoint_is_explained_with_its_boundaries() {
    let template = scratch("explain_template.json", TEMPLATE);
    let wire = scratch("explain_template.txt", "<t>x</t>y<c f>{\"a\": 1}</c>");
    let args = [wire.as_str(), "--template", &template, "--chunk", "1"];
    let explanation = &json(&args)["explanations"][0];
    assert_eq!(explanation["name"], "response_template");
    let regions = explanation["regions"].as_array().expect("a list");
    let told: Vec<_> = regions.iter().filter_map(|region| region["marker"].as_str()).collect();
    let expected =
        ["opens reasoning", "closes the reasoning", "opens a tool call", "closes the tool call"];
    assert_eq!(told, expected);
    assert_eq!(explanation["summary"]["calls"][0]["outcome"], "complete");
    let shown = text(&args, "90");
    assert!(shown.contains("may become `</t>`"), "{shown}");
    refused(&["explain", &wire, "--template", "no/such/file"], &["--template no/such/file"]);
    refused(&["explain", &wire, "--template", &template, "--family", "qwen3"], &["cannot be used"]);
}

#[test]
fn html_page_embeds_the_data_and_escapes_script_ends() {
    let page = scratch("page.html", "");
    let wire = scratch("hostile.txt", "</script><script>alert(1)</script><!-- ");
    text(&[&wire, "--family", "qwen3", "--html", &page], "80");
    let html = std::fs::read_to_string(&page).expect("the page is there");
    let at = html.find("id=\"report\">").expect("a script with the data") + 12;
    let data = html[at..].split("</script>").next().expect("its end");
    let report: Value = serde_json::from_str(data).expect("JSON");
    assert_eq!(report["wires"][0], "</script><script>alert(1)</script><!-- ");
    assert!(!html.contains("alert(1)</script>"));
    for word in ["http://", "https://", "@import", "url("] {
        assert!(!html.contains(word), "the page asks the network: {word}");
    }
}

#[test]
fn findings_name_the_matching_proxy_configuration() {
    for (name, how, words) in [
        ("wrong_family", "qwen3", "`\"ID\" = \"mistral\"`"),
        ("prompt_opened_thinking", "qwen3", "{ profile = \"qwen3\", start = \"reasoning\" }"),
        ("stripped_tokens", "kimi_k2", "`server = \"vllm\"`"),
        ("truncated_call", "qwen3", "`broken_calls = \"drop\"`"),
    ] {
        let report = json(&[&fault(name), "--family", how]);
        let finding = &report["explanations"][0]["summary"]["findings"][0];
        assert!(finding["serve"].as_str().expect("text").contains(words), "{finding}");
        let shown = text(&[&fault(name), "--family", how], "200");
        assert!(shown.contains("-> in `serve`: "), "{shown}");
    }
}

#[test]
fn explain_guide_matches_the_output() {
    let guide = std::fs::read_to_string(root().join("docs/explain.md")).expect("the guide");
    for &(name, how, _) in FAULTS {
        let shown = text(&[&[fault(name).as_str()], how].concat(), "90");
        let from = shown.find("Read as").expect("a summary");
        let to = shown.find("\n\nThe text of the model").expect("the text");
        assert!(guide.contains(&shown[from..to]), "{name}:\n{}", &shown[from..to]);
    }
}

/// Python's servers write such JSON. The guard of a stream reads it, so its recordings must be read, too.
#[test]
fn recordings_that_strict_readers_refuse_are_parsed_and_explained() {
    let recording = br#"data: {"choices":[{"index":0,"delta":{"content":"<think>a\ud83d</think>b"},"finish_reason":"stop","logprob":NaN}]}

data: [DONE]

"#;
    let model = ["--model", "Qwen/Qwen3-8B"];
    for command in ["parse", "explain"] {
        let out = run_on(recording, &[&[command, "-"][..], &model].concat());
        let text = String::from_utf8(out.stdout).unwrap();
        assert!(text.contains("a\u{fffd}") && !text.contains("not JSON"), "{command}: {text}");
        assert!(!text.contains("bad_chunk"), "{text}");
    }
}

#[test]
fn recordings_with_ids_and_the_lines_of_curl_are_read() {
    let event = r#"data: {"choices":[{"index":0,"delta":{"content":"<think>a</think>b"},"finish_reason":"stop"}]}"#;
    let with_ids = format!("id: 1\n{event}\n\nid: 2\ndata: [DONE]\n\n");
    let of_curl = format!(
        "* Connected to localhost\n> POST /v1/chat/completions HTTP/1.1\n> \n< HTTP/1.1 200 OK\n< \n\
         {{ [120 bytes data]\n{event}\n\ndata: [DONE]\n\n* Connection #0 left intact\n"
    );
    let of_curl_i =
        format!("HTTP/1.1 200 OK\r\ncontent-type: x\r\n\r\n{event}\n\ndata: [DONE]\n\n");
    for recording in [with_ids, of_curl, of_curl_i] {
        let model = ["--model", "Qwen/Qwen3-8B"];
        let out = run_on(
            recording.as_bytes(),
            &[&["parse", "-", "--output", "text"], &model[..]].concat(),
        );
        let text = String::from_utf8(out.stdout).unwrap();
        assert!(text.starts_with("[reasoning] a\nb"), "{recording}: {text}");
        let out = run_on(recording.as_bytes(), &[&["explain", "-"], &model[..]].concat());
        let text = String::from_utf8(out.stdout).unwrap();
        assert!(text.contains("reasoning     1 byte\n"), "{recording}: {text}");
    }
}
