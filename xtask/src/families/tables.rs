//! The tables as source text, with one row on each line. An attribute keeps rustfmt from changing
//! them.

use std::{collections::BTreeSet, fmt::Write as _};

use toolcall_parsers::family::ReasoningMarks;

use super::{
    GENERATED,
    entry::{Entry, Stream},
    literal::{option, raw, slice, text},
    marks::rules,
    names::{self, AliasRow},
};

/// Returns the path and the text of each table.
pub(super) fn all(entries: &[Entry]) -> Vec<(&'static str, String)> {
    vec![
        ("crates/toolcall-parsers/src/registry/table.rs", calls(entries)),
        ("crates/think-filter/src/table.rs", reasoning(entries)),
        ("crates/llm-stream-guard/src/profile/table.rs", streams(entries)),
        ("crates/llm-stream-guard/src/profile/files.rs", files(entries)),
    ]
}

/// Returns a file with imports, if any, and tables: name, type, rows.
fn file(uses: &str, tables: &[(&str, &str, Vec<String>)]) -> String {
    let blank = if uses.is_empty() { "" } else { "\n" };
    let mut file =
        format!("{GENERATED} from the files in `families/`; change those.\n{blank}{uses}");
    for (name, kind, rows) in tables {
        let _ = write!(
            file,
            "\n#[rustfmt::skip]\npub(super) static {name}: &[{kind}] = &[\n{}];\n",
            rows.iter().map(|row| format!("    {row},\n")).collect::<String>(),
        );
    }
    file
}

fn aliases(rows: Vec<AliasRow<'_>>) -> Vec<String> {
    let row = |(engine, name, of): AliasRow<'_>| {
        format!("Alias {{ engine: {engine:?}, name: {name:?}, of: {of:?} }}")
    };
    rows.into_iter().map(row).collect()
}

fn calls(entries: &[Entry]) -> String {
    let row = |entry: &Entry| {
        let head = [&entry.name, &entry.head.about, &entry.head.source].map(|it| text(it));
        format!("Row::new({}, {})", head.join(", "), raw(&entry.calls()))
    };
    let families = entries.iter().filter(|entry| entry.has_calls()).map(row).collect();
    let aliases = aliases(names::of_calls(entries));
    let uses = "use jail_match::Alias;\n\nuse super::lookup::Row;\n";
    file(uses, &[("FAMILIES", "Row", families), ("ALIASES", "Alias", aliases)])
}

fn reasoning(entries: &[Entry]) -> String {
    let rows: Vec<String> = entries
        .iter()
        .filter_map(|entry| entry.marks.as_ref().map(|marks| format(&entry.name, marks)))
        .collect();
    let enums = [
        "BoundNewlines",
        "DupOpen",
        "MarkerCase",
        "Openers",
        "Pairing",
        "Recur",
        "StrayClose",
        "TokenSuffix",
    ];
    let used = |name: &&str| rows.iter().any(|row| row.contains(&format!("{name}::")));
    let used: Vec<&str> = enums.into_iter().filter(used).collect();
    let rules = match used.as_slice() {
        [] => String::new(),
        [one] => format!("    rules::{one},\n"),
        many => format!("    rules::{{{}}},\n", many.join(", ")),
    };
    let uses = format!(
        "use jail_match::Alias;\n\n#[rustfmt::skip]\nuse crate::{{\n    row::Row,\n{rules}}};\n"
    );
    let aliases = aliases(names::of_reasoning(entries));
    // Lists in one row are not a table.
    let ends: BTreeSet<_> = entries.iter().flat_map(|it| &it.family.end_of_turn).collect();
    let ends = ends.into_iter().map(|it| text(it)).collect::<Vec<_>>().join(", ");
    let tables = [("FORMATS", "Row", rows), ("ALIASES", "Alias", aliases)];
    file(&uses, &[&tables[..], &[("TURN_ENDS", "&str", vec![ends])]].concat())
}

/// Returns a row of the table of formats, with the fields that are not the default.
fn format(name: &str, marks: &ReasoningMarks) -> String {
    let list = |texts: &[String]| slice(texts, |it| text(it));
    let mut fields: Vec<String> = Vec::new();
    let mut add = |field: &str, value: String| fields.push(format!("{field}: {value}"));
    if !marks.open.is_empty() {
        add("open", list(&marks.open));
    }
    if !marks.close.is_empty() {
        add("close", list(&marks.close));
    }
    if let Some(label) = &marks.label {
        add("label", format!("Some({label:?})"));
    }
    for (field, word) in rules(marks) {
        add(field, word);
    }
    if !marks.answer.is_empty() {
        add("answer", slice(&marks.answer, |it| format!("{it:?}")));
    }
    if let Some(remark) = &marks.remark {
        add("remark", format!("Some({remark:?})"));
    }
    if let Some(prepend) = &marks.prepend {
        add("prepend", format!("Some({prepend:?})"));
    }
    if marks.special_tokens {
        add("special_tokens", "true".into());
    }
    if fields.is_empty() {
        return format!("Row::named({name:?})");
    }
    format!("Row {{ {}, ..Row::named({name:?}) }}", fields.join(", "))
}

/// Returns the table of whole files, which the command line shows.
fn files(entries: &[Entry]) -> String {
    let row = |entry: &Entry| format!("({:?}, {})", entry.name, raw(&entry.shown.to_string()));
    file("", &[("FILES", "(&str, &str)", entries.iter().map(row).collect())])
}

fn streams(entries: &[Entry]) -> String {
    let list = |texts: &[String]| slice(texts, |it| text(it));
    let row = |entry: &Entry| {
        let variant = |it: &super::entry::Variant| {
            let (models, stream) = (list(&it.models), stream(&it.stream));
            format!("Variant {{ models: {models}, stream: {stream} }}")
        };
        let other = entry.head.names.get("other").map(Vec::as_slice).unwrap_or_default();
        format!(
            "Row {{ name: {:?}, other_names: {}, models: {}, template: {}, stream: {}, variants: {} }}",
            entry.name,
            list(other),
            list(&entry.head.models),
            slice(&entry.head.template, |rule| list(rule)),
            stream(&entry.stream),
            slice(&entry.variants, variant),
        )
    };
    let uses =
        "use toolcall_parsers::InReasoning;\n\nuse super::row::{Row, Starts, Stream, Variant};\n";
    file(uses, &[("FAMILIES", "Row", entries.iter().map(row).collect())])
}

fn stream(stream: &Stream) -> String {
    let calls = |(name, variant): &(String, Option<usize>)| format!("({name:?}, {variant:?})");
    format!(
        "Stream {{ calls: {}, reasoning: {}, in_reasoning: InReasoning::{}, starts: Starts::{}, \
         switch: {}, special_tokens: {} }}",
        option(stream.calls.as_ref(), calls),
        option(stream.reasoning.as_ref(), |it| text(it)),
        stream.in_reasoning,
        stream.starts,
        slice(&stream.switch, |it| format!("{it:?}")),
        stream.special_tokens,
    )
}
