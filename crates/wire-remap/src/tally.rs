//! Counters.

use core::ops::AddAssign;

/// What a remap did to the texts of one location, or to one stream.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Tally {
    /// Texts visited.
    pub texts: u64,
    /// Outbound: canonical markers written as wire markers (or quoted, see
    /// [`MarkerPolicy::EscapeLiteral`](crate::MarkerPolicy::EscapeLiteral)).
    pub encoded: u64,
    /// Outbound: literal wire markers escaped.
    pub escaped: u64,
    /// Inbound: wire markers of any form decoded.
    pub decoded: u64,
    /// Inbound: escapes removed.
    pub unescaped: u64,
    /// Inbound: canonical markers that the model wrote although told the wire form.
    pub canonical: u64,
    /// Inbound: blocks opened in one form and closed in the other.
    pub mixed: u64,
    /// Inbound: garbled spellings among `decoded`.
    pub garbled: u64,
    /// Inbound: truncated markers among `decoded`.
    pub recovered: u64,
    /// Inbound: damaged markers reported and left as text.
    pub suspects: u64,
    /// The most bytes held back after a push.
    pub max_held: usize,
}

impl Tally {
    /// Whether any text was changed.
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

/// Where in a body a text stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Location {
    /// System prompt or instructions.
    System,
    /// Developer message.
    Developer,
    /// User message.
    User,
    /// Assistant message of the history.
    Assistant,
    /// Tool or function result; a document to answer from.
    ToolResult,
    /// A last assistant message, which the model is to continue.
    Prefill,
    /// Raw prompt of a completion request.
    Prompt,
    /// Stop sequence, in a request or reported in a response; a word that must not come.
    Stop,
    /// Predicted output.
    Prediction,
    /// Reasoning: replayed in a request, or arriving.
    Reasoning,
    /// Arguments of a native tool call.
    Arguments,
    /// Description of a tool or of its parameters.
    ToolDescription,
    /// A value named in a tool's schema (`enum`, `const`, `default`, `examples`).
    ToolValue,
    /// Answer text of a response.
    Content,
    /// Refusal text of a response.
    Refusal,
}

impl Location {
    /// All locations.
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

/// What a remap did to a body or a stream of events, by location.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RemapReport {
    tallies: [Tally; Location::ALL.len()],
    pub(crate) stop_fragments: u64,
    pub(crate) undecoded: u64,
}

impl RemapReport {
    /// The counters of one location.
    #[must_use]
    pub fn at(&self, location: Location) -> &Tally {
        &self.tallies[location as usize]
    }

    #[cfg(feature = "json")]
    pub(crate) fn at_mut(&mut self, location: Location) -> &mut Tally {
        &mut self.tallies[location as usize]
    }

    /// Adds to the counters of a location.
    pub fn add(&mut self, location: Location, tally: &Tally) {
        self.tallies[location as usize] += tally;
    }

    /// The counters of all locations together.
    #[must_use]
    pub fn total(&self) -> Tally {
        let mut total = Tally::default();
        for tally in &self.tallies {
            total += tally;
        }
        total
    }

    /// Pieces of streamed texts that passed as they were, because too many texts were open.
    #[must_use]
    pub fn undecoded(&self) -> u64 {
        self.undecoded
    }

    /// Stop sequences that are only a piece of a canonical marker (`</tool_call`). A piece has no
    /// wire form, so they were left as they are and will not fire at that marker.
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
