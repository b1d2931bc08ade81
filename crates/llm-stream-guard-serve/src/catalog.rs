//! Upstream's list of models.

use std::{
    hash::{DefaultHasher, Hash, Hasher as _},
    time::{Duration, Instant},
};

use axum::{
    body::Body,
    http::{HeaderMap, HeaderValue, Request, header::AUTHORIZATION, request::Parts},
};
use llm_stream_guard::Server;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::sync::Mutex;

use crate::limits::{
    MAX_FAILED_KEYS, MAX_LIST_BYTES, MAX_LIST_TIME, MAX_PROBE_TIME, MAX_SHOWN_MODELS,
};
use crate::{
    client::{API_KEY, Client},
    error::{Fault, Kind},
};

/// Time after which a list, or a template, is requested again.
pub(crate) const FRESH: Duration = Duration::from_secs(60);
/// Time after which an empty or missing list is requested again.
const AGAIN: Duration = Duration::from_secs(5);
/// Time for which the result of a probe is valid: upstream answered, or did not.
const UP: Duration = Duration::from_secs(5);
const DOWN: Duration = Duration::from_secs(1);
/// A cache of upstream's list of models.
#[derive(Debug, Default)]
pub(crate) struct Catalog {
    last: Mutex<Lists>,
    /// Whether upstream answered the last probe.
    up: Mutex<Option<(Instant, bool)>>,
}

/// The last list, and the keys that got none.
#[derive(Debug, Default)]
struct Lists {
    listed: Option<(Instant, Listed)>,
    /// Keys for which upstream gave no list.
    failed: FailedKeys,
}

impl Lists {
    /// Returns the list that holds for a client with this key.
    fn known(&self, key: u64) -> Option<Listed> {
        let listed = self.listed.as_ref();
        let fresh = listed.filter(|(when, listed)| {
            when.elapsed() < if listed.models.is_empty() { AGAIN } else { FRESH }
        });
        // An outdated list is more likely right than none.
        let outdated =
            || self.failed.has(key).then(|| listed.map(|(_, it)| it.clone()).unwrap_or_default());
        fresh.map(|(_, listed)| listed.clone()).or_else(outdated)
    }
}

/// Hashes of keys, each with the time at which upstream refused to answer it.
#[derive(Debug, Default)]
pub(crate) struct FailedKeys(Vec<(u64, Instant)>);

impl FailedKeys {
    /// Returns whether upstream refused this key a short time ago.
    pub(crate) fn has(&self, key: u64) -> bool {
        self.0.iter().any(|(of, when)| *of == key && when.elapsed() < AGAIN)
    }

    /// Remembers that upstream refused this key.
    pub(crate) fn add(&mut self, key: u64) {
        self.0.retain(|(of, when)| *of != key && when.elapsed() < AGAIN);
        if self.0.len() == MAX_FAILED_KEYS {
            self.0.remove(0);
        }
        self.0.push((key, Instant::now()));
    }
}

/// Returns a hash of a client's key.
pub(crate) fn key_of(headers: &HeaderMap) -> u64 {
    hash_of(&[AUTHORIZATION, API_KEY].map(|name| headers.get(name).map(HeaderValue::as_bytes)))
}

/// Returns a hash that is only compared with others of this process.
pub(crate) fn hash_of(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// A server's list of models.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Listed {
    /// The kind of server that the list suggests.
    pub(crate) server: Option<Server>,
    /// Ids of models, each with the id it is an alias of, if the server reports one.
    models: Vec<(String, Option<String>)>,
}

impl Catalog {
    /// Returns the list, which is empty if upstream sends none. `headers` are those of a client,
    /// whose key is sent if none is configured.
    pub(crate) async fn get(&self, client: &Client, headers: &HeaderMap) -> Listed {
        // The lock is held during the request, so that concurrent callers share its answer.
        let mut last = self.last.lock().await;
        let key = key_of(headers);
        if let Some(listed) = last.known(key) {
            return listed;
        }
        match ask(client, headers).await {
            Some(list) => {
                let listed = Listed::read(&list);
                last.listed = Some((Instant::now(), listed.clone()));
                listed
            }
            // Another client's key may open what this one's does not.
            None => {
                last.failed.add(key);
                last.known(key).unwrap_or_default()
            }
        }
    }
}

/// The answer of a server to a request for its models.
#[derive(Debug)]
pub(crate) struct Sight {
    pub(crate) status: u16,
    /// The kind of server that the list suggests.
    pub(crate) server: Option<&'static str>,
    /// The ids of the first models.
    pub(crate) models: String,
}

impl Catalog {
    /// Asks upstream for its list without a client's key.
    pub(crate) async fn look(&self, client: &Client) -> Result<Sight, Fault> {
        let late = || Fault::new(Kind::Timeout, "it sent nothing in time");
        let look = async {
            let parts = request(&HeaderMap::new()).ok_or_else(late)?;
            let answer = client.send(&parts, Body::empty()).await?;
            let status = answer.status().as_u16();
            let bytes = axum::body::to_bytes(answer.into_body(), MAX_LIST_BYTES).await;
            let listed = bytes.ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
            let listed = listed.as_ref().map(Listed::read).unwrap_or_default();
            let shown = listed.models.iter().take(MAX_SHOWN_MODELS).map(|(id, _)| id.as_str());
            let models = shown.collect::<Vec<_>>().join(", ");
            Ok(Sight { status, server: listed.server.map(server_name), models })
        };
        tokio::time::timeout(MAX_LIST_TIME, look).await.unwrap_or_else(|_| Err(late()))
    }

