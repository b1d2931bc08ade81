//! The settings of a parser.

use core::fmt;

/// The treatment of a prompt in which no turn begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum NoAnchor {
    /// Ignores the prompt, so that text of earlier turns does not get into the message.
    #[default]
    Ignore,
    /// Reads the whole prompt, as the reference implementation does.
    Read,
}

/// The treatment of a region that its field's content parser cannot read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum MalformedPolicy {
    /// Drops the region and counts it in a diagnostic.
    #[default]
    Drop,
    /// Emits the region as content, unless a call began in it.
    Text,
}

/// The closers that end a region of JSON or of tags.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Boundaries {
    /// Any closer ends the region, as in the reference implementation.
    #[default]
    Exact,
    /// A closer inside a JSON string or the value of a tag does not count. The value of a tag is
    /// emitted as it arrives, because the region cannot end inside it.
    StringAware,
}

/// The settings of a [`TemplateParser`](crate::TemplateParser). Sizes are in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct TemplateSettings {
    /// The treatment of a prompt in which no turn begins.
    pub no_anchor: NoAnchor,
    /// The treatment of a region that cannot be read.
    pub malformed: MalformedPolicy,
    /// The closers that end a region of JSON or of tags.
    pub boundaries: Boundaries,
    /// The maximum number of bytes held because they may be part of a boundary. Longer text is
    /// emitted. Default 1 MiB.
    pub hold: usize,
    /// The maximum number of bytes of white space held because they may end a text. Longer white
    /// space is text. Default 64 KiB.
    pub blanks: usize,
    /// The maximum number of bytes in a region whose value is known at its end. A longer region is
    /// malformed. Default 16 MiB.
    pub region: usize,
    /// Whether closed regions are kept, for [`regions`](crate::TemplateParser::regions) and
    /// [`message`](crate::TemplateParser::message).
    pub keep_regions: bool,
}

impl Default for TemplateSettings {
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

/// An error: an option of calls is set that has no effect with templates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnusedOption {
    /// The name of the option.
    pub name: &'static str,
}

impl fmt::Display for UnusedOption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "option `{}` does nothing where a response template reads the calls", self.name)
    }
}

impl core::error::Error for UnusedOption {}
