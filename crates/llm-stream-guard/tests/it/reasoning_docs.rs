//! `docs/reasoning-formats.md` is what the registry says.
//!
//! `UPDATE_DOCS=1 cargo test -p llm-stream-guard --test it docs` writes it.

use std::{fmt::Write, fs, path::Path};

use llm_stream_guard::{
    Alias, Format, Grammar, InReasoning, Profile, Reasoning, profiles, reasoning_aliases,
    reasoning_formats,
    think_filter::{
        BoundNewlines, DupOpen, MarkerCase, Openers, Pairing, Recur, StrayClose, TokenSuffix,
    },
};

const HEAD: &str = "\
# Reasoning formats

Written by `UPDATE_DOCS=1 cargo test -p llm-stream-guard --test it docs` from the registry:
change the files in `families/`.

Every stream begins in content unless the caller says that the prompt opened the reasoning, or
hands over the prompt (`GuardBuilder::prompt`, `Format::start_after`). Whitespace is `framing` by
default; reasoning has no limit, is never made the answer, and loses its tags, unless asked
otherwise. Unclosed reasoning stays reasoning. Code fences and inline code make tags literal in
content, never in reasoning.

`lead_only` has the rules of the filters in chat clients that know leading blocks alone. They keep all
whitespace: it does as they do, to the byte, only with `Whitespace::Verbatim`.
";

const MARKERS: &str = "\n## Markers

Special tokens are stripped by servers unless they are asked to keep them.

| format | opener | closer | markup of the answer | special tokens |
|---|---|---|---|---|
";

const RULES: &str = "\n## Rules

| column | |
|---|---|
| opener counts | `anywhere` outside code, at a `line`'s start and directly after markup, or only at the `lead`, before anything visible |
| spans | `any` number of them, or `once`: later tags are text |
| stray closer | with nothing open: removed at the `lead`, kept as `text`, or removed `anywhere`; the `first` wherever it stands, where a prompt nobody saw may have opened the reasoning |
| repeated opener | the one right behind an opener or the prompt's: `absorbed`, or `text` |
| closes | `any` closer closes, or only its `own` |
| newlines | that go with opener and closer under `framing` and `trim`; bold: under every policy |
| call in it | what a tool opener inside reasoning does in the profiles that use the format |

| format | opener counts | spans | stray closer | repeated opener | closes | newlines | case | call in it |
|---|---|---|---|---|---|---|---|---|
";

const CHANNELS: &str = "\n## Messages

These families write reasoning, answer and calls as messages or blocks with headers; their grammars
tell them apart, and the tool-call families of the same names read the calls.

| family | models |
|---|---|
";

const NAMES: &str = "\n## Names by engine

What the parsers of other engines are called. Each of these names, and the format's own, finds the
format; ASCII case does not count, and `-` equals `_`. Where engines mean different things by a
name, the format of that name is meant, else the name is refused: ask for `engine:name`.

";

const ENGINES: [(&str, &str); 7] = [
    ("vllm", "vLLM"),
    ("vllm_rust", "vLLM (Rust)"),
    ("sglang", "SGLang"),
    ("dynamo", "Dynamo"),
    ("smg", "smg"),
    ("lmdeploy", "LMDeploy"),
    ("ollama", "Ollama"),
];

fn document() -> String {
    let (all, profiles) = (reasoning_formats(), profiles());
    let formats: Vec<&Format> = all.iter().filter_map(format_of).collect();
    let mut text = HEAD.to_owned() + MARKERS;
    for format in &formats {
        row(&mut text, &markers(format));
    }
    text += RULES;
    for format in formats.iter().filter(|format| !format.is_passthrough()) {
        row(&mut text, &rules(format, &profiles));
    }
    text += CHANNELS;
    for family in all.iter().filter_map(family_of) {
        row(&mut text, &[code([family.name()]), family.family().about.clone()]);
    }
    text += NAMES;
    let heads = ENGINES.iter().map(|(_, engine)| (*engine).to_owned());
    row(&mut text, &["format".to_owned()].into_iter().chain(heads).collect::<Vec<_>>());
    text += &("|---".repeat(ENGINES.len() + 1) + "|\n");
    for format in &all {
        row(&mut text, &names(format.name()));
    }
    text
}

fn format_of(reasoning: &Reasoning) -> Option<&Format> {
    match reasoning {
        Reasoning::Format(format) => Some(format),
        _ => None,
    }
}

fn family_of(reasoning: &Reasoning) -> Option<&Grammar> {
    match reasoning {
        Reasoning::Channels(family) => Some(family),
        _ => None,
    }
}

