//! The inference servers, and the models that each one serves.

use axum::http::HeaderMap;
use llm_stream_guard::Server;
use serde_json::{Value, json};

use crate::{
    catalog::{Catalog, Sight, ask},
    client::Client,
    config::{Config, DEFAULT, Endpoint, EndpointName, IdPattern, ServerName},
    error::{Fault, Kind},
    templates::TemplateFamilies,
};

/// An inference server.
#[derive(Debug)]
pub(crate) struct Backend {
    pub(crate) name: String,
    pub(crate) client: Client,
    pub(crate) catalog: Catalog,
    pub(crate) templates: TemplateFamilies,
    pub(crate) server: ServerName,
}

/// The inference servers, the default first, and the patterns of their models.
#[derive(Debug)]
pub(crate) struct Routes {
    default: Backend,
    others: Vec<Backend>,
    rows: Vec<(IdPattern, Row)>,
}

/// The server for the models of a pattern.
#[derive(Debug)]
struct Row {
    /// An entry of [`Routes::others`]; `None` for the default server.
    other: Option<usize>,
    /// The model's id at the server; `None` for the id in the request.
    sent: Option<String>,
    /// The pattern as written.
    pattern: String,
    /// Whether the pattern is one id.
    is_alias: bool,
}

/// The server for a request's model.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Route<'r> {
    pub(crate) backend: &'r Backend,
    /// The model's id at the server, if it differs from the request's.
    pub(crate) sent: Option<&'r str>,
    /// The pattern that matches the model.
    pub(crate) pattern: Option<&'r str>,
}

impl Backend {
    /// Returns whether the server is Ollama. `headers` are those of a client, whose key may be
    /// needed to ask the server.
    pub(crate) async fn is_ollama(&self, headers: &HeaderMap) -> bool {
        let server = match self.server.told() {
            None if self.server == ServerName::Auto => {
                self.catalog.get(&self.client, headers).await.server
            }
            told => told,
        };
        server == Some(Server::Ollama)
    }
}

impl Routes {
    /// # Errors
    /// A key or a certificate cannot be read.
    pub(crate) fn new(config: &Config) -> Result<Self, Fault> {
        let Config { upstream, ca, server, key_env, timeouts, .. } = config;
        let backend = |name: &str, endpoint: &Endpoint, at: &str| {
            let client =
                Client::new(endpoint, timeouts).map_err(|fault| match fault.field.clone() {
                    Some(field) => fault.at(format!("{at}{field}")),
                    None => fault,
                })?;
            let server = endpoint.server;
            Ok::<_, Fault>(Backend {
                name: name.to_owned(),
                client,
                catalog: Catalog::default(),
                templates: TemplateFamilies::default(),
                server,
            })
        };
        let own = Endpoint {
            url: upstream.clone(),
            server: *server,
            ca: ca.clone(),
            key_env: key_env.clone(),
        };
        let default = backend(DEFAULT, &own, "")?;
        let mut others = Vec::new();
        for (name, endpoint) in &config.upstreams {
            others.push(backend(name, endpoint, &format!("upstreams.{name}."))?);
        }
        let mut rows = Vec::new();
        for (pattern, model) in &config.models {
            if model.upstream.is_none() && model.model.is_none() {
                continue;
            }
            let name = model.upstream.as_ref().map(EndpointName::to_string);
            let known =
                |others: &[Backend]| others.iter().position(|it| Some(&it.name) == name.as_ref());
            if let (Some(EndpointName::At(url)), None) = (&model.upstream, known(&others)) {
                others.push(backend(&url.to_string(), &Endpoint::at(url.clone()), "")?);
            }
            let other = known(&others);
            let pattern_of = IdPattern::new(pattern);
            let (is_alias, pattern) = (pattern_of.is_literal(), pattern.clone());
            rows.push((pattern_of, Row { other, sent: model.model.clone(), pattern, is_alias }));
        }
        Ok(Self { default, others, rows })
    }

