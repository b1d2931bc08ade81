//! Types that take the place of expressions in a build without the feature `regex`.

use super::pattern_view::PatternView;
use crate::marker::Prefix;

/// An expression. Without the feature `regex`, no value of it exists.
#[derive(Debug)]
pub(crate) enum NoPattern {}

/// The progress of an expression. Without the feature `regex`, it is never used.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct NoRun;

/// The state of an expression. Without the feature `regex`, no value of it exists.
pub(crate) type PatternState = core::convert::Infallible;

impl NoRun {
    pub(crate) fn goes_on(&self, _: usize) -> Option<PatternState> {
        None
    }
}

impl NoPattern {
    pub(crate) fn read(&self, _: &mut NoRun, _: PatternView<'_>, _: &mut u64) -> Prefix {
        match *self {}
    }

    pub(crate) fn read_on(&self, _: &mut PatternState, _: &str, _: &mut u64) -> (usize, bool) {
        match *self {}
    }
}
