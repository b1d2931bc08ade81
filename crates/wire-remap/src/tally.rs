//! Counters of markers, by location.

use core::ops::AddAssign;

/// Counters of the texts of one location, or of one stream.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Tally {
    /// The number of texts visited.
    pub texts: u64,
    /// Outgoing: the number of canonical markers written as wire markers, or quoted (see
    /// [`MarkerPolicy::EscapeLiteral`](crate::MarkerPolicy::EscapeLiteral)).
    pub encoded: u64,
    /// Outgoing: literal wire markers escaped.
    pub escaped: u64,
    /// Incoming: wire markers of any form decoded.
    pub decoded: u64,
    /// Incoming: escapes removed.
    pub unescaped: u64,
    /// Incoming: canonical markers that the model wrote instead of wire markers.
    pub canonical: u64,
    /// Incoming: blocks opened by a wire marker and closed by a canonical one, or the reverse.
    pub mixed: u64,
    /// Incoming: garbled spellings among `decoded`.
    pub garbled: u64,
    /// Incoming: truncated markers among `decoded`.
    pub recovered: u64,
    /// Incoming: damaged markers reported and kept as text.
    pub suspects: u64,
    /// Maximum number of bytes held after a push.
    pub max_held: usize,
}

impl Tally {
    /// Returns whether any text was changed.
    #[must_use]
    pub fn changed(&self) -> bool {
        [self.encoded, self.escaped, self.decoded, self.unescaped].iter().any(|&count| count > 0)
    }
}

impl AddAssign<&Self> for Tally {
    fn add_assign(&mut self, other: &Self) {
        let add = |count: &mut u64, more: u64| *count = count.saturating_add(more);
        add(&mut self.texts, other.texts);
        add(&mut self.encoded, other.encoded);
        add(&mut self.escaped, other.escaped);
        add(&mut self.decoded, other.decoded);
        add(&mut self.unescaped, other.unescaped);
        add(&mut self.canonical, other.canonical);
        add(&mut self.mixed, other.mixed);
        add(&mut self.garbled, other.garbled);
        add(&mut self.recovered, other.recovered);
        add(&mut self.suspects, other.suspects);
        self.max_held = self.max_held.max(other.max_held);
    }
}

/// Location of a text in a request or a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Location {
    /// System prompt or instructions.
    System,
    /// Message of the role `developer`.
    Developer,
    /// Message of the role `user`.
    User,
    /// Assistant message of the history.
    Assistant,
    /// Result of a tool or function, or a document to answer from.
    ToolResult,
    /// Last assistant message, which the model continues.
    Prefill,
    /// Raw prompt of a completion request.
    Prompt,
    /// Stop sequence of a request or in a response, or a banned word.
    Stop,
    /// Predicted output of a request.
    Prediction,
    /// Reasoning, replayed in a request or received.
    Reasoning,
    /// Arguments of a native tool call.
    Arguments,
    /// Description of a tool or of its parameters.
    ToolDescription,
    /// Value named in a tool's schema (`enum`, `const`, `default`, `examples`).
    ToolValue,
    /// Answer text of a response.
    Content,
    /// Refusal text of a response.
    Refusal,
}

impl Location {
    /// All locations, in declaration order.
    pub const ALL: [Self; 15] = [
        Self::System,
        Self::Developer,
        Self::User,
        Self::Assistant,
        Self::ToolResult,
        Self::Prefill,
        Self::Prompt,
        Self::Stop,
        Self::Prediction,
        Self::Reasoning,
        Self::Arguments,
        Self::ToolDescription,
        Self::ToolValue,
        Self::Content,
        Self::Refusal,
    ];
}

/// Counters of a body or a stream of events, by location.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RemapReport {
    tallies: [Tally; Location::ALL.len()],
    pub(crate) stop_fragments: u64,
    pub(crate) undecoded: u64,
}

impl RemapReport {
    /// Returns the counters of one location.
    #[must_use]
    pub fn tally(&self, location: Location) -> &Tally {
        &self.tallies[location as usize]
    }

    #[cfg(feature = "json")]
    pub(crate) fn tally_mut(&mut self, location: Location) -> &mut Tally {
        &mut self.tallies[location as usize]
    }

    /// Adds to the counters of a location.
    pub fn add(&mut self, location: Location, tally: &Tally) {
        self.tallies[location as usize] += tally;
    }

    /// Returns the sum over all locations.
    #[must_use]
    pub fn total(&self) -> Tally {
        let mut total = Tally::default();
        for tally in &self.tallies {
            total += tally;
        }
        total
    }

    /// Returns the number of streamed pieces that passed unchanged because too many texts were
    /// open.
    #[must_use]
    pub fn undecoded(&self) -> u64 {
        self.undecoded
    }

    /// Returns the number of stop sequences that are only a part of a canonical marker
    /// (`</tool_call`).
    ///
    /// Such a part has no wire form. The sequence is sent unchanged, and does not stop the model at
    /// that marker.
    #[must_use]
    pub fn stop_fragments(&self) -> u64 {
        self.stop_fragments
    }
}

impl AddAssign<&Self> for RemapReport {
    fn add_assign(&mut self, other: &Self) {
        for (tally, more) in self.tallies.iter_mut().zip(&other.tallies) {
            *tally += more;
        }
        self.stop_fragments = self.stop_fragments.saturating_add(other.stop_fragments);
        self.undecoded = self.undecoded.saturating_add(other.undecoded);
    }
}
