//! Changes to requests, so that servers answer with the raw text of the model.

use serde_json::{Map, Value};

use crate::chat::TokenIds;

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

/// The form in which a server answers a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[must_use = "a server that parses answers itself needs no profile"]
pub enum Answer {
    /// The raw text of the model, if the server was started with the needed options.
    Raw,
    /// Text with reasoning and calls in separate fields, because no request turns the server's
    /// parser off. Such fields pass [`crate::chat`] unchanged.
    Parsed,
}

/// Changes the body of a request so that `server` answers with the raw text of the model: special
/// tokens are kept, and the server's parsers are off. The project's `docs/servers.md` lists the
/// options that a server needs at its start.
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
            // The server must not add blanks between tokens.
            ("spaces_between_special_tokens", off()),
            // Tools stay in the prompt, and no parser is asked for.
            ("tool_choice", if has_tools(body) { "none".into() } else { Value::Null }),
        ],
        Server::Sglang => vec![("skip_special_tokens", off()), ("separate_reasoning", off())],
        Server::LlamaCpp => vec![("reasoning_format", "none".into()), ("parse_tool_calls", off())],
        // Chats are always parsed. Only a completion of a rendered prompt returns raw text.
        Server::Ollama if body.contains_key("messages") => return Answer::Parsed,
        Server::Ollama => vec![("raw", true.into())],
    };
    let said = settings.into_iter().filter(|(_, value)| !value.is_null());
    body.extend(said.map(|(key, value)| (key.to_owned(), value)));
    Answer::Raw
}

/// Changes the body of a request so that `server` sends token ids, if it supports that. Returns the
/// policy for ids in the answer: ids that the client did not ask for are removed.
///
/// llama.cpp's server writes ids into log probabilities. The server refuses `logprobs` next to
/// tools in a stream, so that its own `n_probs` is set. SGLang cannot write ids into the stream of
/// a chat, so that only whole answers and completions have them.
///
/// ```
/// use llm_stream_guard::{Server, chat::TokenIds, request_token_ids};
/// let mut body = serde_json::json!({"messages": []});
/// assert_eq!(request_token_ids(&mut body, Server::Vllm), TokenIds::Remove);
/// assert_eq!(body["return_token_ids"], true);
/// assert_eq!(request_token_ids(&mut body, Server::Vllm), TokenIds::Keep);
/// ```
pub fn request_token_ids(body: &mut Value, server: Server) -> TokenIds {
    let Some(body) = body.as_object_mut() else { return TokenIds::Keep };
    let is_on = |body: &Map<String, Value>, key: &str| {
        body.get(key).is_some_and(|value| !matches!(value, Value::Null | Value::Bool(false)))
    };
    let is_chat_stream = body.contains_key("messages") && is_on(body, "stream");
    match server {
        // SGLang refuses to write ids into the chunks of a chat.
        Server::Sglang if is_chat_stream => TokenIds::Keep,
        Server::Vllm | Server::Sglang if !is_on(body, "return_token_ids") => {
            body.insert("return_token_ids".into(), true.into());
            TokenIds::Remove
        }
        Server::LlamaCpp if !is_on(body, "logprobs") && !is_on(body, "n_probs") => {
            body.insert("n_probs".into(), 1.into());
            TokenIds::RemoveLogprobs
        }
        // Ollama does not send token ids.
        _ => TokenIds::Keep,
    }
}

fn has_tools(body: &Map<String, Value>) -> bool {
    let lists = ["tools", "functions"].into_iter().filter_map(|key| body.get(key)?.as_array());
    lists.into_iter().any(|list| !list.is_empty())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Answer, Server, TokenIds, forward_request, request_token_ids};

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

    #[test]
    fn servers_are_asked_for_ids_unless_the_client_asked() {
        let rows = [
            (Server::Vllm, json!({}), TokenIds::Remove, json!({"return_token_ids": true})),
            (Server::LlamaCpp, json!({}), TokenIds::RemoveLogprobs, json!({"n_probs": 1})),
            (
                Server::LlamaCpp,
                json!({"logprobs": false}),
                TokenIds::RemoveLogprobs,
                json!({"logprobs": false, "n_probs": 1}),
            ),
            (Server::LlamaCpp, json!({"logprobs": 2}), TokenIds::Keep, json!({"logprobs": 2})),
            (Server::Sglang, json!({}), TokenIds::Remove, json!({"return_token_ids": true})),
            (
                Server::Sglang,
                json!({"messages": [], "stream": false}),
                TokenIds::Remove,
                json!({"messages": [], "stream": false, "return_token_ids": true}),
            ),
            (
                Server::Sglang,
                json!({"messages": [], "stream": true}),
                TokenIds::Keep,
                json!({"messages": [], "stream": true}),
            ),
            (
                Server::Sglang,
                json!({"prompt": "", "stream": true}),
                TokenIds::Remove,
                json!({"prompt": "", "stream": true, "return_token_ids": true}),
            ),
            (Server::Ollama, json!({}), TokenIds::Keep, json!({})),
            (Server::Vllm, json!(null), TokenIds::Keep, json!(null)),
        ];
        for (server, mut body, ids, sent) in rows {
            assert_eq!(request_token_ids(&mut body, server), ids, "{server:?} {sent}");
            assert_eq!(body, sent);
        }
    }
}
