//! Timeouts, limits and the size of recordings.

use std::{fmt, path::PathBuf};

use serde::{Deserialize, Deserializer, Serialize, de};

use super::TimeSpan;

/// The time limits of the proxy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Timeouts {
    /// Time to connect to upstream.
    pub connect: TimeSpan,
    /// Time until upstream's first byte. A streamed answer begins after the prompt is read, other
    /// answers after all text is generated.
    pub first_byte: TimeSpan,
    /// Time until each further byte of either side, and between two requests of a connection.
    pub idle: TimeSpan,
    /// Time until a connection's first request, and for the head of each request.
    pub head: TimeSpan,
    /// Time for the whole body of a guarded request.
    pub body: TimeSpan,
    /// Time for a client to accept a piece of its answer.
    pub write: TimeSpan,
    /// Time without output after which a comment shows a client that its stream is alive.
    pub keep_alive: TimeSpan,
    /// Time between the signal to stop and the refusal of requests, for load balancers to notice
    /// that the proxy is not ready.
    pub drain: TimeSpan,
    /// Time for open requests to end after the proxy refuses new ones.
    pub shutdown: TimeSpan,
}

/// The size limits of the proxy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ProxyLimits {
    /// Maximum length of a request's body, in bytes.
    #[serde(deserialize_with = "amount")]
    pub body: usize,
    /// Maximum length of a request's head, in bytes: at least [`ProxyLimits::LEAST_HEAD`].
    #[serde(deserialize_with = "amount")]
    pub head: u32,
    /// Maximum length of an answer that is not streamed, in bytes.
    #[serde(deserialize_with = "amount")]
    pub answer: usize,
    /// Maximum number of choices of an answer.
    #[serde(deserialize_with = "amount")]
    pub choices: usize,
    /// Maximum memory for the bodies of all requests together, in bytes.
    #[serde(deserialize_with = "amount")]
    pub bodies: usize,
}

/// Where streams with diagnostics are kept. A record has upstream's bytes and nothing of the
/// request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// Directory of the records.
    pub dir: PathBuf,
    /// Maximum size of all files together, in bytes.
    #[serde(default = "Record::most", deserialize_with = "amount")]
    pub most: u64,
    /// Maximum size of each record, in bytes.
    #[serde(default = "Record::each", deserialize_with = "amount")]
    pub each: usize,
}

impl Record {
    /// Creates settings for a directory: at most 64 MiB in all, and 1 MiB for each record.
    #[must_use]
    pub fn to(dir: impl Into<PathBuf>) -> Self {
        Self { dir: dir.into(), most: Self::most(), each: Self::each() }
    }

    const fn most() -> u64 {
        64 << 20
    }

    const fn each() -> usize {
        1 << 20
    }
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            connect: TimeSpan::seconds(10),
            first_byte: TimeSpan::seconds(600),
            idle: TimeSpan::seconds(120),
            head: TimeSpan::seconds(30),
            body: TimeSpan::seconds(300),
            write: TimeSpan::seconds(120),
            keep_alive: TimeSpan::seconds(15),
            drain: TimeSpan::seconds(5),
            shutdown: TimeSpan::seconds(30),
        }
    }
}

impl Default for ProxyLimits {
    fn default() -> Self {
        Self { body: 64 << 20, head: 64 << 10, answer: 64 << 20, choices: 16, bodies: 1 << 30 }
    }
}

impl ProxyLimits {
    /// Minimum of [`ProxyLimits::head`]: the number of bytes that the HTTP library reads at once.
    pub const LEAST_HEAD: u32 = 8192;
}

/// Reads a whole number. [`super::Checked::check`] checks its range.
fn amount<'de, D: Deserializer<'de>, N: TryFrom<u64>>(deserializer: D) -> Result<N, D::Error> {
    struct Whole;

    impl de::Visitor<'_> for Whole {
        type Value = u64;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a whole number, at least 1")
        }

        fn visit_u64<E: de::Error>(self, number: u64) -> Result<u64, E> {
            Ok(number)
        }

        fn visit_i64<E: de::Error>(self, number: i64) -> Result<u64, E> {
            u64::try_from(number)
                .map_err(|_| E::invalid_value(de::Unexpected::Signed(number), &self))
        }
    }

    let number = deserializer.deserialize_any(Whole)?;
    let large = |_| de::Error::invalid_value(de::Unexpected::Unsigned(number), &"a smaller number");
    N::try_from(number).map_err(large)
}
