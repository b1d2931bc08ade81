//! Requests as servers need them.

use family_export::{demands_call, sets_format, takes_grammar};
use llm_stream_guard::{
    Answer, Guard, GuardBuilder, Profile, Server, forward_request, request_token_ids,
};
use serde_json::{Value, json};
use wasm_bindgen::prelude::*;

#[cfg(not(feature = "prompt-tools"))]
use crate::not_in_core;
use crate::{fault, settings::Settings};

/// Returns a request as `server` needs it, as `{"body": .., "isRaw": .., "noGrammar": ..}`. Without a
/// server, only tools are moved: if `tools_in_prompt`, tools and earlier calls and results become text
/// of the messages. `noGrammar` is the reason why the server is not held to the calls or the form that
/// the request demands.
#[wasm_bindgen(js_name = prepareRequest)]
pub fn prepare(
    request: &str,
    settings: &str,
    server: Option<String>,
    tools_in_prompt: bool,
) -> Result<String, JsValue> {
    let mut body: Value = serde_json::from_str(request).map_err(fault)?;
    let settings = Settings::read(settings)?;
    let server = server.as_deref().map(server_of).transpose()?;
    // The changed body no longer shows what the request demands.
    let asked = body.clone();
    if tools_in_prompt {
        move_tools(&mut body, &settings.profile()?)?;
    }
    if settings.remaps() {
        remap(&mut body, &settings.profile()?)?;
    }
    let Some(server) = server else {
        return Ok(json!({"body": body, "isRaw": true}).to_string());
    };
    let (answer, no_grammar) = match demanding_profile(&asked, &settings)? {
        Demand::Nothing => (forward_request(&mut body, server), None),
        Demand::Unknown => {
            let reason = "the family of the model is not known".to_owned();
            (forward_request(&mut body, server), Some(reason))
        }
        Demand::Of(profile) => {
            let builder = settings.builder(&profile).request(&asked);
            held(&mut body, (&builder, &profile), server)
        }
    };
    let is_raw = answer == Answer::Raw;
    if settings.has_token_ids() && is_raw {
        // Ids that come with the answer are left in it: clients ignore them.
        let _ = request_token_ids(&mut body, server);
    }
    let mut prepared = json!({"body": body, "isRaw": is_raw});
    if let Some(reason) = no_grammar {
        prepared["noGrammar"] = reason.into();
    }
    Ok(prepared.to_string())
}

/// Moves tools into the messages.
#[cfg(feature = "prompt-tools")]
fn move_tools(body: &mut Value, profile: &Profile) -> Result<(), JsValue> {
    llm_stream_guard::move_tools_to_prompt(body, profile).map_err(fault)
}

#[cfg(not(feature = "prompt-tools"))]
fn move_tools(_: &mut Value, _: &Profile) -> Result<(), JsValue> {
    Err(not_in_core("tools", "writes none into a prompt"))
}

/// Replaces delimiters that the tokenizer reserves.
#[cfg(feature = "prompt-tools")]
fn remap(body: &mut Value, profile: &Profile) -> Result<(), JsValue> {
    llm_stream_guard::remap_request(body, profile).map_err(fault)
}

#[cfg(not(feature = "prompt-tools"))]
fn remap(_: &mut Value, _: &Profile) -> Result<(), JsValue> {
    Err(not_in_core("profile", "remaps no delimiters in requests"))
}

/// Returns the answer to expect from a server that is held to a grammar, and the reason if it is not.
#[cfg(feature = "grammars")]
fn held(
    body: &mut Value,
    guard: (&GuardBuilder, &Profile),
    server: Server,
) -> (Answer, Option<String>) {
    let (answer, error) = family_export::raw_request(body, guard, server);
    (answer, error.map(|error| error.to_string()))
}

#[cfg(not(feature = "grammars"))]
fn held(
    body: &mut Value,
    _: (&GuardBuilder, &Profile),
    server: Server,
) -> (Answer, Option<String>) {
    let reason = "the core makes no grammars; `guardRequest` of `toolcall-parsers` does".to_owned();
    (forward_request(body, server), Some(reason))
}

/// The demand of a request that a grammar expresses.
enum Demand {
    Nothing,
    /// A demand on a model whose family is unknown.
    Unknown,
    Of(Box<Profile>),
}

/// Returns the demand of a request. The profile is looked up only if there is one, so that requests to
/// unknown models are forwarded.
fn demanding_profile(asked: &Value, settings: &Settings) -> Result<Demand, JsValue> {
    let rules = Guard::builder(&Profile::named("any")).request(asked).rules();
    let demands = takes_grammar(asked, &rules);
    if !demands && !sets_format(asked) {
        return Ok(Demand::Nothing);
    }
    Ok(match settings.known_profile()? {
        Some(profile) => Demand::Of(Box::new(profile)),
        None if demands_call(&rules) => Demand::Unknown,
        None => Demand::Nothing,
    })
}

fn server_of(name: &str) -> Result<Server, JsValue> {
    match name {
        "vllm" => Ok(Server::Vllm),
        "sglang" => Ok(Server::Sglang),
        "llama.cpp" => Ok(Server::LlamaCpp),
        "ollama" => Ok(Server::Ollama),
        other => {
            let words = "`vllm`, `sglang`, `llama.cpp`, `ollama`, `other`";
            Err(fault(format!("server: expected one of {words}, found `{other}`")))
        }
    }
}
