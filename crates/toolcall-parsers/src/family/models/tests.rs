//! Tests of model ids and patterns.

use alloc::{string::ToString, vec, vec::Vec};

use super::{ModelId, ModelPattern};

fn texts(id: &str) -> Vec<alloc::string::String> {
    ModelId::new(id).texts().map(ToString::to_string).collect()
}

#[test]
fn model_id_spellings_are_normalized_to_one_text() {
    for id in ["Qwen/Qwen3.5-9B", "qwen3.5:9b", " qwen3p5-9b ", "hf.co/x/QWEN3_5--9b:latest"] {
        assert_eq!(texts(id)[0], "qwen3-5-9b", "{id}");
    }
    assert_eq!(texts("a/b-4bit-AWQ"), ["b"]);
    assert_eq!(texts("GGUF"), ["gguf"], "the last word that is left stays");
    assert_eq!(texts(&"x".repeat(513)), Vec::<&str>::new());
    assert_eq!(texts("  //"), Vec::<&str>::new());
}

#[test]
fn ids_of_embedding_and_speech_models_have_no_text() {
    for id in ["Qwen/Qwen3-Embedding-8B", "qwen3-reranker:0.6b", "/m/Qwen3-ASR-1.7B/main.gguf"] {
        let found = texts(id);
        assert!(found.iter().all(|text| !text.contains("qwen")), "{id}: {found:?}");
    }
    assert_eq!(texts("/embedding/qwen3-8b")[0], "qwen3-8b");
    let named = [(ModelPattern::new("glm-ocr-*"), 1), (ModelPattern::new("glm-*"), 2)];
    for (id, expected) in [("zai-org/GLM-OCR", Some(vec![&1])), ("GLM-TTS", None)] {
        assert_eq!(ModelId::new(id).find(&named).map(|(_, of)| of), expected, "{id}");
    }
    assert_eq!(texts("openPangu-Embedded-7B")[0], "openpangu-embedded-7b");
}

#[test]
fn every_segment_is_used_only_for_paths() {
    assert_eq!(texts("org/model"), ["model"]);
    assert_eq!(texts(r"C:\llm\model\main.gguf"), ["main", "model", "llm", "c"]);
    assert_eq!(texts("~/x/y/"), ["y", "x"]);
    assert_eq!(texts("hf://org/model/"), ["model"]);
}

#[test]
fn star_does_not_match_a_version_number() {
    let rows = [
        ("granite-4-*", "Granite-4", true),
        ("granite-4-*", "granite-4.0-micro", true),
        ("granite-4-*", "granite-4.2-8b", false),
        ("granite4-*", "granite4.2:8b", false),
        ("granite4*", "granite4.2:8b", false),
        ("granite4*", "granite-42", false),
        ("x-*", "x-2", false),
        ("x-*", "x-v2-40b", false),
        ("x-*", "x-236b", true),
        ("x-*", "x-1.7b", true),
        ("x-*", "x_1p7b", true),
        ("x-*", "x-08-2024", true),
        ("x-*", "x-2507", true),
        ("x-*", "x-2.4T-A95B", true),
        ("x-*", "x-1.6t", true),
        ("x-*", "x-1", true),
        ("x-*", "x-1.0-20b", true),
        ("x-*", "x-v1-large", true),
        ("x-*", "x-1.1", false),
        ("x-*", "x-1.0.2", false),
        ("x-4-*", "x-4.1", false),
        ("x-4-*", "x-4-v1", false),
        ("x-1.5-*", "x-v1.5-8b", true),
        ("x-1.5-*", "xv1.5", false),
        ("x-2-*", "x-v2-8b", true),
        ("x-*-v2-*", "x-9b-v2", true),
        ("x-*-instruct", "x-2-instruct", false),
        ("x*z*", "xaz2", false),
        ("x*z*", "xz1zb", true),
    ];
    for (pattern, id, expected) in rows {
        let patterns = [(ModelPattern::new(pattern), pattern)];
        let id = ModelId::new(id);
        assert_eq!(id.find(&patterns).is_some(), expected, "{pattern} {id:?}");
    }
    let patterns = [(ModelPattern::new("granite-4-*"), 4), (ModelPattern::new("granite-*"), 0)];
    let id = ModelId::new("ibm/granite-4.9-8b");
    assert_eq!(id.find_other_versions(&patterns), [&4, &0]);
    let patterns = ["x-coder-*", "x-*"].map(|it| (ModelPattern::new(it), it));
    for (id, expected) in
        [("x-coder-2.0", None), ("x-coder-1.0", Some("x-coder-*")), ("x-9b", Some("x-*"))]
    {
        let id = ModelId::new(id);
        assert_eq!(id.find(&patterns).map(|(_, of)| *of[0]), expected, "the brand is not enough");
    }
    let patterns = ["x-*small-*", "x-1.5-*"].map(|it| (ModelPattern::new(it), it));
    let id = ModelId::new("x-1.5-small");
    assert_eq!(id.find(&patterns).map(|(_, of)| *of[0]), Some("x-1.5-*"), "it names the version");
    let patterns = [(ModelPattern::new("granite-4-*"), 4), (ModelPattern::new("granite-*"), 0)];
    let id = ModelId::new("granite-9-made-from-granite-4-8b");
    assert_eq!(id.find(&patterns), None, "a later word is not the model");
    assert_eq!(texts("us.deepseek.r1-v1:0")[0], "us-deepseek-r1");
}

#[test]
fn patterns_overlap_if_a_text_matches_both() {
    let rows = [
        ("a-*", "*-b", true),
        ("a-*", "a", true),
        ("a*", "ab*c", true),
        ("a-*b", "a-*c", false),
        ("x-*2-*", "x-*3-*", true),
        ("", "*", true),
        ("ab", "a", false),
    ];
    for (a, b, expected) in rows {
        let (a, b) = (ModelPattern::new(a), ModelPattern::new(b));
        assert_eq!((a.meets(&b), b.meets(&a)), (expected, expected), "{a:?} {b:?}");
    }
}

#[test]
fn earliest_match_wins_then_the_most_literal_pattern() {
    let patterns = ["qwen3-*", "qwen3-coder-*", "hermes-*", "a*b", "a-*c"];
    let patterns: Vec<_> = patterns.map(|it| (ModelPattern::new(it), it)).into();
    let found = |id: &str| -> Vec<&str> {
        let id = ModelId::new(id);
        id.find(&patterns).map(|(_, of)| of.into_iter().copied().collect()).unwrap_or_default()
    };
    assert_eq!(found("Qwen3"), ["qwen3-*"]);
    assert_eq!(found("qwen3-coder:30b"), ["qwen3-coder-*"]);
    assert_eq!(found("huihui-hermes-qwen3-8b"), ["hermes-*"]);
    assert_eq!(found("qwen30"), Vec::<&str>::new());
    assert_eq!(found("axb"), ["a*b"]);
    assert_eq!(found("a-c"), ["a-*c"]);
    assert_eq!(found("qwen3-9b-*"), ["qwen3-*"], "a size is not a version");
    let tie: Vec<_> = vec![(ModelPattern::new("x*"), 1), (ModelPattern::new("*x"), 2)];
    assert_eq!(ModelId::new("x").find(&tie).map(|(_, of)| of), Some(vec![&1, &2]));
}
