//! The arguments of the command line.

mod derive;
mod grammar;
mod rows;
mod settings;

use std::{net::SocketAddr, path::PathBuf};

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use llm_stream_guard_serve::{FamilyChoice, TimeSpan, listen_address};

pub(crate) use self::{
    derive::DeriveArgs,
    grammar::{GrammarArgs, GrammarLanguage},
    rows::OnError,
    settings::SettingArgs,
};
use crate::pattern::Pattern;

/// Turns the raw text stream of open-weight models into content, reasoning and tool calls.
#[derive(Debug, Parser)]
#[command(name = "llm-stream-guard", version = env!("LLM_STREAM_GUARD_VERSION"))]
pub struct Cli {
    /// The subcommand to run.
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The commands of the program.
#[derive(Debug, Subcommand)]
#[non_exhaustive]
pub(crate) enum Command {
    /// Parse a recorded or live stream into typed events, one JSON object per line
    ///
    /// Calls without an id on the wire are numbered, so that one recording always gives the same
    /// output. (The library and the proxy generate unique ids.)
    Parse(ParseArgs),
    /// Show what became of a recording, chunk by chunk, and why
    Explain(ExplainArgs),
    /// Run vectors (recorded wires with their expected results) at every cut
    Check(CheckArgs),
    /// Find the families of the project whose models may have written a recording
    Detect(DetectArgs),
    /// Find the family of a checkpoint's model
    Identify(IdentifyArgs),
    /// Write the file of a family that a checkpoint's chat template shows
    Derive(DeriveArgs),
    /// Write tool calls as a family's models write them
    Encode(EncodeArgs),
    /// List the tool-call families, reasoning formats and profiles, or find a model's
    Families(FamiliesArgs),
    /// Run as a proxy between clients and an inference server
    Serve(ServeArgs),
    /// Write the completions of a shell, to be saved where the shell looks for them
    Completions(CompletionsArgs),
}

/// Arguments of `completions`.
#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell that reads the completions
    pub(crate) shell: Shell,
}

/// The format of a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    /// One line of text per event
    Text,
    /// One JSON object per event and line
    Json,
}

/// Arguments of `serve`. They override the configuration file.
#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// The inference server, such as `http://127.0.0.1:8000`
    #[arg(long, value_name = "URL", required_unless_present_any = ["demo", "config", "print_config", "healthcheck"], env = "LLM_STREAM_GUARD_UPSTREAM", hide_env_values = true)]
    pub(crate) upstream: Option<String>,
    /// Where to listen [default: 127.0.0.1:8080]
    #[arg(long, value_name = "ADDRESS", value_parser = listen_address, env = "LLM_STREAM_GUARD_LISTEN")]
    pub(crate) listen: Option<SocketAddr>,
    /// Where to answer `/metrics`, which clients then do not find at `--listen`
    #[arg(long, value_name = "ADDRESS", value_parser = listen_address, env = "LLM_STREAM_GUARD_METRICS_LISTEN")]
    pub(crate) metrics_listen: Option<SocketAddr>,
    /// One family for all models: a profile, a model's id, or the file of a family's calls
    ///
    /// `auto`, the default, takes each model's own.
    #[arg(long, value_name = "auto|NAME|FILE", env = "LLM_STREAM_GUARD_PROFILE")]
    pub(crate) profile: Option<FamilyChoice>,
    /// A checkpoint's own response template for all models: its `tokenizer_config.json`, or the
    /// template alone
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with = "profile",
        env = "LLM_STREAM_GUARD_TEMPLATE"
    )]
    pub(crate) template: Option<PathBuf>,
    /// The checkpoint of the models, or its file that lists added tokens: answers are read by token
    /// ids
    ///
    /// A folder, `tokenizer.json`, `tokenizer_config.json` or a GGUF file. The server is asked for
    /// ids; without them answers are read by their text.
    #[arg(long, value_name = "PATH", env = "LLM_STREAM_GUARD_CHECKPOINT")]
    pub(crate) checkpoint: Option<String>,
    /// Families of models whose ids do not name one: TOML, lines such as `"team-*" = "qwen3"`
    #[arg(long, value_name = "FILE", env = "LLM_STREAM_GUARD_MODEL_MAP")]
    pub(crate) model_map: Option<PathBuf>,
    /// Keep the streams that had diagnostics here, as they came, up to 64 MiB
    #[arg(long, value_name = "DIR", env = "LLM_STREAM_GUARD_RECORD")]
    pub(crate) record: Option<PathBuf>,
    /// Format of the log on standard error
    #[arg(long, value_enum, default_value_t = LogFormat::Text, env = "LLM_STREAM_GUARD_LOG_FORMAT")]
    pub(crate) log_format: LogFormat,
    /// A file with all of this and more; `--print-config` shows what it may hold
    #[arg(long, value_name = "FILE", env = "LLM_STREAM_GUARD_CONFIG")]
    pub(crate) config: Option<PathBuf>,
    /// Print the configuration that would be in force, and leave
    #[arg(long)]
    pub(crate) print_config: bool,
    /// Ask the proxy that listens here whether it is alive, and leave with 0 or 1
    ///
    /// For the health checks of containers: it asks `/healthz` of the address to listen on.
    #[arg(long)]
    pub(crate) healthcheck: bool,
    /// Replay recorded streams in place of an inference server
    #[arg(long, conflicts_with = "upstream", env = "LLM_STREAM_GUARD_DEMO")]
    pub(crate) demo: bool,
    /// Time that the demo waits between two events, more than zero
    #[arg(
        long,
        value_name = "TIME",
        default_value = "20ms",
        requires = "demo",
        env = "LLM_STREAM_GUARD_PACE"
    )]
    pub(crate) pace: TimeSpan,
}

