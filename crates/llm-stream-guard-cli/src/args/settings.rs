//! Arguments that are settings of a guard.

use std::path::PathBuf;

use clap::{
    Args,
    builder::{PossibleValuesParser, TypedValueParser},
};
use llm_stream_guard::{
    ArgumentTypes, CallsInCode, Delivery, End, GuardSettings, Ids, LimitSettings, Start,
    Whitespace, Word,
};

/// Settings of a guard.
#[derive(Debug, Args)]
pub(crate) struct SettingArgs {
    /// JSON array of the tools the request declared, as in an OpenAI request
    #[arg(long, value_name = "FILE")]
    pub(crate) tools: Option<PathBuf>,
    /// Where the stream begins, if the prompt opened or closed the reasoning
    #[arg(long, value_parser = word::<Start>())]
    pub(crate) start: Option<Start>,
    /// The prompt as it was rendered, or its last turn: the stream begins where it ends
    #[arg(long, value_name = "FILE", conflicts_with = "start")]
    pub(crate) prompt: Option<PathBuf>,
    /// How the stream ended, if the input does not show it
    ///
    /// `stop`: the model stopped by itself. `length`: a token limit cut the stream. `aborted`: an
    /// error or the client did.
    #[arg(long, value_parser = word::<End>())]
    pub(crate) finish: Option<End>,
    /// White space around markup [default: the family's policy]
    ///
    /// `framing` drops blanks between markup. `verbatim` keeps every byte. `trim` trims text next to
    /// markup. `before_calls` drops blanks before calls only, `reasoning_end` those at the end of
    /// reasoning only.
    #[arg(long, value_parser = word::<Whitespace>())]
    pub(crate) whitespace: Option<Whitespace>,
    /// Whether events of a call are printed as they are read or together at its end
    #[arg(long, value_parser = word::<Delivery>(), default_value = "streaming")]
    pub(crate) delivery: Delivery,
    /// Whether calls in inline code and fenced blocks of the answer run
    ///
    /// `text`: they are text if the code is closed after them.
    #[arg(long, value_parser = word::<CallsInCode>())]
    pub(crate) in_code: Option<CallsInCode>,
    /// Whether strings in arguments become the numbers, booleans and nulls that the tool declares
    ///
    /// `declared`: `"2"` becomes 2 where only an integer is declared, and the call is repaired.
    #[arg(long, value_parser = word::<ArgumentTypes>())]
    pub(crate) argument_types: Option<ArgumentTypes>,
    /// Maximum number of bytes held after an opener that is not certain yet
    #[arg(long, value_name = "BYTES")]
    pub(crate) limit_candidate: Option<usize>,
    /// Maximum number of bytes of white space held
    #[arg(long, value_name = "BYTES")]
    pub(crate) limit_whitespace: Option<usize>,
    /// Maximum number of channels open at once
    #[arg(long, value_name = "COUNT")]
    pub(crate) limit_depth: Option<usize>,
}

/// Reads one of the words of `T`.
pub(super) fn word<T: Word + Clone + Send + Sync + 'static>() -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(T::WORDS.iter().copied()).try_map(|word| word.parse::<T>())
}

impl From<&SettingArgs> for GuardSettings {
    /// Returns the settings without those that are read from files.
    fn from(args: &SettingArgs) -> Self {
        let mut limits = LimitSettings::default();
        limits.candidate = args.limit_candidate;
        limits.whitespace = args.limit_whitespace;
        limits.depth = args.limit_depth;
        let mut settings = Self::default();
        settings.start = args.start;
        settings.whitespace = args.whitespace;
        settings.in_code = args.in_code;
        settings.argument_types = args.argument_types;
        settings.delivery = Some(args.delivery);
        settings.limits = Some(limits);
        // Counted ids give the same output for the same recording.
        settings.ids = Some(Ids::counting());
        settings
    }
}