    /// Returns the route of a model.
    pub(crate) fn find(&self, id: &str) -> Route<'_> {
        match IdPattern::find(&self.rows, id) {
            None => Route { backend: &self.default, sent: None, pattern: None },
            Some(row) => Route {
                backend: self.backend(row),
                sent: row.sent.as_deref().filter(|it| *it != id),
                pattern: Some(&row.pattern),
            },
        }
    }

    fn backend(&self, row: &Row) -> &Backend {
        row.other.and_then(|at| self.others.get(at)).unwrap_or(&self.default)
    }

    /// Returns the server for requests that name no model.
    pub(crate) fn default(&self) -> &Backend {
        &self.default
    }

    /// Returns whether the route depends on the model of a request.
    pub(crate) fn depend_on_models(&self) -> bool {
        !self.rows.is_empty()
    }

    fn all(&self) -> impl Iterator<Item = &Backend> {
        std::iter::once(&self.default).chain(&self.others)
    }

    /// Returns the available models of all servers that answer, in the form of a server's list.
    ///
    /// # Errors
    /// No server gives a list.
    pub(crate) async fn list(&self, headers: &HeaderMap) -> Result<Value, Fault> {
        let asked: Vec<_> = self
            .all()
            .map(|backend| {
                let (client, headers) = (backend.client.clone(), headers.clone());
                (backend, tokio::spawn(async move { ask(&client, &headers).await }))
            })
            .collect();
        let mut lists = Vec::new();
        for (backend, list) in asked {
            match list.await.ok().flatten() {
                Some(list) => lists.push((backend, list)),
                None => tracing::warn!(upstream = backend.name, "no list of models"),
            }
        }
        if lists.is_empty() {
            return Err(Fault::new(Kind::Unreachable, "upstream gives no list of models"));
        }
        Ok(json!({"object": "list", "data": self.merged(&lists)}))
    }

    /// Merges the lists. An entry stays if a request for its id reaches the same server; aliases
    /// are added.
    fn merged(&self, lists: &[(&Backend, Value)]) -> Vec<Value> {
        let id = |entry: &Value| entry.get("id").and_then(Value::as_str).map(str::to_owned);
        let entries =
            |list: &Value| list.get("data").and_then(Value::as_array).cloned().unwrap_or_default();
        let mut merged: Vec<Value> = Vec::new();
        for (backend, list) in lists {
            let reached = |entry: &Value| {
                let id = id(entry).unwrap_or_default();
                let route = self.find(&id);
                std::ptr::eq(route.backend, *backend) && route.sent.is_none()
            };
            merged.extend(entries(list).into_iter().filter(reached));
        }
        for (_, row) in self.rows.iter().filter(|(_, row)| row.is_alias) {
            let alias = &row.pattern;
            if merged.iter().any(|entry| id(entry).as_ref() == Some(alias)) {
                continue;
            }
            let sent = row.sent.as_ref().unwrap_or(alias);
            let theirs =
                lists.iter().find(|(backend, _)| std::ptr::eq(*backend, self.backend(row)));
            let theirs = theirs.map(|(_, list)| entries(list)).unwrap_or_default();
            let known = theirs.into_iter().find(|entry| id(entry).as_ref() == Some(sent));
            let mut entry = known.unwrap_or_else(|| json!({"object": "model"}));
            if let Some(fields) = entry.as_object_mut() {
                fields.insert("id".into(), alias.as_str().into());
                fields.entry("root").or_insert_with(|| sent.as_str().into());
            }
            merged.push(entry);
        }
        merged
    }

    /// Logs what each server says about itself.
    pub(crate) async fn look(&self) {
        for Backend { name, client, catalog, .. } in self.all() {
            let address = client.address();
            match catalog.look(client).await {
                Ok(Sight { status: 200, server, models }) => tracing::info!(
                    upstream = name,
                    address,
                    server = server.unwrap_or("unknown"),
                    models,
                    "found a server"
                ),
                Ok(Sight { status, .. }) => tracing::warn!(
                    upstream = name,
                    address,
                    status,
                    "a server answers, but gives no list of models"
                ),
                Err(fault) => tracing::warn!(
                    upstream = name,
                    address,
                    "no server answers; requests for it will fail: {fault}"
                ),
            }
        }
    }

    /// Returns the name of each server, and whether it answers.
    pub(crate) async fn ready(&self) -> Vec<(&str, bool)> {
        let mut ready = Vec::new();
        for backend in self.all() {
            ready.push((&*backend.name, backend.catalog.is_up(&backend.client).await));
        }
        ready
    }
}
