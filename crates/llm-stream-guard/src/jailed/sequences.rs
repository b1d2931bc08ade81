//! Sequences given by hand in the place of a family's markers.

use jail_match::{Jail, JailBuilder, JailError};
use toolcall_parsers::{
    Grammar,
    grammar::{Certainty, Opener, Role, Text},
};

/// Start and end sequences, pooled and bound.
#[derive(Debug, Clone, Default)]
pub(super) struct Sequences {
    pub(super) starts: Vec<String>,
    pub(super) ends: Vec<String>,
    pub(super) pairs: Vec<(String, String)>,
    pub(super) family: Family,
}

/// What becomes of a family's own markers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Family {
    /// Sequences given by hand replace them.
    #[default]
    Replaced,
    Kept,
}

impl Sequences {
    /// Adds the sequences to the rules of a jail.
    pub(super) fn rules(&self, rules: JailBuilder) -> JailBuilder {
        let rules = self.starts.iter().cloned().fold(rules, JailBuilder::start);
        let rules = self.ends.iter().cloned().fold(rules, JailBuilder::end);
        let pairs = self.pairs.iter().cloned();
        pairs.fold(rules, |rules, (start, end)| rules.pair(start, end))
    }

    /// Refuses sequences that would make no jail.
    pub(super) fn check(&self) -> Result<(), JailError> {
        let mut rules = self.rules(Jail::builder());
        if rules.is_empty() {
            return Ok(());
        }
        if self.starts.is_empty() && !self.ends.is_empty() {
            // The family's openers are closed by the ends; this one stands for them.
            rules = rules.start("\0");
        }
        rules.build().map(drop)
    }

    /// The family with its markers replaced, or with more of them.
    pub(super) fn applied(&self, mut family: Grammar) -> Grammar {
        let own = std::mem::take(&mut family.openers);
        let model = own.iter().find(|opener| opener.certainty == Certainty::Marked);
        let model = model.or(own.first());
        let pooled = self.starts.iter().map(|start| (start, self.ends.clone()));
        let bound = self.pairs.iter().map(|(start, end)| (start, vec![end.clone()]));
        let given: Vec<Opener> = pooled
            .chain(bound)
            .filter_map(|(start, ends)| Some(opener(model?, start, &ends)))
            .collect();
        // Ends alone close what the family opens.
        let closed = self.starts.is_empty() && !self.ends.is_empty();
        let ends = self.ends.iter().chain(self.pairs.iter().map(|(_, end)| end));
        let ends: Vec<Text> = ends.map(|end| end.clone().into()).collect();
        let mut own: Vec<Opener> = own;
        if closed {
            own.iter_mut().for_each(|opener| close(opener, &self.ends));
        }
        if self.family == Family::Kept {
            family.orphans.extend(ends);
        } else if !ends.is_empty() {
            family.orphans = ends;
        }
        family.openers = given;
        if self.family == Family::Kept || family.openers.is_empty() {
            family.openers.extend(own);
        }
        family
    }
}

fn opener(model: &Opener, start: &str, ends: &[String]) -> Opener {
    let mut opener = Opener {
        marker: start.to_owned().into(),
        certainty: Certainty::Marked,
        role: Role::Before,
        ..model.clone()
    };
    if !ends.is_empty() {
        close(&mut opener, ends);
    }
    opener
}

fn close(opener: &mut Opener, ends: &[String]) {
    let ends: Vec<Text> = ends.iter().map(|end| end.clone().into()).collect();
    opener.shapes.iter_mut().for_each(|shape| shape.set_closers(&ends));
}
