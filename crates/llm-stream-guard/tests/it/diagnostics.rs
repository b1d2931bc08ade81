//! `docs/diagnostics.md` lists every kind of diagnostic.

use std::{collections::BTreeSet, fmt::Write as _};

use llm_stream_guard::DiagnosticKind;
use stream_laws::check_page_part;

const HEAD: &str = "| kind | meaning | what to do |\n|---|---|---|\n";

fn table() -> String {
    let mut page = HEAD.to_owned();
    for kind in DiagnosticKind::ALL {
        let (name, meaning) = (kind.name(), kind.meaning());
        let limit = if kind.is_limit() { " *limit*" } else { "" };
        let remedy = if kind.remedy().is_empty() { "-" } else { kind.remedy() };
        writeln!(page, "| `{name}`{limit} | {meaning} | {remedy} |").expect("a string");
    }
    page
}

#[test]
fn page_lists_every_diagnostic() {
    check_page_part(env!("CARGO_MANIFEST_DIR"), "diagnostics.md", "diagnostics", &table());
}

#[test]
fn every_diagnostic_kind_has_a_unique_name_and_text() {
    let all = DiagnosticKind::ALL;
    let names: BTreeSet<&str> = all.iter().map(|kind| kind.name()).collect();
    let meanings: BTreeSet<&str> = all.iter().map(|kind| kind.meaning()).collect();
    assert_eq!((names.len(), meanings.len()), (all.len(), all.len()));
    for kind in all {
        assert!(kind.meaning().len() > 15, "{kind:?}");
        let plain = kind.name().bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
        assert!(plain, "{kind:?}");
        assert_eq!(
            kind.is_limit(),
            kind.name().ends_with("_limit") || is_of_a_jail(*kind),
            "{kind:?}"
        );
    }
}

fn is_of_a_jail(kind: DiagnosticKind) -> bool {
    use DiagnosticKind::{JailBytes, JailChunks, JailCount, JailTime};
    [JailBytes, JailChunks, JailCount, JailTime].contains(&kind)
}
