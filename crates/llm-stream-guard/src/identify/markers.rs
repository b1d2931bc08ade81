//! The markers of an identified family among the added tokens of its checkpoint.

use super::{AddedToken, Checkpoint, Identification};
use crate::{Guard, Profile, Reasoning, reasoning};

impl Identification {
    /// Finds the markers that are added tokens, and compares them with the family's expectation of
    /// special tokens. A profile whose markers servers would strip asks to keep them.
    pub(super) fn find_markers(&mut self, checkpoint: &Checkpoint) {
        if let Some(problem) = &checkpoint.unread_tokens {
            self.evidence.push(format!("its added tokens cannot be read: {problem}"));
        }
        let Some(profile) = self.profile.as_mut().filter(|_| !checkpoint.added_tokens.is_empty())
        else {
            return;
        };
        let added = &checkpoint.added_tokens;
        // Response templates do not use marker tokens.
        let Ok(guard) = Guard::builder(profile).marker_tokens(added.texts()).build() else {
            return;
        };
        let is_marker = |token: &&AddedToken| guard.marker_tokens().any(|text| text == token.text);
        self.marker_tokens = added.iter().filter(is_marker).cloned().collect();
        let ends = ends_of(profile);
        let is_special = |token: &&AddedToken| {
            token.special && !ends.contains(&token.text) && !self.end_of_turn.contains(&token.text)
        };
        let special: Vec<_> = self
            .marker_tokens
            .iter()
            .filter(is_special)
            .map(|it| format!("`{}`", it.text))
            .collect();
        match (guard.needs_special_tokens(), special.is_empty()) {
            (true, true) => self.evidence.push(format!(
                "{} expects markers that are special tokens, and the tokenizer has none of them",
                profile.name
            )),
            (false, false) => {
                profile.needs_special_tokens = true;
                let special = special.join(" ");
                self.evidence.push(format!("servers leave out special tokens: {special}"));
            }
            _ => {}
        }
    }
}

/// Returns the texts of a profile that end turns or frame the answer. Servers may leave these texts
/// out without harm.
fn ends_of(profile: &Profile) -> Vec<String> {
    let grammar = profile.grammar().ok().flatten().unwrap_or_default();
    let mut ends: Vec<String> = grammar.removed().map(str::to_owned).collect();
    if let Some(Ok(Reasoning::Format(format))) = profile.reasoning.as_deref().map(reasoning) {
        ends.extend(format.answer.iter().map(|wrapper| wrapper.marker.to_string()));
    }
    ends
}
