//! The search for a file that passes the proof.

use std::time::Instant;

use super::{
    DeriveError, DerivedFamily,
    bodies::Bodies,
    known,
    prove::{Cuts, ProofReader, Written, grammar_of, profile_of, written},
    quotes,
    renderings::Renderings,
    samples::TYPED,
    templates::Draft,
    turn::{TurnText, Write},
};
use crate::limits::{
    MAX_DERIVE_TIME,
    deriving::{MAX_PROOFS, MAX_TRIED_FAMILIES},
};

/// The time limit of a search. WebAssembly has no clock, so that only the number of tried files limits
/// a search there.
pub(super) struct Deadline(Option<Instant>);

impl Deadline {
    pub(super) fn new() -> Self {
        Self((!cfg!(target_family = "wasm")).then(Instant::now))
    }

    /// Returns whether the time for a template is used up.
    fn is_over(&self) -> bool {
        self.0.is_some_and(|begun| begun.elapsed() > MAX_DERIVE_TIME)
    }
}

/// A search for a file that fits the renderings.
pub(super) struct Search<'r> {
    pub(super) renderings: &'r Renderings<'r>,
    pub(super) bodies: &'r Bodies,
    pub(super) turn: &'r TurnText,
    pub(super) deadline: Deadline,
}

/// A draft with the options of its encoder, and how well it writes.
struct Tried<'d> {
    draft: &'d Draft,
    write: Write,
    written: Written,
}