fn row(text: &mut String, cells: &[String]) {
    writeln!(text, "| {} |", cells.join(" | ")).expect("a string takes everything");
}

/// Texts as code, in a cell of a table.
fn code<'t>(texts: impl IntoIterator<Item = &'t str>) -> String {
    let one = |text: &str| format!("`{}`", text.replace('|', "\\|").replace('\n', "\\n"));
    let texts: Vec<String> = texts.into_iter().map(one).collect();
    if texts.is_empty() { "-".to_owned() } else { texts.join(" ") }
}

fn markers(format: &Format) -> Vec<String> {
    let mut open = code(format.open.iter().map(AsRef::as_ref));
    if let Some(label) = &format.label {
        open += &format!(", label {}", code([label.as_ref()]));
    }
    if let Some(text) = &format.prepend {
        open = format!("none; {} is put first", code([text.as_ref()]));
    }
    if format.suffix == TokenSuffix::Any {
        open += ", with the suffix of the checkpoint";
    }
    vec![
        code([format.name.as_ref()]),
        open,
        code(format.close.iter().map(AsRef::as_ref)),
        code(format.answer.iter().map(|wrapper| wrapper.marker.as_ref())),
        if format.special_tokens { "yes" } else { "-" }.to_owned(),
    ]
}

fn rules(format: &Format, profiles: &[Profile]) -> Vec<String> {
    let cells = [
        match format.openers {
            Openers::Anywhere => "anywhere",
            Openers::Line => "line",
            Openers::Lead => "lead",
        },
        match format.recur {
            Recur::Any => "any",
            Recur::Once => "once",
        },
        match format.stray_close {
            StrayClose::Leading => "lead",
            StrayClose::First => "first, lead",
            StrayClose::Keep => "text",
            StrayClose::Drop => "anywhere",
        },
        match format.dup_open {
            DupOpen::Absorb => "absorbed",
            DupOpen::Keep => "text",
        },
        match format.pairing {
            Pairing::Any => "any",
            Pairing::Own => "own",
        },
        match format.newlines {
            BoundNewlines::Tags => "1 behind the opener; 1 before, 2 behind the closer",
            BoundNewlines::None => "none",
            BoundNewlines::CloserDeclared => {
                "1 behind the opener; **1 before, 1 behind the closer**"
            }
            BoundNewlines::Declared => "**1 behind the opener; 1 before, 1 behind the closer**",
            BoundNewlines::All => "**all around the closer**",
        },
        match format.case {
            MarkerCase::Exact => "exact",
            MarkerCase::Insensitive => "any",
        },
    ];
    let calls = |wanted: InReasoning| {
        let of = |p: &&Profile| {
            p.tools.is_some()
                && p.reasoning.as_deref() == Some(format.name.as_ref())
                && p.tool_in_reasoning == wanted
        };
        let names: Vec<&str> = profiles.iter().filter(of).map(|p| p.name.as_str()).collect();
        let does = match wanted {
            InReasoning::Literal => "is text",
            InReasoning::Suspend => "suspends it",
            InReasoning::End => "ends it",
        };
        (!names.is_empty()).then(|| format!("{does}: {}", code(names)))
    };
    let calls: Vec<String> = [InReasoning::End, InReasoning::Suspend, InReasoning::Literal]
        .into_iter()
        .filter_map(calls)
        .collect();
    let calls = if calls.is_empty() { "-".to_owned() } else { calls.join("; ") };
    let name = code([format.name.as_ref()]);
    [name].into_iter().chain(cells.map(String::from)).chain([calls]).collect()
}

fn names(format: &str) -> Vec<String> {
    let by = |engine: &str| {
        let rows =
            reasoning_aliases().filter(|row: &Alias| row.engine == engine && row.of == format);
        code(rows.map(|row| row.name))
    };
    let engines = ENGINES.iter().map(|(engine, _)| by(engine));
    [code([format])].into_iter().chain(engines).collect()
}

#[test]
fn the_page_is_what_the_registry_says() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reasoning-formats.md");
    let document = document();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&path, &document).expect("docs can be written");
    }
    let page = fs::read_to_string(&path).unwrap_or_default();
    assert!(page == document, "docs/reasoning-formats.md is stale: see the head of this test");
}

#[test]
fn every_engine_of_the_aliases_has_a_column() {
    for alias in reasoning_aliases() {
        assert!(
            alias.engine.is_empty() || ENGINES.iter().any(|(engine, _)| *engine == alias.engine),
            "{alias:?}"
        );
    }
}