    /// Returns whether upstream answers with anything except a server error. The result is cached
    /// for [`UP`] or [`DOWN`].
    pub(crate) async fn is_up(&self, client: &Client) -> bool {
        let mut last = self.up.lock().await;
        if let Some((when, up)) = *last
            && when.elapsed() < if up { UP } else { DOWN }
        {
            return up;
        }
        let up = match request(&HeaderMap::new()) {
            Some(parts) => {
                let answer = client.send(&parts, Body::empty());
                let answer = tokio::time::timeout(MAX_PROBE_TIME, answer).await;
                matches!(answer, Ok(Ok(answer)) if !answer.status().is_server_error())
            }
            None => false,
        };
        *last = Some((Instant::now(), up));
        up
    }
}

/// Returns the name of a kind of server.
pub(crate) fn server_name(server: Server) -> &'static str {
    match server {
        Server::Vllm => "vllm",
        Server::Sglang => "sglang",
        Server::LlamaCpp => "llama.cpp",
        Server::Ollama => "ollama",
        _ => "other",
    }
}

/// Returns a request for the list, with a client's key.
fn request(headers: &HeaderMap) -> Option<Parts> {
    request_at("/v1/models", headers)
}

/// Returns a request at a path, with a client's key.
fn request_at(path: &str, headers: &HeaderMap) -> Option<Parts> {
    let (mut parts, ()) = Request::get(path).body(()).ok()?.into_parts();
    for name in [AUTHORIZATION, API_KEY] {
        if let Some(key) = headers.get(&name) {
            parts.headers.insert(name, key.clone());
        }
    }
    Some(parts)
}

/// Asks upstream for its list.
pub(crate) async fn ask(client: &Client, headers: &HeaderMap) -> Option<Value> {
    ask_at("/v1/models", client, headers).await
}

/// Asks upstream for the JSON at a path.
pub(crate) async fn ask_at<T: DeserializeOwned>(
    path: &str,
    client: &Client,
    headers: &HeaderMap,
) -> Option<T> {
    let parts = request_at(path, headers)?;
    let list = async {
        let answer = client.send(&parts, Body::empty()).await.ok()?;
        if !answer.status().is_success() {
            return None;
        }
        let bytes = axum::body::to_bytes(answer.into_body(), MAX_LIST_BYTES).await.ok()?;
        serde_json::from_slice(&bytes).ok()
    };
    tokio::time::timeout(MAX_LIST_TIME, list).await.ok()?
}

impl Listed {
    fn read(list: &Value) -> Self {
        let entries = list.get("data").and_then(Value::as_array);
        let text = |entry: &Value, key: &str| Some(entry.get(key)?.as_str()?.to_owned());
        let server = |entry: &Value| match entry.get("owned_by")?.as_str()? {
            "vllm" => Some(Server::Vllm),
            "sglang" => Some(Server::Sglang),
            "llamacpp" => Some(Server::LlamaCpp),
            // Ollama gives its own models this owner.
            "library" => Some(Server::Ollama),
            _ => None,
        };
        let entries = || entries.into_iter().flatten();
        Self {
            server: entries().find_map(server),
            models: entries()
                .filter_map(|entry| Some((text(entry, "id")?, text(entry, "root"))))
                .collect(),
        }
    }

    /// Returns whether the list has this id.
    pub(crate) fn has(&self, id: &str) -> bool {
        self.models.iter().any(|(listed, _)| listed == id)
    }

    /// Returns further names of the model that requests call `id`: the target of its alias, and, if
    /// upstream has one model only, that model's, for servers that accept any name.
    pub(crate) fn names<'l>(&'l self, id: &'l str) -> impl Iterator<Item = &'l str> {
        let alone = self.models.len() == 1;
        let entries = self.models.iter().filter(move |(listed, _)| alone || listed == id);
        entries.flat_map(|(listed, root)| root.as_deref().into_iter().chain([listed.as_str()]))
    }
}

#[cfg(test)]
mod tests {
    use llm_stream_guard::Server;
    use serde_json::json;

    use super::Listed;

    #[test]
    fn served_name_resolves_to_the_root_of_the_model_list() {
        let listed = Listed::read(&json!({"data": [
            {"id": "chat", "owned_by": "vllm", "root": "Qwen/Qwen3-8B"},
            {"id": "code", "owned_by": "vllm", "root": "Qwen/Qwen3-Coder-30B-A3B"},
        ]}));
        assert_eq!(listed.server, Some(Server::Vllm));
        assert_eq!(listed.names("chat").collect::<Vec<_>>(), ["Qwen/Qwen3-8B", "chat"]);
        assert_eq!(listed.names("other").count(), 0);
    }

    #[test]
    fn single_listed_model_matches_every_name() {
        let listed = Listed::read(&json!({"data": [{"id": "/m/a.gguf", "owned_by": "llamacpp"}]}));
        assert_eq!(listed.server, Some(Server::LlamaCpp));
        assert_eq!(listed.names("gpt-4").collect::<Vec<_>>(), ["/m/a.gguf"]);
        assert_eq!(Listed::read(&json!([])), Listed::default());
    }
}
