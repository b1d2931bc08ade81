//! Diagnostics: notices about the input that are not errors.

/// A notice about the input. A diagnostic is never fatal.
///
/// ```
/// use jail_match::DiagnosticKind;
/// let kind = DiagnosticKind::CutOpener;
/// assert_eq!(kind.name(), "cut_opener");
/// assert!(!kind.is_limit() && !kind.remedy().is_empty());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Diagnostic {
    /// The kind of the notice.
    pub kind: DiagnosticKind,
    /// The stream offset, in bytes.
    pub at: u64,
    /// The number of input bytes concerned; 0 if the notice concerns a place.
    pub bytes: u64,
    /// The call concerned, if any.
    pub call: Option<u32>,
}

impl Diagnostic {
    /// Creates a diagnostic that concerns no call.
    #[must_use]
    pub const fn new(kind: DiagnosticKind, at: u64, bytes: u64) -> Self {
        Self { kind, at, bytes, call: None }
    }

    /// Sets the call that the diagnostic concerns.
    #[must_use]
    pub const fn about(self, call: Option<u32>) -> Self {
        Self { call, ..self }
    }
}

/// Declares the kinds, each with its name, its meaning and its remedy, so that no kind can lack
/// one.
macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident = $name:literal, $meaning:literal, $remedy:literal;)*) => {
        /// The kind of a [`Diagnostic`]. It concerns the driver, a stage before or after it, or a
        /// call.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum DiagnosticKind {
            $($(#[$doc])* $kind,)*
        }

        impl DiagnosticKind {
            /// All kinds, in the order of their declaration.
            pub const ALL: &[Self] = &[$(Self::$kind),*];

            /// Returns a short, stable name.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$kind => $name,)*
                }
            }

            /// Returns what happened, in plain words.
            #[must_use]
            pub const fn meaning(self) -> &'static str {
                match self {
                    $(Self::$kind => $meaning,)*
                }
            }

            /// Returns what to do about it; empty where nothing need be done.
            #[must_use]
            pub const fn remedy(self) -> &'static str {
                match self {
                    $(Self::$kind => $remedy,)*
                }
            }
        }
    };
}

