//! Chooses the guard for a request's answer, and the request for upstream.

use std::sync::Arc;

use axum::http::HeaderMap;
use family_export::{demands_call, sets_format, takes_grammar};
use llm_stream_guard::{
    Answer, AnswerRules, BuildError, GuardBuilder, Server,
    chat::{self, ChatGuard, ChatLimits, ChatOptions, ReasoningField, TokenIds},
    forward_request, request_token_ids,
};
use serde_json::Value;

use super::{Proxy, Shared, rendered::Prompt};
use crate::{
    body::Body,
    catalog::server_name,
    config::{BareEnd, ReasoningName, ServerName, ToolGrammar, UnknownModelPolicy},
    dialect::{ApiDialect, completions},
    elsewhere::elsewhere,
    error::{Fault, Kind},
    exchange::{Exchange, subject},
    families::Family,
    guards::{CompiledGuards, Conditions},
    metrics::{OTHER, Told},
    routes::Route,
    tool_grammar,
};

/// A request for upstream, and how its answer is read.
pub(super) struct Asked {
    pub(super) reading: Reading,
    pub(super) body: Body,
    /// The prompt to send in place of the chat.
    pub(super) prompt: Option<Prompt>,
}

/// The guard for an answer, and what the request decides about it.
pub(super) struct Reading {
    pub(super) guard: ChatGuard,
    pub(super) told: Arc<Told>,
    pub(super) family: String,
    pub(super) choices: usize,
    /// Whether the request demands a call.
    pub(super) forced: bool,
    /// The model's id in the answer, if upstream uses another id.
    pub(super) shown: Option<String>,
}

/// A request on its way to upstream, without its body.
#[derive(Clone, Copy)]
pub(super) struct Incoming<'r> {
    pub(super) dialect: ApiDialect,
    pub(super) headers: &'r HeaderMap,
    pub(super) exchange: &'r Exchange,
    pub(super) route: Route<'r>,
}

/// The family and the server of a request's model, as far as they are known.
struct Identified {
    family: Option<Arc<Family>>,
    server: Option<Server>,
    /// Whether the server lists the model.
    is_listed: bool,
}

/// An answer that is to be guarded.
struct Answered {
    dialect: ApiDialect,
    family: Arc<Family>,
    server: Option<Server>,
    told: Arc<Told>,
    /// Whether a rendered prompt is sent, whose answer no server parses.
    is_rendered: bool,
}

impl Proxy {
    /// Returns the guard for the answer to a completion, and the body for upstream. `None` passes
    /// request and answer unchanged.
    pub(super) async fn asked(
        &self,
        mut body: Body,
        Incoming { dialect, headers, exchange, route }: Incoming<'_>,
    ) -> Result<Option<Asked>, Fault> {
        let Shared { config, families, metrics, .. } = &*self.shared;
        let mut view = body.view()?;
        let choices = view.get("n").and_then(Value::as_u64).unwrap_or(1).max(1);
        let choices = usize::try_from(choices).unwrap_or(usize::MAX);
        if choices > config.limits.choices {
            let most = config.limits.choices;
            return Err(Fault::new(Kind::Request, format!("at most {most} choices")).at("n"));
        }
        let model = view.get("model").and_then(Value::as_str).unwrap_or_default().to_owned();
        exchange.model(excerpt(&model));
        let Route { sent, pattern, .. } = route;
        let Identified { family, server, is_listed } =
            self.identified(&model, headers, route).await;
        let family = match family {
            Some(family) => families.with_tokens(family, &model),
            None => {
                let shown = excerpt(&model);
                let what = format!(
                    "no family is known for the model `{shown}`; if it is one of a known family, \
                     write under `[models]`: \"{shown}\" = \"FAMILY\""
                );
                exchange.unknown_model(&what);
                match config.unknown_model {
                    UnknownModelPolicy::Refuse => {
                        return Err(Fault::new(Kind::Model, what).at("model"));
                    }
                    UnknownModelPolicy::Pass if dialect.is_upstreams() && sent.is_none() => {
                        return Ok(None);
                    }
                    // The answer needs another shape or model id, regardless of its text.
                    UnknownModelPolicy::Pass => families.none(),
                }
            }
        };
        let known = family.name() != "none";
        let label = match family.pattern().or(pattern) {
            Some(pattern) => pattern,
            None if is_listed || known && metrics.has_room_for(&model) => &model,
            None => OTHER,
        };
        let server_name = server.map_or("unknown", server_name);
        let told = exchange.read_as(subject(&excerpt(label), family.name()), server_name);
        let prompt = match server {
            Some(Server::Ollama) => self.rendered(&model, &family, &mut body).await,
            _ => None,
        };
        if let Some(prompt) = &prompt {
            view["prompt"] = prompt.tail().into();
        } else if server.is_some_and(|server| parses_itself(&view, server)) {
            told.expect_parsed();
        }
        let answered = Answered {
            dialect,
            family: family.clone(),
            server,
            told: told.clone(),
            is_rendered: prompt.is_some(),
        };
        let (guard, conditions, rules) = self.guard(answered, view, &mut body)?;
        let forced = demands_call(&rules);
        if config.tool_grammar == ToolGrammar::Send
            && let Some(profile) = family.unmapped()
            && let Some(demand) = tool_grammar::demand(
                (&conditions.view, &body),
                (rules, profile),
                (server, conditions.answer),
            )
        {
            elsewhere(move || tool_grammar::made(demand)).await?.write(&mut body);
        }
        if dialect == ApiDialect::Completions {
            completions::strip(&mut body);
        }
        if let Some(sent) = sent {
            body.set("model", &sent.into());
        }
        let family = family.name().to_owned();
        let shown = sent.map(|_| model);
        let reading = Reading { guard, told, family, choices, forced, shown };
        Ok(Some(Asked { reading, body, prompt }))
    }

