//! Limits without a setting: bounds on held text, files, work and time. `docs/limits.md` lists those that
//! a stream can meet.

use std::time::Duration;

/// Maximum number of bytes in which the form of a recording is detected.
pub(crate) const MAX_FORMAT_HEAD: usize = 64 << 10;

/// Maximum length of a `tokenizer.json` that is read, in bytes. It holds the whole vocabulary.
pub(crate) const MAX_TOKENIZER_BYTES: u64 = 128 << 20;

/// Maximum number of added tokens. Known tokenizers have fewer than 10,000.
pub(crate) const MAX_ADDED_TOKENS: usize = 1 << 16;

/// Number of tokens of a vocabulary whose lengths are kept. Known vocabularies have fewer than 300,000.
pub(crate) const MAX_VOCABULARY: usize = 1 << 20;

/// Maximum length of the texts of all added tokens together, in bytes.
pub(crate) const MAX_ADDED_TEXT_BYTES: usize = 4 << 20;

/// Time after which a worker that renders chat templates is killed.
pub(crate) const MAX_WORKER_TIME: Duration = Duration::from_secs(3);

/// Maximum length of a worker's reply, in bytes.
pub(crate) const MAX_WORKER_REPLY: u64 = 16 << 20;

/// Maximum length of a piece of markup in a chat template, in bytes.
pub(crate) const MAX_MARK_BYTES: usize = 96;

/// Maximum length of another text file of a checkpoint, in bytes. A `tokenizer_config.json` lists added tokens, and
/// can have some megabytes.
pub(crate) const MAX_CHECKPOINT_FILE_BYTES: u64 = 16 << 20;

/// Maximum length of all kept members of a checkpoint's file together, in bytes.
pub(crate) const MAX_MEMBER_BYTES: usize = 4 << 20;

/// Maximum length of a text in a GGUF file that is kept, in bytes.
pub(crate) const MAX_GGUF_TEXT_BYTES: u64 = 4 << 20;

/// Maximum number of keys in a GGUF file.
pub(crate) const MAX_GGUF_KEYS: u64 = 1 << 16;

/// Maximum length of the head of a GGUF file, in bytes. Vocabularies take tens of megabytes.
pub(crate) const MAX_GGUF_HEAD_BYTES: u64 = 256 << 20;

/// Maximum length of a rendered turn that is examined, in bytes.
pub(crate) const MAX_TURN_BYTES: usize = 16 << 10;

/// Maximum length of a rendered turn from which a family is derived, in bytes. The turn is read once
/// for each cut.
#[cfg(feature = "toml")]
pub(crate) const MAX_DERIVED_BYTES: usize = 4 << 10;

/// Time after which no further file of a family is tried for a chat template.
#[cfg(feature = "toml")]
pub(crate) const MAX_DERIVE_TIME: Duration = Duration::from_secs(3);

/// Minimum length of an event or a whole answer whose values are counted before it is parsed, in bytes.
pub(crate) const MIN_CONDENSED_BYTES: usize = 16 << 10;

/// Maximum memory of the parsed members of an event or a whole answer, in bytes, besides its texts, log
/// probabilities and token ids.
pub(crate) const MAX_PARSED_BYTES: usize = 8 << 20;

/// Maximum memory of the parsed log probabilities and token ids of an event or a whole answer, in bytes.
pub(crate) const MAX_PARSED_TOKEN_BYTES: usize = 32 << 20;

/// Maximum number of bytes of each text in which families are detected.
pub(crate) const MAX_DETECTED_BYTES: usize = 1 << 20;

/// Maximum number of candidates in the result of a detection.
pub(crate) const MAX_CANDIDATES: usize = 5;

/// Maximum number of searches for other families' markers that are kept for later guards.
pub(crate) const MAX_SHARED_MARKERS: usize = 64;

/// Maximum delay of a server's text after its token ids, in bytes. Servers hold back beginnings of
/// stop strings.
pub(crate) const MAX_TEXT_LAG: usize = 256;

