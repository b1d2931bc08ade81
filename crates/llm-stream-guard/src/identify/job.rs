//! The message between the caller and the renderer of chat templates.

use serde::{Deserialize, Serialize};

/// A template and the variables of each rendering. The variables are JSON objects as text, because
/// templates can show the order of members.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Job {
    pub(super) template: String,
    pub(super) contexts: Vec<String>,
}

/// The text of a rendering, or the reason why it failed.
pub(super) type Rendered = Result<String, String>;

/// Renders a job's template with each of its contexts.
pub(super) type Render<'r> = &'r dyn Fn(&Job) -> Vec<Rendered>;