/// Arguments of `parse`.
#[derive(Debug, Args)]
pub(crate) struct ParseArgs {
    /// The input and how to read it.
    #[command(flatten)]
    pub(crate) reading: ReadingArgs,
    /// How to write the events; `auto` is `text` on a terminal, else `jsonl`
    #[arg(long, value_enum, default_value_t)]
    pub(crate) output: OutputKind,
    /// Rows of whole texts, in place of a stream.
    #[command(flatten)]
    pub(crate) rows: rows::RowsArgs,
}

/// Arguments of `explain`.
#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    /// The input and how to read it.
    #[command(flatten)]
    pub(crate) reading: ReadingArgs,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    /// Write a page that needs nothing else to OUT; then only the summary is printed
    #[arg(long, value_name = "OUT")]
    pub(crate) html: Option<PathBuf>,
    /// Read it as each of these, too, or only: profiles, tool-call families or reasoning formats
    #[arg(long, value_name = "FAMILY", value_delimiter = ',', conflicts_with = "grammar")]
    pub(crate) compare: Vec<String>,
}

/// A recording or live stream, and the guard that reads it.
#[derive(Debug, Args)]
pub(crate) struct ReadingArgs {
    /// The input; `-` is standard input
    #[arg(default_value = "-")]
    pub(crate) file: PathBuf,
    /// Format of the input
    ///
    /// `auto` is `sse` if the first non-blank line starts with `data:`, `event:` or `:`, also after
    /// lines with `id:`; `jsonl` if every line is a JSON string or an object with `choices`; and
    /// `text` otherwise. Lines of `curl -v` around the body are left out. Of a pipe only the first
    /// lines are examined, up to one with `choices` or 64 KiB.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) input: InputKind,
    /// Profile, tool-call family or reasoning format, looked up in this order
    ///
    /// Without this option, `--model`, `--grammar` and `--template`, the input is read to its end,
    /// at most 8 MiB, to detect the family.
    #[arg(long, value_name = "NAME", conflicts_with = "model")]
    pub(crate) family: Option<String>,
    /// A tool-call family of your own, in place of the profile's: TOML, or JSON if it ends so
    #[arg(long, value_name = "FILE")]
    pub(crate) grammar: Option<PathBuf>,
    /// Model id, such as `Qwen/Qwen3-8B`
    #[arg(long, value_name = "ID")]
    pub(crate) model: Option<String>,
    /// A checkpoint's own response template, in place of a profile: its `tokenizer_config.json`, or
    /// the template alone
    #[arg(long, value_name = "FILE", conflicts_with_all = ["family", "model", "grammar"])]
    pub(crate) template: Option<PathBuf>,
    /// A recording as tokens, in place of the input: JSON lines with `id` and `text`; `-` is standard
    /// input
    ///
    /// A token whose text is a whole tag of the family is a marker, unless `--checkpoint` says which
    /// tokens are.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["file", "input", "chunk"])]
    pub(crate) tokens: Option<PathBuf>,
    /// The model's checkpoint, or its file that lists added tokens: tokens, and chunks with token ids,
    /// are read by them
    #[arg(long, value_name = "PATH", conflicts_with_all = ["chunk", "template"])]
    pub(crate) checkpoint: Option<PathBuf>,
    /// Settings of the guard.
    #[command(flatten)]
    pub(crate) settings: SettingArgs,
    /// Re-cut the model's text into pieces of at most this many bytes, or a character
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u32).range(1..=1 << 24))]
    pub(crate) chunk: Option<u32>,
}

