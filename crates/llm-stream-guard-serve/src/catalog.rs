//! Upstream's list of models.

use std::time::{Duration, Instant};

use axum::{
    body::Body,
    http::{HeaderMap, Request, header::AUTHORIZATION, request::Parts},
};
use llm_stream_guard::Server;
use serde_json::Value;
use tokio::sync::Mutex;

use crate::client::{API_KEY, Client};

/// How long a list holds.
const FRESH: Duration = Duration::from_secs(60);
/// How soon upstream is asked again if it gave none.
const AGAIN: Duration = Duration::from_secs(5);
/// How long upstream may take.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long it holds that upstream answers, and that it does not.
const UP: Duration = Duration::from_secs(5);
const DOWN: Duration = Duration::from_secs(1);
/// How long upstream may take to show that it answers.
const PROBE: Duration = Duration::from_secs(2);
/// The most of a list that is read.
const MOST: usize = 4 << 20;

/// Upstream's list of models, as it was when last asked for.
#[derive(Debug, Default)]
pub(crate) struct Catalog {
    last: Mutex<Option<(Instant, Listed)>>,
    /// Whether upstream answered the last probe.
    up: Mutex<Option<(Instant, bool)>>,
}

/// A server's list of models.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Listed {
    /// The server that such a list comes from.
    pub(crate) server: Option<Server>,
    /// Ids of models, each with the id it is an alias of, if the server reports one.
    models: Vec<(String, Option<String>)>,
}

impl Catalog {
    /// The list; empty if upstream gives none. `headers` are a client's, who may have the key.
    pub(crate) async fn get(&self, client: &Client, headers: &HeaderMap) -> Listed {
        // Held while upstream is asked: others want to know the same.
        let mut last = self.last.lock().await;
        if let Some((when, listed)) = &*last {
            let holds = if listed.models.is_empty() { AGAIN } else { FRESH };
            if when.elapsed() < holds {
                return listed.clone();
            }
        }
        let listed = match ask(client, headers).await {
            Some(list) => Listed::read(&list),
            // An outdated list is more likely right than none.
            None => last.take().map(|(_, listed)| listed).unwrap_or_default(),
        };
        *last = Some((Instant::now(), listed.clone()));
        listed
    }
}

impl Catalog {
    /// Whether upstream answers at all: with a list, a refusal, anything except a server error. Asked
    /// again after [`UP`] or [`DOWN`].
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
                let answer = tokio::time::timeout(PROBE, answer).await;
                matches!(answer, Ok(Ok(answer)) if !answer.status().is_server_error())
            }
            None => false,
        };
        *last = Some((Instant::now(), up));
        up
    }
}

/// A request for the list, with a client's key.
fn request(headers: &HeaderMap) -> Option<Parts> {
    let (mut parts, ()) = Request::get("/v1/models").body(()).ok()?.into_parts();
    for name in [AUTHORIZATION, API_KEY] {
        if let Some(key) = headers.get(&name) {
            parts.headers.insert(name, key.clone());
        }
    }
    Some(parts)
}

/// Asks upstream for its list.
pub(crate) async fn ask(client: &Client, headers: &HeaderMap) -> Option<Value> {
    let parts = request(headers)?;
    let list = async {
        let answer = client.send(&parts, Body::empty()).await.ok()?;
        let bytes = axum::body::to_bytes(answer.into_body(), MOST).await.ok()?;
        serde_json::from_slice(&bytes).ok()
    };
    tokio::time::timeout(PATIENCE, list).await.ok()?
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

    /// Whether the list has this id.
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