    /// Returns what is known of a model, from the configuration, its id, the server's list of models
    /// and the template that the server uses.
    async fn identified(
        &self,
        model: &str,
        headers: &HeaderMap,
        Route { backend, sent, .. }: Route<'_>,
    ) -> Identified {
        let families = &self.shared.families;
        let mut family = match sent {
            Some(sent) => families.find_renamed(model, sent),
            None => families.find(model),
        };
        let mut server = backend.server.told();
        let mut is_listed = false;
        if family.is_none() || server.is_none() && backend.server == ServerName::Auto {
            let listed = backend.catalog.get(&backend.client, headers).await;
            let id = sent.unwrap_or(model);
            family = family.or_else(|| listed.names(id).find_map(|name| families.find(name)));
            server = server.or(listed.server);
            is_listed = listed.has(model);
        }
        if family.is_none()
            && server == Some(Server::LlamaCpp)
            && let Some(worker) = &self.slot.worker
        {
            let asked = (&backend.client, headers);
            family = backend.templates.get(sent.unwrap_or(model), asked, worker).await;
        }
        Identified { family, server, is_listed }
    }

    /// Returns the guard for an answer under the rules of the request. Changes `body` into the body
    /// for upstream.
    fn guard(
        &self,
        Answered { dialect, family, server, told, is_rendered }: Answered,
        view: Value,
        body: &mut Body,
    ) -> Result<(ChatGuard, Arc<Conditions>, AnswerRules), Fault> {
        let Shared { config, families, guards, .. } = &*self.shared;
        let forwarded = if family.move_tools(body)? { body.view()? } else { view.clone() };
        let server = server.filter(|_| !is_rendered);
        let mut sent = server.map(|server| (server, forwarded));
        let answer = sent.as_mut().map(|(server, sent)| forward_request(sent, *server));
        let answer = answer.unwrap_or(Answer::Raw);
        let conditions = Arc::new(Conditions { family, answer, view });
        let builder = |it: &Conditions| families.builder(&it.family, &it.view, it.answer);
        let compile = || compile(builder(&conditions), &conditions);
        let kept = guards.get(&conditions, body.view_length(), compile)?;
        let CompiledGuards { guard, by_tokens, rules } = &*kept;
        let (guard, rules) = (guard.clone().observed(told.clone()), rules.clone());
        let by_tokens = by_tokens.clone().map(|guard| guard.observed(told));
        let family = &conditions.family;
        let mut token_ids = TokenIds::Keep;
        if let Some((server, mut sent)) = sent {
            if by_tokens.is_some() {
                token_ids = request_token_ids(&mut sent, server);
            }
            body.apply(&conditions.view, &sent);
        }
        family.remap(body)?;
        tracing::debug!(family = family.name(), ?server, ?answer, "guarded");
        let mut options = ChatOptions::default();
        options.reasoning = match config.output.reasoning {
            ReasoningName::ReasoningContent => ReasoningField::ReasoningContent,
            ReasoningName::Reasoning => ReasoningField::Reasoning,
        };
        options.broken_calls = config.output.broken_calls;
        options.calls = config.output.calls;
        options.reasoning_tokens = config.output.reasoning_tokens;
        if config.bare_end == BareEnd::Accept {
            options.synthesis = chat::Synthesis::Always;
        }
        if dialect.ollama().is_some() && options.broken_calls == chat::BrokenCalls::Auto {
            // A line has a whole call; there is no way to mark a broken one.
            options.broken_calls = chat::BrokenCalls::Release;
        }
        if dialect == ApiDialect::Messages {
            // `tool_use` accompanies every call there, the named tool's too.
            options.stop = chat::Stop::Rewrite;
        }
        options.token_ids = token_ids;
        options.limits = ChatLimits { choices: config.limits.choices, ..ChatLimits::default() };
        let chat = ChatGuard::new(guard, options);
        let chat = match (by_tokens, family.tokens()) {
            (Some(guard), Some(tokens)) => chat.token_ids(guard, tokens),
            _ => chat,
        };
        Ok((chat, conditions, rules))
    }
}

/// Compiles the guards of an answer.
fn compile(builder: GuardBuilder, conditions: &Conditions) -> Result<CompiledGuards, Fault> {
    let Conditions { family, answer, view } = conditions;
    let rules = builder.rules();
    let build = |builder: GuardBuilder| {
        builder.build().map_err(|error| {
            let fault = Fault::new(Kind::Request, &error);
            match error {
                BuildError::Request(inner) => fault.at(inner.field()),
                _ => fault,
            }
        })
    };
    // A constrained answer may spell a marker as text, without its token.
    let is_free = *answer == Answer::Raw && !sets_format(view) && !takes_grammar(view, &rules);
    let tokens = family.tokens().filter(|_| is_free);
    let by_tokens = tokens.map(|tokens| build(builder.clone().marker_tokens(tokens.texts())));
    Ok(CompiledGuards { guard: build(builder)?, by_tokens: by_tokens.transpose()?, rules })
}

/// Whether the server parses this request's answer itself, because no field turns its parser off.
fn parses_itself(view: &Value, server: Server) -> bool {
    forward_request(&mut view.clone(), server) == Answer::Parsed
}

/// Returns a model's id in a form that is safe to log: at most 80 characters, and no control
/// characters.
fn excerpt(id: &str) -> String {
    const MAX_SHOWN_CHARS: usize = 80;
    let mut excerpt: String =
        id.chars().take(MAX_SHOWN_CHARS).flat_map(char::escape_debug).collect();
    if id.chars().nth(MAX_SHOWN_CHARS).is_some() {
        excerpt.push('…');
    }
    excerpt
}
