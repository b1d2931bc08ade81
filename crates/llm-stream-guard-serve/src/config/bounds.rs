//! Timeouts, limits and the size of recordings.

use std::{fmt, path::PathBuf};

use serde::{Deserialize, Deserializer, Serialize, de};

use super::TimeSpan;

/// The limits of time of the proxy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Timeouts {
    /// For a connection to upstream.
    pub connect: TimeSpan,
    /// For upstream's first byte, which it sends when it has read the prompt or, of an answer
    /// that is not streamed, written all of it.
    pub first_byte: TimeSpan,
    /// For each further byte of either side, and between two requests of a connection.
    pub idle: TimeSpan,
    /// For a connection's first request, and for the head of each.
    pub head: TimeSpan,
    /// For all of the body of a request that is to be guarded.
    pub body: TimeSpan,
    /// For a client to take a piece of its answer.
    pub write: TimeSpan,
    /// Time until a comment shows a client that its stream is alive.
    pub keep_alive: TimeSpan,
    /// Time for balancers to notice that the proxy is not ready, between the order to end and the
    /// refusal of requests.
    pub drain: TimeSpan,
    /// For open requests to end when the proxy refuses new ones.
    pub shutdown: TimeSpan,
}

/// The limits of size of the proxy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ProxyLimits {
    /// Bytes of a request's body.
    #[serde(deserialize_with = "amount")]
    pub body: usize,
    /// Bytes of a request's head, at least [`ProxyLimits::LEAST_HEAD`].
    #[serde(deserialize_with = "amount")]
    pub head: u32,
    /// Bytes of an answer that is not streamed.
    #[serde(deserialize_with = "amount")]
    pub answer: usize,
    /// Choices of an answer.
    #[serde(deserialize_with = "amount")]
    pub choices: usize,
    /// Bytes of memory that the bodies of all requests take together while they are read.
    #[serde(deserialize_with = "amount")]
    pub bodies: usize,
}

/// Where streams that had diagnostics are kept: what upstream sent, nothing of the request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// Directory of the records.
    pub dir: PathBuf,
    /// Bytes of all files together.
    #[serde(default = "Record::most", deserialize_with = "amount")]
    pub most: u64,
    /// Maximum size of each record, in bytes.
    #[serde(default = "Record::each", deserialize_with = "amount")]
    pub each: usize,
}

impl Record {
    /// In a directory, 64 MiB in all and 1 MiB each.
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
    /// The least that [`ProxyLimits::head`] can be: what the HTTP library reads at once.
    pub const LEAST_HEAD: u32 = 8192;
}

/// Reads a whole number. [`super::Config::check`] knows which numbers are accepted.
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
