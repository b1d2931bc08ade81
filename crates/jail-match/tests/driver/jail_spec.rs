//! Rules of a jail as plain data, for the jail and for its second implementation.

use jail_match::{
    BlockDelivery, Inner, Jail, JailBuilder, JailError, JailPair, LetterCase, Mark, MarkPosition,
    Nested, OnFail, Quote, Release,
};

#[derive(Debug, Clone)]
pub(crate) struct Sequence {
    pub(crate) text: String,
    pub(crate) kind: Kind,
    pub(crate) at: MarkPosition,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Exact,
    Fold,
    /// An expression with a stated hold, if any.
    Pattern(Option<usize>),
}

impl Sequence {
    pub(crate) fn literal(text: impl Into<String>) -> Self {
        Self { text: text.into(), kind: Kind::Exact, at: MarkPosition::Anywhere }
    }

    fn mark(&self) -> Mark {
        let mark = match self.kind {
            Kind::Exact => Mark::from(self.text.clone()),
            Kind::Fold => Mark::from(self.text.clone()).cased(LetterCase::FoldAscii),
            #[cfg(feature = "regex")]
            Kind::Pattern(None) => Mark::pattern(self.text.clone()),
            #[cfg(feature = "regex")]
            Kind::Pattern(Some(hold)) => Mark::pattern(self.text.clone()).hold(hold),
            #[cfg(not(feature = "regex"))]
            Kind::Pattern(_) => unreachable!("patterns need the feature"),
        };
        mark.at(self.at)
    }
}

/// A pair. The last one of a [`Spec`] may be the pool.
#[derive(Debug, Clone)]
pub(crate) struct Rule {
    pub(crate) starts: Vec<Sequence>,
    pub(crate) ends: Vec<Sequence>,
    /// Opening, closing, escape.
    pub(crate) quote: Option<(String, String, Option<char>)>,
    pub(crate) inner: Inner,
    pub(crate) only_inside: bool,
    pub(crate) release: Release,
    pub(crate) flow: BlockDelivery,
    pub(crate) limit: usize,
    pub(crate) over: OnFail,
    pub(crate) unclosed: OnFail,
}

impl Rule {
    fn settings(&self, pair: JailPair) -> JailPair {
        let pair = match &self.quote {
            None => pair,
            Some((open, close, escape)) => {
                let quote = Quote::new(open.clone(), close.clone());
                pair.quote(escape.map_or(quote.clone(), |escape| quote.escaped(escape)))
            }
        };
        let pair = if self.only_inside { pair.only_inside() } else { pair };
        pair.inner(self.inner.clone())
            .release(self.release)
            .flow(self.flow)
            .limit(self.limit, self.over)
            .unclosed(self.unclosed)
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Spec {
    pub(crate) rules: Vec<Rule>,
    pub(crate) nested: Nested,
    pub(crate) depth: usize,
    pub(crate) blocks: (u64, OnFail),
}

impl Spec {
    /// Returns whether no inner block is released on its own and no limit ends the stream. Blocks,
    /// drops and text then add up to the input.
    pub(crate) fn is_flat(&self) -> bool {
        let fails = |one: OnFail| one == OnFail::Error;
        let nests = |rule: &Rule| rule.inner != Inner::Nothing;
        !fails(self.blocks.1)
            && !self.rules.iter().any(|one| fails(one.over) || fails(one.unclosed) || nests(one))
    }

    pub(crate) fn build(&self) -> Result<Jail, JailError> {
        let pairs = self.rules.iter().fold(Jail::builder(), |jail: JailBuilder, rule| {
            let pair = JailPair::new(rule.starts[0].mark(), rule.ends[0].mark());
            let pair = rule.starts[1..].iter().fold(pair, |pair, one| pair.start(one.mark()));
            let pair = rule.ends[1..].iter().fold(pair, |pair, one| pair.end(one.mark()));
            jail.rule(rule.settings(pair))
        });
        let (most, over) = self.blocks;
        pairs.nested(self.nested).depth(self.depth).blocks(most, over).build()
    }
}
