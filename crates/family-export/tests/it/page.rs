//! Compares the tables of `docs/grammars.md` with what families export.
//!
//! `UPDATE_DOCS=1 cargo test -p family-export --test it page` writes them.

use std::{collections::BTreeMap, fmt::Write as _, fs, path::Path};

use family_export::{CallGrammar, ExportError, call_grammar};
use llm_stream_guard::{
    AnswerRules, Profile, Start, ToolChoice, Tools, profile, toolcall_parsers::families,
};

use crate::law::tools;

const BEGIN: &str = "<!-- begin of the families -->\n";
const END: &str = "<!-- end of the families -->\n";

/// Reasons why families lack a grammar, with the families, by column.
type Reasons = BTreeMap<(&'static str, String), Vec<String>>;

/// Returns a cell, and notes the reason of a `no`.
fn cell(
    (column, family): (&'static str, &str),
    made: Result<(), ExportError>,
    reasons: &mut Reasons,
) -> &'static str {
    let Err(error) = made else { return "yes" };
    reasons.entry((column, error.to_string())).or_default().push(format!("`{family}`"));
    "no"
}

fn section() -> String {
    let declared = Tools::from_json(&tools()).unwrap();
    let required = AnswerRules::required(&declared);
    let auto = AnswerRules { choice: ToolChoice::Auto, ..required.clone() };
    let thought = AnswerRules { start: Start::Reasoning, ..required.clone() };
    let mut table = String::from(
        "| family | GBNF, structural tag | Lark | tokens in Lark | expression | lazy GBNF | `auto` | \
         thought of the prompt |\n|---|---|---|---|---|---|---|---|\n",
    );
    let mut reasons = Reasons::new();
    let made = |profile: &Profile, rules: &AnswerRules| call_grammar(profile, rules).map(|_| ());
    for family in families() {
        let profile = profile(family.name).unwrap();
        let grammar = call_grammar(&profile, &required);
        let with = |make: fn(&CallGrammar) -> Result<(), ExportError>| {
            grammar.as_ref().map_err(Clone::clone).and_then(make)
        };
        let tokens = grammar.as_ref().is_ok_and(|it| !it.special_tokens().is_empty());
        let results = [
            ("GBNF, structural tag", with(|_| Ok(()))),
            ("Lark", with(|it| it.lark(&[]).map(drop))),
            ("expression", with(|it| it.regex().map(drop))),
            ("lazy GBNF", with(|it| it.lazy_gbnf().map(drop))),
            ("`auto`", made(&profile, &auto)),
            ("thought of the prompt", made(&profile, &thought)),
        ];
        let cells = results.map(|(column, made)| cell((column, family.name), made, &mut reasons));
        let [gbnf, lark, regex, lazy, auto, thought] = cells;
        let tokens = if tokens { "yes" } else { "-" };
        let name = family.name;
        writeln!(
            table,
            "| `{name}` | {gbnf} | {lark} | {tokens} | {regex} | {lazy} | {auto} | {thought} |"
        )
        .unwrap();
    }
    table.push_str("\nThe reasons:\n\n");
    for ((column, reason), families) in reasons {
        writeln!(table, "- {column}: {reason}. {}", families.join(" ")).unwrap();
    }
    table
}

#[test]
fn tables_of_the_page_are_what_families_export() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/grammars.md");
    let page = fs::read_to_string(&path).unwrap();
    let (head, rest) = page.split_once(BEGIN).unwrap();
    let (written, tail) = rest.split_once(END).unwrap();
    let section = section();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&path, format!("{head}{BEGIN}\n{section}\n{END}{tail}")).unwrap();
        return;
    }
    assert_eq!(written.trim(), section.trim(), "`UPDATE_DOCS=1` writes the tables");
}

#[test]
fn at_least_75_families_export_to_every_target() {
    let section = section();
    let rows = section.lines().filter(|line| line.starts_with("| `"));
    let whole = rows.filter(|row| {
        let cells: Vec<&str> = row.split(" | ").collect();
        cells[1] == "yes" && cells[2] == "yes"
    });
    assert!(whole.count() >= 75, "{section}");
}
