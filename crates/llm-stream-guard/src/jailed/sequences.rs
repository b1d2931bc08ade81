//! Start and end sequences that replace a family's markers.

use jail_match::{Jail, JailBuilder, JailError};
use toolcall_parsers::{
    Grammar,
    family::{OwnMarkers, Sequences as Markers},
};

use super::JailedError;

/// Start and end sequences, pooled and bound.
#[derive(Debug, Clone, Default)]
pub(super) struct Sequences {
    pub(super) starts: Vec<String>,
    pub(super) ends: Vec<String>,
    pub(super) pairs: Vec<(String, String)>,
    pub(super) own: OwnMarkers,
}

impl Sequences {
    /// Adds the sequences to the rules of a jail.
    pub(super) fn rules(&self, rules: JailBuilder) -> JailBuilder {
        let rules = self.starts.iter().cloned().fold(rules, JailBuilder::start);
        let rules = self.ends.iter().cloned().fold(rules, JailBuilder::end);
        let pairs = self.pairs.iter().cloned();
        pairs.fold(rules, |rules, (start, end)| rules.pair(start, end))
    }

    /// Returns an error for sequences that do not form a jail.
    pub(super) fn check(&self) -> Result<(), JailError> {
        let mut rules = self.rules(Jail::builder());
        if rules.is_empty() {
            return Ok(());
        }
        if self.starts.is_empty() && !self.ends.is_empty() {
            // The end sequences close the family's openers, which this mark represents.
            rules = rules.start("\0");
        }
        rules.build().map(drop)
    }

    /// Whether nothing was given.
    fn is_empty(&self) -> bool {
        self.starts.is_empty() && self.ends.is_empty() && self.pairs.is_empty()
    }

    /// Whether `grammar` is read between the sequences: its calls are messages that begin with
    /// headers, which no sequence can replace.
    pub(super) fn frame(&self, grammar: &Grammar) -> bool {
        grammar.has_messages() && !self.is_empty()
    }

    /// Returns the family's grammar with its markers replaced or extended.
    pub(super) fn applied(&self, grammar: Grammar) -> Result<Grammar, JailedError> {
        if self.is_empty() {
            return Ok(grammar);
        }
        let pooled = self.starts.iter().map(|start| (start.clone(), self.ends.clone()));
        let bound = self.pairs.iter().map(|(start, end)| (start.clone(), vec![end.clone()]));
        // End sequences without starts close the family's openers.
        let closing = if self.starts.is_empty() { self.ends.clone() } else { Vec::new() };
        let markers = Markers { blocks: pooled.chain(bound).collect(), ends: closing };
        let family = grammar.family().with_sequences(&markers, self.own);
        let fault = || JailedError::Sequences(grammar.name().to_owned());
        Grammar::new(family.ok_or_else(fault)?).map_err(|_| fault())
    }
}
