//! One object per request that drives both directions.

use alloc::{borrow::Cow, string::String};

use crate::{
    decode::StreamDecoder,
    encode::StreamEncoder,
    error::{Problem, RemapTableError},
    pair::Mode,
    piece::MarkerDetection,
    segment::{Quoting, Syntax},
    table::RemapTable,
    tally::Location,
};

/// Which optional texts are remapped, in both directions alike.
///
/// Messages, prompts, stop sequences and predictions always are; so are content and refusals on
/// the way back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Scope {
    /// Replayed and arriving reasoning.
    pub reasoning: bool,
    /// Arguments of native tool calls, replayed and arriving; and values named in tool schemas
    /// (`enum`, `const`, `default`, `examples`) if `schemas` is set too.
    pub arguments: bool,
    /// Descriptions of tools and of their parameters.
    pub schemas: bool,
}

impl Default for Scope {
    /// Everything: what is left out reaches the model with its reserved tokens.
    fn default() -> Self {
        Self { reasoning: true, arguments: true, schemas: true }
    }
}

/// What happens to markers in text that is not protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum MarkerPolicy {
    /// As protocol text: canonical markers become wire markers, literal wire markers are escaped.
    #[default]
    Encode,
    /// Canonical markers become quoted ones (`[[~~CALL]]`): the model sees neither marker, and
    /// what it echoes decodes to text, not to markup. Exact mode only.
    EscapeLiteral,
    /// Untouched: reserved tokens reach the model, and wire markers in the text come back as
    /// canonical ones. Exactness does not hold for such text.
    Leave,
}

/// Policies for outbound text by who wrote it; [`MarkerPolicy::Encode`] unless set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Provenance {
    /// User messages.
    pub user: MarkerPolicy,
    /// Tool results.
    pub tool: MarkerPolicy,
}

/// How one request, and the response to it, are remapped.
///
/// Decide it once per request and use the same value for both directions; a value is immutable
/// and cheap to clone. [`Regime::off`] changes nothing in either direction.
///
/// ```
/// use wire_remap::{CapabilityTable, Regime};
/// let regime = CapabilityTable::hermes_families().regime("vllm", "Qwen3-32B");
/// let asked = regime.encode("Call tools like this:\n<tool_call>{}</tool_call>").into_owned();
/// assert_eq!(asked, "Call tools like this:\n[[CALL]]{}[[/CALL]]");
/// assert_eq!(regime.decode("[[CALL]]\n{}\n[[/CALL]]"), "<tool_call>\n{}\n</tool_call>");
/// assert_eq!(Regime::off().encode("<tool_call>"), "<tool_call>");
/// ```
#[derive(Debug, Clone, Default)]
pub struct Regime {
    table: Option<RemapTable>,
    scope: Scope,
    provenance: Provenance,
    detection: Option<MarkerDetection>,
}

impl Regime {
    /// Creates a regime without a remap: every operation is the identity.
    #[must_use]
    pub const fn off() -> Self {
        Self {
            table: None,
            scope: Scope { reasoning: true, arguments: true, schemas: true },
            provenance: Provenance { user: MarkerPolicy::Encode, tool: MarkerPolicy::Encode },
            detection: None,
        }
    }

    /// Remaps by `table`.
    #[must_use]
    pub fn on(table: RemapTable) -> Self {
        Self { table: Some(table), ..Self::default() }
    }

    /// Chooses which optional texts are remapped.
    #[must_use]
    pub fn with_scope(self, scope: Scope) -> Self {
        Self { scope, ..self }
    }

    /// Chooses what happens to markers in text of users, tools and the model.
    ///
    /// # Errors
    ///
    /// When [`MarkerPolicy::EscapeLiteral`] is asked of a table in [`Mode::Plain`].
    pub fn with_provenance(self, provenance: Provenance) -> Result<Self, RemapTableError> {
        let Provenance { user, tool } = provenance;
        let escapes = [user, tool].contains(&MarkerPolicy::EscapeLiteral);
        if escapes && self.table.as_ref().is_some_and(|table| table.mode() == Mode::Plain) {
            let problem = Problem::PlainCannotEscape;
            return Err(RemapTableError { entry: 0, marker: String::new(), problem });
        }
        Ok(Self { provenance, ..self })
    }

    /// Chooses which decoded markers count as tool markup.
    ///
    /// Unless chosen, [`MarkerDetection::Structural`] for the pieces of a decoder; what reads decoded
    /// text itself (a guard) then lets each be what the canonical marker would be there.
    #[must_use]
    pub fn with_detection(self, detection: MarkerDetection) -> Self {
        Self { detection: Some(detection), ..self }
    }

    /// Which decoded markers count as tool markup, if that was chosen.
    #[must_use]
    pub fn detection(&self) -> Option<MarkerDetection> {
        self.detection
    }

    /// The table; `None` when off.
    #[must_use]
    pub fn table(&self) -> Option<&RemapTable> {
        self.table.as_ref()
    }

    /// Which optional texts are remapped.
    #[must_use]
    pub fn scope(&self) -> Scope {
        self.scope
    }

    /// Protocol text to wire text; borrowed when unchanged.
    #[must_use]
    pub fn encode<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.table.as_ref().map_or(Cow::Borrowed(text), |table| table.encode(text))
    }

    /// Wire text to canonical text; borrowed when unchanged.
    #[must_use]
    pub fn decode<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.table.as_ref().map_or(Cow::Borrowed(text), |table| table.decode(text))
    }

    /// An encoder for one stream of text that stands at `location`, under the same scope and
    /// provenance as in a body; `None` when such text is sent as it is.
    #[must_use]
    pub fn encoder(&self, location: Location) -> Option<StreamEncoder> {
        let quoting = self.outgoing(location)?;
        Some(StreamEncoder::with_quoting(self.table.as_ref()?, quoting, Syntax::Text))
    }

    /// A decoder for one stream of model text; `None` when off.
    #[must_use]
    pub fn decoder(&self) -> Option<StreamDecoder> {
        let decoder = StreamDecoder::new(self.table.as_ref()?);
        Some(decoder.detection(self.detection.unwrap_or_default()))
    }

    /// How outgoing text of a location is written; `None` leaves it alone.
    pub(crate) fn outgoing(&self, location: Location) -> Option<Quoting> {
        let policy = match location {
            Location::User => self.provenance.user,
            Location::ToolResult => self.provenance.tool,
            _ => MarkerPolicy::Encode,
        };
        match policy {
            _ if !self.covers(location) => None,
            MarkerPolicy::Encode => Some(Quoting::Protocol),
            MarkerPolicy::EscapeLiteral => Some(Quoting::Literal),
            MarkerPolicy::Leave => None,
        }
    }

    /// Whether texts of a location are in scope.
    pub(crate) fn covers(&self, location: Location) -> bool {
        match location {
            Location::Reasoning => self.scope.reasoning,
            Location::Arguments => self.scope.arguments,
            Location::ToolDescription => self.scope.schemas,
            Location::ToolValue => self.scope.schemas && self.scope.arguments,
            _ => true,
        }
    }
}

impl From<RemapTable> for Regime {
    fn from(table: RemapTable) -> Self {
        Self::on(table)
    }
}
