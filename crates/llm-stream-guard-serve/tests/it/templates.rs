//! Families that chat templates show: those of llama.cpp, and those of configured checkpoints.

use std::path::PathBuf;

use axum::{body::Body, http::Request};
use http_body_util::BodyExt as _;
use llm_stream_guard::{Worker, serve_renderings};
use llm_stream_guard_serve::{Config, Model, Proxy, ServerName, UnknownModelPolicy, Upstream};
use serde_json::{Value, json};

use crate::support::{
    Do, Replay, Served, asks, config, stream, text_event, whole_event, whole_json,
};

/// A template of no known family.
const TEMPLATE: &str = "{% for m in messages %}<s>{{ m.role }}: {{ m.content or '' }}\
    {% for c in m.tool_calls or [] %}<do {{ c.function.name }}>{{ c.function.arguments | tojson }}</do>\
    {% endfor %}<|end|>{% endfor %}{% if add_generation_prompt %}<s>assistant: {% endif %}";

/// The answer of a model with that template.
const ANSWER: &str = "Well.<do f>{\"a\": 1}</do>";

/// This program, started to run `worker_process_serves_renderings` alone.
pub(crate) fn worker() -> Worker {
    Worker::new(std::env::current_exe().unwrap()).args([
        "--exact",
        "templates::worker_process_serves_renderings",
        "--ignored",
        "--nocapture",
    ])
}

#[test]
#[ignore = "a worker of another test: it reads its job from the standard input"]
fn worker_process_serves_renderings() {
    // Without a job there is nothing to be done.
    let _ = serve_renderings();
}

/// A server that names itself `owner`, with the template of its models.
async fn upstream(
    owner: &'static str,
    props: impl Fn(&str) -> Option<Value> + Clone + Send + 'static,
) -> Replay {
    Replay::choosing(move |line| {
        if line.starts_with("GET /v1/models ") {
            let list = json!({"data": [{"id": "some.gguf", "owned_by": owner}]});
            return vec![Do::Send(whole_json("200 OK", &list))];
        }
        if line.starts_with("GET /props") {
            return vec![Do::Send(match props(line) {
                Some(props) => whole_json("200 OK", &props),
                None => whole_json("401 Unauthorized", &json!({"error": "no key"})),
            })];
        }
        stream(&[text_event(ANSWER), whole_event(""), b"data: [DONE]\n\n".to_vec()].concat(), 64)
    })
    .await
}

async fn served(upstream: u16, config: Config) -> Served {
    let config = Config { upstream: Upstream::local(upstream), ..config };
    Served::with(Proxy::with_worker(config, worker()).unwrap()).await
}

fn auto() -> Config {
    Config { server: ServerName::Auto, unknown_model: UnknownModelPolicy::Refuse, ..config() }
}

/// Returns the first lines of the requests for properties.
fn questions(upstream: &Replay) -> Vec<String> {
    let asked = upstream.asked.lock().unwrap();
    let lines = asked.iter().filter_map(|(head, _)| head.lines().next());
    lines.filter(|line| line.contains("/props")).map(str::to_owned).collect()
}

/// Asks for a completion of `model`, and returns the name of the call in the answer.
async fn called(served: &Served, model: &str) -> Option<String> {
    let got = served.ask(&asks(model, json!({}))).await;
    assert_eq!(got.status, 200, "{}", got.text());
    let choice = &got.completion().choices[0];
    let call = choice.message.tool_calls.first()?;
    call.function.as_ref()?.name.clone()
}

#[tokio::test]
async fn family_of_an_unknown_model_is_derived_from_the_template_of_llama_cpp() {
    let props = |_: &str| Some(json!({"chat_template": TEMPLATE, "total_slots": 1}));
    let upstream = upstream("llamacpp", props).await;
    let served = served(upstream.port, auto()).await;
    for model in ["mine", "mine", "team/other 1", "mine"] {
        assert_eq!(called(&served, model).await.as_deref(), Some("f"), "{model}");
    }
    let expected = ["GET /props?model=mine HTTP/1.1", "GET /props?model=team%2Fother%201 HTTP/1.1"];
    assert_eq!(questions(&upstream), expected);
    let metrics = served.send(Request::get("/metrics").body(Body::empty()).unwrap()).await;
    let metrics = metrics.into_body().collect().await.unwrap().to_bytes();
    assert!(String::from_utf8_lossy(&metrics).contains("family=\"derived\""));
    // A model of a known family needs no question.
    assert_eq!(called(&served, "Qwen/Qwen3-8B").await, None);
    assert_eq!(questions(&upstream).len(), 2);
}

