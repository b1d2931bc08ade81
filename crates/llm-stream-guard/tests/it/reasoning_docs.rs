//! Compares `docs/reasoning-formats.md` with the registry.
//!
//! `UPDATE_DOCS=1 cargo test -p llm-stream-guard --test it docs` writes the page.

use std::{fmt::Write, fs, path::Path};

use llm_stream_guard::{
    Format, Grammar, InReasoning, Profile, Reasoning, profiles, reasoning_formats,
    think_filter::{
        BoundNewlines, DupOpen, MarkerCase, Openers, Pairing, Recur, StrayClose, TokenSuffix,
    },
};

const HEAD: &str = "\
# Reasoning formats

The tables are generated from the files in `families/`. After a change there, run
`UPDATE_DOCS=1 cargo test -p llm-stream-guard --test it docs`.

A stream begins in content, unless the caller says that the prompt opened the reasoning, or passes the
prompt (`GuardBuilder::prompt`, `Format::start_after`). The defaults are:

- The whitespace policy is `framing`.
- Reasoning has no length limit, never becomes the answer, and loses its tags.
- Reasoning without a closer stays reasoning.
- Code fences and inline code make tags literal in content, but not in reasoning.

`lead_only` follows the filters of chat clients, which know one leading block. Those filters keep all
whitespace. To get their output byte for byte, set `Whitespace::Verbatim`.
";

const MARKERS: &str = "\n## Markers

Special tokens are stripped by servers unless they are asked to keep them.

| opener | closer | markup of the answer | special tokens | formats |
|---|---|---|---|---|
";

const RULES: &str = "\n## Rules

| column | meaning |
|---|---|
| opener counts | where an opener acts: `anywhere` outside code; at the start of a `line` and directly after markup; or only at the `lead`, before any visible text |
| spans | the number of spans: `any`, or `once` (later tags are text) |
| stray closer | a closer without an open span: removed at the `lead`, kept as `text`, or removed `anywhere`. `first`: the first one is removed at any place, because an unseen prompt may have opened the reasoning |
| repeated opener | an opener directly after another one, or after the prompt's: `absorbed`, or `text` |
| closes | which closer ends a span: `any`, or only its `own` |
| newlines | the newlines removed with opener and closer under `framing` and `trim`; bold: under every policy |

| opener counts | spans | stray closer | repeated opener | closes | newlines | case | formats |
|---|---|---|---|---|---|---|---|
";

const CALLS: &str = "\n## Calls in reasoning

The effect of a call's opener inside reasoning, by profile:

";

const CHANNELS: &str = "\n## Messages

These families write reasoning, answer and calls as messages or blocks with headers. The header
decides which of the three a message is. The tool-call families of the same names read the calls.

| family | models |
|---|---|
";

const NAMES: &str = "\n## Names by engine

The names of other engines' parsers select a format, too: `llm-stream-guard families --json` lists them.
ASCII case is ignored, and `-` equals `_`. If engines use one name for different formats, the format of that
name is selected; without one the name is refused. `engine:name` selects one of them.
";

fn document() -> String {
    let (all, profiles) = (reasoning_formats(), profiles());
    let formats: Vec<&Format> = all.iter().filter_map(format_of).collect();
    let mut text = HEAD.to_owned() + MARKERS;
    grouped(&mut text, formats.iter().map(|format| (format, markers(format))));
    text += RULES;
    let acting = formats.iter().filter(|format| !format.is_passthrough());
    grouped(&mut text, acting.clone().map(|format| (format, rules(format))));
    text += CALLS;
    for wanted in [InReasoning::End, InReasoning::Suspend, InReasoning::Literal] {
        text += &calls(wanted, &profiles);
    }
    text += CHANNELS;
    for family in all.iter().filter_map(family_of) {
        row(&mut text, &[code([family.name()]), family.family().about.clone()]);
    }
    text += NAMES;
    text
}

/// Writes a row for each group of formats with the same cells, the largest first.
fn grouped<'f>(text: &mut String, formats: impl Iterator<Item = (&'f &'f Format, Vec<String>)>) {
    let mut groups: Vec<(Vec<String>, Vec<&str>)> = Vec::new();
    for (format, cells) in formats {
        match groups.iter_mut().find(|(known, _)| *known == cells) {
            Some((_, names)) => names.push(&format.name),
            None => groups.push((cells, vec![&format.name])),
        }
    }
    groups.sort_by_key(|(_, names)| core::cmp::Reverse(names.len()));
    for (cells, names) in groups {
        let cells: Vec<String> = cells.into_iter().chain([code(names)]).collect();
        row(text, &cells);
    }
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
        open,
        code(format.close.iter().map(AsRef::as_ref)),
        code(format.answer.iter().map(|wrapper| wrapper.marker.as_ref())),
        if format.special_tokens { "yes" } else { "-" }.to_owned(),
    ]
}

fn rules(format: &Format) -> Vec<String> {
    [
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
            BoundNewlines::Tags => "1 after the opener; 1 before, 2 after the closer",
            BoundNewlines::None => "none",
            BoundNewlines::CloserDeclared => "1 after the opener; **1 before, 1 after the closer**",
            BoundNewlines::Declared => "**1 after the opener; 1 before, 1 after the closer**",
            BoundNewlines::All => "**all around the closer**",
        },
        match format.case {
            MarkerCase::Exact => "exact",
            MarkerCase::Insensitive => "any",
        },
    ]
    .map(String::from)
    .into()
}

/// Returns the line of the profiles in which a call inside reasoning has this effect.
fn calls(wanted: InReasoning, profiles: &[Profile]) -> String {
    let of = |p: &&Profile| p.tools.is_some() && p.tool_in_reasoning == wanted;
    let formats = reasoning_formats();
    let formats: Vec<&str> =
        formats.iter().filter_map(format_of).map(|format| format.name.as_ref()).collect();
    let has_format = |p: &&Profile| p.reasoning.as_deref().is_some_and(|it| formats.contains(&it));
    let names = profiles.iter().filter(of).filter(has_format).map(|p| p.name.as_str());
    let does = match wanted {
        InReasoning::Literal => "is text",
        InReasoning::Suspend => "suspends it",
        InReasoning::End => "ends it",
    };
    format!("- {does}: {}\n", code(names))
}

#[test]
fn reasoning_formats_page_matches_the_registry() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reasoning-formats.md");
    let document = document();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&path, &document).expect("docs can be written");
    }
    let page = fs::read_to_string(&path).unwrap_or_default();
    assert!(page == document, "docs/reasoning-formats.md is stale: see the head of this test");
}
