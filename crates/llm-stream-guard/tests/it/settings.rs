//! Settings of a guard as data.

use llm_stream_guard::{
    Delivery, End, Event, GuardSettings, Message, SettingsError, Start, TokenSettings, Whitespace,
    Word,
};
use serde_json::{Value, json};

fn read(settings: &Value) -> GuardSettings {
    GuardSettings::from_json(settings).unwrap_or_else(|error| panic!("{settings}: {error}"))
}

fn refused(settings: &Value) -> SettingsError {
    let built = GuardSettings::from_json(settings).and_then(|settings| settings.builder());
    built.err().unwrap_or_else(|| panic!("{settings} is accepted"))
}

fn parsed(settings: &Value, text: &str) -> Message {
    let guard = read(settings).builder().unwrap().build().unwrap();
    guard.parse(text, End::Stop).unwrap()
}

#[test]
fn wrong_entries_are_refused_with_their_name_and_what_was_expected() {
    for (settings, field, expected) in [
        (json!(7), "", "expected an object of settings"),
        (json!({}), "", "expected one of `model`, `family`, `template`, `profile`"),
        (json!({}), "", ", or a `request` with a model"),
        (json!({"model": "qwen3:8b", "family": "qwen3"}), "", "expected only one of `model`"),
        (json!({"famly": "qwen3"}), "famly", "unexpected setting `famly`; expected one of `model`"),
        (json!({"family": 7}), "family", "expected a string"),
        (json!({"family": "qwen33"}), "family", "nearest: `qwen3`"),
        (json!({"model": "nobody/nothing"}), "model", "nobody/nothing"),
        (json!({"template": {}}), "template", "expected an object with at least one field"),
        (json!({"profile": {"nome": "x"}}), "profile", "unknown field `nome`"),
        (json!({"tools": {}}), "tools", "expected an array of tools"),
        (json!({"tools": [{}]}), "tools", "tool 0: expected a string"),
        (json!({"request": {"model": "nobody/nothing"}}), "request", "nobody/nothing"),
        (json!({"prompt": ["x"]}), "prompt", "expected a string"),
        (json!({"start": "end"}), "start", "expected one of `content`, `reasoning`, found `end`"),
        (
            json!({"whitespace": "none"}),
            "whitespace",
            "`framing`, `verbatim`, `trim`, `before_calls`, `reasoning_end`, found `none`",
        ),
        (json!({"whitespace": 1}), "whitespace", "expected a string"),
        (json!({"token_suffix": 1}), "token_suffix", "expected a string"),
        (json!({"marker_tokens": ["<a>", 7]}), "marker_tokens", "expected a string"),
        (json!({"marker_tokens": {"<a>": "7"}}), "marker_tokens", "expected u32"),
        (json!({"marker_tokens": "<a>"}), "marker_tokens", "a list of texts, or a mapping"),
        (json!({"ids": "random"}), "ids", "expected one of `unique`, `counting`"),
        (json!({"delivery": "x"}), "delivery", "expected one of `streaming`, `atomic`"),
        (json!({"limits": {"candidat": 1}}), "limits", "unknown field `candidat`"),
        (json!({"limits": {"depth": 0}}), "limits", "limit `depth` is 0: expected at least 1"),
    ] {
        let error = refused(&settings);
        assert_eq!(error.field(), field, "{settings}: {error}");
        assert!(error.to_string().contains(expected), "{settings}: {error}");
        assert_eq!(error.is_unknown(), field == "famly", "{settings}");
    }
}

#[test]
fn null_counts_as_absent() {
    let names = GuardSettings::fields().iter().map(|&name| (name.to_owned(), Value::Null));
    let mut settings: serde_json::Map<_, _> = names.collect();
    settings.insert("family".into(), "qwen3".into());
    assert_eq!(parsed(&settings.into(), "<think>a</think>b").reasoning, "a");
}

