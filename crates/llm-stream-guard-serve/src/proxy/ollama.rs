//! Answers for clients of Ollama's API that ask about models, in front of other servers.
//!
//! ```text
//! GET /api/tags, /api/ps, /api/version    POST /api/show
//! ```

use axum::{
    body::Body,
    extract::{Request, State},
    http::{HeaderMap, StatusCode},
    response::Response,
};
use serde_json::{Map, Value, json};

use super::{
    Proxy,
    service::{json, log, refusal},
    work::heavy,
};
use crate::{
    body::Body as RequestBody,
    dialect::{
        ApiDialect, OllamaForm,
        ollama::{OllamaQuestion, timestamp},
    },
    error::{Fault, Kind},
    headers::check_uncompressed,
};

/// The version of Ollama's API that is spoken. Clients ask for it to know what they may use.
const API_VERSION: &str = "0.12.0";

/// Fields in which servers report the maximum length of a model's context.
const LENGTHS: [&str; 3] = ["/max_model_len", "/context_length", "/meta/n_ctx_train"];

impl Proxy {
    /// Answers a question about models. In front of Ollama, the request passes.
    pub(super) async fn about_models(&self, asks: OllamaQuestion, request: Request) -> Response {
        if self.shared.routes.default().is_ollama(request.headers()).await {
            return Self::untouched(State(self.clone()), request).await;
        }
        let (parts, body) = request.into_parts();
        let answer = match asks {
            OllamaQuestion::Version => Ok(json!({"version": API_VERSION})),
            OllamaQuestion::Running => Ok(json!({"models": []})),
            OllamaQuestion::Tags => self.tags(&parts.headers).await,
            OllamaQuestion::Show => self.shown(&parts.headers, body).await,
        };
        let response = match answer {
            Ok(answer) => json(StatusCode::OK, answer.to_string()),
            Err(fault) => {
                self.shared.metrics.fault(fault.kind);
                log(&fault);
                refusal(ApiDialect::Ollama(OllamaForm::Chat), &fault)
            }
        };
        self.shared.metrics.request("other", response.status().as_u16());
        response
    }

    async fn tags(&self, headers: &HeaderMap) -> Result<Value, Fault> {
        let list = self.shared.routes.list(headers).await?;
        let entries = list.get("data").and_then(Value::as_array).into_iter().flatten();
        Ok(json!({"models": entries.map(tag).collect::<Vec<_>>()}))
    }

    /// Describes one model: what its family can do, and the length of its context.
    async fn shown(&self, headers: &HeaderMap, body: Body) -> Result<Value, Fault> {
        check_uncompressed(headers)?;
        let (bytes, _charge) = self.shared.ledger.read(body, &self.shared.config).await?;
        let length = bytes.len();
        let read = move || {
            let body = RequestBody::read(&bytes)?;
            // Earlier clients have another name for the field.
            let name = Some(body.string("model")).filter(|name| !name.is_empty());
            Ok::<_, Fault>(name.unwrap_or_else(|| body.string("name")))
        };
        let name = heavy(length, read).await??;
        let list = self.shared.routes.list(headers).await?;
        let mut entries = list.get("data").and_then(Value::as_array).into_iter().flatten();
        let entry = entries.find(|entry| entry["id"] == name.as_str());
        let none = || Fault::new(Kind::Model, "there is no model of this name").at("model");
        let entry = entry.ok_or_else(none)?;
        let mut capabilities = vec!["completion"];
        let family = self.shared.families.find(&name);
        if let Some(rules) = family.as_ref().map(|family| family.builder().rules()) {
            let profile = family.as_ref().and_then(|family| family.unmapped());
            if profile.is_none_or(|profile| profile.tools.is_some()) {
                capabilities.push("tools");
            }
            if rules.may_think || profile.is_some_and(|profile| profile.reasoning.is_some()) {
                capabilities.push("thinking");
            }
        }
        let mut info = Map::from_iter([("general.architecture".to_owned(), "guarded".into())]);
        if let Some(length) = LENGTHS.iter().find_map(|at| entry.pointer(at)?.as_u64()) {
            info.insert("guarded.context_length".into(), length.into());
        }
        let details = details(family.as_ref().map_or("", |family| family.name()));
        Ok(json!({"modelfile": "", "parameters": "", "template": "", "details": details,
            "model_info": info, "capabilities": capabilities}))
    }
}

/// Returns an entry of a list of models in Ollama's form.
fn tag(entry: &Value) -> Value {
    let created = entry.get("created").and_then(Value::as_u64).unwrap_or(0);
    json!({"name": entry["id"], "model": entry["id"], "modified_at": timestamp(created),
        "size": 0, "digest": "", "details": details("")})
}

fn details(family: &str) -> Value {
    json!({"parent_model": "", "format": "", "family": family, "families": [family],
        "parameter_size": "", "quantization_level": ""})
}
