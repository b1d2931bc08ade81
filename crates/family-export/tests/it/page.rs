//! The families without a grammar in `docs/families.md`.

use std::{collections::BTreeMap, fmt::Write as _};

use family_export::{CallGrammar, ExportError, call_grammar};
use llm_stream_guard::{
    AnswerRules, Profile, Start, ToolChoice, Tools, profile, toolcall_parsers::families,
};

use stream_laws::check_page_part;

use crate::law::tools;

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

/// Returns the list of reasons with their families.
fn section() -> String {
    let mut list = String::new();
    for ((column, reason), families) in exports().reasons {
        writeln!(list, "- {column}: {reason}. {}", families.join(" ")).unwrap();
    }
    list
}

#[test]
fn page_lists_the_families_without_a_grammar() {
    check_page_part(env!("CARGO_MANIFEST_DIR"), "families.md", "grammars", &section());
}

#[test]
fn at_least_75_families_export_to_every_target() {
    let whole = exports().whole;
    assert!(whole >= 75, "{whole}");
}
