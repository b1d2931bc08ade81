//! `docs/diagnostics.md` lists every kind of diagnostic.
//!
//! `UPDATE_DOCS=1 cargo test -p llm-stream-guard --test it diagnostics` writes it.

use std::{collections::BTreeSet, fmt::Write as _, fs, path::Path};

use llm_stream_guard::DiagnosticKind;

const HEAD: &str = "\
# Diagnostics

A diagnostic reports something unusual that is not an error: its kind, the offset in the text, the number of bytes it concerns, and the
call it is about, if any. *limit*: a [limit](limits.md) was hit. The [rules](semantics.md) name the kinds.

`UPDATE_DOCS=1 cargo test -p llm-stream-guard --test it diagnostics` writes this page from `jail-match/src/diagnostic.rs`.

| kind | meaning | what to do |
|---|---|---|
";

fn document() -> String {
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
fn diagnostics_page_matches_the_code() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/diagnostics.md");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&path, document()).expect("docs can be written");
    }
    let page = fs::read_to_string(&path).unwrap_or_default();
    assert!(page == document(), "docs/diagnostics.md is stale: see the head of this test");
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
