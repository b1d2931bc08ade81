//! The tables of reasoning formats in `docs/families.md`.

use std::fmt::Write;

use llm_stream_guard::{
    Format, Grammar, InReasoning, Profile, Reasoning, profiles, reasoning_formats,
    think_filter::{
        BoundNewlines, DupOpen, MarkerCase, Openers, Pairing, Recur, StrayClose, TokenSuffix,
    },
};
use stream_laws::check_page_part;

const MARKERS: &str = "\
| opener | closer | markup of the answer | special tokens | formats |
|---|---|---|---|---|
";

const RULES: &str = "\
| opener counts | stray closer | repeated opener | closes | newlines | case | formats |
|---|---|---|---|---|---|---|
";

/// Returns a table with a row for each group of formats with the same cells. The largest
/// is first, without its names.
fn grouped<'f>(head: &str, formats: impl Iterator<Item = (&'f &'f Format, Vec<String>)>) -> String {
    let mut text = head.to_owned();
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
        row(&mut text, &cells);
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
fn page_shows_what_each_format_and_profile_does() {
    let check = |part, text: &str| {
        check_page_part(env!("CARGO_MANIFEST_DIR"), "families.md", part, text);
    };
    let (all, profiles) = (reasoning_formats(), profiles());
    let formats: Vec<&Format> = all.iter().filter_map(format_of).collect();
    let acting = formats.iter().filter(|format| !format.is_passthrough());
    check("markers", &grouped(MARKERS, formats.iter().map(|format| (format, markers(format)))));
    check("rules", &grouped(RULES, acting.map(|format| (format, rules(format)))));
    check("messages", &format!("{}.", code(all.iter().filter_map(family_of).map(Grammar::name))));
    let effects = [InReasoning::End, InReasoning::Suspend, InReasoning::Literal];
    check("calls in reasoning", &effects.map(|wanted| calls(wanted, &profiles)).concat());
}
