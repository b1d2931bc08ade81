//! The settings of one request, for both directions.

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

/// A selection of the optional texts that are remapped, in both directions.
///
/// Messages, prompts, stop sequences and predictions of a request are always remapped. So are
/// content and refusals of a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Scope {
    /// Reasoning, replayed in a request or received.
    pub reasoning: bool,
    /// Arguments of native tool calls, replayed in a request or received. With `schemas`, also the
    /// values named in tool schemas (`enum`, `const`, `default`, `examples`).
    pub arguments: bool,
    /// Descriptions of tools and of their parameters.
    pub schemas: bool,
}

impl Default for Scope {
    /// Selects all texts. A text that is not selected reaches the model with its reserved tokens.
    fn default() -> Self {
        Self { reasoning: true, arguments: true, schemas: true }
    }
}

/// Treatment of markers in text of users and tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum MarkerPolicy {
    /// Canonical markers become wire markers, and literal wire markers are escaped, as in a system
    /// prompt.
    #[default]
    Encode,
    /// Canonical markers are quoted (`[[~~CALL]]`). The model sees neither kind of marker, and its
    /// echo is decoded to text that is not markup. Exact mode only.
    EscapeLiteral,
    /// The text stays unchanged. Reserved tokens reach the model, and an echo of wire markers in
    /// the text is decoded to canonical ones, so that it is not restored exactly.
    Leave,
}

/// Policies for outgoing text by author. The default is [`MarkerPolicy::Encode`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Provenance {
    /// Policy for user messages.
    pub user: MarkerPolicy,
    /// Policy for tool results.
    pub tool: MarkerPolicy,
}

/// The remap of one request and its response.
///
/// Select it once per request and use the same value for both directions. A regime is immutable and
/// cheap to clone. [`Regime::off`] changes nothing in either direction.
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
    /// Creates a regime that changes nothing.
    #[must_use]
    pub const fn off() -> Self {
        Self {
            table: None,
            scope: Scope { reasoning: true, arguments: true, schemas: true },
            provenance: Provenance { user: MarkerPolicy::Encode, tool: MarkerPolicy::Encode },
            detection: None,
        }
    }

    /// Creates a regime that remaps by `table`.
    #[must_use]
    pub fn on(table: RemapTable) -> Self {
        Self { table: Some(table), ..Self::default() }
    }

    /// Sets which optional texts are remapped.
    ///
    /// ```
    /// use wire_remap::{Location, Regime, RemapTable, Scope};
    /// let scope = Scope { reasoning: false, ..Scope::default() };
    /// let regime = Regime::on(RemapTable::hermes()).with_scope(scope);
    /// assert!(regime.encoder(Location::Reasoning).is_none());
    /// assert!(regime.encoder(Location::User).is_some());
    /// ```
    #[must_use]
    pub fn with_scope(self, scope: Scope) -> Self {
        Self { scope, ..self }
    }

    /// Sets the policies for text of users and tools.
    ///
    /// ```
    /// use wire_remap::{Location, MarkerPolicy, Provenance, Regime, RemapTable};
    /// let quoted = Provenance { user: MarkerPolicy::EscapeLiteral, ..Provenance::default() };
    /// let regime = Regime::on(RemapTable::hermes()).with_provenance(quoted)?;
    /// let (mut encoder, mut wire) = (regime.encoder(Location::User).expect("in scope"), String::new());
    /// encoder.push("What is <tool_call>?", &mut wire);
    /// encoder.finish(&mut wire);
    /// assert_eq!(wire, "What is [[~~CALL]]?");
    /// assert_eq!(regime.decode(&wire), "What is <tool_call>?");
    /// # Ok::<(), wire_remap::RemapTableError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error for [`MarkerPolicy::EscapeLiteral`] for a table in [`Mode::Plain`].
    pub fn with_provenance(self, provenance: Provenance) -> Result<Self, RemapTableError> {
        let Provenance { user, tool } = provenance;
        let escapes = [user, tool].contains(&MarkerPolicy::EscapeLiteral);
        if escapes && self.table.as_ref().is_some_and(|table| table.mode() == Mode::Plain) {
            let problem = Problem::PlainCannotEscape;
            return Err(RemapTableError { entry: 0, marker: String::new(), problem });
        }
        Ok(Self { provenance, ..self })
    }

    /// Sets which decoded markers count as tool markup.
    ///
    /// By default, the pieces of a decoder count by [`MarkerDetection::Structural`], and a guard
    /// reads the decoded text with each marker as a canonical one.
    #[must_use]
    pub fn with_detection(self, detection: MarkerDetection) -> Self {
        Self { detection: Some(detection), ..self }
    }

    /// Returns the detection that was set, if any.
    #[must_use]
    pub fn detection(&self) -> Option<MarkerDetection> {
        self.detection
    }

    /// Returns the table, or `None` if the regime is off.
    #[must_use]
    pub fn table(&self) -> Option<&RemapTable> {
        self.table.as_ref()
    }

    /// Returns the selection of optional texts.
    #[must_use]
    pub fn scope(&self) -> Scope {
        self.scope
    }

    /// Encodes protocol text as wire text. Unchanged text is returned borrowed.
    #[must_use]
    pub fn encode<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.table.as_ref().map_or(Cow::Borrowed(text), |table| table.encode(text))
    }

    /// Decodes wire text to canonical text. Unchanged text is returned borrowed.
    #[must_use]
    pub fn decode<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.table.as_ref().map_or(Cow::Borrowed(text), |table| table.decode(text))
    }

    /// Returns an encoder for one stream of text at `location`, or `None` if such text is sent
    /// unchanged. Scope and policies apply as in a body.
    #[must_use]
    pub fn encoder(&self, location: Location) -> Option<StreamEncoder> {
        let quoting = self.outgoing(location)?;
        Some(StreamEncoder::with_quoting(self.table.as_ref()?, quoting, Syntax::Text))
    }

    /// Returns a decoder for one stream of model text, or `None` if the regime is off.
    #[must_use]
    pub fn decoder(&self) -> Option<StreamDecoder> {
        let decoder = StreamDecoder::new(self.table.as_ref()?);
        Some(decoder.detection(self.detection.unwrap_or_default()))
    }

    /// Returns the spelling of markers in outgoing text at `location`, or `None` if it stays
    /// unchanged.
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

    /// Returns whether texts of a location are in scope.
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
