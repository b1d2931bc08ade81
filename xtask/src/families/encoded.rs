//! A comparison of the encoder's output with the calls that chat templates render.

use std::{fs, path::Path};

use serde::Deserialize;
use serde_json::value::RawValue;
use toolcall_parsers::{
    EncodeCall, Grammar, Tools, encode,
    family::{Family, ModelId},
};

use super::{entry::Entry, models::patterns};

/// The project's table of rendered calls: the calls of a message, and the text that a model's
/// template renders for them.
const TABLE: &str = "families/vectors/encode.tsv";

/// The minimum share of equal texts, in percent.
const WANTED: usize = 95;

/// A line of the table.
struct Case<'t> {
    /// The id of the model of a family.
    model: &'t str,
    /// Arguments as JSON text, as on the wire.
    calls: Vec<Call>,
    /// The wire that the model's chat template renders.
    wire: String,
    /// The reason why the encoder writes another text, if it does.
    differs: Option<&'t str>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Call {
    name: String,
    arguments: Box<RawValue>,
    #[serde(default)]
    id: Option<String>,
}

impl<'t> Case<'t> {
    fn read(line: &'t str) -> Result<Self, String> {
        let cells: Vec<&str> = line.split('\t').collect();
        let (model, calls, wire, differs) = match cells[..] {
            [model, calls, wire] => (model, calls, wire, None),
            [model, calls, wire, differs] => (model, calls, wire, Some(differs)),
            _ => return Err("expected a model, calls, a wire, and maybe why it differs".into()),
        };
        let calls = serde_json::from_str(calls).map_err(|error| format!("calls: {error}"))?;
        let wire = serde_json::from_str(wire).map_err(|error| format!("wire: {error}"))?;
        Ok(Self { model, calls, wire, differs })
    }

    /// Returns whether the encoder writes the wire.
    ///
    /// # Errors
    /// Returns an error if the model has no family, or its family writes no calls.
    fn is_equal(&self, entries: &[Entry]) -> Result<bool, String> {
        let calls = self.calls.iter().map(|call| EncodeCall {
            name: &call.name,
            arguments: call.arguments.get(),
            id: call.id.as_deref(),
        });
        let calls: Vec<EncodeCall<'_>> = calls.collect();
        let written = encode(&self.grammar(entries)?, &calls, &Tools::implied_by(&calls));
        Ok(written.as_ref() == Ok(&self.wire))
    }

    /// Returns the grammar of the model's calls.
    fn grammar(&self, entries: &[Entry]) -> Result<Grammar, String> {
        let patterns = patterns(entries);
        let id = ModelId::new(self.model);
        let found = id.find(&patterns);
        let file = found.and_then(|(text, of)| {
            let name = of.first()?.1;
            Some(entries.iter().find(|entry| entry.name == name)?.file_for(text))
        });
        let file = file.ok_or_else(|| format!("`{}` is of no family", self.model))?;
        let family = Family::from_value(&file).map_err(|error| error.to_string())?;
        Grammar::new(family).map_err(|error| error.to_string())
    }
}

/// Returns a phrase with the number of the project's texts that the encoder writes.
///
/// # Errors
/// Returns an error for texts that differ without a reason, texts with a reason that do not differ,
/// too few equal texts, and a table that cannot be read.
pub(super) fn score(root: &Path, entries: &[Entry]) -> Result<String, String> {
    let text = fs::read_to_string(root.join(TABLE)).map_err(|error| format!("{TABLE}: {error}"))?;
    let (mut equal, mut all, mut wrong) = (0, 0, Vec::new());
    for (n, line) in text.lines().enumerate() {
        let place = format!("{TABLE}:{}", n + 1);
        let case = Case::read(line).map_err(|error| format!("{place}: {error}"))?;
        let same = case.is_equal(entries).map_err(|error| format!("{place}: {error}"))?;
        (equal, all) = (equal + usize::from(same), all + 1);
        match (same, &case.differs) {
            (false, None) => wrong.push(format!("{place}: `{}` is written otherwise", case.model)),
            (true, Some(_)) => wrong.push(format!("{place}: `{}` is equal by now", case.model)),
            _ => {}
        }
    }
    if equal * 100 < all * WANTED {
        wrong.push(format!("{TABLE}: fewer than {WANTED} of a hundred are equal"));
    }
    let score = format!("{TABLE}: {equal} of {all} wires written as the models' templates do");
    if wrong.is_empty() { Ok(score) } else { Err(format!("{}\n{score}", wrong.join("\n"))) }
}
