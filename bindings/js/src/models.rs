//! The profiles of models that were looked up last.
//!
//! A lookup compares an id with the patterns of all families, and costs more than the rest of a
//! guard. Programs ask for the same models again, once for each message.

use std::{cell::RefCell, collections::VecDeque};

use llm_stream_guard::{GuardSettings, Profile, profile_for_model};
use serde_json::Value;

use crate::limits::{KEPT_MODELS, MAX_ID_BYTES};

thread_local! {
    static LAST: RefCell<VecDeque<(String, Profile)>> = const { RefCell::new(VecDeque::new()) };
}

/// Returns settings with the model's profile in place of its id. Settings without an id, or with
/// one of an unknown model, are unchanged.
pub(crate) fn looked_up(mut settings: GuardSettings) -> GuardSettings {
    if settings.family.is_some() || settings.profile.is_some() {
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
    LAST.with_borrow_mut(|last| {
        if let Some((_, profile)) = last.iter().find(|(known, _)| known == id) {
            return Some(profile.clone());
        }
        let profile = profile_for_model(id).ok()?;
        if id.len() <= MAX_ID_BYTES {
            last.truncate(KEPT_MODELS - 1);
            last.push_front((id.to_owned(), profile.clone()));
        }
        Some(profile)
    })
}
