//! The dashboard and the alert rules in `docs/deploy/` use metrics and labels that the proxy exposes.

use std::collections::{BTreeMap, BTreeSet};

use axum::{body::Body, http::Request};
use http_body_util::BodyExt as _;
use serde_json::{Value, json};

use crate::support::{Replay, Served, asks, config, stream, whole_event};

/// Labels that Prometheus adds to every metric.
const OF_PROMETHEUS: [&str; 2] = ["instance", "job"];
/// Words of PromQL that are neither metrics nor labels.
const WORDS: [&str; 9] =
    ["and", "bool", "by", "ignoring", "offset", "on", "or", "unless", "without"];

/// Functions that may have a list of labels before their argument.
const AGGREGATES: [&str; 5] = ["avg", "count", "max", "min", "sum"];

/// Metrics by name, each with the labels that it has.
type Exposed = BTreeMap<String, BTreeSet<String>>;

/// The metrics of a proxy that has seen everything it counts.
async fn exposed() -> Exposed {
    let usage =
        "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":9}}\n\n";
    let said = "<tool_call>{\"name\": \"f\", \"arguments\": {\"a\": ]}</tool_call> [TOOL_CALLS]";
    // A second finish reason is a breach of the protocol.
    let good = [whole_event(said), whole_event(""), usage.as_bytes().to_vec()].concat();
    let upstream = Replay::new(stream(&good, 50)).await;
    let served = Served::new(upstream.port, config()).await;
    let required = json!({"tool_choice": "required", "max_tokens": 5, "tools": [{"type": "web_search"}],
        "stream_options": {"include_usage": true}, "input": "?"});
    for path in ["/v1/chat/completions", "/v1/responses"] {
        let asked = asks("Qwen/Qwen3-8B", required.clone());
        served.post(path, &asked).await.into_body().collect().await.unwrap();
    }
    served.ask(&asks("nobody's", json!({}))).await;
    served.post("/generate", &json!({})).await.into_body().collect().await.unwrap();
    served.ask(&asks("Qwen/Qwen3-8B", json!({"n": 1000}))).await;
    let get = Request::get("/metrics").body(Body::empty()).unwrap();
    let text = served.send(get).await.into_body().collect().await.unwrap().to_bytes();
    let mut exposed = Exposed::new();
    for line in std::str::from_utf8(&text).unwrap().lines().filter(|line| !line.starts_with('#')) {
        let end = line.find(['{', ' ']).unwrap();
        let labels = exposed.entry(line[..end].to_owned()).or_default();
        labels.extend(parts(line).labels);
    }
    let up = OF_PROMETHEUS.map(str::to_owned);
    exposed.insert("up".to_owned(), up.into());
    exposed
}

/// The names in an expression.
#[derive(Debug, Default)]
struct Parts {
    /// Metrics, each with the labels between its braces.
    metrics: Vec<(String, Vec<String>)>,
    /// Labels anywhere.
    labels: Vec<String>,
}

/// Takes an expression of PromQL, or a line of metrics, apart.
fn parts(expression: &str) -> Parts {
    let mut parts = Parts::default();
    let mut rest = expression;
    let (mut braces, mut lists) = (false, false);
    while let Some(c) = rest.chars().next() {
        if c == '"' {
            let end = rest[1..].find('"').map_or(rest.len(), |end| end + 2);
            rest = &rest[end..];
        } else if c.is_ascii_digit() || c == '$' {
            let word = |c: char| !c.is_ascii_alphanumeric() && !matches!(c, '_' | '.' | '$');
            rest = &rest[rest.find(word).unwrap_or(rest.len())..];
        } else if c.is_ascii_alphabetic() || c == '_' {
            let word = |c: char| !c.is_ascii_alphanumeric() && !matches!(c, '_' | ':');
            let (name, more) = rest.split_at(rest.find(word).unwrap_or(rest.len()));
            rest = more;
            let calls = rest.trim_start().starts_with('(');
            if braces || lists {
                parts.labels.push(name.to_owned());
                if let (true, Some((_, labels))) = (braces, parts.metrics.last_mut()) {
                    labels.push(name.to_owned());
                }
            } else if WORDS.contains(&name) {
                lists = calls;
            } else if !calls && !AGGREGATES.contains(&name) {
                parts.metrics.push((name.to_owned(), Vec::new()));
            }
        } else {
            match c {
                '{' => braces = true,
                '}' => braces = false,
                ')' => lists = false,
                _ => {}
            }
            rest = &rest[c.len_utf8()..];
        }
    }
    parts
}

