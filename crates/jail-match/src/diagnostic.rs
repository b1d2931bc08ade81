//! Diagnostics: what is worth knowing and no error.

/// Something worth knowing that is not an error; never fatal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Diagnostic {
    /// What happened.
    pub kind: DiagnosticKind,
    /// Offset in the stream, in bytes.
    pub at: u64,
    /// How many bytes of input it concerns; 0 where none were dropped.
    pub bytes: u64,
    /// The call it is about, if any.
    pub call: Option<u32>,
}

impl Diagnostic {
    /// A diagnostic about no call.
    #[must_use]
    pub const fn new(kind: DiagnosticKind, at: u64, bytes: u64) -> Self {
        Self { kind, at, bytes, call: None }
    }

    /// The same diagnostic about a call, or about none.
    #[must_use]
    pub const fn about(self, call: Option<u32>) -> Self {
        Self { call, ..self }
    }
}

/// What a [`Diagnostic`] is about: the driver, a stage around it, or a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DiagnosticKind {
    /// A candidate outgrew [`crate::Limits::candidate`].
    CandidateLimit,
    /// A whitespace run outgrew [`crate::Limits::whitespace`] and became text.
    WhitespaceLimit,
    /// An opener was taken as text because [`crate::Limits::depth`] channels were open.
    DepthLimit,
    /// Text was released without another look because it had been looked at too often.
    RescanLimit,
    /// A closer ended reasoning that began in the prompt unknown to the driver: it was dropped, and
    /// what came before it was content.
    OrphanCloser,
    /// Reasoning outgrew [`crate::ReasoningLimit`]; reported when the span of it ends, with how
    /// many bytes were over.
    ReasoningLimit,
    /// The model repeated an opener without end. The driver never looks: a stage before it may.
    Collapse,
    /// A delimiter of the wire lost a character and was passed on as text. The driver never looks:
    /// a decoder before it does.
    DamagedMarker,
    /// A call began with the wire's marker and ended with the canonical one, or the other way round;
    /// it was accepted. The driver never looks: a decoder before it does.
    MixedMarkers,
    /// The stream ended after an opener, before anything made sure what it opens, or behind the
    /// first token of a marker of several; the bytes count as markup and are dropped.
    CutOpener,
    /// A jailed block outgrew its limit of bytes.
    JailBytes,
    /// More blocks than a jail may open in one stream.
    JailCount,
    /// A block took more chunks than it may.
    JailChunks,
    /// A block took more time than it may.
    JailTime,
    /// The stream ended inside a block that must not be left open.
    JailUnclosed,
    /// A block was dropped.
    JailDropped,
    /// A body halted; what followed it was dropped.
    Halted,
    /// A list of calls between explicit markers was empty, or held text and no call.
    EmptyList,
    /// A block of calls is text, as its first call broke or was cut.
    BrokenBlock,
    /// Bytes after a broken call were dropped.
    Skipped,
    /// A second key for the arguments was ignored.
    SecondArguments,
    /// An id came too late to be used.
    LateId,
    /// The end marker never came.
    MissingCloser,
    /// Text between the markers of a section was dropped.
    Noise,
    /// The calls of a block came once more directly behind its end, without its opener: they were
    /// dropped.
    Echo,
    /// A parameter was given twice, and this one was dropped.
    DuplicateParameter,
    /// A parameter's text did not fit its declared type and was kept as a string.
    Mistyped,
    /// A pseudo call of the family (a name that means "no tool") was dropped.
    PseudoCall,
    /// The name is not among the declared tools.
    UndeclaredTool,
    /// A call beyond the first was dropped because parallel calls are off.
    ParallelCall,
    /// A literal that JSON cannot express.
    Inexpressible,
    /// An id was used before in this message and got a suffix.
    DuplicateId,
    /// A call was dropped because the request did not ask for it.
    UnwantedCall,
    /// What had to be calls was none, and was dropped.
    BadPayload,
    /// Text after a stop string was dropped.
    AfterStop,
    /// Arguments were not JSON in a way that is tolerated, or held arrays or objects as strings where
    /// the schema admits no string.
    Tolerated,
    /// A part of the message was not what its template says, and was dropped or became text.
    MalformedRegion,
}

impl DiagnosticKind {
    /// Whether a limit was hit.
    #[must_use]
    pub const fn is_limit(self) -> bool {
        matches!(
            self,
            Self::CandidateLimit
                | Self::WhitespaceLimit
                | Self::DepthLimit
                | Self::RescanLimit
                | Self::ReasoningLimit
                | Self::JailBytes
                | Self::JailCount
                | Self::JailChunks
                | Self::JailTime
        )
    }

    /// A short, stable name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::CandidateLimit => "candidate_limit",
            Self::WhitespaceLimit => "whitespace_limit",
            Self::DepthLimit => "depth_limit",
            Self::RescanLimit => "rescan_limit",
            Self::OrphanCloser => "orphan_closer",
            Self::ReasoningLimit => "reasoning_limit",
            Self::Collapse => "collapse",
            Self::DamagedMarker => "damaged_marker",
            Self::MixedMarkers => "mixed_markers",
            Self::CutOpener => "cut_opener",
            Self::JailBytes => "jail_bytes",
            Self::JailCount => "jail_count",
            Self::JailChunks => "jail_chunks",
            Self::JailTime => "jail_time",
            Self::JailUnclosed => "jail_unclosed",
            Self::JailDropped => "jail_dropped",
            Self::Halted => "halted",
            Self::EmptyList => "empty_list",
            Self::BrokenBlock => "broken_block",
            Self::Skipped => "skipped",
            Self::SecondArguments => "second_arguments",
            Self::LateId => "late_id",
            Self::MissingCloser => "missing_closer",
            Self::Noise => "noise",
            Self::Echo => "echo",
            Self::DuplicateParameter => "duplicate_parameter",
            Self::Mistyped => "mistyped",
            Self::PseudoCall => "pseudo_call",
            Self::UndeclaredTool => "undeclared_tool",
            Self::ParallelCall => "parallel_call",
            Self::Inexpressible => "inexpressible",
            Self::DuplicateId => "duplicate_id",
            Self::UnwantedCall => "unwanted_call",
            Self::BadPayload => "bad_payload",
            Self::AfterStop => "after_stop",
            Self::Tolerated => "tolerated",
            Self::MalformedRegion => "malformed_region",
        }
    }
}
