//! The arguments of `families` that make a grammar.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use llm_stream_guard::Start;

use super::settings::word;

/// Arguments of `families --grammar`.
#[derive(Debug, Args)]
pub(crate) struct GrammarArgs {
    /// Write a grammar of calls in this language; its differences from the schemas of the tools are
    /// reported on standard error
    #[arg(long, value_enum, value_name = "LANGUAGE", requires_all = ["name", "tools"],
        conflicts_with_all = ["json", "show", "export", "resolve"])]
    pub(crate) grammar: Option<GrammarLanguage>,
    /// The profile, tool-call family or model that the grammar is for
    #[arg(value_name = "NAME", requires = "grammar")]
    pub(crate) name: Option<String>,
    /// JSON array of the tools that may be called, as in an OpenAI request
    #[arg(long, value_name = "FILE", requires = "grammar")]
    pub(crate) tools: Option<PathBuf>,
    /// The calls that the grammar admits: `required` (at least one), `auto` (text or calls), `none`,
    /// or the name of the only tool
    #[arg(
        long,
        value_name = "required|auto|none|TOOL",
        default_value = "required",
        requires = "grammar"
    )]
    pub(crate) choice: String,
    /// Admit at most one call
    #[arg(long, requires = "grammar")]
    pub(crate) single: bool,
    /// Where the prompt leaves off [default: where the model's template does]
    #[arg(long, value_parser = word::<Start>(), requires = "grammar")]
    pub(crate) start: Option<Start>,
}

/// A language of grammars.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum GrammarLanguage {
    /// GBNF, for the field `grammar` of llama.cpp's server
    Gbnf,
    /// The fields of a request to llama.cpp's `/completion`: the grammar holds from a marker on
    LazyGbnf,
    /// A structural tag of XGrammar, for vLLM and SGLang
    StructuralTag,
    /// Lark, for llguidance; unquoted `<..>` are special tokens
    Lark,
    /// A regular expression over the whole answer, for Outlines
    Regex,
}
