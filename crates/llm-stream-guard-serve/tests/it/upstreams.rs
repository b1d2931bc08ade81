//! Several upstreams: models that are asked by another name, keys, lists.

use axum::{
    body::Body,
    http::{Request, StatusCode},
};
use http_body_util::BodyExt as _;
use llm_stream_guard_serve::{Config, Endpoint, EndpointName, Model, Models, Proxy, Upstream};
use serde_json::{Value, json};

use crate::support::{Do, Got, Replay, Served, config, event, stream, whole_json};

const SENT: &str = "Qwen/Qwen3-8B";
const ALIAS: &str = "claude-3-7-sonnet";

/// A model that the upstream on `port` is asked for by another name.
fn renamed(port: u16) -> Models {
    let upstream = Some(EndpointName::At(Upstream::local(port)));
    let model = Model { upstream, model: Some(SENT.into()), ..Model::default() };
    Models::from([("claude-*".to_owned(), model)])
}

fn chunk(choice: &Value) -> Vec<u8> {
    let mut text = String::from_utf8(event(choice)).unwrap();
    text.insert_str(7, &format!("\"model\": \"{SENT}\", "));
    text.into()
}

fn said() -> Vec<u8> {
    let say = |text: &str, finish: Value| {
        chunk(&json!({"index": 0, "delta": {"content": text}, "finish_reason": finish}))
    };
    [
        say("<think>hm</think>I am ", Value::Null),
        say("\"model\"", json!("stop")),
        b"data: [DONE]\n\n".to_vec(),
    ]
    .concat()
}

async fn send(served: &Served, request: Request<Body>) -> Got {
    let (head, body) = served.send(request).await.into_parts();
    let body = body.collect().await.unwrap().to_bytes().to_vec();
    Got { status: head.status, headers: head.headers, body }
}

async fn post(served: &Served, path: &str, body: &Value) -> Got {
    send(served, Request::post(path).body(Body::from(body.to_string())).unwrap()).await
}

fn asks(path: &str, stream: bool) -> Value {
    let turn = json!([{"role": "user", "content": "?"}]);
    match path {
        "/v1/completions" => json!({"model": ALIAS, "prompt": "?", "stream": stream}),
        "/v1/responses" => json!({"model": ALIAS, "input": "?", "stream": stream}),
        _ => json!({"model": ALIAS, "messages": turn, "stream": stream, "max_tokens": 9}),
    }
}

const PATHS: [&str; 4] =
    ["/v1/chat/completions", "/v1/completions", "/v1/messages", "/v1/responses"];

#[tokio::test]
async fn streams_of_an_alias_name_the_alias_at_every_cut() {
    let text = String::from_utf8(said()).unwrap().replace("\"delta\":{\"content\":", "\"text\":");
    let text = text.replace("},\"finish_reason\"", ",\"finish_reason\"");
    for path in PATHS {
        for size in [1, 7, 50, 10_000] {
            let said = if path == "/v1/completions" { text.clone().into() } else { said() };
            let upstream = Replay::new(stream(&said, size)).await;
            let completions = llm_stream_guard_serve::Completions::Guard;
            let models = renamed(upstream.port);
            let served = Served::new(1, Config { models, completions, ..config() }).await;
            let got = post(&served, path, &asks(path, true)).await;
            let text = got.text();
            assert!(text.contains(&format!("\"{ALIAS}\"")), "{path} {size}: {text}");
            assert!(!text.contains(SENT) && !text.contains("think>"), "{path} {size}: {text}");
            assert!(text.contains("\\\"model\\\""), "{path} {size}: {text}");
            assert_eq!(upstream.last_asked().1["model"], SENT);
        }
    }
}

#[tokio::test]
async fn complete_answers_of_an_alias_name_the_alias() {
    for path in ["/v1/chat/completions", "/v1/messages", "/v1/responses"] {
        let message = json!({"role": "assistant", "content": "<think>hm</think>yes"});
        let choice = json!({"index": 0, "message": message, "finish_reason": "stop"});
        let answer = json!({"id": "1", "model": SENT, "choices": [choice]});
        let upstream = Replay::new(vec![Do::Send(whole_json("200 OK", &answer))]).await;
        let served = Served::new(1, Config { models: renamed(upstream.port), ..config() }).await;
        let got = post(&served, path, &asks(path, false)).await;
        assert_eq!(got.json()["model"], ALIAS, "{path}");
        assert!(!got.text().contains("think>"), "{path}: {}", got.text());
        assert_eq!(upstream.last_asked().1["model"], SENT);
    }
}

#[tokio::test]
async fn requests_are_routed_to_the_upstream_of_their_model() {
    let answer = |text: &str| vec![Do::Send(whole_json("200 OK", &json!({"from": text})))];
    let (first, second) = (Replay::new(answer("first")).await, Replay::new(answer("second")).await);
    let served = Served::new(first.port, Config { models: renamed(second.port), ..config() }).await;
    for (model, from) in [("other", "first"), (ALIAS, "second"), ("CLAUDE-x", "second")] {
        let got = post(&served, "/v1/embeddings", &json!({"model": model, "input": "a"})).await;
        assert_eq!(got.json()["from"], from, "{model}");
    }
    assert_eq!(second.last_asked().1, json!({"model": SENT, "input": "a"}));
    assert_eq!(first.last_asked().1, json!({"model": "other", "input": "a"}));
    for request in [
        Request::get("/version").body(Body::empty()),
        Request::post("/v1/embeddings").body(Body::from("no JSON")),
        Request::post("/v1/audio").header("content-type", "audio/wav").body(Body::from("{}")),
    ] {
        assert_eq!(send(&served, request.unwrap()).await.json()["from"], "first");
    }
}

