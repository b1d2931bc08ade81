//! Files that begin from a family of the project.

use super::{prove::profile_of, renderings::Renderings, turn::TurnText};
use crate::Start;

/// A file that begins from a family of the project.
pub(super) struct LikeFile<'t> {
    turn: &'t TurnText,
    body: String,
}

impl LikeFile<'_> {
    /// Returns the text of the file.
    pub(super) fn text(&self, differences: &[String]) -> String {
        format!("{}{}", self.turn.head(differences), self.body)
    }
}

/// Returns the files that begin from a family, the shortest first.
pub(super) fn files<'t>(
    family: &str,
    turn: &'t TurnText,
    renderings: &Renderings<'_>,
) -> Vec<LikeFile<'t>> {
    let like = format!("like = \"{family}\"\n");
    let plain = LikeFile { turn, body: like.clone() };
    let mut all = vec![String::new()];
    // Where the prompt ends, by the family's own tags of reasoning.
    if let Ok(profile) = profile_of(&plain.text(&[]))
        && let Some(format) = &profile.format
    {
        let opens = |prompt: &str| format.start_after(prompt) == Start::Reasoning;
        let line = renderings.starts(opens).unwrap_or_else(|| "starts = \"closed\"".to_owned());
        all.push(format!("reasoning = {{ {line} }}\n"));
    }
    let ends = turn.ends("");
    let ways = turn.ways.iter().filter_map(|way| way.reasoning.as_ref());
    all.extend(ways.map(|reasoning| format!("{ends}reasoning = {reasoning}\n")));
    all.push(ends);
    all.dedup();
    all.into_iter().map(|rest| LikeFile { turn, body: format!("{like}{rest}") }).collect()
}
