//! Explains a recording: the fate of its text, chunk by chunk, and the reasons.

use llm_stream_guard::{
    End, GuardStage, Profile, detect,
    explain::{Recording, Report, page},
};
use wasm_bindgen::prelude::*;

use crate::{fault, settings::Settings};

/// Explains a recording. With empty settings, the family is taken from the recording or detected.
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
    let builder = settings.builder(&profile).stage(GuardStage::Stats);
    let guard = builder.build().map_err(fault)?;
    let explanations = recording.explain(&profile.name, &guard, None::<End>);
    Ok(Report { file: file.to_owned(), explanations })
}

/// The explanation of a recording.
#[wasm_bindgen]
#[derive(Debug)]
pub struct NativeReport(Report);

#[wasm_bindgen]
impl NativeReport {
    /// Explains a recording once. The methods return different forms of the explanation.
    #[wasm_bindgen(constructor)]
    pub fn new(recording: &[u8], settings: &str, file: &str) -> Result<NativeReport, JsValue> {
        report(recording, settings, file).map(Self)
    }

    /// Returns the explanation as JSON.
    pub fn json(&self) -> Result<String, JsValue> {
        serde_json::to_string(&self.0).map_err(fault)
    }

    /// Returns the explanation as a self-contained HTML page.
    pub fn page(&self) -> Result<String, JsValue> {
        page(&self.0).map_err(fault)
    }

    /// Returns the name of the first reading, then the kinds of its findings.
    pub fn outline(&self) -> Vec<String> {
        let first = self.0.explanations.first().map(|one| &one.explanation);
        let findings = first.into_iter().flat_map(|one| &one.summary.findings);
        let name = first.map(|one| one.name.clone());
        name.into_iter().chain(findings.map(|finding| finding.kind.to_string())).collect()
    }
}
