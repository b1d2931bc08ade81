//! Families derived from chat templates: conversations are rendered, aligned, written as a family's
//! file, and proved.
//!
//! ```text
//! renders  <call>zfuncaz<args>{"zkeyaz": "Zvalaz"}</call>
//! file     call = '<call>{name}<args>{arguments}</call>'
//! proof    the encoder writes what the template renders, and the parser reads it back
//! ```

mod align;
mod bodies;
mod draft;
mod keys;
mod known;
mod pieces;
mod prove;
mod quotes;
mod renderings;
mod samples;
mod search;
mod split;
mod templates;
mod turn;

use std::fmt;

use self::{
    bodies::Bodies,
    renderings::rendered,
    samples::{ANSWER, CONTENT, ONE, TWO_CALLS},
    search::{Deadline, Search},
    turn::TurnText,
};
use super::{
    Checkpoint,
    job::{Job, Render},
    probe::probe,
};
use crate::{
    Profile, Worker,
    limits::{MAX_DERIVED_BYTES, MAX_RENDERING_BYTES},
};

/// A family that was derived from a chat template and proved. A [`DeriveError`] says why there is
/// none.
///
/// ```
/// # #[cfg(feature = "jinja")] {
/// use llm_stream_guard::{Checkpoint, DerivedFamily, derive_trusted};
/// let template = "{% for m in messages %}<s>{{ m.role }}: {{ m.content or '' }}\
///     {% for c in m.tool_calls or [] %}<do {{ c.function.name }}>{{ c.function.arguments | tojson }}</do>\
///     {% endfor %}<|end|>{% endfor %}{% if add_generation_prompt %}<s>assistant: {% endif %}";
/// let derived: DerivedFamily = derive_trusted(&Checkpoint::from_template(template)).unwrap();
/// assert!(derived.file.contains("call = '<do {name}>{arguments}</do>'"));
/// # }
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct DerivedFamily {
    /// The family's file, in TOML.
    pub file: String,
    /// The profile of the file.
    pub profile: Profile,
    /// Facts that the template cannot show, as sentences.
    pub notes: Vec<String>,
    /// The family of the project from which the file begins, if one reads all renderings.
    pub like: Option<String>,
}

/// The reason why no family was derived.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeriveError {
    reason: String,
    renderings: Vec<String>,
    /// Whether the template shows no calls, so that no family can be found.
    is_final: bool,
}

impl DeriveError {
    fn new(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), renderings: Vec::new(), is_final: false }
    }

    fn into_final(mut self) -> Self {
        self.is_final = true;
        self
    }

    fn with(mut self, renderings: [&str; 2]) -> Self {
        self.renderings = renderings.map(str::to_owned).into();
        self
    }

    /// Returns the two texts that could not be reconciled, if there are two.
    #[must_use]
    pub fn renderings(&self) -> &[String] {
        &self.renderings
    }
}

impl fmt::Display for DeriveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no family was derived: {}", self.reason)?;
        for rendering in &self.renderings {
            write!(f, "\n  {rendering:?}")?;
        }
        Ok(())
    }
}

impl std::error::Error for DeriveError {}

impl Worker {
    /// Derives a family from a checkpoint's chat template, which another process renders.
    ///
    /// The result is proved: the encoder writes what the template renders, byte for byte, and the
    /// parser reads every rendering back at every cut.
    ///
    /// # Errors
    /// The template renders no calls, loses a part of them, or writes them in a way that the
    /// language of families cannot say. The error has the two texts that differ.
    pub fn derive(&self, checkpoint: &Checkpoint) -> Result<DerivedFamily, DeriveError> {
        let render: Render<'_> = &|job| self.render(job);
        derived(checkpoint, render, || readers(checkpoint, render))
    }
}

