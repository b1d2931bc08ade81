//! What a parser may be asked to do.

use core::fmt;

/// What becomes of the prompt if no turn begins in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum NoAnchor {
    /// It is ignored, so that nothing of earlier turns gets into the message.
    #[default]
    Ignore,
    /// It is read whole, as the reference implementation does.
    Read,
}

/// What becomes of a region that is not what its field says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum MalformedPolicy {
    /// It is dropped, and counted in a diagnostic.
    #[default]
    Drop,
    /// It is content, unless a call began in it.
    Text,
}

/// What ends a region of JSON or of tags.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Boundaries {
    /// Its closer, wherever it stands: so the language says.
    #[default]
    Exact,
    /// Its closer, but not inside a string of the JSON or inside the value of a tag. A tag that
    /// opened is closed then, or the stream is cut: its value streams.
    StringAware,
}

/// Settings of a [`Parser`](crate::Parser). Sizes are bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Settings {
    /// What becomes of the prompt if no turn begins in it.
    pub no_anchor: NoAnchor,
    /// What becomes of a region that is not what its field says.
    pub malformed: MalformedPolicy,
    /// What ends a region of JSON.
    pub boundaries: Boundaries,
    /// The most text that is held because it may be part of a boundary. Beyond it, it is text.
    /// Default 1 MiB.
    pub hold: usize,
    /// The most white space that is held because it may end a text. Beyond it, it is text.
    /// Default 64 KiB.
    pub blanks: usize,
    /// The greatest length of a region whose value is known at its end. A longer one is malformed.
    /// Default 16 MiB.
    pub region: usize,
    /// Whether closed regions are kept, for [`Parser::regions`](crate::Parser::regions) and [`Parser::message`](crate::Parser::message).
    pub keep_regions: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            no_anchor: NoAnchor::default(),
            malformed: MalformedPolicy::default(),
            boundaries: Boundaries::default(),
            hold: 1 << 20,
            blanks: 64 << 10,
            region: 16 << 20,
            keep_regions: false,
        }
    }
}

/// An option of calls that is set and would do nothing for templates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnusedOption {
    /// The option.
    pub name: &'static str,
}

impl fmt::Display for UnusedOption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "option `{}` does nothing where a response template reads the calls", self.name)
    }
}

impl core::error::Error for UnusedOption {}