/// The names of an expression that the proxy does not expose.
fn unknown(expression: &str, exposed: &Exposed) -> Vec<String> {
    let parts = parts(expression);
    let has = |metric: &str, label: &String| {
        let own = exposed.get(metric).is_some_and(|labels| labels.contains(label));
        own || OF_PROMETHEUS.contains(&label.as_str())
    };
    let mut unknown = Vec::new();
    for (metric, labels) in &parts.metrics {
        if !exposed.contains_key(metric) {
            unknown.push(metric.clone());
        }
        unknown.extend(labels.iter().filter(|label| !has(metric, label)).cloned());
    }
    let nowhere = |label: &&String| !parts.metrics.iter().any(|(metric, _)| has(metric, label));
    unknown.extend(parts.labels.iter().filter(nowhere).cloned());
    if parts.metrics.is_empty() {
        unknown.push(format!("no metric in `{expression}`"));
    }
    unknown
}

fn file(name: &str) -> String {
    std::fs::read_to_string(format!("{}/../../docs/deploy/{name}", env!("CARGO_MANIFEST_DIR")))
        .unwrap()
}

/// What stands between two pairs of braces in a legend or a summary.
fn placeholders(text: &str) -> impl Iterator<Item = String> + '_ {
    let inner = text.split("{{").skip(1).filter_map(|part| part.split_once("}}"));
    inner.map(|(name, _)| name.trim().trim_start_matches("$labels.").to_owned())
}

/// The expressions of the dashboard, each with its legend.
fn dashboard() -> Vec<(String, String)> {
    let dashboard: Value = serde_json::from_str(&file("grafana/dashboard.json")).unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let mut found = Vec::new();
    for panel in dashboard["panels"].as_array().unwrap() {
        for target in panel["targets"].as_array().unwrap() {
            found.push((text(&target["expr"]), text(&target["legendFormat"])));
        }
    }
    for variable in dashboard["templating"]["list"].as_array().unwrap() {
        let query = text(&variable["query"]);
        if let Some(inner) = query.strip_prefix("label_values(") {
            let (metric, label) = inner.trim_end_matches(')').split_once(", ").unwrap();
            found.push((format!("sum by ({label}) ({metric})"), String::new()));
        }
    }
    found
}

/// The expressions of the alert rules, each with its summary.
fn alerts() -> Vec<(String, String)> {
    let rules: Value = serde_yaml_ng::from_str(&file("prometheus/alerts.yaml")).unwrap();
    let mut found = Vec::new();
    for group in rules["groups"].as_array().unwrap() {
        for rule in group["rules"].as_array().unwrap() {
            assert!(rule["alert"].is_string() && rule["labels"]["severity"].is_string(), "{rule}");
            let text = |value: &Value| value.as_str().unwrap().to_owned();
            found.push((text(&rule["expr"]), text(&rule["annotations"]["summary"])));
        }
    }
    found
}

#[tokio::test]
async fn dashboard_and_alerts_use_only_existing_metrics_and_labels() {
    let exposed = exposed().await;
    let all = [dashboard(), alerts()].concat();
    assert!(all.len() > 25, "{}", all.len());
    for (expression, legend) in &all {
        assert_eq!(unknown(expression, &exposed), Vec::<String>::new(), "{expression}");
        for label in placeholders(legend) {
            let parts = parts(expression);
            let named = parts.labels.contains(&label) || OF_PROMETHEUS.contains(&label.as_str());
            assert!(named, "{label} is not a label of {expression}");
        }
    }
    // Every metric of the proxy itself that is worth a graph has one.
    let shown: BTreeSet<String> =
        all.iter().flat_map(|(it, _)| parts(it).metrics).map(|(name, _)| name).collect();
    for name in exposed.keys().filter(|name| name.ends_with("_total")) {
        let aside = ["chunks_total", "streams_total"].iter().any(|it| name.ends_with(it));
        assert!(shown.contains(name) || aside, "{name} is on no panel");
    }
}

#[tokio::test]
async fn wrong_metric_or_label_in_an_expression_is_found() {
    let exposed = exposed().await;
    for (expression, wrong) in [
        ("rate(llm_stream_guard_anwsers_total[5m])", "llm_stream_guard_anwsers_total"),
        ("sum by (modell) (llm_stream_guard_answers_total)", "modell"),
        ("llm_stream_guard_answers_total{kind=\"x\"}", "kind"),
        ("sum(llm_stream_guard_calls_total) / on (le) up{job=\"x\"}", "le"),
        ("process_open_files > 1", "process_open_files"),
    ] {
        assert!(unknown(expression, &exposed).contains(&wrong.to_owned()), "{expression}");
    }
    assert!(!unknown("sum(1)", &exposed).is_empty());
}
