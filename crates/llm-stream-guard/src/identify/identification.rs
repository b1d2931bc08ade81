//! Identification of a checkpoint's family by its files.

use std::fmt;

use serde::Serialize;
use serde_json::Value;
use toolcall_parsers::family;

use super::{AddedToken, Certainty, Checkpoint, job::Render, probe, rules};
use crate::{Profile, Start, profile, resolve_model};

/// The result of identifying a checkpoint: how its model writes.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Identification {
    /// Confidence in the first family.
    pub certainty: Certainty,
    /// Families that the model may belong to, best first. Families that read its calls alike are
    /// all listed. Empty if the family is unknown.
    pub families: Vec<String>,
    /// The profile that reads the model's answers. It uses the checkpoint's own response template
    /// if that is valid, and otherwise the first family with the variant and start of the chat
    /// template.
    pub profile: Option<Profile>,
    /// Tokens that end a turn, as the template writes them.
    pub end_of_turn: Vec<String>,
    /// Text in the checkpoint's tags before their closing bracket; see
    /// [`crate::Profile::token_suffix`].
    pub token_suffix: Option<String>,
    /// Whether the template expects arguments of calls as a string of JSON. `None` without a
    /// rendering.
    pub string_arguments: Option<bool>,
    /// Whether the encoder of the first family writes the same bytes as the template. `None`
    /// without a rendering.
    pub encode_equal: Option<bool>,
    /// The markers of the profile that the tokenizer writes as one token each, with their ids; see
    /// [`crate::GuardBuilder::marker_tokens`].
    pub marker_tokens: Vec<AddedToken>,
    /// The checkpoint's response template, unchanged.
    pub response_template: Option<Value>,
    /// The evidence for the answer, in words.
    pub evidence: Vec<String>,
}

impl fmt::Display for Identification {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.families.first() {
            Some(first) => write!(f, "{first} ({})", self.certainty)?,
            None if self.profile.as_ref().is_some_and(Profile::is_derived) => {
                f.write_str("derived from its chat template")?;
            }
            None => f.write_str("unknown")?,
        }
        if let [_, others @ ..] = &self.families[..]
            && !others.is_empty()
        {
            write!(f, "\n  cannot be told from: {}", others.join(", "))?;
        }
        if let Some(profile) = self.profile.as_ref().filter(|it| !it.has_template()) {
            let start = if profile.start == Start::Reasoning { "reasoning" } else { "content" };
            write!(f, "\n  answers begin in {start}")?;
            for name in profile.switch.keys() {
                write!(f, ", `{name}` moves that")?;
            }
        }
        if !self.end_of_turn.is_empty() {
            write!(f, "\n  turns end with: {}", self.end_of_turn.join(" "))?;
        }
        if let Some(suffix) = &self.token_suffix {
            write!(f, "\n  tags have the suffix `{suffix}`")?;
        }
        if self.string_arguments == Some(true) {
            f.write_str("\n  the template wants arguments as strings of JSON")?;
        }
        match self.encode_equal {
            Some(true) => f.write_str("\n  `encode` writes what the template does")?,
            Some(false) => f.write_str("\n  `encode` writes something else than the template")?,
            None => {}
        }
        if !self.marker_tokens.is_empty() {
            f.write_str("\n  marker tokens:")?;
            for AddedToken { id, text, .. } in &self.marker_tokens {
                write!(f, " {text} ({id})")?;
            }
        }
        for evidence in &self.evidence {
            write!(f, "\n  {evidence}")?;
        }
        Ok(())
    }
}

/// Identifies the family of a checkpoint's model by its response template, the texts of its chat
/// template, and its name. The chat template is not rendered.
///
/// A rendering gives more evidence, because it shows how the model writes calls. But a template is
/// a program. `Worker::identify` runs the template in a process with limits, and `identify_trusted`
/// (feature `jinja`) runs it in this process.
///
/// ```
/// use llm_stream_guard::{Certainty, Checkpoint, identify};
/// let template = "{% for m in messages %}{% for c in m.tool_calls %}\
///     <|tool_call:begin|>{{ name_of(c) }}{% endfor %}{% endfor %}";
/// let found = identify(&Checkpoint::from_template(template));
/// assert_eq!(found.families, ["solar_open"]);
/// assert!(found.certainty < Certainty::Sure);
/// ```
#[must_use]
pub fn identify(checkpoint: &Checkpoint) -> Identification {
    identified(checkpoint, None)
}

/// Identifies the family of a checkpoint's model as [`identify`] does, and by what its chat template
/// renders in this process.
///
/// The chat template renders a turn with known calls, which every family reads; the families that
/// find the calls are named. Families that read the same calls are compared by other evidence: the
/// bytes that their encoders write, the end of the turn, reasoning tags, and texts of the template.
///
/// Use this function only if the author of the checkpoint is trusted. A template may use up the
/// memory or the stack, which ends the process. A [`Worker`](super::Worker) renders any template
/// safely.
#[cfg(feature = "jinja")]
#[must_use]
pub fn identify_trusted(checkpoint: &Checkpoint) -> Identification {
    identified(checkpoint, Some(&super::render::render))
}

