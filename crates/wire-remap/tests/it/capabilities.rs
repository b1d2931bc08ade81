//! Capability tables: which route needs a remapping.

use wire_remap::{CapabilityRow, CapabilityTable, RemapTable};

#[test]
fn overlong_patterns_are_refused() {
    fn row(model: &str) -> CapabilityRow<'_> {
        CapabilityRow { provider: "*", model, table: None, because: "" }
    }
    let long = "a".repeat(127);
    let mut routes = CapabilityTable::new();
    routes.push(row(&format!("*{long}*"))).unwrap();
    assert_eq!(routes.because("any", &format!("x{long}")), Some(""));
    let error = CapabilityTable::new().push(row(&"a".repeat(128))).unwrap_err();
    assert_eq!(
        error.to_string(),
        "capability table: route 0: pattern is longer than 127 characters"
    );
}

// Contract: S2.16.
#[test]
fn first_matching_row_selects_the_regime() {
    let mut routes = CapabilityTable::new();
    let because = "the server parses calls itself";
    routes.push(CapabilityRow { provider: "hosted", model: "*", table: None, because }).unwrap();
    let (table, because) = (Some(RemapTable::hermes_plain()), "measured");
    routes.push(CapabilityRow { provider: "*", model: "*qwen*", table, because }).unwrap();
    routes.extend(CapabilityTable::hermes_families());
    assert!(routes.regime("hosted", "qwen3").table().is_none());
    let plain = RemapTable::hermes_plain().version();
    assert_eq!(routes.regime("ollama", "qwen3").table().unwrap().version(), plain);
    assert_eq!(routes.because("ollama", "qwen3"), Some("measured"));
    assert!(routes.regime("ollama", "nous/Hermes-4-70B").table().is_some());
    assert!(routes.regime("ollama", "llama").table().is_none());
    assert_eq!(routes.because("ollama", "llama"), None);
}

/// Model ids with the family of their format.
const MODELS: &str = include_str!("../../../../families/vectors/models.tsv");

// Contract: S2.16.
#[test]
fn default_rows_match_every_spelling_of_a_family() {
    let routes = CapabilityTable::hermes_families();
    let mut on = 0;
    for line in MODELS.lines() {
        let [id, family, ..] = line.split('\t').collect::<Vec<_>>()[..] else { continue };
        // Hermes 2, Qwen 2 and some other models use the format without the token.
        let lower = id.to_lowercase();
        let has = |names: &[&str]| names.iter().any(|name| lower.contains(name));
        let families = ["qwen3", "qwen3_coder", "qwen25_coder", "hermes"];
        let known = families.contains(&family)
            && has(&["qwen3", "qwen-3-", "qwq", "qwen2.5", "qwen-2.5", "qwen2p5"])
            || has(&["hermes-3", "hermes3", "theta"]);
        let is = routes.regime("any", id).table().is_some();
        on += usize::from(is);
        assert!(is || !known, "{id} speaks {family}");
        let none = !has(&["qwen", "qwq", "hermes"]);
        assert!(!(is && (none || family.starts_with("deepseek"))), "{id} speaks {family}");
    }
    assert!(on > 50, "{on}");
    for id in ["deepseek-r1-distill-qwen-32b", "qwen:32b", "qwen2-57b-a14b", "qwen-32b"] {
        assert!(routes.regime("any", id).table().is_none(), "{id}");
    }
}

#[test]
fn default_rows_match_the_hermes_families() {
    let routes = CapabilityTable::hermes_families();
    assert_eq!(routes.len(), 25, "no pattern is too long");
    for model in [
        "Qwen/Qwen3.6-27B",
        "qwen3-coder:30b",
        "Qwen2.5-7B-Instruct",
        "QwQ-32B",
        "NousResearch/Hermes-3-Llama-3.1-8B",
    ] {
        assert!(routes.regime("any", model).table().is_some(), "{model}");
    }
    for model in ["gpt-5", "Qwen3-Embedding-8B", "qwen3-reranker", "llama-3.3-70b", "deepseek-v3"] {
        assert!(routes.regime("any", model).table().is_none(), "{model}");
    }
}

#[cfg(feature = "toml")]
mod toml {
    use super::*;

    #[test]
    fn toml_file_declares_tables_and_routes() {
        let routes = CapabilityTable::from_toml(
            r#"
            [tables.do]
            blocks = [{ canonical = ["<tool_call>", "</tool_call>"], wire = ["[[DO]]", "[[/DO]]"] }]
            pairs = [["<done>", "[[DONE]]"]]
            escape = "="
            garbled = true
            truncated = "recover"
            nonce = "n1"

            [[routes]]
            provider = "ollama"
            model = "qwen3.6*"
            remap = "do"
            because = "measured"

            [[routes]]
            model = "qwen*"
            remap = "hermes-plain"

            [[routes]]
            model = "*"
            remap = "off"
            "#,
        )
        .unwrap();
        assert_eq!(routes.len(), 3);
        let regime = routes.regime("Ollama", "Qwen3.6:27b");
        assert_eq!(regime.encode("<tool_call><done>[[/DO:n1]]"), "[[DO:n1]][[DONE:n1]][[/=DO:n1]]");
        assert_eq!(routes.because("ollama", "qwen3.6"), Some("measured"));
        let plain = RemapTable::hermes_plain().version();
        assert_eq!(routes.regime("vllm", "qwen3").table().unwrap().version(), plain);
        assert!(routes.regime("vllm", "llama").table().is_none());
    }

    #[test]
    fn toml_errors_name_the_row_and_the_fault() {
        let fault = |text: &str| CapabilityTable::from_toml(text).unwrap_err().to_string();
        assert_eq!(
            fault("[[routes]]\nmodel = \"*\"\nremap = \"hermess\""),
            "capability table: route 0: remap: expected off or a table, found \"hermess\""
        );
        assert_eq!(
            fault("[tables.a]\npairs = [[\"<a>\", \"\"]]"),
            "capability table: table \"a\": remap table: entry 0: marker \"\" is empty"
        );
        assert_eq!(
            fault("[tables.hermes]\npairs = [[\"<a>\", \"[[a]]\"]]"),
            "capability table: table \"hermes\": the name is already used"
        );
        assert!(fault("[[routes]]\nmodle = \"*\"\nremap = \"off\"").contains("modle"));
    }
}
