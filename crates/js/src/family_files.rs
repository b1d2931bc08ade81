//! Settings with a family's file.

use llm_stream_guard::{GuardSettings, SettingsError};
use serde_json::{Map, Value};

use crate::{limits::MAX_KEPT_FILE_BYTES, profiles::Kept};

thread_local! {
    static FILES: Kept = const { Kept::new(MAX_KEPT_FILE_BYTES) };
}

/// The library's name of the setting.
const NAME: &str = "family_file";

/// Reads settings. A file that was read already is not proved again.
pub(crate) fn read(mut settings: Map<String, Value>) -> Result<GuardSettings, SettingsError> {
    let file = settings.get(NAME).and_then(Value::as_str).map(str::to_owned);
    let known = file.as_deref().and_then(|file| FILES.with(|files| files.get(file)));
    if known.is_some() {
        settings.remove(NAME);
    }
    let mut settings = GuardSettings::from_json(&settings.into())?;
    if known.is_some() {
        settings.family_file = known;
    } else if let (Some(file), Some(profile)) = (&file, &settings.family_file) {
        FILES.with(|files| files.keep(file, profile));
    }
    Ok(settings)
}