#[tokio::test]
async fn template_of_a_known_family_selects_it() {
    let template = TEMPLATE
        .replace("<do {{ c.function.name }}>{{ c.function.arguments | tojson }}</do>", "<tool_call>\n{\"name\": \"{{ c.function.name }}\", \"arguments\": {{ c.function.arguments | tojson }}}\n</tool_call>");
    let upstream = upstream("llamacpp", move |_| Some(json!({"chat_template": template}))).await;
    let served = served(upstream.port, auto()).await;
    assert_eq!(called(&served, "mine").await, None);
    let metrics = served.send(Request::get("/metrics").body(Body::empty()).unwrap()).await;
    let metrics = metrics.into_body().collect().await.unwrap().to_bytes();
    let metrics = String::from_utf8_lossy(&metrics);
    assert!(metrics.contains("family=\"hermes\""), "{metrics}");
}

#[tokio::test]
async fn model_stays_unknown_without_a_template() {
    for (owner, props, asked) in [
        ("llamacpp", None, 1),
        ("llamacpp", Some(json!({})), 1),
        ("llamacpp", Some(json!({"chat_template": "{{ messages[0].content }}"})), 1),
        ("vllm", Some(json!({"chat_template": TEMPLATE})), 0),
    ] {
        let upstream = upstream(owner, move |_| props.clone()).await;
        let served = served(upstream.port, auto()).await;
        for _ in 0..2 {
            assert_eq!(served.ask(&asks("mine", json!({}))).await.status, 404);
        }
        assert_eq!(questions(&upstream).len(), asked, "{owner}");
    }
}

#[tokio::test]
async fn refused_question_of_one_client_does_not_count_for_another() {
    let upstream = Replay::choosing(|line| match line {
        line if line.starts_with("GET /v1/models ") => {
            let list = json!({"data": [{"id": "some.gguf", "owned_by": "llamacpp"}]});
            vec![Do::Send(whole_json("200 OK", &list))]
        }
        _ => vec![Do::Send(whole_json("401 Unauthorized", &json!({"error": "no key"})))],
    })
    .await;
    let served = served(upstream.port, auto()).await;
    for key in ["Bearer a", "Bearer b", "Bearer a"] {
        let request = Request::post("/v1/chat/completions").header("authorization", key);
        let body = Body::from(asks("mine", json!({})).to_string());
        assert_eq!(served.send(request.body(body).unwrap()).await.status(), 404);
    }
    assert_eq!(questions(&upstream).len(), 2);
}

/// A checkpoint's folder with that template.
pub(crate) fn checkpoint(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).unwrap();
    let tokens = json!({"7": {"content": "<|end|>", "special": true}});
    let config =
        json!({"chat_template": TEMPLATE, "eos_token": "<|end|>", "added_tokens_decoder": tokens});
    std::fs::write(folder.join("tokenizer_config.json"), config.to_string()).unwrap();
    folder
}

#[tokio::test]
async fn family_is_derived_from_a_configured_checkpoint() {
    let upstream = upstream("vllm", |_| None).await;
    let path = checkpoint("derived");
    let path: llm_stream_guard_serve::CheckpointTokens = path.to_str().unwrap().parse().unwrap();
    let whole = Config { checkpoint: Some(path.clone()), ..auto() };
    let model = Model { checkpoint: Some(path), ..Model::default() };
    let one = Config { models: [("mine".to_owned(), model)].into(), ..auto() };
    for config in [whole, one] {
        let config = Config { upstream: Upstream::local(upstream.port), ..config };
        let served = served(upstream.port, config.clone()).await;
        assert_eq!(called(&served, "mine").await.as_deref(), Some("f"));
        served.proxy.reload(config).unwrap();
        assert_eq!(called(&served, "mine").await.as_deref(), Some("f"), "after a reload");
    }
    assert!(questions(&upstream).is_empty());
}