#[test]
fn every_setting_reaches_the_guard() {
    let of = |name: &str, value: Value| {
        let mut settings = json!({"family": "qwen3"});
        settings[name] = value;
        settings
    };
    let call = r#"<tool_call>{"name": "ring", "arguments": {}}</tool_call>"#;
    let wire = format!("<think> hm </think> {call} Hi. ");
    for (policy, reasoning, content) in [
        ("framing", " hm ", " Hi. "),
        ("verbatim", " hm ", "  Hi. "),
        ("trim", "hm", "Hi."),
        ("before_calls", " hm ", " Hi. "),
        ("reasoning_end", " hm", "  Hi. "),
    ] {
        assert!(Whitespace::WORDS.contains(&policy));
        let message = parsed(&of("whitespace", policy.into()), &wire);
        assert_eq!((&*message.reasoning, &*message.content), (reasoning, content), "{policy}");
    }
    assert_eq!(parsed(&of("start", "reasoning".into()), "a</think>b").reasoning, "a");
    assert_eq!(parsed(&of("prompt", "<think>\n".into()), "a</think>b").reasoning, "a");
    let ids = |settings| parsed(&settings, call).calls[0].id.clone();
    assert_eq!(ids(of("ids", "counting".into())), ids(of("ids", "counting".into())));
    assert_ne!(ids(of("ids", "unique".into())), ids(of("ids", "unique".into())));
    let tools = json!([{"function": {"name": "ring"}}]);
    let request = json!({"tools": tools, "tool_choice": "none"});
    assert_eq!(parsed(&of("tools", tools), call).calls.len(), 1);
    assert_eq!(parsed(&of("request", request), call).calls.len(), 0);
    let tokens = read(&of("marker_tokens", json!(["<think>"])));
    assert!(matches!(&tokens.marker_tokens, Some(TokenSettings::Texts(texts)) if texts.len() == 1));
    let guard = tokens.builder().unwrap().build().unwrap();
    assert_eq!(guard.marker_tokens().collect::<Vec<_>>(), ["<think>"]);
    assert_eq!(read(&of("delivery", "atomic".into())).delivery, Some(Delivery::Atomic));
    let suffix = of("token_suffix", ":x".into());
    assert_eq!(parsed(&suffix, &call.replace("tool_call>", "tool_call:x>")).calls.len(), 1);
    let long = format!("<tool_call>{}", " ".repeat(64));
    let mut guard =
        read(&of("limits", json!({"candidate": 16}))).builder().unwrap().build().unwrap();
    guard.push(&long, &mut |_: Event<'_>| {}).unwrap();
    assert!(guard.held().bytes <= 16, "{:?}", guard.held());
}

#[test]
fn a_profile_of_the_callers_has_the_settings_of_a_profile() {
    let settings =
        read(&json!({"profile": {"name": "mine", "tools": "hermes"}, "whitespace": "trim",
        "token_suffix": ":x", "start": "content"}));
    let profile = settings.profile().unwrap();
    assert_eq!(
        (profile.whitespace, profile.token_suffix.as_deref()),
        (Whitespace::Trim, Some(":x"))
    );
    assert_eq!(settings.start, Some(Start::Content));
}

#[cfg(feature = "toml")]
#[test]
fn family_file_is_read_as_toml_json_or_an_object() {
    let toml = "[calls]\ncall = '<run>{object}</run>'\n";
    let object = json!({"name": "mine", "calls": {"call": "<run>{object}</run>"}});
    let wire = r#"<run>{"name": "ring", "arguments": {}}</run>"#;
    for (file, name) in
        [(json!(toml), "own"), (object.clone(), "mine"), (json!(object.to_string()), "mine")]
    {
        let settings = json!({"family_file": file});
        assert_eq!(read(&settings).profile().unwrap().name, name, "{settings}");
        assert_eq!(parsed(&settings, wire).calls[0].name, "ring", "{settings}");
    }
    for (file, expected) in [
        (json!("[calls]\ncall = 7"), "own.toml:2: `calls.call`"),
        (json!("no"), "own.toml:1: "),
        (json!("{"), "EOF"),
        (json!([]), "expected a table"),
        (json!(7), "expected a table"),
    ] {
        let error = refused(&json!({"family_file": file}));
        assert_eq!(error.field(), "family_file", "{error}");
        assert!(error.to_string().contains(expected), "{error}");
    }
    let both = refused(&json!({"family": "qwen3", "family_file": toml}));
    assert!(both.to_string().contains("only one of"), "{both}");
}
