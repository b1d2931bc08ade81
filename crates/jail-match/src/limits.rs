//! Limits on everything that grows, and what happens when one is hit.

use core::fmt;

use crate::diagnostic::DiagnosticKind;

/// Bounds on what a driver holds. All sizes are bytes of input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// A candidate: everything since an opener whose body has not committed. Default 16 KiB.
    pub candidate: usize,
    /// A whitespace run held under the framing and trim policies. Default 4 KiB; a longer run
    /// is text.
    pub whitespace: usize,
    /// Channels open at once. Default 16.
    pub depth: usize,
    /// What a candidate that hits its limit becomes.
    pub policy: LimitPolicy,
}

impl Default for Limits {
    fn default() -> Self {
        Self { candidate: 16 * 1024, whitespace: 4 * 1024, depth: 16, policy: LimitPolicy::Release }
    }
}

impl Limits {
    /// Refuses limits that would make the driver useless.
    ///
    /// # Errors
    /// Names the first limit that is zero.
    pub fn check(&self) -> Result<(), ZeroLimit> {
        for (name, value) in
            [("candidate", self.candidate), ("whitespace", self.whitespace), ("depth", self.depth)]
        {
            if value == 0 {
                return Err(ZeroLimit { name });
            }
        }
        Ok(())
    }
}

/// The most reasoning a message may hold.
///
/// What counts is reasoning that is emitted, in bytes; the limit falls between scalars, on the same
/// one whatever the chunks. Reasoning beyond it is content under [`LimitPolicy::Release`], is
/// dropped and counted under [`LimitPolicy::Drop`], and ends the message under
/// [`LimitPolicy::Error`]. The markers of the reasoning stay markers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "a number and what it does")]
pub struct ReasoningLimit {
    /// Bytes. None at all may be wanted: 0 is good.
    pub bytes: usize,
    /// What becomes of the rest.
    pub policy: LimitPolicy,
}

/// What becomes of bytes that hit a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum LimitPolicy {
    /// They are text, in place.
    #[default]
    Release,
    /// They are dropped and counted.
    Drop,
    /// They are released as text and the push returns an error; the machine takes no more.
    Error,
}

/// A limit of zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ZeroLimit {
    name: &'static str,
}

impl fmt::Display for ZeroLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "limit `{}` is 0: expected at least 1", self.name)
    }
}

impl core::error::Error for ZeroLimit {}

/// A limit was hit under [`LimitPolicy::Error`]; what was held has been released.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LimitError {
    /// Which limit.
    pub kind: DiagnosticKind,
    /// Stream offset of the bytes that hit it.
    pub at: u64,
    /// How many bytes they are.
    pub bytes: u64,
}

impl fmt::Display for LimitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, at, bytes } = self;
        if *kind == DiagnosticKind::ReasoningLimit {
            return write!(f, "byte {at}: {} hit; what came before was released", kind.name());
        }
        write!(f, "byte {at}: {} hit after {bytes} bytes; they were released as text", kind.name())
    }
}

impl core::error::Error for LimitError {}
