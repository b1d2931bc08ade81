//! Families that servers' chat templates show. llama.cpp sends the template of its model.
//!
//! ```text
//! GET /props?model=NAME    {"chat_template": "{% for message in messages %}..", ..}
//! ```

use std::{sync::Arc, time::Instant};

use axum::http::HeaderMap;
use llm_stream_guard::Worker;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Deserialize;
use tokio::sync::Mutex;

use crate::{
    catalog::{FRESH, FailedKeys, ask_at, hash_of, key_of},
    client::Client,
    families::Family,
    limits::{MAX_RECENT_ID_BYTES, MAX_RECENT_MODELS},
};

/// Characters that are escaped in the value of a query.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// A cache of the families of a server's chat templates.
#[derive(Debug, Default)]
pub(crate) struct TemplateFamilies(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    /// Models, each with the hash of its template and the time of the question.
    models: Vec<(Box<str>, u64, Instant)>,
    /// Hashes of templates, each with the family that it shows.
    templates: Vec<(u64, Option<Arc<Family>>)>,
    /// Keys for which the server gave no template.
    failed: FailedKeys,
}

/// The properties of a server, as llama.cpp writes them.
#[derive(Deserialize)]
struct Props {
    #[serde(default)]
    chat_template: String,
}

impl TemplateFamilies {
    /// Returns the family that the template of a model shows. The server is asked once a minute for
    /// each model, and a template is rendered once. `headers` are those of a client, whose key is
    /// sent if none is configured.
    pub(crate) async fn get(
        &self,
        model: &str,
        (client, headers): (&Client, &HeaderMap),
        worker: &Worker,
    ) -> Option<Arc<Family>> {
        if model.len() > MAX_RECENT_ID_BYTES {
            return None;
        }
        // The lock is held during the request, so that concurrent callers share its answer.
        let mut known = self.0.lock().await;
        if let Some(hash) = known.template_of(model) {
            return known.family(hash).flatten();
        }
        let key = hash_of(&(model, key_of(headers)));
        if known.failed.has(key) {
            return None;
        }
        let Some(Props { chat_template }) = ask_at(&path(model), client, headers).await else {
            known.failed.add(key);
            return None;
        };
        let hash = hash_of(&chat_template);
        push(&mut known.models, (model.into(), hash, Instant::now()));
        if let Some(family) = known.family(hash) {
            return family;
        }
        let worker = worker.clone();
        let read = move || Family::shown(&chat_template, &worker);
        let family = tokio::task::spawn_blocking(read).await.ok().flatten().map(Arc::new);
        push(&mut known.templates, (hash, family.clone()));
        let name = family.as_ref().map_or("unknown", |family| family.name());
        tracing::info!(model, family = name, "read the server's chat template");
        family
    }
}

impl Known {
    /// Returns the hash of a model's template, unless it must be asked for again.
    fn template_of(&mut self, model: &str) -> Option<u64> {
        self.models.retain(|(_, _, when)| when.elapsed() < FRESH);
        self.models.iter().find(|(known, ..)| **known == *model).map(|(_, hash, _)| *hash)
    }

    /// Returns the family of a template that was read earlier.
    fn family(&self, hash: u64) -> Option<Option<Arc<Family>>> {
        self.templates.iter().find(|(known, _)| *known == hash).map(|(_, family)| family.clone())
    }
}

/// Adds an entry, in place of the oldest if there are too many.
fn push<T>(list: &mut Vec<T>, entry: T) {
    if list.len() >= MAX_RECENT_MODELS {
        list.remove(0);
    }
    list.push(entry);
}

/// Returns the path of the question for a model.
fn path(model: &str) -> String {
    format!("/props?model={}", utf8_percent_encode(model, ESCAPED))
}

#[cfg(test)]
mod tests {
    use super::path;

    #[test]
    fn model_names_are_escaped_in_the_path() {
        assert_eq!(path("a/B-1 é&x"), "/props?model=a%2FB-1%20%C3%A9%26x");
    }
}