/// Derives a family as [`Worker::derive`] does, with a renderer of the caller: it takes a template and
/// its variables, a JSON object whose order of members may be shown, and returns the text or the reason
/// why rendering failed. The renderer limits the time and memory of templates.
///
/// ```
/// use llm_stream_guard::{Checkpoint, derive_rendered};
/// let refused = derive_rendered(&Checkpoint::from_template("{{ x }}"), &|template, variables| {
///     assert!(template == "{{ x }}" && variables.starts_with('{'));
///     Err("no engine".to_owned())
/// });
/// assert!(refused.unwrap_err().to_string().contains("no engine"));
/// ```
///
/// # Errors
/// As [`Worker::derive`].
pub fn derive_rendered(
    checkpoint: &Checkpoint,
    render: &dyn Fn(&str, &str) -> Result<String, String>,
) -> Result<DerivedFamily, DeriveError> {
    let one = |job: &Job, variables: &String| match render(&job.template, variables) {
        Ok(text) if text.len() > MAX_RENDERING_BYTES => {
            Err(format!("it renders more than {MAX_RENDERING_BYTES} bytes"))
        }
        rendered => rendered,
    };
    let render: Render<'_> = &|job| job.contexts.iter().map(|it| one(job, it)).collect();
    derived(checkpoint, render, || readers(checkpoint, render))
}

/// Derives a family as [`Worker::derive`] does, with a rendering in this process. Use it only for
/// templates of authors that are trusted.
///
/// # Errors
/// As [`Worker::derive`].
#[cfg(feature = "jinja")]
pub fn derive_trusted(checkpoint: &Checkpoint) -> Result<DerivedFamily, DeriveError> {
    let render: Render<'_> = &super::render::render;
    derived(checkpoint, render, || readers(checkpoint, render))
}

impl Profile {
    /// Derives a profile from a chat template, which is rendered in this process; see
    /// [`derive_trusted`].
    ///
    /// # Errors
    /// As [`Worker::derive`].
    #[cfg(feature = "jinja")]
    pub fn from_chat_template(template: &str) -> Result<Self, DeriveError> {
        derive_trusted(&Checkpoint::from_template(template)).map(|derived| derived.profile)
    }
}

/// Returns the families of the project that read the renderings of a checkpoint's chat template.
fn readers(checkpoint: &Checkpoint, render: Render<'_>) -> Vec<String> {
    let template = checkpoint.template.as_deref().unwrap_or_default();
    probe(checkpoint, template, render).readers.into_iter().map(|fit| fit.profile.name).collect()
}

/// Derives a family from a checkpoint's chat template. A file may begin from one of the `families`,
/// which are asked for only if calls are rendered.
///
/// # Errors
/// As [`Worker::derive`].
pub(super) fn derived(
    checkpoint: &Checkpoint,
    render: Render<'_>,
    families: impl FnOnce() -> Vec<String>,
) -> Result<DerivedFamily, DeriveError> {
    let template = checkpoint.template.as_deref();
    let template =
        template.ok_or_else(|| DeriveError::new("there is no chat template in Jinja"))?;
    if pieces::is_ambiguous(template) {
        return Err(DeriveError::new(
            "it has characters of a private range that this program uses",
        ));
    }
    let deadline = Deadline::new();
    let renderings = rendered(checkpoint, template, render)?;
    if !renderings.wire(ANSWER)?.contains(CONTENT) {
        let why = "its answers are not rendered";
        return Err(DeriveError::new(why).with([renderings.wire(ANSWER)?, CONTENT]));
    }
    for (_, wire) in &renderings.wires {
        if wire.as_ref().is_ok_and(|wire| wire.text.len() > MAX_DERIVED_BYTES) {
            let why = format!("it renders more than {MAX_DERIVED_BYTES} bytes for a turn");
            return Err(DeriveError::new(why));
        }
    }
    let end = turn::end_of(&renderings);
    let bodies = Bodies::new(&renderings, &end);
    let drafts = bodies.drafts();
    if let Err(refusal) = &drafts
        && refusal.is_final
    {
        return Err(refusal.clone());
    }
    let turn = TurnText::new(&renderings, &bodies, &end);
    let search = Search { renderings: &renderings, bodies: &bodies, turn: &turn, deadline };
    let reader = match search.known(&families()) {
        Some((derived, true)) => return Ok(derived),
        other => other.map(|(derived, _)| derived),
    };
    match drafts.and_then(|drafts| search.own(&drafts)) {
        Ok(derived) => Ok(derived),
        Err(refusal) if refusal.renderings.is_empty() => {
            let wire = |n| renderings.wire(n).unwrap_or_default();
            reader.ok_or(refusal.with([wire(ONE), wire(TWO_CALLS)]))
        }
        Err(refusal) => reader.ok_or(refusal),
    }
}

#[cfg(all(test, feature = "jinja"))]
mod tests;
