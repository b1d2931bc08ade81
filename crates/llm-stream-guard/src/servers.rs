//! Requests that servers answer with what the model wrote.

use serde_json::{Map, Value};

/// An inference server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Server {
    /// vLLM's OpenAI-compatible server.
    Vllm,
    /// SGLang's OpenAI-compatible server.
    Sglang,
    /// llama.cpp's `llama-server`.
    LlamaCpp,
    /// Ollama's OpenAI-compatible server.
    Ollama,
}

/// How a server will answer a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[must_use = "a server that parses answers itself needs no profile"]
pub enum Answer {
    /// With the text as the model wrote it, if the server was started for that.
    Raw,
    /// With reasoning and calls in fields of their own: it parses what it can, and nothing in the
    /// request keeps it from that. Such fields pass [`crate::chat`] as they are.
    Parsed,
}

/// Changes the body of a request so that `server` answers with the text as the model wrote it:
/// special tokens kept, its own parsers off. Options that the server needs at its start are in the
/// project's `docs/servers.md`.
///
/// Read the request with [`crate::GuardBuilder::request`] first: the body sent to vLLM no longer
/// names the tool to call. A body that is not an object is unchanged.
///
/// ```
/// use llm_stream_guard::{Answer, Server, forward_request};
/// let mut body = serde_json::json!({"messages": [], "tools": [{"type": "function"}]});
/// assert_eq!(forward_request(&mut body, Server::Vllm), Answer::Raw);
/// assert_eq!(body["skip_special_tokens"], false);
/// assert_eq!(body["tool_choice"], "none");
/// ```
pub fn forward_request(body: &mut Value, server: Server) -> Answer {
    let Some(body) = body.as_object_mut() else { return Answer::Parsed };
    let off = || Value::Bool(false);
    let settings = match server {
        Server::Vllm => vec![
            ("skip_special_tokens", off()),
            // No blanks between tokens that the model did not write.
            ("spaces_between_special_tokens", off()),
            // Tools stay in the prompt, and no parser is asked for.
            ("tool_choice", if has_tools(body) { "none".into() } else { Value::Null }),
        ],
        Server::Sglang => vec![("skip_special_tokens", off()), ("separate_reasoning", off())],
        Server::LlamaCpp => vec![("reasoning_format", "none".into()), ("parse_tool_calls", off())],
        // Chats are always parsed; only a rendered prompt can be completed as it is.
        Server::Ollama if body.contains_key("messages") => return Answer::Parsed,
        Server::Ollama => vec![("raw", true.into())],
    };
    let said = settings.into_iter().filter(|(_, value)| !value.is_null());
    body.extend(said.map(|(key, value)| (key.to_owned(), value)));
    Answer::Raw
}

fn has_tools(body: &Map<String, Value>) -> bool {
    let lists = ["tools", "functions"].into_iter().filter_map(|key| body.get(key)?.as_array());
    lists.into_iter().any(|list| !list.is_empty())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Answer, Server, forward_request};

    #[test]
    fn forwarded_request_changes_only_the_fields_that_request_raw_text() {
        let body = json!({
            "model": "m", "messages": [], "tools": [{"type": "function"}], "tool_choice": "required",
        });
        let rows = [
            (
                Server::Vllm,
                Answer::Raw,
                json!({
                    "skip_special_tokens": false, "spaces_between_special_tokens": false,
                    "tool_choice": "none",
                }),
            ),
            (
                Server::Sglang,
                Answer::Raw,
                json!({"skip_special_tokens": false, "separate_reasoning": false}),
            ),
            (
                Server::LlamaCpp,
                Answer::Raw,
                json!({"reasoning_format": "none", "parse_tool_calls": false}),
            ),
            (Server::Ollama, Answer::Parsed, json!({})),
        ];
        for (server, answer, changes) in rows {
            let mut sent = body.clone();
            assert_eq!(forward_request(&mut sent, server), answer);
            let mut expected = body.clone();
            for (key, value) in changes.as_object().unwrap() {
                expected[key] = value.clone();
            }
            assert_eq!(sent, expected, "{server:?}");
        }
    }

    #[test]
    fn request_without_tools_gets_no_tool_choice_and_prompts_are_sent_raw() {
        let mut body = json!({"messages": [], "tools": []});
        assert_eq!(forward_request(&mut body, Server::Vllm), Answer::Raw);
        assert_eq!(body.get("tool_choice"), None);
        let mut body = json!({"prompt": "x"});
        assert_eq!(forward_request(&mut body, Server::Ollama), Answer::Raw);
        assert_eq!(body["raw"], true);
        let mut body = json!(null);
        assert_eq!(forward_request(&mut body, Server::Vllm), Answer::Parsed);
        assert_eq!(body, json!(null));
    }
}
