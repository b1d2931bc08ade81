//! The families of models: how their answers are read.

use llm_stream_guard::{
    AddedTokens, Answer, Checkpoint, GuardBuilder, GuardSettings, GuardStage, Identification,
    Profile, PromptTemplate, Start, Worker, identify, move_tools_to_prompt, profile_for_model,
    remap_request,
};
use serde_json::Value;
use std::sync::{Arc, Mutex, PoisonError};
use toolcall_parsers::family::{ModelId, ModelPattern};

use crate::{
    body::Body,
    config::{
        CheckpointTokens, Config, FamilyChoice, FamilyName, IdPattern, Model, ModelSettings,
        ToolsIn,
    },
    error::Fault,
    limits::{MAX_RECENT_ID_BYTES, MAX_RECENT_MODELS},
};

/// The family of a model: how its answers are read.
#[derive(Debug, Clone)]
pub(crate) struct Family {
    profile: Profile,
    /// Whether the family comes from a file.
    is_own: bool,
    /// Whether the tools of requests are moved into the prompt.
    tools_in_prompt: bool,
    settings: ModelSettings,
    /// The pattern of the configuration that matches the model.
    pattern: Option<Arc<str>>,
    /// The added tokens of the model's checkpoint that are markers of the family, if there are any.
    tokens: Option<Arc<AddedTokens>>,
}

/// The families of the configuration.
#[derive(Debug)]
pub(crate) struct Families {
    one: Option<Arc<Family>>,
    /// Families by patterns of exact ids. The same ids in other spellings are looked up in
    /// `models`.
    exact: Vec<(IdPattern, Arc<Family>)>,
    models: Vec<(ModelPattern, Arc<Family>)>,
    /// The family of models without a known family.
    none: Arc<Family>,
    checkpoint: Option<CheckpointFamily>,
    /// Checkpoints by patterns of ids.
    checkpoints: Vec<(IdPattern, CheckpointFamily)>,
    /// Recently requested ids with their families. Comparing an id with the patterns of all families
    /// takes longer than guarding a short answer.
    recent: Mutex<Vec<Resolved>>,
}

/// A configured checkpoint, and the family that its files show.
#[derive(Debug)]
struct CheckpointFamily {
    tokens: CheckpointTokens,
    family: Option<Arc<Family>>,
    /// The chat template, with which prompts are rendered.
    template: Option<Arc<PromptTemplate>>,
}

/// The id of a model, and its family.
type Resolved = (Box<str>, Option<Arc<Family>>);

impl Families {
    /// Creates the families of a configuration. `worker` renders the chat templates of checkpoints.
    pub(crate) fn new(config: &Config, worker: Option<&Worker>) -> Self {
        let one = match &config.profile {
            FamilyChoice::Auto => None,
            FamilyChoice::One(name) => Some(Arc::new(Family::named(name))),
        };
        let models = config.models.iter();
        let families: Vec<(&String, Arc<Family>)> =
            models.filter_map(|(id, model)| Some((id, Family::of(id, model)?.into()))).collect();
        let each = families.iter();
        let checkpoints = config
            .models
            .iter()
            .filter_map(|(id, model)| Some((IdPattern::new(id), model.checkpoint.as_ref()?)))
            .map(|(id, tokens)| (id, CheckpointFamily::new(tokens, worker)));
        Self {
            one,
            exact: each.map(|(id, family)| (IdPattern::new(id), family.clone())).collect(),
            models: families.into_iter().map(|(id, it)| (ModelPattern::new(id), it)).collect(),
            none: Arc::new(Profile::named("none").into()),
            checkpoint: config.checkpoint.as_ref().map(|it| CheckpointFamily::new(it, worker)),
            checkpoints: checkpoints.collect(),
            recent: Mutex::default(),
        }
    }

