//! Tables that are refused, with their errors.

use wire_remap::{Mode, Problem, RemapTable, Role, Truncated};

fn refused(pairs: &[(&str, &str)]) -> (usize, Problem, String) {
    let mut builder = RemapTable::builder();
    for (canonical, wire) in pairs {
        builder = builder.pair(canonical, wire);
    }
    let error = builder.build().unwrap_err();
    (error.entry(), error.problem().clone(), error.to_string())
}

// Contract: S2.1.
#[test]
fn empty_marker_is_refused_with_its_entry() {
    let (entry, problem, text) = refused(&[("<a>", "[[a]]"), ("<b>", "")]);
    assert_eq!((entry, problem), (1, Problem::Empty));
    assert_eq!(text, "remap table: entry 1: marker \"\" is empty");
}

#[test]
fn table_without_entries_is_refused() {
    assert_eq!(refused(&[]).2, "remap table: expected at least one entry");
}

// Contract: S2.1.
#[test]
fn marker_that_occurs_twice_is_refused() {
    let (entry, problem, text) = refused(&[("<a>", "[[a]]"), ("<b>", "[[a]]")]);
    assert_eq!((entry, problem), (1, Problem::Same { other: 0 }));
    assert_eq!(text, "remap table: entry 1: marker \"[[a]]\" is also a marker of entry 0");
    assert_eq!(refused(&[("<a>", "[[a]]"), ("<a>", "[[b]]")]).1, Problem::Same { other: 0 });
    assert_eq!(refused(&[("<a>", "<a>")]).1, Problem::Same { other: 0 });
}

// Contract: S2.1.
#[test]
fn marker_that_contains_another_is_refused() {
    let (entry, problem, text) = refused(&[("<a>", "[[a]]"), ("<b>", "x[[a]]y")]);
    assert_eq!(entry, 1);
    assert_eq!(problem, Problem::Contains { other: 0, part: "[[a]]".into() });
    assert_eq!(text, "remap table: entry 1: marker \"x[[a]]y\" contains \"[[a]]\" of entry 0");
    let canonical = refused(&[("<tool_call>", "[<tool_call>]")]);
    assert!(matches!(canonical.1, Problem::Contains { other: 0, .. }));
}

// Contract: S2.1.
#[test]
fn markers_that_could_share_text_are_refused() {
    let (entry, problem, text) = refused(&[("<a>", "[a|"), ("<b>", "|b]")]);
    assert_eq!(entry, 0);
    let shared = Problem::Overlaps { other: 1, next: "|b]".into(), shared: "|".into() };
    assert_eq!(problem, shared);
    assert_eq!(
        text,
        "remap table: entry 0: marker \"[a|\" ends with \"|\", the beginning of \"|b]\" of entry 1, so one text could contain both"
    );
    // A marker can overlap itself, and a canonical one a wire one.
    assert!(matches!(refused(&[("<a>", "%%")]).1, Problem::Overlaps { other: 0, .. }));
    assert!(matches!(refused(&[("<a>", ">b<")]).1, Problem::Overlaps { .. }));
}

#[test]
fn marker_with_the_escape_character_is_refused_in_exact_mode() {
    assert_eq!(refused(&[("<a>", "[~a]")]).1, Problem::HoldsEscape('~'));
    let with = RemapTable::builder().pair("<a>", "[~a]");
    assert!(with.clone().mode(Mode::Plain).build().is_ok());
    let table = with.escape('=').build().unwrap();
    assert_eq!(table.encode("[~a] <a>"), "[~=a] [~a]");
}

#[test]
fn wire_marker_of_one_character_is_refused_in_exact_mode() {
    assert_eq!(refused(&[("<a>", "¶")]).1, Problem::TooShort);
    assert!(RemapTable::builder().pair("<a>", "¶").mode(Mode::Plain).build().is_ok());
}

// Contract: S2.1.
#[test]
fn markers_that_may_occur_outside_json_strings_are_refused() {
    for text in [
        "{}",
        "[[",
        "]]",
        "{ ",
        ": ",
        "1",
        "-0",
        "null",
        "rue",
        ":{}",
        "1E5",
        "[true,fal",
        "se}",
        "\n\t",
        "},{",
    ] {
        for (canonical, wire) in [(text, "<<w>>"), ("<<c>>", text)] {
            let (entry, problem, said) = refused(&[(canonical, wire)]);
            assert_eq!((entry, problem), (0, Problem::JsonSyntax), "{text:?}");
            assert!(said.contains("JSON"), "{said}");
        }
    }
    for text in ["{a}", "[a", "[[x]]", "[a]", "{truefalse}", "nul1", "{\"", "<>", "E2z"] {
        assert!(RemapTable::builder().pair("<<c>>", text).build().is_ok(), "{text:?}");
    }
}

#[test]
fn marker_forms_added_by_options_obey_the_same_rules() {
    let both = RemapTable::builder().pair("<a>", "[[GO]]").pair("<b>", "[[go]]");
    assert!(both.clone().build().is_ok());
    let error = both.accept_garbled().build().unwrap_err();
    assert_eq!((error.entry(), error.marker()), (1, "[[go]]"));
    let cut = RemapTable::builder().pair("<a>", "[[GO]]").pair("[[GO]|", "<<x>>");
    assert!(cut.clone().truncated(Truncated::Ignore).build().is_ok());
    assert!(cut.build().is_err());
}

// Contract: S2.23.
#[test]
fn nonce_is_short_and_alphanumeric() {
    for nonce in ["", "a b", "é", "0123456789012345678901234567890123"] {
        let error = RemapTable::hermes_builder().nonce(nonce).build().unwrap_err();
        assert_eq!(error.problem(), &Problem::BadNonce);
    }
}

#[test]
fn table_over_the_entry_limit_is_refused() {
    let mut builder = RemapTable::builder();
    for i in 0..257 {
        builder = builder.pair(&format!("<{i}>"), &format!("[[{i}]]"));
    }
    assert_eq!(builder.build().unwrap_err().problem(), &Problem::TooManyEntries);
}

// Contract: S2.17.
#[test]
fn different_tables_have_different_versions() {
    let versions = [
        RemapTable::hermes().version(),
        RemapTable::hermes_plain().version(),
        RemapTable::hermes_builder().escape('=').build().unwrap().version(),
        RemapTable::hermes_builder().accept_garbled().build().unwrap().version(),
        RemapTable::builder().pair("<a>", "[[b]]").build().unwrap().version(),
        RemapTable::builder().pair("<a", ">[[b]]").build().unwrap().version(),
    ];
    for (i, a) in versions.iter().enumerate() {
        assert!(versions[i + 1..].iter().all(|b| a != b));
    }
    assert_eq!(RemapTable::hermes().version(), RemapTable::hermes().version());
}

#[test]
fn pairs_are_returned_in_order() {
    let table = RemapTable::hermes();
    let pairs: Vec<_> = table.pairs().iter().map(|p| (p.canonical(), p.wire(), p.role())).collect();
    assert_eq!(pairs[1], ("</tool_call>", "[[/CALL]]", Role::Close));
    assert_eq!(pairs[2], ("<toolcall>", "[[TOOLCALL]]", Role::Open));
}
