//! Limits on everything that grows, and the policies for text that exceeds them.

use core::fmt;

use crate::diagnostic::DiagnosticKind;

/// Limits on what a driver holds. All sizes are bytes of input.
///
/// ```
/// use jail_match::{LimitPolicy, Limits};
/// let limits = Limits { candidate: 4096, policy: LimitPolicy::Drop, ..Limits::default() };
/// assert!(limits.check().is_ok());
/// assert_eq!(
///     Limits { depth: 0, ..limits }.check().unwrap_err().to_string(),
///     "limit `depth` is 0: expected at least 1",
/// );
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The maximum size of a candidate, counted from its opener. Default 16 KiB.
    pub candidate: usize,
    /// The maximum size of a whitespace run held under the framing and trim policies. A longer run
    /// is text. Default 4 KiB.
    pub whitespace: usize,
    /// The maximum number of channels open at once. Default 16.
    pub depth: usize,
    /// The policy for a candidate that hits its limit.
    pub policy: LimitPolicy,
}

impl Default for Limits {
    fn default() -> Self {
        Self { candidate: 16 * 1024, whitespace: 4 * 1024, depth: 16, policy: LimitPolicy::Release }
    }
}

impl Limits {
    /// Checks that no limit is zero.
    ///
    /// # Errors
    /// Returns an error that names the first limit that is zero.
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

/// The maximum number of bytes of reasoning in a message, with a policy for the rest.
///
/// The limit counts emitted bytes, and falls between the same two scalars for every cut. Markers of
/// the reasoning stay markers beyond it. Reasoning beyond the limit is treated by the policy:
///
/// * [`LimitPolicy::Release`]: it becomes content.
/// * [`LimitPolicy::Drop`]: it is dropped and counted.
/// * [`LimitPolicy::Error`]: it ends the message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "a number and what it does")]
pub struct ReasoningLimit {
    /// The maximum number of bytes. Zero is allowed and means no reasoning.
    pub bytes: usize,
    /// The policy for reasoning beyond the limit.
    pub policy: LimitPolicy,
}

/// The policy for bytes that hit a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum LimitPolicy {
    /// The bytes are emitted as text.
    #[default]
    Release,
    /// The bytes are dropped and counted.
    Drop,
    /// The bytes are released as text, and the push returns an error. So does every later push.
    Error,
}

/// An error: a limit is zero.
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

/// An error: a limit was hit under [`LimitPolicy::Error`]. Held text has been released.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LimitError {
    /// The limit that was hit.
    pub kind: DiagnosticKind,
    /// The stream offset of the bytes that hit the limit.
    pub at: u64,
    /// The number of those bytes.
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

/// The maximum number of times a byte is scanned again because its candidate was refuted.
pub(crate) const MAX_RESCANS: u32 = 16;

/// The maximum size of a compiled expression in bytes, and of the work of compiling it.
#[cfg(feature = "regex")]
pub(crate) const MAX_AUTOMATON_BYTES: usize = 2 << 20;

/// The maximum number of edges with limited uses.
pub(crate) const MAX_LIMITED_EDGES: usize = 64;
