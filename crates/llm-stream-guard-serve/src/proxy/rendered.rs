//! Prompts that are rendered here, because the server parses the answers to chats itself.

use llm_stream_guard::PromptTemplate;
use serde_json::{Map, Value};

use super::Proxy;
use crate::{body::Body, families::Family, limits::MAX_PROMPT_TAIL_BYTES};

/// The prompt of a chat, as it is sent.
#[derive(Debug)]
pub(super) struct Prompt(pub(super) String);

impl Prompt {
    /// Returns the end of the prompt, which shows where the answer begins.
    pub(super) fn tail(&self) -> &str {
        let from = self.0.len().saturating_sub(MAX_PROMPT_TAIL_BYTES);
        let from = (from..self.0.len()).find(|&at| self.0.is_char_boundary(at));
        from.and_then(|from| self.0.get(from..)).unwrap_or_default()
    }
}

impl Proxy {
    /// Renders the prompt of a chat in front of Ollama with the chat template of the model's
    /// checkpoint. Returns `None`, and logs why, if the chat is sent as it is.
    pub(super) async fn rendered(
        &self,
        model: &str,
        family: &Family,
        body: &mut Body,
    ) -> Option<Prompt> {
        let worker = self.slot.worker.clone()?;
        let template = self.shared.families.template(model)?.clone();
        let several = body.text("n").is_some_and(|n| !matches!(n.get(), "1" | "null"));
        if body.text("messages").is_none() || several || !family.keeps_requests() {
            return None;
        }
        let request = request(body)?;
        let render = move || worker.prompt(&template, &request);
        // The worker is another process, which this thread only waits for.
        match tokio::task::spawn_blocking(render).await.ok()? {
            Ok(prompt) => Some(Prompt(prompt)),
            Err(error) => {
                tracing::warn!("a chat is parsed by Ollama, because it was not rendered: {error}");
                None
            }
        }
    }
}

/// Returns the fields that are rendered, unless they take too much memory.
fn request(body: &mut Body) -> Option<Value> {
    let mut request = Map::new();
    for name in PromptTemplate::FIELDS {
        if let Some(value) = body.get(name).ok()? {
            request.insert(name.to_owned(), value);
        }
    }
    Some(request.into())
}

#[cfg(test)]
mod tests {
    use super::{MAX_PROMPT_TAIL_BYTES, Prompt};

    #[test]
    fn tail_is_short_and_begins_at_a_character() {
        assert_eq!(Prompt("<think>".into()).tail(), "<think>");
        let long = Prompt("é".repeat(MAX_PROMPT_TAIL_BYTES) + "x");
        assert_eq!(long.tail().len(), MAX_PROMPT_TAIL_BYTES - 1);
    }
}