    /// Returns the family of the model that requests call `id`, as far as the configuration and the
    /// id decide.
    pub(crate) fn find(&self, id: &str) -> Option<Arc<Family>> {
        let lock = || self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, known)) = lock().iter().find(|(recent, _)| **recent == *id) {
            return known.clone();
        }
        let found = self.resolve(id).map(|family| self.with_tokens(family, id));
        if id.len() <= MAX_RECENT_ID_BYTES {
            let mut recent = lock();
            if recent.len() >= MAX_RECENT_MODELS {
                recent.remove(0);
            }
            recent.push((id.into(), found.clone()));
        }
        found
    }

    fn resolve(&self, id: &str) -> Option<Arc<Family>> {
        if let Some(one) = &self.one {
            // The id may determine more than the family, such as where the model's prompt ends.
            let same = profile_for_model(id).ok().filter(|it| it.name == one.profile.name);
            let whole = |profile| Arc::new(Family { profile, ..Family::clone(one) });
            return Some(same.filter(|_| !one.is_own).map_or_else(|| one.clone(), whole));
        }
        // A template that no known family fits says more than the id.
        let shown = self.checkpoint(id).and_then(|it| it.family.as_ref());
        let derived = shown.filter(|family| family.profile.is_derived()).cloned();
        let by_id = || profile_for_model(id).ok().map(|it| Arc::new(it.into()));
        self.mapped(id).or(derived).or_else(by_id).or_else(|| shown.cloned())
    }

    /// Returns the checkpoint of the model that requests call `id`.
    fn checkpoint(&self, id: &str) -> Option<&CheckpointFamily> {
        IdPattern::find(&self.checkpoints, id).or(self.checkpoint.as_ref())
    }

    /// Returns the chat template of the checkpoint configured for `id`.
    pub(crate) fn template(&self, id: &str) -> Option<&Arc<PromptTemplate>> {
        self.checkpoint(id)?.template.as_ref()
    }

    /// Returns the family of models without a known family: all text is content.
    pub(crate) fn none(&self) -> Arc<Family> {
        self.none.clone()
    }

    /// Returns the family of a model that requests name `id` and the server names `sent`.
    pub(crate) fn find_renamed(&self, id: &str, sent: &str) -> Option<Arc<Family>> {
        let mapped = self.mapped(id).filter(|_| self.one.is_none());
        mapped.or_else(|| self.find(sent))
    }

    /// Adds the marker tokens of the checkpoint configured for `id`, unless the family already has
    /// some.
    pub(crate) fn with_tokens(&self, family: Arc<Family>, id: &str) -> Arc<Family> {
        match self.checkpoint(id) {
            Some(checkpoint) if family.tokens.is_none() => {
                match family.markers_in(checkpoint.tokens.tokens()) {
                    Some(tokens) => {
                        Arc::new(Family { tokens: Some(tokens), ..Family::clone(&family) })
                    }
                    None => family,
                }
            }
            _ => family,
        }
    }

    /// Returns the family that the configuration assigns to an id.
    fn mapped(&self, id: &str) -> Option<Arc<Family>> {
        if let Some(family) = IdPattern::find(&self.exact, id) {
            return Some(family.clone());
        }
        let (_, mapped) = ModelId::new(id).find(&self.models)?;
        mapped.first().map(|family| Arc::clone(family))
    }

    /// Returns a builder of guards for a family's answer to a request with this body.
    pub(crate) fn builder(&self, family: &Family, body: &Value, answer: Answer) -> GuardBuilder {
        let mut settings = family.settings.get().clone();
        // If the server separates reasoning itself, its text begins with the answer.
        if answer == Answer::Parsed {
            settings.start = Some(Start::Content);
        }
        // The end of a rendered prompt shows where the answer begins.
        settings.prompt = body.get("prompt").and_then(Value::as_str).map(str::to_owned);
        settings.request = Some(body.clone());
        family.builder_with(&settings).stage(GuardStage::Stats)
    }
}

impl CheckpointFamily {
    fn new(tokens: &CheckpointTokens, worker: Option<&Worker>) -> Self {
        let (tokens, path) = (tokens.clone(), tokens.path());
        // A file of a tokenizer alone shows no family.
        let checkpoint = Checkpoint::read(path).ok();
        let found = checkpoint.map(|it| (identified(&it, worker), it));
        let template = found.as_ref().and_then(|(found, it)| PromptTemplate::new(it, found));
        let family = found.and_then(|(found, _)| found.profile).map(|it| Arc::new(it.into()));
        let name = family.as_ref().map_or("unknown", |family: &Arc<Family>| family.name());
        let checkpoint = path.display();
        tracing::info!(%checkpoint, family = name, "read a checkpoint's files");
        Self { tokens, family, template: template.map(Arc::new) }
    }
}

/// Identifies a checkpoint. Its chat template is rendered only by a worker.
fn identified(checkpoint: &Checkpoint, worker: Option<&Worker>) -> Identification {
    match worker {
        Some(worker) => worker.identify(checkpoint),
        None => identify(checkpoint),
    }
}

impl Family {
    /// Returns the family that a chat template shows.
    pub(crate) fn shown(template: &str, worker: &Worker) -> Option<Self> {
        worker.identify(&Checkpoint::from_template(template)).profile.map(Self::from)
    }

    fn named(name: &FamilyName) -> Self {
        let profile = name.profile().clone();
        Self { is_own: name.is_own(), ..Self::from(profile) }
    }

