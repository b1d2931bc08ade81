//! Limits without a setting: bounds on what is read.

#[cfg(feature = "otel")]
use std::time::Duration;

/// Maximum length of a first line that names the family, in bytes.
pub(crate) const MAX_FIRST_LINE: u64 = 256;

/// Maximum time for a collector of spans to answer.
#[cfg(feature = "otel")]
pub(crate) const MAX_EXPORT_TIME: Duration = Duration::from_secs(10);

/// Maximum length of the answer of a collector of spans, in bytes.
#[cfg(feature = "otel")]
pub(crate) const MAX_EXPORT_ANSWER_BYTES: usize = 1 << 20;

/// Maximum length of a line of an input, in bytes. Longer lines are dropped and counted.
pub(crate) const MAX_LINE: usize = 8 << 20;

/// Maximum number of bytes of an input in which its family is detected.
pub(crate) const MAX_DETECTED_BYTES: u64 = 8 << 20;

/// Maximum length of a recording of tokens whose markers are found without a checkpoint, in bytes.
pub(crate) const MAX_TOKEN_FILE_BYTES: u64 = 256 << 20;

/// Maximum length of a row of texts, in bytes. A set of rows parsed at once also ends at this size.
pub(crate) const MAX_ROW_BYTES: usize = 64 << 20;
