//! Lengths of time as configuration writes them.

use std::{fmt, str::FromStr, time::Duration};

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{Error, Visitor},
};

/// A length of time: a whole number with its unit, `ms`, `s`, `m` or `h`.
///
/// ```
/// use llm_stream_guard_serve::TimeSpan;
/// assert_eq!("90s".parse::<TimeSpan>().map(|span| span.0.as_secs()), Ok(90));
/// assert!("90".parse::<TimeSpan>().is_err());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct TimeSpan(pub Duration);

/// Units in milliseconds, the greatest first.
const UNITS: [(&str, u64); 4] = [("h", 3_600_000), ("m", 60_000), ("s", 1000), ("ms", 1)];

impl TimeSpan {
    /// Creates a span of whole seconds.
    #[must_use]
    pub const fn seconds(seconds: u64) -> Self {
        Self(Duration::from_secs(seconds))
    }
}

impl FromStr for TimeSpan {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        let (number, unit) = text.split_at(digits);
        let scale = UNITS.iter().find(|(name, _)| *name == unit).map(|(_, scale)| *scale);
        let millis = scale.and_then(|scale| number.parse::<u64>().ok()?.checked_mul(scale));
        match millis {
            Some(millis) if millis > 0 => Ok(Self(Duration::from_millis(millis))),
            _ => Err(format!(
                "expected a length of time such as `500ms`, `30s`, `5m`, more than zero, found `{text}`"
            )),
        }
    }
}

impl fmt::Display for TimeSpan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let millis = u64::try_from(self.0.as_millis()).unwrap_or(u64::MAX);
        let fits = UNITS.iter().find(|(_, scale)| millis.is_multiple_of(*scale));
        let (unit, scale) = fits.copied().unwrap_or(("ms", 1));
        write!(f, "{}{unit}", millis / scale)
    }
}

impl Serialize for TimeSpan {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Reads the text of a span. A number without a unit is an error that shows what to write.
struct SpanText;

impl Visitor<'_> for SpanText {
    type Value = TimeSpan;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a length of time in quotation marks, such as \"30s\"")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<TimeSpan, E> {
        text.parse().map_err(E::custom)
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<TimeSpan, E> {
        Err(E::custom(format!(
            "expected a length of time with its unit in quotation marks, such as \"{number}s\""
        )))
    }
}

impl<'de> Deserialize<'de> for TimeSpan {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(SpanText)
    }
}
