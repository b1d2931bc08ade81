//! The profiles of the models and files that were read last.
//!
//! A lookup compares a model's id with the patterns of all families, and a family's file is proved when
//! it is read. Both cost more than the rest of a guard. Programs ask for the same ones again, once for
//! each message.

use std::{cell::RefCell, collections::VecDeque};

use llm_stream_guard::{GuardSettings, Profile, profile_for_model};
use serde_json::Value;

use crate::limits::{KEPT_PROFILES, MAX_ID_BYTES, MAX_KEPT_FILE_BYTES};

thread_local! {
    static MODELS: Kept = const { Kept::new(MAX_ID_BYTES) };
    static FILES: Kept = const { Kept::new(MAX_KEPT_FILE_BYTES) };
}

/// Profiles by the texts that they were made from, the last one first.
struct Kept {
    last: RefCell<VecDeque<(String, Profile)>>,
    /// The maximum length of a text that is kept.
    max_len: usize,
}

impl Kept {
    const fn new(max_len: usize) -> Self {
        Self { last: RefCell::new(VecDeque::new()), max_len }
    }

    fn get(&self, text: &str) -> Option<Profile> {
        let last = self.last.borrow();
        last.iter().find(|(known, _)| known == text).map(|(_, profile)| profile.clone())
    }

    fn keep(&self, text: &str, profile: &Profile) {
        if text.len() <= self.max_len {
            let mut last = self.last.borrow_mut();
            last.truncate(KEPT_PROFILES - 1);
            last.push_front((text.to_owned(), profile.clone()));
        }
    }
}

/// Returns settings with the model's profile in place of its id. Settings without an id, or with
/// one of an unknown model, are unchanged.
pub(crate) fn looked_up(mut settings: GuardSettings) -> GuardSettings {
    let GuardSettings { family, profile, family_file, .. } = &settings;
    if family.is_some() || profile.is_some() || family_file.is_some() {
        return settings;
    }
    let in_request = settings.request.as_ref().and_then(|body| body.get("model"));
    let id = settings.model.as_deref().or_else(|| in_request.and_then(Value::as_str));
    if let Some(profile) = id.and_then(profile_of) {
        settings.model = None;
        settings.profile = Some(profile);
    }
    settings
}

fn profile_of(id: &str) -> Option<Profile> {
    MODELS.with(|models| {
        models.get(id).or_else(|| {
            let profile = profile_for_model(id).ok()?;
            models.keep(id, &profile);
            Some(profile)
        })
    })
}

/// Returns the profile of a family's file that was read already.
pub(crate) fn of_file(text: &str) -> Option<Profile> {
    FILES.with(|files| files.get(text))
}

/// Keeps the profile of a family's file.
pub(crate) fn keep_file(text: &str, profile: &Profile) {
    FILES.with(|files| files.keep(text, profile));
}