/// Identifies a checkpoint, with a rendering of its template if `render` can make one.
pub(super) fn identified(checkpoint: &Checkpoint, render: Option<Render<'_>>) -> Identification {
    let mut found = Identification {
        certainty: Certainty::Unknown,
        families: Vec::new(),
        profile: None,
        end_of_turn: Vec::new(),
        token_suffix: checkpoint.token_suffix.clone(),
        string_arguments: None,
        encode_equal: None,
        marker_tokens: Vec::new(),
        response_template: checkpoint.response_template.clone(),
        evidence: Vec::new(),
    };
    let python = checkpoint.python_template.as_deref().filter(|_| checkpoint.template.is_none());
    let text = checkpoint.template.as_deref().or(python).unwrap_or_default();
    let told = rules::families(text);
    for (family, rule) in &told {
        found.evidence.push(format!("its text fits {family}: {}", rule.join(" ")));
    }
    let named = checkpoint.name.as_deref().and_then(|name| resolve_model(name).ok());
    if let Some(named) = &named {
        let pattern = named.pattern;
        found.evidence.push(format!("its name is {}'s: `{pattern}`", named.profile.name));
    }
    let parser = checkpoint.tool_parser.as_deref().and_then(|name| {
        let family = family(&format!("mlx_lm:{name}")).or_else(|_| family(name)).ok()?;
        found.evidence.push(format!("its tokenizer names the parser `{name}`: {}", family.name));
        Some(family.name.clone())
    });
    let hint = |family: &str| {
        let told = told.iter().any(|(name, _)| *name == family);
        let named = named.as_ref().is_some_and(|named| named.profile.name == family);
        (told, named, parser.as_deref() == Some(family))
    };
    let none_are_read = match render {
        Some(render) if python.is_none() => found.probe(checkpoint, text, render, hint),
        _ => {
            if !text.is_empty() {
                found.evidence.push("its chat template was not rendered".into());
            }
            false
        }
    };
    if found.families.is_empty() && found.profile.is_none() {
        if !none_are_read {
            found.families = told.iter().map(|(name, _)| (*name).to_owned()).collect();
        }
        if let Some(named) = &named
            && !found.families.contains(&named.profile.name)
        {
            found.families.push(named.profile.name.clone());
        }
        if let Some(parser) = &parser
            && !found.families.contains(parser)
        {
            found.families.push(parser.clone());
        }
        found.families.sort_by_key(|family| std::cmp::Reverse(hint(family)));
        found.profile = found.families.first().and_then(|family| profile(family).ok());
        found.certainty = match found.families.len() {
            0 => Certainty::Unknown,
            _ => Certainty::Likely,
        };
    }
    found.prefer_own();
    found.find_markers(checkpoint);
    found
}

impl Identification {
    /// Does nothing, because response templates are not compiled in.
    #[cfg(not(feature = "response-templates"))]
    fn prefer_own(&self) {}

    /// Replaces the profile by the checkpoint's own response template if that is valid.
    #[cfg(feature = "response-templates")]
    fn prefer_own(&mut self) {
        let Some(template) = &self.response_template else { return };
        match Profile::from_response_template(&template.to_string()) {
            Ok(profile) => {
                self.profile = Some(profile);
                self.evidence.insert(0, "its own response template says how to read it".into());
            }
            Err(error) => {
                let evidence = format!("its response template is not usable: {error}");
                self.evidence.insert(0, evidence);
            }
        }
    }
}

#[cfg(feature = "toml")]
impl Identification {
    /// Takes the family that the chat template shows, if it can be proved.
    fn derive(&mut self, checkpoint: &Checkpoint, render: Render<'_>) {
        match super::derive::derived(checkpoint, render, Vec::new) {
            Ok(derived) => {
                self.profile = Some(derived.profile);
                self.certainty = Certainty::Likely;
                let evidence =
                    "a family was derived from them and proved: `derive` writes its file";
                self.evidence.push(evidence.into());
            }
            Err(refusal) => self.evidence.push(refusal.to_string()),
        }
    }
}

impl Identification {
    /// Adds the evidence of a rendering. Returns whether the template certainly writes no calls of
    /// a known family, so that calls in its text are quoted.
    fn probe(
        &mut self,
        checkpoint: &Checkpoint,
        text: &str,
        render: Render<'_>,
        hint: impl Fn(&str) -> (bool, bool, bool),
    ) -> bool {
        let probed = probe::probe(checkpoint, text, render);
        self.end_of_turn = probed.end_of_turn;
        let failed = probed.problem.is_some();
        if let Some(problem) = probed.problem {
            self.evidence.push(format!("rendering it fails: {problem}"));
        }
        let mut fits = probed.readers;
        let rank = |fit: &probe::Fit| (fit.encodes, hint(&fit.profile.name), fit.rank());
        fits.sort_by_key(|fit| std::cmp::Reverse(rank(fit)));
        let Some(best) = fits.first() else {
            if probed.calls_are_rendered {
                self.evidence.push("it renders calls that no family reads".into());
                #[cfg(feature = "toml")]
                self.derive(checkpoint, render);
            } else if !failed {
                self.evidence.push("it renders no calls".into());
            }
            return !failed;
        };
        self.certainty = match fits.get(1) {
            Some(next) if rank(next) == rank(best) => Certainty::Likely,
            _ => Certainty::Sure,
        };
        self.encode_equal = Some(best.encodes);
        self.string_arguments = Some(probed.string_arguments);
        self.token_suffix = probed.token_suffix.or(self.token_suffix.take());
        self.evidence.push(format!("{} families read the calls it renders", fits.len()));
        self.profile = Some(best.profile.clone());
        self.families = fits.into_iter().map(|fit| fit.profile.name).collect();
        false
    }
}
