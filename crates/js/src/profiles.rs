//! The profiles that were read last.
//!
//! A lookup compares a model's id with the patterns of all families, and a family's file is proved when
//! it is read. Both cost more than the rest of a guard. Programs ask for the same ones again, once for
//! each message.

use std::{cell::RefCell, collections::VecDeque};

use llm_stream_guard::{GuardSettings, Profile, profile_for_model};
use serde_json::Value;

use crate::limits::{KEPT_PROFILES, MAX_ID_BYTES};

thread_local! {
    static MODELS: Kept = const { Kept::new(MAX_ID_BYTES) };
}

/// Profiles by the texts that they were made from, the last one first.
pub(crate) struct Kept {
    last: RefCell<VecDeque<(String, Profile)>>,
    /// The maximum length of a text that is kept.
    max_len: usize,
}

impl Kept {
    pub(crate) const fn new(max_len: usize) -> Self {
        Self { last: RefCell::new(VecDeque::new()), max_len }
    }

    pub(crate) fn get(&self, text: &str) -> Option<Profile> {
        let last = self.last.borrow();
        last.iter().find(|(known, _)| known == text).map(|(_, profile)| profile.clone())
    }

    pub(crate) fn keep(&self, text: &str, profile: &Profile) {
        if text.len() <= self.max_len {
            let mut last = self.last.borrow_mut();
            last.truncate(KEPT_PROFILES - 1);
            last.push_front((text.to_owned(), profile.clone()));
        }
    }
}

/// Returns settings with the model's profile in place of its id, which only the request may have.
/// Settings without an id, or with one of an unknown model, are unchanged.
pub(crate) fn looked_up(mut settings: GuardSettings) -> GuardSettings {
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
