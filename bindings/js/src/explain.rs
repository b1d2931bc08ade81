//! The fate of a recording, chunk by chunk, and the reasons.

use llm_stream_guard::{
    End, GuardStage, Profile, detect,
    explain::{Recording, Report, page},
};
use wasm_bindgen::prelude::*;

use crate::{fault, settings::Settings};

/// Explains a recording. Empty settings let the recording decide how it is read.
fn report(recording: &[u8], settings: &str, file: &str) -> Result<Report, JsValue> {
    let recording = Recording::read(recording);
    let settings = (settings != "{}").then(|| Settings::read(settings)).transpose()?;
    let settings = match settings {
        Some(settings) => settings,
        None => {
            let texts = recording.texts();
            let profile = recording.named().cloned();
            let profile = profile.or_else(|| detect(texts.iter().map(String::as_str)).profile());
            let profile = profile.unwrap_or_else(|| Profile::named("none"));
            let profile = serde_json::to_string(&profile).map_err(fault)?;
            Settings::read(&format!("{{\"profile\":{profile}}}"))?
        }
    };
    let profile = settings.profile()?;
    let builder = settings.builder(&profile)?.stage(GuardStage::Stats);
    let guard = builder.build().map_err(fault)?;
    let explanations = recording.explain(&profile.name, &guard, None::<End>);
    Ok(Report { file: file.to_owned(), explanations })
}

/// Explains a recording as data.
#[wasm_bindgen]
pub fn explain(recording: &[u8], settings: &str, file: &str) -> Result<String, JsValue> {
    let report = report(recording, settings, file)?;
    serde_json::to_string(&report).map_err(fault)
}

/// Explains a recording as a page that needs no other file.
#[wasm_bindgen]
pub fn explain_page(recording: &[u8], settings: &str, file: &str) -> Result<String, JsValue> {
    page(&report(recording, settings, file)?).map_err(fault)
}