    /// Returns the family of a configured pattern, if the configuration names one.
    fn of(pattern: &str, model: &Model) -> Option<Self> {
        let settings = model.settings.clone();
        let mut named = Self::named(model.profile.as_ref()?);
        if let Some(remap) = model.remap {
            named.profile.remap = Some(remap.name().to_owned());
        }
        let tools_in_prompt = model.tools == Some(ToolsIn::Prompt);
        Some(Self { tools_in_prompt, settings, pattern: Some(pattern.into()), ..named })
    }

    /// Returns the settings of the configuration.
    pub(crate) fn settings(&self) -> &ModelSettings {
        &self.settings
    }

    /// Returns a builder of guards for texts of the family.
    pub(crate) fn builder(&self) -> GuardBuilder {
        self.builder_with(self.settings.get())
    }

    /// Returns a builder of guards for texts of the family, with `settings` in place of those of
    /// the configuration.
    pub(crate) fn builder_with(&self, settings: &GuardSettings) -> GuardBuilder {
        settings.builder_for(&self.profile)
    }

    /// Returns the profile, unless delimiters are remapped on the wire.
    pub(crate) fn unmapped(&self) -> Option<&Profile> {
        Some(&self.profile).filter(|it| it.remap.is_none())
    }

    /// Returns the added tokens that are markers of the family. Tokenizers have thousands of
    /// tokens, and families have few markers.
    fn markers_in(&self, tokens: &AddedTokens) -> Option<Arc<AddedTokens>> {
        // Response templates do not use marker tokens.
        let guard = self.builder().marker_tokens(tokens.texts()).build().ok()?;
        let used = tokens.selected(|token| guard.marker_tokens().any(|used| used == token.text));
        (!used.is_empty()).then(|| Arc::new(used))
    }

    /// Returns the marker tokens of the model's checkpoint.
    pub(crate) fn tokens(&self) -> Option<&AddedTokens> {
        self.tokens.as_deref()
    }

    /// Returns the name of the family's profile.
    pub(crate) fn name(&self) -> &str {
        &self.profile.name
    }

    /// Returns the pattern of the configuration that matches the model.
    pub(crate) fn pattern(&self) -> Option<&str> {
        self.pattern.as_deref()
    }

    /// Returns whether requests are sent with the messages and tools that clients write.
    pub(crate) fn keeps_requests(&self) -> bool {
        !self.tools_in_prompt && self.profile.remap.is_none()
    }

    /// Moves the tools of a request into its messages, if the family is configured so. Returns
    /// whether it is.
    pub(crate) fn move_tools(&self, body: &mut Body) -> Result<bool, Fault> {
        if self.tools_in_prompt {
            body.change_all(|body| move_tools_to_prompt(body, &self.profile))?;
        }
        Ok(self.tools_in_prompt)
    }

    /// Replaces the delimiters in a request's texts by those that the model uses.
    pub(crate) fn remap(&self, body: &mut Body) -> Result<(), Fault> {
        if self.profile.remap.is_none() {
            return Ok(());
        }
        body.change_all(|body| remap_request(body, &self.profile))
    }
}

impl From<Profile> for Family {
    fn from(profile: Profile) -> Self {
        let settings = ModelSettings::default();
        let tools_in_prompt = false;
        let (pattern, tokens) = (None, None);
        Self { profile, is_own: false, tools_in_prompt, settings, pattern, tokens }
    }
}

#[cfg(test)]
mod tests {
    use super::{Families, MAX_RECENT_ID_BYTES, MAX_RECENT_MODELS};
    use crate::config::Config;

    #[test]
    fn cached_family_equals_the_resolved_one() {
        let families = Families::new(&Config::default(), None);
        let long = format!("Qwen/Qwen3-8B-{}", "x".repeat(MAX_RECENT_ID_BYTES));
        let ids = ["Qwen/Qwen3-8B", "deepseek-ai/DeepSeek-V3.1", "of no family", &long];
        let others: Vec<String> =
            (0..MAX_RECENT_MODELS).map(|n| format!("Qwen/Qwen3-8B-v{n}")).collect();
        let name = |id: &str| families.find(id).map(|family| family.name().to_owned());
        for id in ids.into_iter().chain(ids).chain(others.iter().map(String::as_str)).chain(ids) {
            let resolved = families.resolve(id).map(|family| family.name().to_owned());
            assert_eq!(name(id), resolved, "{id}");
        }
        assert_eq!(families.recent.lock().unwrap().len(), MAX_RECENT_MODELS);
    }
}
