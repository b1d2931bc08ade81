//! Limits without a setting: bounds on held text, files, work and time. `docs/limits.md` lists those that
//! a stream can meet.

use std::time::Duration;

/// Maximum number of requests whose guards are kept.
pub(crate) const MAX_KEPT_GUARDS: usize = 32;

/// Maximum length of the fields of a request whose guards are kept, in bytes.
pub(crate) const MAX_KEPT_FIELD_BYTES: usize = 32 << 10;

/// Maximum number of earlier calls of a conversation whose guards are kept.
pub(crate) const MAX_KEPT_CALLS: usize = 256;

/// Maximum length of a client's request id, in bytes.
pub(crate) const MAX_REQUEST_ID_BYTES: usize = 128;

/// Maximum length of a request's tools for a grammar, in bytes.
pub(crate) const MAX_TOOLS_BYTES: usize = 256 << 10;

/// How long an unused connection stays in the pool. Common servers close a connection after 5
/// seconds.
pub(crate) const MAX_POOL_IDLE: Duration = Duration::from_secs(4);

/// Maximum time for upstream to send its list of models.
pub(crate) const MAX_LIST_TIME: Duration = Duration::from_secs(5);

/// Maximum time for upstream to answer a probe.
pub(crate) const MAX_PROBE_TIME: Duration = Duration::from_secs(2);

/// Maximum length of upstream's list of models, in bytes.
pub(crate) const MAX_LIST_BYTES: usize = 4 << 20;

/// Maximum length of a line of Ollama's answers, in bytes.
pub(crate) const MAX_GENERATED_LINE_BYTES: usize = 8 << 20;

/// Maximum length of the end of a rendered prompt that shows where the answer begins, in bytes.
pub(crate) const MAX_PROMPT_TAIL_BYTES: usize = 2 << 10;

/// Maximum length of arguments that wait for an earlier call to end, in bytes.
pub(crate) const MAX_WAITING_BYTES: usize = 1 << 20;

/// Maximum number of choices in a request to the parse endpoint. Each choice has its own guard.
pub(crate) const MAX_READ_CHOICES: usize = 1024;

/// Maximum number of requests in one batch for the parse endpoint.
pub(crate) const MAX_BATCH: usize = 1024;

/// Maximum number of model ids whose families are remembered.
pub(crate) const MAX_RECENT_MODELS: usize = 64;

/// Maximum length of a model id whose family is remembered, in bytes.
pub(crate) const MAX_RECENT_ID_BYTES: usize = 256;

/// Maximum number of models with a metric label of their own that neither the configuration nor upstream's list
/// names.
pub(crate) const MAX_UNLISTED_MODELS: usize = 64;

/// Maximum number of warnings that are given once: of models and findings, and of paths.
pub(crate) const MAX_WARNED: usize = 512;

/// Maximum number of keys for which a missing list of models is remembered.
pub(crate) const MAX_FAILED_KEYS: usize = 64;

/// Maximum number of connections that are remembered because they carried an answer.
pub(crate) const MAX_USED_CONNECTIONS: usize = 256;

/// Maximum number of models in a line of the log.
pub(crate) const MAX_SHOWN_MODELS: usize = 8;
