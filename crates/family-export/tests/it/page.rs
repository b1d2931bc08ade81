//! Compares the lists of `docs/grammars.md` with what families export.
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

/// The columns: targets, and conditions of a request.
const COLUMNS: [&str; 6] =
    ["GBNF, structural tag", "Lark", "expression", "lazy GBNF", "`auto`", "thought of the prompt"];

/// What families export.
struct Exports {
    /// Families without a grammar.
    reasons: Reasons,
    /// The number of families with every target of the first two columns.
    whole: usize,
}

fn exports() -> Exports {
    let declared = Tools::from_json(&tools()).unwrap();
    let required = AnswerRules::required(&declared);
    let auto = AnswerRules { choice: ToolChoice::Auto, ..required.clone() };
    let thought = AnswerRules { start: Start::Reasoning, ..required.clone() };
    let (mut reasons, mut whole) = (Reasons::new(), 0);
    let made = |profile: &Profile, rules: &AnswerRules| call_grammar(profile, rules).map(|_| ());
    for family in families() {
        let profile = profile(family.name).unwrap();
        let grammar = call_grammar(&profile, &required);
        let with = |make: fn(&CallGrammar) -> Result<(), ExportError>| {
            grammar.as_ref().map_err(Clone::clone).and_then(make)
        };
        let results = [
            with(|_| Ok(())),
            with(|it| it.lark(&[]).map(drop)),
            with(|it| it.regex().map(drop)),
            with(|it| it.lazy_gbnf().map(drop)),
            made(&profile, &auto),
            made(&profile, &thought),
        ];
        whole += usize::from(results[..2].iter().all(Result::is_ok));
        for (column, result) in COLUMNS.into_iter().zip(results) {
            let Err(error) = result else { continue };
            let families = reasons.entry((column, error.to_string())).or_default();
            families.push(format!("`{}`", family.name));
        }
    }
    Exports { reasons, whole }
}

/// Returns the list of the page.
fn section() -> String {
    let mut list = String::new();
    for ((column, reason), families) in exports().reasons {
        writeln!(list, "- {column}: {reason}. {}", families.join(" ")).unwrap();
    }
    list
}

#[test]
fn lists_of_the_page_are_what_families_export() {
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
    let whole = exports().whole;
    assert!(whole >= 75, "{whole}");
}
