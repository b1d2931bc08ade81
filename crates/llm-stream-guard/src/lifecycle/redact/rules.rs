//! Recognisers: named classes of text to redact.

use std::sync::Arc;

use jail_match::{JailPair, Mark, OnFail};

use super::substitute::Substitute;

/// The replacement for a block of a pair.
#[derive(Debug, Clone)]
pub(super) struct Rule {
    pub(super) name: Arc<str>,
    pub(super) substitute: Substitute,
}

/// A class of text to redact: a name, marks that match it whole, and the replacement.
///
/// Ready-made recognisers need the feature `regex`. With a check of your own:
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use llm_stream_guard::{jail_match::Mark, lifecycle::{Recogniser, Redactor}};
/// let codename = Recogniser::new("project", Mark::from("bluebird")).mark("redwing");
/// let mut seen = String::new();
/// Redactor::of([codename])?.redact("redwing ships, bluebird waits", &mut seen)?;
/// assert_eq!(seen, "[project] ships, [project] waits");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Recogniser {
    name: Arc<str>,
    marks: Vec<Mark>,
    too_long: OnFail,
    substitute: Option<Substitute>,
}

impl Recogniser {
    /// Creates a recogniser of the text that `mark` matches. The default replacement is the name in
    /// brackets, and a match longer than the mark's hold is followed to its end.
    pub fn new(name: impl Into<Arc<str>>, mark: impl Into<Mark>) -> Self {
        let (name, marks) = (name.into(), vec![mark.into()]);
        Self { name, marks, too_long: OnFail::Drop, substitute: None }
    }

    /// Adds a mark that the recogniser also matches.
    #[must_use]
    pub fn mark(mut self, mark: impl Into<Mark>) -> Self {
        self.marks.push(mark.into());
        self
    }

    /// Restricts the recogniser to matches that `check` accepts; see [`Mark::checked`].
    #[must_use]
    pub fn when(mut self, check: impl Fn(&str) -> bool + Send + Sync + 'static) -> Self {
        let check = Arc::new(check);
        let checked = |mark: Mark| {
            let check = Arc::clone(&check);
            mark.checked(move |text| check(text))
        };
        self.marks = self.marks.into_iter().map(checked).collect();
        self
    }

    /// Sets the replacement of a match.
    #[must_use]
    pub fn substitute(self, substitute: Substitute) -> Self {
        Self { substitute: Some(substitute), ..self }
    }

    /// Sets the policy for a match longer than its mark's hold: replace it up to its end
    /// ([`OnFail::Drop`], the default), or end the text ([`OnFail::End`]).
    #[must_use]
    pub fn too_long(self, then: OnFail) -> Self {
        Self { too_long: then, ..self }
    }

    pub(super) fn into_parts(self) -> (JailPair, Rule) {
        let Self { name, marks, too_long, substitute } = self;
        let mut marks = marks.into_iter();
        // A recogniser always has a first mark.
        let pair = JailPair::single(marks.next().unwrap_or_else(|| Mark::from("")));
        let pair = marks.fold(pair, JailPair::start).limit(usize::MAX, too_long);
        let label = || Substitute::label(format!("[{name}]"));
        let substitute = substitute.unwrap_or_else(label);
        (pair, Rule { name, substitute })
    }
}