impl Search<'_> {
    /// Returns the first draft that passes the proof.
    ///
    /// # Errors
    /// No draft passes. The refusal has the first difference.
    pub(super) fn own(&self, drafts: &[Draft]) -> Result<DerivedFamily, DeriveError> {
        let mut refusal: Option<DeriveError> = None;
        let mut kept: Vec<Tried<'_>> = Vec::new();
        for draft in drafts {
            if self.deadline.is_over() {
                break;
            }
            match self.spaced(draft) {
                Ok(tried) if tried.written.differences.is_empty() => {
                    match self.proved(draft, tried.write) {
                        Ok(derived) => return Ok(derived),
                        Err(fault) => refusal = refusal.or(Some(fault)),
                    }
                }
                Ok(tried) => kept.push(tried),
                Err(fault) => refusal = refusal.or(Some(fault)),
            }
        }
        kept.sort_by_key(|tried| (!tried.written.sound, usize::MAX - tried.written.equal));
        for tried in kept.iter().take(MAX_PROOFS) {
            if self.deadline.is_over() {
                return Err(DeriveError::new("the search for a file takes too long"));
            }
            if !tried.written.sound {
                let why = "the encoder writes something else than the template";
                let fault = DeriveError::new(why);
                let pair = tried.written.differences.first();
                let fault = pair.map_or(fault.clone(), |[a, b]| fault.with([a, b]));
                return Err(refusal.filter(|it| it.renderings.len() > 1).unwrap_or(fault));
            }
            match self.proved(tried.draft, tried.write) {
                Ok(derived) => return Ok(derived),
                Err(fault) => refusal = refusal.or(Some(fault)),
            }
        }
        Err(refusal
            .unwrap_or_else(|| DeriveError::new("no file of the language fits its renderings")))
    }

    /// Returns the draft with the spacing of JSON that fits calls with strings best.
    fn spaced<'d>(&self, draft: &'d Draft) -> Result<Tried<'d>, DeriveError> {
        let mut best: Option<Tried<'d>> = None;
        let mut fault = None;
        for json in ["spaced", "compact", "indented"] {
            let write = Write { json, ..Write::default() };
            match self.try_writing(draft, write, TYPED) {
                Ok(written) if written.differences.is_empty() => {
                    return Ok(Tried { draft, write, written });
                }
                Ok(written) => {
                    let score = |written: &Written| (written.sound, written.equal);
                    if best.as_ref().is_none_or(|best| score(&best.written) < score(&written)) {
                        best = Some(Tried { draft, write, written });
                    }
                }
                Err(problem) => fault = fault.or(Some(problem)),
            }
        }
        best.ok_or_else(|| fault.unwrap_or_else(|| DeriveError::new("its file is refused")))
    }

    fn try_writing(
        &self,
        draft: &Draft,
        write: Write,
        count: usize,
    ) -> Result<Written, DeriveError> {
        let way = super::turn::Way::default();
        let grammar = grammar_of(&self.turn.file(draft, (&way, write), &[]))?;
        written(self.renderings, self.bodies, &grammar, (&draft.ends, count))
    }

    /// Chooses the other options of the encoder, and proves the file.
    fn proved(&self, draft: &Draft, write: Write) -> Result<DerivedFamily, DeriveError> {
        let mut best: Option<(Write, Written)> = None;
        let mut fault = None;
        'options: for keys in ["given", "sorted"] {
            for words in ["json", "python", "repr"] {
                for escapes in ["needed", "ascii"] {
                    let write = Write { keys, words, escapes, ..write };
                    match self.try_writing(draft, write, usize::MAX) {
                        Ok(written) => {
                            let equal = written.differences.is_empty();
                            if best.as_ref().is_none_or(|(_, best)| best.equal < written.equal) {
                                best = Some((write, written));
                            }
                            if equal {
                                break 'options;
                            }
                        }
                        Err(problem) => fault = fault.or(Some(problem)),
                    }
                }
            }
        }
        let Some((write, written)) = best else {
            return Err(fault.unwrap_or_else(|| DeriveError::new("its file is refused")));
        };
        let differences = stated(&written);
        let mut refusal = None;
        for way in &self.turn.ways {
            let file = self.turn.file(draft, (way, write), &differences);
            match self.read(&file, None) {
                Ok(derived) => return Ok(derived),
                Err(fault) => refusal = Some(fault).filter(|_| refusal.is_none()).or(refusal),
            }
        }
        Err(refusal.unwrap_or_else(|| DeriveError::new("its answers are not rendered")))
    }

    /// Proves that the file reads all renderings, and values with markup.
    pub(super) fn read(
        &self,
        file: &str,
        like: Option<&str>,
    ) -> Result<DerivedFamily, DeriveError> {
        let profile = profile_of(file)?;
        let reader = ProofReader::new(&profile, self.renderings)?;
        reader.reads(&self.renderings.wires, Cuts::None)?;
        reader.reads(&self.renderings.wires, Cuts::All)?;
        if self.deadline.is_over() {
            return Err(DeriveError::new("the proof takes too long"));
        }
        quotes::survive(&reader, self.renderings, self.bodies)?;
        Ok(DerivedFamily {
            file: file.to_owned(),
            profile,
            notes: self.turn.notes.clone(),
            like: like.map(str::to_owned),
        })
    }

    /// Returns the file of a family of the project that reads all renderings, and whether it also
    /// writes them. Families that write them are tried first.
    pub(super) fn known(&self, families: &[String]) -> Option<(DerivedFamily, bool)> {
        let mut files = Vec::new();
        for family in families.iter().take(MAX_TRIED_FAMILIES) {
            for file in known::files(family, self.turn, self.renderings) {
                let Ok(grammar) = grammar_of(&file.text(&[])) else { continue };
                let all = ("", usize::MAX);
                let found = written(self.renderings, self.bodies, &grammar, all);
                files.push((family, file, found.unwrap_or_default()));
            }
        }
        let writes = |found: &Written| found.sound && found.differences.is_empty();
        files.sort_by_key(|(_, _, found)| !writes(found));
        for (family, file, found) in files {
            if self.deadline.is_over() {
                break;
            }
            if let Ok(derived) = self.read(&file.text(&stated(&found)), Some(family)) {
                return Some((derived, writes(&found)));
            }
        }
        None
    }
}

/// Returns the differences between the encoder and the template as comments of the file.
fn stated(written: &Written) -> Vec<String> {
    let shown = |text: &str| format!("{:?}", text.chars().take(200).collect::<String>());
    let line = |[template, encoder]: &[String; 2]| {
        format!("The template writes {}, and the encoder {}.", shown(template), shown(encoder))
    };
    written.differences.iter().take(3).map(line).collect()
}