/// Maximum number of marker tokens whose text is awaited.
pub(crate) const MAX_AWAITED_MARKERS: usize = 64;

/// Maximum number of calls of a message whose mixed markers are reported. All of them are counted.
pub(crate) const MAX_MIXED_REPORTS: usize = 64;

/// Maximum number of annotations that wait for their chunk. Further ones are
/// emitted alone where items can carry them so, and dropped otherwise.
pub(crate) const MAX_WAITING_ANNOTATIONS: usize = 1024;

/// Maximum number of chunks without choices that wait because they may end the stream.
pub(crate) const MAX_TAIL_CHUNKS: usize = 16;

/// Maximum length of an event's frame that is kept, in bytes.
pub(crate) const MAX_FRAME_BYTES: usize = 4 * 1024;

/// Maximum number of choices whose frames are kept.
pub(crate) const MAX_FRAMES: usize = 8;

/// Maximum number of bytes that wait after the last bracket of a call's arguments, with that
/// bracket. Only white space can follow it in a call that runs.
pub(crate) const MAX_LAST_BYTES: usize = 64;

/// Maximum depth of brackets whose kind is known. JSON readers refuse deeper texts.
pub(crate) const MAX_KNOWN_DEPTH: usize = 512;

/// Maximum number of declared tools whose names are searched for in content.
pub(crate) const MAX_SOUGHT_NAMES: usize = 64;

/// Maximum number of texts of one choice that are redacted apart.
pub(crate) const MAX_LANES: usize = 256;

/// Maximum number of choices of a stream that collectors and redaction follow. A redacted stream with
/// more is ended, further choices of a refused stream get no finish reason, and a collected answer
/// with more never counts as whole.
pub(crate) const MAX_TRACKED_CHOICES: usize = 1024;

/// Maximum length of a rendering of a chat template, in bytes.
#[cfg(any(feature = "jinja", feature = "toml"))]
pub(crate) const MAX_RENDERING_BYTES: usize = 128 << 10;

/// Limits of rendering chat templates.
#[cfg(feature = "jinja")]
pub(crate) mod rendering {
    /// Maximum number of engine instructions per rendering. A few messages and tools take thousands; a
    /// stranger's template may loop.
    pub(crate) const MAX_RENDER_STEPS: u64 = 200_000;

    /// Bytes of stack for a rendering. Each instruction may nest a list, and the engine prints and
    /// drops nested lists recursively. The system allocates only touched pages.
    pub(crate) const RENDER_STACK_BYTES: usize = 128 << 20;

    /// Maximum indentation that a chat template may ask for, in columns.
    pub(crate) const MAX_INDENT: usize = 256;

    /// Maximum length of a chat template, in bytes. The engine's parser recurses at most once per character
    /// and uses at most a kilobyte of stack each time.
    pub(crate) const MAX_TEMPLATE_BYTES: usize = 96 << 10;

    /// Maximum length of a reported problem of a chat template, in bytes.
    pub(crate) const MAX_PROBLEM_BYTES: usize = 400;
}

/// Maximum number of compiled guards that a reader of rows keeps.
pub(crate) const MAX_ROW_GUARDS: usize = 64;

/// Limits of the search for the file of a derived family.
#[cfg(feature = "toml")]
pub(crate) mod deriving {
    /// Maximum number of drafts that are compared with the renderings.
    pub(crate) const MAX_DRAFTS: usize = 160;

    /// Maximum number of drafts whose reading is proved.
    pub(crate) const MAX_PROOFS: usize = 12;

    /// Maximum number of the project's families that are tried for a chat template.
    pub(crate) const MAX_TRIED_FAMILIES: usize = 4;

    /// Maximum number of places at which a text that two renderings share is cut, besides the last.
    pub(crate) const MAX_TEXT_CUTS: usize = 4;
}
