//! Lookup of a profile by a model's id.

use std::sync::LazyLock;

use think_filter::Start;
use toolcall_parsers::family::{ModelId, ModelPattern};

use super::{
    Profile, UnknownModel,
    row::{Row, Starts, Stream, Variant},
    table::FAMILIES,
};

/// Every pattern of the table in normalised form, with its row and its original spelling.
static PATTERNS: LazyLock<Vec<(ModelPattern, (&'static Row, &'static str))>> =
    LazyLock::new(|| {
        let all = FAMILIES.iter().flat_map(|row| row.models.iter().map(move |&text| (row, text)));
        all.map(|(row, text)| (ModelPattern::new(text), (row, text))).collect()
    });

/// The result of looking up a model's id.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ModelMatch {
    /// The profile of the model's family, as this model writes it.
    pub profile: Profile,
    /// The pattern of the family that matched.
    pub pattern: &'static str,
    /// The pattern of the family's variant that matched, if the model is one of a variant.
    pub variant_pattern: Option<&'static str>,
}

/// Returns the profile for a model's id: `Qwen/Qwen3-8B`, `qwen3:8b`, `./Qwen3-8B-Q4_K_M.gguf`.
///
/// Ids and patterns are compared as [`ModelId`] normalises them. `*` matches any run of characters
/// that does not begin with a version; a `-*` at the end also matches nothing. The match that
/// begins first in the id wins, so that `hermes-2-pro-llama-3-8b` is a Hermes model. Of matches
/// that begin together, the pattern with the most literal characters wins. The profile begins where
/// the model's chat template ends ([`Profile::start`]). A request may change that
/// ([`crate::GuardBuilder::request`]).
///
/// # Errors
/// No family is known to be the model's.
pub fn resolve_model(id: &str) -> Result<ModelMatch, UnknownModel> {
    let normal = ModelId::new(id);
    let found = normal.find(&PATTERNS).and_then(|(text, of)| Some((text, **of.first()?)));
    let Some((text, (row, pattern))) = found else {
        let others = normal.find_other_versions(&PATTERNS).into_iter().map(|(row, _)| row.name);
        return Err(UnknownModel::new(id, &normal, others, FAMILIES));
    };
    let fits = |variant: &&Variant| variant_pattern(variant, text).is_some();
    let variant = row.variants.iter().find(fits);
    let stream = variant.map_or(&row.stream, |variant| &variant.stream);
    let profile = Profile {
        start: start(stream),
        switch: match stream.starts {
            Starts::Switch => stream.switch.iter().map(|&(name, on)| (name.into(), on)).collect(),
            Starts::Closed | Starts::Open => Default::default(),
        },
        ..Profile::of(row, stream)
    };
    let variant_pattern = variant.and_then(|variant| variant_pattern(variant, text));
    Ok(ModelMatch { profile, pattern, variant_pattern })
}

/// Returns only the profile of the result of [`resolve_model`].
///
/// # Errors
/// No family is known to be the model's.
pub fn profile_for_model(id: &str) -> Result<Profile, UnknownModel> {
    resolve_model(id).map(|found| found.profile)
}

/// Returns the pattern of a variant that matches.
fn variant_pattern(variant: &Variant, text: &str) -> Option<&'static str> {
    variant.models.iter().find(|pattern| ModelPattern::new(pattern).is_for(text)).copied()
}

/// Returns where streams begin if the request does not decide.
fn start(stream: &Stream) -> Start {
    let opened = match stream.starts {
        Starts::Closed => false,
        Starts::Open => true,
        Starts::Switch => stream.switch.iter().all(|&(_, on)| on),
    };
    if opened { Start::Reasoning } else { Start::Content }
}
