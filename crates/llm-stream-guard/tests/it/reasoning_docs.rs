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

The tables are generated from `families/` by `UPDATE_DOCS=1 cargo test -p llm-stream-guard --test it docs`. The
[rules](semantics.md#reasoning) say where a thought begins and ends. By default reasoning has no length limit, never becomes
the answer, and loses its tags.

`lead_only` follows the filters of chat clients, which know one leading block and keep all whitespace: set
`Whitespace::Verbatim` to get their output byte for byte.
";

const MARKERS: &str = "\n## Markers

Servers strip [special tokens](servers.md) unless asked.

| opener | closer | markup of the answer | special tokens | formats |
|---|---|---|---|---|
";

const RULES: &str = "\n## Rules

| column | meaning |
|---|---|
| opener counts | `anywhere` outside code; at the start of a `line` and directly after markup; or at the `lead`, before any visible text |
| stray closer | removed at the `lead` or `anywhere`, or kept as `text`. `first`: the first one is removed at any place, because an unseen prompt may have opened the reasoning |
| repeated opener | directly after another, or after the prompt's: `absorbed`, or `text` |
| closes | `any` closer, or only its `own` |
| newlines | removed with opener and closer under `framing` and `trim`; bold: under every policy |

| opener counts | stray closer | repeated opener | closes | newlines | case | formats |
|---|---|---|---|---|---|---|
";

const CALLS: &str = "\n## Calls in reasoning

The effect of a call's opener inside reasoning, by profile:

";

const CHANNELS: &str = "\n## Messages

These families write reasoning, answer and calls as messages with headers, which decide what a message is:
";

const NAMES: &str = "\n## Names by engine

The names of other engines' parsers select a format, too: `llm-stream-guard families --json` lists them.
ASCII case is ignored, and `-` equals `_`. `engine:name` selects one where engines use one name for different
formats, of which otherwise only the format of that name is selected.
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
    text += &format!("{}.\n", code(all.iter().filter_map(family_of).map(Grammar::name)));
    text += NAMES;
    text
}

/// Writes a row for each group of formats with the same cells. The largest is first, without its
/// names.
fn grouped<'f>(text: &mut String, formats: impl Iterator<Item = (&'f &'f Format, Vec<String>)>) {
    let mut groups: Vec<(Vec<String>, Vec<&str>)> = Vec::new();
    for (format, cells) in formats {
        match groups.iter_mut().find(|(known, _)| *known == cells) {
            Some((_, names)) => names.push(&format.name),
            None => groups.push((cells, vec![&format.name])),
        }
    }
    groups.sort_by_key(|(_, names)| core::cmp::Reverse(names.len()));
    for (n, (cells, names)) in groups.into_iter().enumerate() {
        let names = if n == 0 { "all others".to_owned() } else { code(names) };
        let cells: Vec<String> = cells.into_iter().chain([names]).collect();
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
    assert_eq!(format.recur, Recur::Any, "{}: the page has no column for it", format.name);
    [
        match format.openers {
            Openers::Anywhere => "anywhere",
            Openers::Line => "line",
            Openers::Lead => "lead",
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
    match wanted {
        InReasoning::Literal => "- is text: all others\n".to_owned(),
        InReasoning::Suspend => format!("- suspends it: {}\n", code(names)),
        InReasoning::End => format!("- ends it: {}\n", code(names)),
    }
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