/// Arguments of `check`.
#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// Files of vectors, one JSON object a line
    #[arg(required_unless_present = "rule")]
    pub(crate) files: Vec<PathBuf>,
    /// Only cases of this rule of `docs/semantics.md`; without files, those the command has
    #[arg(long, value_name = "N")]
    pub(crate) rule: Option<u32>,
    /// A tool-call family of your own, for cases of its name: TOML, or JSON if it ends so
    #[arg(long = "grammar", value_name = "FILE")]
    pub(crate) grammars: Vec<PathBuf>,
    /// A checkpoint's own response template, for cases that name neither a family nor a template:
    /// its `tokenizer_config.json`, or the template alone
    #[arg(long, value_name = "FILE")]
    pub(crate) template: Option<PathBuf>,
    /// One JSON object a case, then a summary
    #[arg(long)]
    pub(crate) json: bool,
    /// Print only where failures differ, without the explanation of the wire
    #[arg(long)]
    pub(crate) brief: bool,
    /// Only cases whose id has this in it, or matches it if it has `*` or `?`
    #[arg(long, value_name = "PATTERN")]
    pub(crate) only: Option<Pattern>,
}

/// Arguments of `detect`.
#[derive(Debug, Args)]
pub(crate) struct DetectArgs {
    /// The recording, with special tokens kept; `-` is standard input
    #[arg(default_value = "-")]
    pub(crate) file: PathBuf,
    /// How the recording is written; see `parse --help`
    #[arg(long, value_enum, default_value_t)]
    pub(crate) input: InputKind,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `identify`.
#[derive(Debug, Args)]
pub(crate) struct IdentifyArgs {
    /// A checkpoint's folder, or one file of it: `tokenizer_config.json`, a chat template, a GGUF file
    #[arg(required_unless_present = "worker")]
    pub(crate) path: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    /// Render a template from the standard input, under limits: `identify` starts this by itself
    #[arg(long, hide = true, conflicts_with = "path")]
    pub(crate) worker: bool,
}

/// Arguments of `encode`.
#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("which").required(true))]
pub(crate) struct EncodeArgs {
    /// JSON array of calls: objects with `name`, `arguments` and maybe `id`, or `tool_calls` of a
    /// chat API; `-` is standard input
    #[arg(default_value = "-")]
    pub(crate) file: PathBuf,
    /// Profile or tool-call family
    #[arg(long, value_name = "NAME", group = "which")]
    pub(crate) family: Option<String>,
    /// Model id, such as `Qwen/Qwen3-8B`
    #[arg(long, value_name = "ID", group = "which")]
    pub(crate) model: Option<String>,
    /// A tool-call family of your own: TOML, or JSON if it ends so
    #[arg(long, value_name = "FILE", group = "which")]
    pub(crate) grammar: Option<PathBuf>,
    /// Text that the checkpoint writes into its tags before the closing bracket, such as
    /// `:opensource`
    #[arg(long, value_name = "TEXT")]
    pub(crate) token_suffix: Option<String>,
    /// JSON array of the tools the request declared; without it, arguments are taken to be declared
    /// as they are
    #[arg(long, value_name = "FILE")]
    pub(crate) tools: Option<PathBuf>,
}

/// Arguments of `families`.
#[derive(Debug, Args)]
pub(crate) struct FamiliesArgs {
    /// JSON: one object; with `--resolve` one a line, with the patterns that matched
    #[arg(long)]
    pub(crate) json: bool,
    /// Model ids to find the profiles of, each written with a tab and the profile's name, or `-`
    ///
    /// `-` reads ids from standard input, one a line.
    #[arg(long, value_name = "ID", num_args = 1.., conflicts_with_all = ["show", "export"])]
    pub(crate) resolve: Vec<String>,
    /// A family whose file to show, with what it takes from others, as JSON
    #[arg(long, value_name = "NAME", conflicts_with = "json")]
    pub(crate) show: Option<String>,
    /// A profile to write as a response template; losses are reported on standard error
    #[arg(long, value_name = "NAME", conflicts_with_all = ["json", "show"])]
    pub(crate) export: Option<String>,
    /// The text that begins the assistant's turn in a prompt [default: ChatML's]
    #[arg(long, value_name = "TEXT", requires = "export")]
    pub(crate) anchor: Option<String>,
    /// The grammar to write in place of a list.
    #[command(flatten)]
    pub(crate) grammar: GrammarArgs,
}

/// How the input is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum InputKind {
    /// Found out by the first lines
    #[default]
    Auto,
    /// The model's text, byte for byte
    Text,
    /// One JSON string or chunk object a line
    Jsonl,
    /// Server-sent events of chunk objects
    Sse,
}

/// How the events are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum OutputKind {
    /// By their destination
    #[default]
    Auto,
    /// One JSON object a line
    Jsonl,
    /// For people, in colours
    Text,
}