kinds! {
    /// A candidate was longer than [`crate::Limits::candidate`].
    CandidateLimit = "candidate_limit", "text after an opener stayed undecided for too long and was given up", "raise the limit `candidate` if real calls are that long before their name is known";
    /// A whitespace run was longer than [`crate::Limits::whitespace`] and became text.
    WhitespaceLimit = "whitespace_limit", "a run of whitespace was longer than its limit and became text", "raise the limit `whitespace` if the model pads its markup that far";
    /// An opener became text because [`crate::Limits::depth`] channels were open.
    DepthLimit = "depth_limit", "an opener was taken for text because too many channels were open", "look for openers without closers before it";
    /// Text was released without being scanned again, because it had been scanned too often.
    RescanLimit = "rescan_limit", "text that kept looking like the start of a call was released without another look", "look at the text: it repeats an opener";
    /// A closer ended reasoning that the driver did not know to be open, because it began in the
    /// prompt. The closer was dropped, and the text before it was content.
    OrphanCloser = "orphan_closer", "reasoning was closed that nothing in the stream had opened", "state that the prompt opened it: `--start reasoning`, or give the guard the prompt or the model";
    /// Reasoning was longer than [`crate::ReasoningLimit`]. Reported at the end of its span, with
    /// the number of bytes over the limit.
    ReasoningLimit = "reasoning_limit", "the reasoning was longer than its limit", "raise the limit, or ask the model to think less";
    /// The model repeated an opener without end. Reported by a stage before the driver.
    Collapse = "collapse", "the model repeated an opener without end", "sample again, with a repetition penalty or another temperature";
    /// A delimiter on the wire lacked a character and was passed on as text. Reported by a decoder
    /// before the driver.
    DamagedMarker = "damaged_marker", "a marker had lost a character on the wire and passed as text", "look for what rewrites text between server and guard";
    /// A call began with one form of its delimiters and ended with the other, and was accepted.
    /// Reported by a decoder before the driver.
    MixedMarkers = "mixed_markers", "a call began in one form of the delimiters and ended in the other; it was read", "show the model one form: look for the other in the prompt";
    /// The stream ended after an opener whose body had not committed, or after the first of a
    /// marker's tokens. The bytes count as markup and are dropped.
    CutOpener = "cut_opener", "the stream ended right after an opener, before a call had a name", "raise the token limit of the request, or look why the stream broke off";
    /// A jailed block was longer than its limit in bytes.
    JailBytes = "jail_bytes", "a jailed block was longer than its limit of bytes", "raise the limit of the pair if real blocks are that long";
    /// A stream held more blocks than the jail may open.
    JailCount = "jail_count", "there were more jailed blocks than the jail allows", "raise the count if a stream may have that many";
    /// A jailed block took more chunks than its limit allows.
    JailChunks = "jail_chunks", "a jailed block took more chunks than it may", "raise the limit, or look why the end of the block never came";
    /// A jailed block took more time than its limit allows.
    JailTime = "jail_time", "a jailed block took more time than it may", "raise the limit, or look why the end of the block never came";
    /// The stream ended inside a block that must not be left open.
    JailUnclosed = "jail_unclosed", "the stream ended inside a jailed block", "look at the end of the text: the token limit may have cut the block";
    /// A jailed block was dropped.
    JailDropped = "jail_dropped", "a jailed block was dropped", "";
    /// A body halted, and the text after it was dropped.
    Halted = "halted", "text after the end of the calls was dropped", "";
    /// A list of calls between explicit markers was empty, or held text but no call.
    EmptyList = "empty_list", "a block of calls has no call in it: its markup was removed, other text in it passed", "nothing to mend if the model called nothing; if it meant a call, its syntax is not the family's";
    /// A block of calls became text because its first call was malformed or was cut.
    BrokenBlock = "broken_block", "a block of calls became text: its first call was malformed or was cut", "look at the text: the model left the family's syntax in the first call, or the token limit cut it";
    /// A block of calls inside code stayed text, as the caller asked.
    CallInCode = "call_in_code", "a block of calls inside code of the answer stayed text", "nothing to mend if the model only quoted it; set `in_code` to `run` if such calls are meant";
    /// Bytes after a malformed call were dropped.
    Skipped = "skipped", "bytes after a malformed call were dropped", "look at the call before it: the model left the family's syntax there";
    /// A call of a declared tool was read that is not in the family's syntax.
    ForeignCall = "foreign_call", "a call of a declared tool was read that has no markers, or those of another family", "ask the server to keep special tokens (`skip_special_tokens: false`); if it does, the model wrote another family's syntax";
    /// A second key for the arguments was ignored.
    SecondArguments = "second_arguments", "a call had its arguments twice; the first count", "";
    /// An id came too late to be used.
    LateId = "late_id", "an id came after its call had begun and was not used", "";
    /// The end marker of a call never came.
    MissingCloser = "missing_closer", "a call's end marker never came; its arguments are whole", "";
    /// Text between the markers of a section was dropped.
    Noise = "noise", "text between the markers of a section of calls was dropped", "look at the text if it was an answer: the model wrote it in the wrong place";
    /// The calls of a block were repeated directly after its end, without its opener, and were
    /// dropped.
    Echo = "echo", "the calls of a block were repeated after its end and dropped", "";
    /// A parameter was given twice, and the second one was dropped.
    DuplicateParameter = "duplicate_parameter", "a parameter was given twice; the first counts", "";
    /// A parameter's text did not fit its declared type and was kept as a string.
    Mistyped = "mistyped", "a parameter's text did not fit its declared type and is a string", "compare the tool's schema with what the model wrote";
    /// A pseudo call of the family (a name that means "no tool") was dropped.
    PseudoCall = "pseudo_call", "the model called the family's name for no tool; it was dropped", "";
    /// A call's name is not among the declared tools.
    UndeclaredTool = "undeclared_tool", "a tool was called that the request does not declare", "declare the tool, or set a policy for unknown tools";
    /// A call beyond the first was dropped because parallel calls are off.
    ParallelCall = "parallel_call", "a call after the first was dropped: parallel calls are off", "allow parallel calls if the application can run several";
    /// A value cannot be written as JSON.
    Inexpressible = "inexpressible", "a value cannot be written as JSON", "compare the arguments with the text: `null` took the place of the value";
    /// An id was used before in this message and got a suffix.
    DuplicateId = "duplicate_id", "an id came twice and got a suffix", "";
    /// A call was dropped because the request did not ask for it.
    UnwantedCall = "unwanted_call", "a call was dropped that the request did not ask for", "look at the tool choice of the request: it names another tool, or none";
    /// Text that had to be calls held none and was dropped.
    BadPayload = "bad_payload", "what had to be calls was none and was dropped", "check that the server constrains decoding when a tool is required";
    /// Text after a stop string was dropped.
    AfterStop = "after_stop", "text after a stop string was dropped", "";
    /// Arguments were repaired: they were not quite JSON, or held arrays or objects as strings
    /// where the schema admits no string.
    Tolerated = "tolerated", "arguments were not quite JSON, or of another type than the schema's, and were repaired", "";
    /// A part of the message did not follow its template, and was dropped or became text.
    MalformedRegion = "malformed_region", "a part of the message was not what its template says", "compare the text there with the checkpoint's template";
}

impl DiagnosticKind {
    /// Returns whether the kind reports a limit that was hit.
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
}
