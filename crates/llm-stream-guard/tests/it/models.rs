//! Model ids: the project's table of them, and what holds for all patterns.

use llm_stream_guard::{
    End, Guard, Start, profile, profile_for_model, profiles, resolve_model,
    toolcall_parsers::family::{ModelId, ModelPattern},
};

/// Id, profile (`-`: none) and start of each line.
fn rows() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    include_str!("../../../../families/vectors/models.tsv").lines().map(|line| {
        let cells: Vec<&str> = line.split('\t').collect();
        let [id, profile, start] = cells[..] else { panic!("three cells: {line}") };
        (id, profile, start)
    })
}

#[test]
fn model_ids_resolve_to_their_profile_and_start() {
    let mut wrong = Vec::new();
    for (id, name, start) in rows() {
        let found = profile_for_model(id).ok();
        let found = found.as_ref().map_or(("-", "-"), |found| {
            let start = if found.start == Start::Reasoning { "reasoning" } else { "content" };
            (found.name.as_str(), start)
        });
        if found != (name, start) {
            wrong.push(format!("{id}: {found:?}, not {:?}", (name, start)));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(rows().count() > 150);
}

#[test]
fn every_model_of_the_table_has_a_guard() {
    for (id, ..) in rows().filter(|(_, name, _)| *name != "-") {
        Guard::for_model(id).unwrap().build().unwrap_or_else(|error| panic!("{id}: {error}"));
    }
}

/// Ids that a pattern is for: its stars as nothing and as something.
fn examples(pattern: &str) -> impl Iterator<Item = String> {
    ["", "1", "x", "x-1"].into_iter().map(|some| pattern.replace('*', some))
}

#[test]
fn no_pattern_is_shadowed_and_no_id_has_two_families() {
    let all = profiles();
    let owned = all.iter().flat_map(|it| it.models.iter().map(move |model| (model, &it.name)));
    let patterns: Vec<_> =
        owned.map(|(model, name)| (ModelPattern::new(model), (model, name))).collect();
    for (n, (one, (pattern, name))) in patterns.iter().enumerate() {
        let wins = examples(pattern).any(|example| {
            let id = ModelId::new(&example);
            let (_, heaviest) = id.find(&patterns).unwrap_or_default();
            heaviest.iter().any(|(winner, _)| winner == pattern)
        });
        assert!(wins, "`{pattern}` of {name} is never the heaviest");
        for (other, (second, of)) in &patterns[..n] {
            let tie = of != name && other.literals() == one.literals() && other.meets(one);
            assert!(!tie, "some ids are of `{pattern}` of {name} and of `{second}` of {of}");
        }
    }
}

#[test]
fn model_match_reports_its_patterns_and_variant() {
    let found = resolve_model("mistralai/Mistral-7B-Instruct-v0.3").unwrap();
    assert_eq!(found.profile.name, "mistral");
    assert!(found.pattern.starts_with("mistral"));
    let plain = resolve_model("Qwen/Qwen3-8B").unwrap();
    assert_eq!((plain.pattern, plain.variant_pattern), ("qwen3-*", None));
    assert_eq!(plain.profile.start, Start::Content);
    let found = resolve_model("ai-sage/GigaChat3.1-10B-A1.8B").unwrap();
    assert_eq!(found.variant_pattern, Some("gigachat3.1-*"));
    assert_eq!(found.profile.variant, Some(0));
    assert_eq!(profile("gigachat3").unwrap().variant, None);
}

#[test]
fn long_or_hostile_model_id_is_unknown() {
    for id in ["qwen3-".repeat(100_000), "-/".repeat(300), "a-".repeat(256), "\u{130}p".into()] {
        assert!(profile_for_model(&id).is_err());
    }
    assert!(profile_for_model("").is_err());
}

#[test]
fn every_original_profile_name_still_resolves() {
    let names = "hermes qwen3_coder qwen3 qwq trinity mistral mistral_v11 magistral llama3_json \
        pythonic deepseek_v3_1 gemma4 functiongemma minimax_m3 k2_horizon deepseek_r1 deepseek_v3 \
        kimi_k2 exaone4 mimo_vl granite granite4 ernie45 internlm2 apriel hunyuan_a13b \
        nemotron_deci nemotron_nano_v2 xlam cohere apertus pangu minimax_m1 rwkv solar_open plamo3 \
        step_audio_2 harmony gpt_oss inkling kimi_k3 muse_glimmer muse_spark beam nemotron3 mimo \
        step3p5 seed_oss minimax_m2 claude_invoke deepseek_v3_2 deepseek_v4_1 deepseek_v4 \
        gigachat35 dots minicpm5 step3 glm45 glm47 ling3 poolside_v1 spark25 iquest_q1 hy_v3 hy_v4 \
        solar_open2";
    for name in names.split_whitespace() {
        assert!(profile(name).is_ok(), "{name}");
    }
}

#[test]
fn model_before_the_tokens_of_reasoning_thinks_in_tags() {
    let wire = "<think>\nHmm.\n</think>\nYes.[TOOL_CALLS]ring[ARGS]{}";
    for (id, reasoning) in [
        ("mistralai/Magistral-Small-2506", "Hmm."),
        ("unsloth/Magistral-Small-2506-GGUF", "Hmm."),
        ("mistralai/Magistral-Small-2509", ""),
    ] {
        let guard = Guard::for_model(id).unwrap().build().unwrap();
        let message = guard.parse(wire, End::Stop).unwrap();
        assert_eq!(message.reasoning, reasoning, "{id}");
        assert_eq!(message.calls.len(), 1, "{id}");
    }
}
