//! What is to be rendered, and what comes of it.

use serde::{Deserialize, Serialize};

/// A template and the variables of each rendering, JSON objects as text: the order of members is
/// the template's to show.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Job {
    pub(super) template: String,
    pub(super) contexts: Vec<String>,
}

/// The text of a rendering, or why there is none.
pub(super) type Rendered = Result<String, String>;

/// Renders a job's template with each of its contexts.
pub(super) type Render<'r> = &'r dyn Fn(&Job) -> Vec<Rendered>;