#[tokio::test]
async fn upstream_receives_its_configured_key_or_that_of_the_client() {
    let answer = vec![Do::Send(whole_json("200 OK", &json!({})))];
    let upstream = Replay::new(answer).await;
    let own = std::env::var("CARGO_PKG_NAME").unwrap();
    let mut keyed = Config { models: renamed(upstream.port), ..config() };
    let url = Upstream::local(upstream.port);
    let endpoint = Endpoint { key_env: Some("CARGO_PKG_NAME".into()), ..Endpoint::at(url) };
    keyed.upstreams.insert("keyed".into(), endpoint);
    keyed.models.get_mut("claude-*").unwrap().upstream = Some(EndpointName::Named("keyed".into()));
    assert!(!keyed.to_toml().contains(&own) && keyed.to_toml().contains("CARGO_PKG_NAME"));
    assert!(!format!("{:?}", Proxy::new(keyed.clone()).unwrap()).contains("Bearer"));
    let keyed = Served::new(1, keyed).await;
    let plain = Served::new(1, Config { models: renamed(upstream.port), ..config() }).await;
    let cases = [
        (&plain, "x-api-key", "abc", "authorization: Bearer abc"),
        (&plain, "authorization", "Basic abc", "authorization: Basic abc"),
        (&keyed, "x-api-key", "abc", &format!("authorization: Bearer {own}")),
        (&keyed, "authorization", "Bearer abc", &format!("authorization: Bearer {own}")),
    ];
    for (served, name, key, expected) in cases {
        for path in ["/v1/messages", "/v1/embeddings"] {
            let request = Request::post(path).header(name, key);
            let body = Body::from(asks(path, false).to_string());
            send(served, request.body(body).unwrap()).await;
            let head = upstream.last_asked().0;
            assert!(head.contains(expected), "{path} {name}: {head}");
            // The client's key reaches nobody whose own is known.
            assert!(expected.contains(key) || !head.contains(key), "{path} {name}: {head}");
            let kept = path == "/v1/embeddings" && expected.contains(key) && name == "x-api-key";
            assert_eq!(head.contains("x-api-key"), kept, "{path} {name}: {head}");
        }
    }
}

#[test]
fn missing_key_variable_is_refused_with_its_field() {
    let fault = Proxy::new(Config { key_env: Some("NO_SUCH_KEY".into()), ..config() }).unwrap_err();
    assert_eq!(fault.field.as_deref(), Some("key_env"));
    assert!(fault.message.contains("`NO_SUCH_KEY`"), "{fault}");
    let mut other = config();
    let key_env = Some("NO_SUCH_KEY".to_owned());
    let endpoint = Endpoint { key_env, ..Endpoint::at(Upstream::local(1)) };
    other.upstreams.insert("b".into(), endpoint);
    assert_eq!(Proxy::new(other).unwrap_err().field.as_deref(), Some("upstreams.b.key_env"));
}

fn list(ids: &[&str]) -> Vec<Do> {
    let entry = |id: &&str| json!({"id": id, "object": "model", "owned_by": "x", "max": 9});
    let list: Vec<Value> = ids.iter().map(entry).collect();
    vec![Do::Send(whole_json("200 OK", &json!({"object": "list", "data": list})))]
}

#[tokio::test]
async fn model_list_contains_the_reachable_models_and_aliases() {
    let first = Replay::new(list(&["a", "claude-own"])).await;
    let second = Replay::new(list(&[SENT, "b", "c"])).await;
    let at = || Some(EndpointName::At(Upstream::local(second.port)));
    let mut models = renamed(second.port);
    models.insert("b".into(), Model { upstream: at(), ..Model::default() });
    let fast = Model { upstream: at(), model: Some(SENT.into()), ..Model::default() };
    models.insert("fast".into(), fast);
    let served = Served::new(first.port, Config { models, ..config() }).await;
    let get = |path: &str| Request::get(path).body(Body::empty()).unwrap();
    let all = send(&served, get("/v1/models")).await.json();
    let ids: Vec<&str> =
        all["data"].as_array().unwrap().iter().map(|it| it["id"].as_str().unwrap()).collect();
    // Not `claude-own`, which the second is asked for, nor `c`, which the first is.
    assert_eq!(ids, ["a", "b", "fast"]);
    let entry = json!({"id": "fast", "object": "model", "owned_by": "x", "max": 9, "root": SENT});
    assert_eq!(all["data"][2], entry);
    assert_eq!(send(&served, get("/v1/models/fast")).await.json(), entry);
    assert_eq!(send(&served, get("/v1/models/c")).await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn unreachable_upstream_does_not_hide_models_of_others() {
    let first = Replay::new(list(&["a"])).await;
    let served = Served::new(first.port, Config { models: renamed(1), ..config() }).await;
    let get = |path: &str| Request::get(path).body(Body::empty()).unwrap();
    assert_eq!(send(&served, get("/v1/models")).await.json()["data"][0]["id"], "a");
    let none = Served::new(1, Config { models: renamed(1), ..config() }).await;
    assert_eq!(send(&none, get("/v1/models")).await.status, StatusCode::BAD_GATEWAY);
}
