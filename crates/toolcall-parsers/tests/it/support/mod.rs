//! A parser as a machine for laws and vectors.

pub(crate) mod families;
pub(crate) mod inputs;
pub(crate) mod runs;

use std::{fs, path::PathBuf};

use guard_laws::Recorder;
use stream_laws::{
    HeldBytes, HeldReason, RunRecord, StreamMachine,
    vector::{CaseFinish, CaseKind, CaseStart, CaseWhitespace, VectorCase, read_cases},
};
use toolcall_parsers::{
    CallLimits, End, Family, Grammar, HeldKind as Holds, Ids, Limits, Options, Parser,
    ParserBuilder, Tools, Whitespace,
};

/// The kinds of diagnostic that count bytes dropped by the driver.
pub(crate) const DROPS: &[&str] = &["cut_opener"];

/// A parser that writes records.
#[derive(Debug, Clone)]
pub(crate) struct ParserMachine {
    parser: Parser,
    builder: ParserBuilder,
    end: End,
}

impl ParserMachine {
    /// Creates a parser of `grammar` with the settings of `case`.
    ///
    /// # Panics
    /// The case needs a setting that a tool-call parser does not have.
    pub(crate) fn of_case(grammar: &Grammar, case: &VectorCase) -> Self {
        assert_eq!(case.kind, CaseKind::Tools, "{}", case.id);
        let tag = case.option("tag").map(|tag| tag.as_str().expect("a tag is a string"));
        let known = usize::from(tag.is_some());
        assert_eq!(case.options.len(), known, "{}: {:?}", case.id, case.options);
        let grammar = tag.map_or_else(
            || grammar.clone(),
            |tag| Grammar::new(Family::from_tag(tag).expect("a tag")).expect("a family"),
        );
        assert_ne!(case.start, CaseStart::Reasoning, "{}", case.id);
        let tools = case.tools.as_deref().map_or_else(Tools::none, |tools| {
            let tools = serde_json::from_str(tools).expect("the reader checked it");
            Tools::from_json(&tools).unwrap_or_else(|error| panic!("{}: {error}", case.id))
        });
        let whitespace = match case.whitespace {
            CaseWhitespace::Verbatim => Whitespace::Verbatim,
            CaseWhitespace::Framing => Whitespace::Framing,
            CaseWhitespace::Trim => Whitespace::Trim,
        };
        let end = match case.finish {
            CaseFinish::Stop => End::Stop,
            CaseFinish::Length => End::Length,
        };
        Self::built(builder(grammar, tools, whitespace), end)
    }

    fn built(builder: ParserBuilder, end: End) -> Self {
        let parser = builder.clone().build().expect("a sound table");
        Self { parser, builder, end }
    }

    /// Returns a parser with other limits.
    pub(crate) fn limited(&self, limits: Limits, call_limits: CallLimits) -> Self {
        let mut options = options();
        options.limits = call_limits;
        Self::built(self.builder.clone().limits(limits).options(options), self.end)
    }

    /// Creates a parser without tools.
    pub(crate) fn new(grammar: Grammar, whitespace: Whitespace) -> Self {
        Self::with_tools(&grammar, Tools::none(), whitespace)
    }

    /// Creates a parser with declared tools.
    pub(crate) fn with_tools(grammar: &Grammar, tools: Tools, whitespace: Whitespace) -> Self {
        Self::built(builder(grammar.clone(), tools, whitespace), End::Stop)
    }
}

fn builder(grammar: Grammar, tools: Tools, whitespace: Whitespace) -> ParserBuilder {
    Parser::builder(grammar).tools(tools).whitespace(whitespace).options(options())
}

/// Generated ids are counted, because laws compare the events of several runs.
fn options() -> Options {
    let mut options = Options::default();
    options.ids = Ids::counting();
    options
}

impl StreamMachine for ParserMachine {
    fn push(&mut self, chunk: &str, out: &mut RunRecord) {
        self.parser.push(chunk, &mut Recorder(out)).expect("limits release");
    }

    fn finish(&mut self, out: &mut RunRecord) {
        self.parser.finish(self.end, &mut Recorder(out)).expect("limits release");
    }

    fn reset(&mut self) {
        self.parser.reset();
    }

    fn held(&self) -> HeldBytes {
        let held = self.parser.held();
        let kind = match held.kind {
            Holds::Marker => HeldReason::Marker,
            Holds::Candidate => HeldReason::Candidate,
            Holds::Whitespace => HeldReason::Whitespace,
            Holds::Utf8 => HeldReason::Utf8,
            Holds::Nothing => HeldReason::None,
            _ => HeldReason::Call,
        };
        // `HeldBytes::new` would hide a reason without bytes, which is a fault that laws must find.
        HeldBytes { bytes: held.bytes, kind }
    }

    fn work(&self) -> u64 {
        self.parser.counters().examined
    }

    fn state_size(&self) -> usize {
        self.parser.buffered()
    }
}

/// Returns the vectors of `families/vectors/tools/NAME.jsonl`.
pub(crate) fn vectors(name: &str) -> Vec<VectorCase> {
    let path = directory().join(format!("{name}.jsonl"));
    let text = fs::read_to_string(&path).unwrap_or_else(|no| panic!("{}: {no}", path.display()));
    read_cases(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Returns the vectors of a family, or none if it has no file.
pub(crate) fn vectors_if_any(name: &str) -> Vec<VectorCase> {
    if families_with_vectors().iter().any(|family| family == name) {
        vectors(name)
    } else {
        Vec::new()
    }
}

/// Returns the vectors of `families/vectors/profiles/NAME.jsonl`, or none if the file does not exist.
pub(crate) fn profile_cases(name: &str) -> Vec<VectorCase> {
    let path = directory().join(format!("../profiles/{name}.jsonl"));
    let Ok(text) = fs::read_to_string(&path) else { return Vec::new() };
    read_cases(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Returns the families with a file of vectors.
pub(crate) fn families_with_vectors() -> Vec<String> {
    let entries = fs::read_dir(directory()).expect("the directory of vectors");
    let paths = entries.map(|entry| entry.expect("a directory entry").path());
    let mut names: Vec<String> = paths
        .filter(|path| path.extension().is_some_and(|kind| kind == "jsonl"))
        .filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned()))
        .collect();
    names.sort();
    names
}

fn directory() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../families/vectors/tools")
}
