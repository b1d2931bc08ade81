//! `serve` as a user starts it.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    process::{Child, Stdio},
};

use crate::support::{command, refused, run, scratch};

/// A child that does not outlive its test.
pub(crate) struct Started(pub(crate) Child);

impl Drop for Started {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn demo_answers_its_printed_command() {
    let args = ["serve", "--demo", "--listen", "127.0.0.1:0", "--log-format", "json"];
    let mut demo = command(&args);
    let demo = demo.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    let mut demo = Started(demo);
    let mut lines = BufReader::new(demo.0.stdout.take().expect("piped")).lines();
    let first = lines.next().expect("a line").expect("text");
    let address = first.split_whitespace().next().and_then(|it| it.strip_prefix("http://"));
    let address = address.expect("an address").to_owned();
    let hint = lines.next().expect("a line").expect("text");
    let body = hint.split('\'').nth(1).expect("a body");
    let mut stream = TcpStream::connect(&address).expect("it listens");
    let head =
        "POST /v1/chat/completions HTTP/1.1\r\nhost: demo\r\nconnection: close\r\ncontent-length";
    write!(stream, "{head}: {}\r\n\r\n{body}", body.len()).expect("it reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("it answers");
    assert!(answer.starts_with("HTTP/1.1 200 OK"), "{answer}");
    assert!(answer.contains("reasoning_content") && answer.contains("save_note"), "{answer}");
    assert!(!answer.contains("<tool_call>") && answer.contains("[DONE]"), "{answer}");
    let log = BufReader::new(demo.0.stderr.take().expect("piped")).lines();
    let mut events = log.map(|line| {
        let line = line.expect("text");
        serde_json::from_str::<serde_json::Value>(&line).expect("a line of the log is JSON")
    });
    let event = events.find(|event| event["message"] == "answer").expect("one line an answer");
    assert_eq!(event["level"], "INFO", "{event}");
}

#[test]
fn own_template_is_used_and_kept_in_the_printed_configuration() {
    let own = r#"{"response_template": {"start_anchor": "<bot>", "fields": {"content": {}}}}"#;
    let template = scratch("serve_template.json", own);
    let printed = |args: &[&str]| {
        let output = run(&[&["serve", "--print-config"], args].concat());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("text")
    };
    let first = printed(&["--template", &template]);
    assert!(first.contains(&format!("profile = \"{template}\"")), "{first}");
    let file = scratch("serve_template.toml", &first);
    assert_eq!(printed(&["--config", &file]), first);
    let old = scratch("serve_schema.json", r#"{"response_schema": {"x-regex": "a"}}"#);
    refused(&["serve", "--demo", "--template", &old], &["--template", "response_schema"]);
    refused(&["serve", "--demo", "--profile", &old], &["response_schema"]);
}

#[test]
fn printed_configuration_is_read_back_unchanged() {
    let file = scratch("serve.toml", "upstream = \"http://a:1\"\n[timeouts]\nidle = \"9s\"\n");
    let args = ["serve", "--config", &file, "--listen", "127.0.0.1:9", "--print-config"];
    let printed = run(&args);
    assert!(printed.status.success());
    let printed = String::from_utf8(printed.stdout).expect("text");
    for line in ["listen = \"127.0.0.1:9\"", "upstream = \"http://a:1\"", "idle = \"9s\""] {
        assert!(printed.lines().any(|it| it == line), "{line} is not in {printed}");
    }
    let again = scratch("printed.toml", &printed);
    let again = run(&["serve", "--config", &again, "--print-config"]);
    assert_eq!(String::from_utf8(again.stdout).expect("text"), printed);
}

#[test]
fn configuration_errors_name_place_and_field() {
    let file = scratch("bad.toml", "[timeouts]\nidle = 9\n");
    refused(&["serve", "--config", &file], &["bad.toml, line 2, column 8: `timeouts.idle`"]);
    let file = scratch("bad_map.toml", "\"a\" = \"qwen9000\"\n");
    refused(
        &["serve", "--demo", "--model-map", &file],
        &["--model-map", "line 1", "`a`", "qwen9000"],
    );
    refused(&["serve"], &["--upstream"]);
    refused(
        &["serve", "--demo", "--listen", "localhost:99999"],
        &["--listen", "a port up to 65535"],
    );
    let secret = ["serve", "--listen", "127.0.0.1:0", "--upstream", "http://me:secret@127.0.0.1:1"];
    refused(&secret, &["`upstream`: expected an address without a name and password"]);
    assert!(!String::from_utf8_lossy(&run(&secret).stderr).contains("secret"));
    let secret_port = ["serve", "--upstream", "http://me:secret@127.0.0.1:99999"];
    refused(&secret_port, &["--upstream: expected a port from 1 to 65535"]);
    assert!(!String::from_utf8_lossy(&run(&secret_port).stderr).contains("secret"));
    let printed = run(&[&secret[..], &["--print-config"]].concat());
    assert!(!String::from_utf8_lossy(&printed.stdout).contains("secret"));
    refused(&["serve", "--upstream", "localhost"], &["http://127.0.0.1:8000"]);
    refused(&["serve", "--upstream", "http://a", "--profile", "qwen9000"], &["qwen9000"]);
}
