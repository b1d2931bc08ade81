//! Members the guard does not know: they keep their order, and their numbers the spelling.

use llm_stream_guard::{
    End,
    chat::{ChatOptions, Completion, ReasoningTokens},
};
use proptest::prelude::*;
use stream_laws::{Cut, Random};

use crate::chat::{
    feed::chat,
    sse::{machine, written},
};

/// Numbers that change if they are read as machine numbers. Exponents are in the one spelling that
/// serde_json keeps.
const EXACT: [&str; 7] = [
    "1.10",
    "10000000000000000000000001",
    "-0",
    "1.0e+2",
    "1e+400",
    "0.1000",
    "-18446744073709551616",
];
const PLAIN: [&str; 4] = ["7", "-7", "0.5", "18446744073709551615"];

const NAMES: [&str; 6] = ["zeta", "alpha", "mid", "b", "Aa", "_"];

/// A value as JSON text without blanks.
fn value(random: &mut Random, depth: usize) -> String {
    match random.below(if depth == 0 { 5 } else { 7 }) {
        0 if cfg!(feature = "exact-numbers") => EXACT[random.below(EXACT.len())].to_owned(),
        0 | 1 => PLAIN[random.below(PLAIN.len())].to_owned(),
        2 => ["null", "true", "\"\"", "[]", "{}"][random.below(5)].to_owned(),
        3 | 4 => format!("\"text {}\"", random.below(9)),
        5 => format!("[{},{}]", value(random, depth - 1), value(random, depth - 1)),
        _ => format!("{{{}}}", members(random, "", depth - 1)),
    }
}

/// One to six members in an order of their own, as JSON text without blanks.
fn members(random: &mut Random, prefix: &str, depth: usize) -> String {
    let (first, count) = (random.below(NAMES.len()), 1 + random.below(NAMES.len()));
    let member = |n: usize| {
        let name = NAMES[(first + 5 * n) % NAMES.len()];
        format!("\"{prefix}{name}\":{}", value(random, depth))
    };
    (0..count).map(member).collect::<Vec<_>>().join(",")
}

/// How often `part` occurs in the text.
fn count(text: &[u8], part: &str) -> usize {
    std::str::from_utf8(text).expect("text").matches(part).count()
}

proptest! {
    // Contract: S1.41.
    #[test]
    fn unknown_members_of_changed_events_keep_order_and_numbers(seed: u64) {
        let random = &mut Random::new(seed);
        let [envelope, choice, delta, usage, call, function] =
            ["e_", "c_", "d_", "u_", "n_", "f_"].map(|prefix| members(random, prefix, 2));
        let event = format!(
            "data: {{\"id\":\"c1\",\"model\":\"m\",\"x\":7,{envelope},\"choices\":[{{\"index\":0,\"delta\":\
             {{\"content\":\"<think>hm</think>Hi.\",\"x\":7,{delta}}},\"finish_reason\":null,\"x\":7,{choice}}}],\
             \"usage\":{{{usage}}}}}\n\n"
        );
        let native = format!(
            "data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"<\",\"tool_calls\":[{{\"index\":0,\
             \"id\":\"a\",\"type\":\"function\",\"function\":{{\"name\":\"f\",\"arguments\":\"\",{function}}},\
             {call}}}]}}}}]}}\n\n"
        );
        let upstream = event.clone() + &native + "data: [DONE]\n\n";
        let out = written(&machine("qwen3"), upstream.as_bytes(), Cut::Whole, End::Stop);
        for part in [&envelope, &delta, &choice, &usage, &function, &call] {
            prop_assert_eq!(count(&out, part), 1, "{} in {}", part, String::from_utf8_lossy(&out));
        }
    }

    // Contract: S1.41.
    #[test]
    fn unknown_members_of_complete_answers_keep_order_and_numbers(seed: u64) {
        let random = &mut Random::new(seed);
        let [envelope, choice, message, usage] =
            ["e_", "c_", "m_", "u_"].map(|prefix| members(random, prefix, 2));
        let answer = format!(
            "{{\"id\":\"c1\",\"object\":\"chat.completion\",\"created\":7,\"model\":\"m\",{envelope},\"choices\":\
             [{{\"index\":0,\"message\":{{\"role\":\"assistant\",\"content\":\"<think>hm</think>Hi.\",{message}}},\
             \"logprobs\":null,\"finish_reason\":\"stop\",{choice}}}],\"usage\":{{{usage}}}}}"
        );
        let whole: Completion = serde_json::from_str(&answer).expect("a completion");
        let mut options = ChatOptions::default();
        options.reasoning_tokens = ReasoningTokens::Upstream;
        let whole = chat("qwen3", options).complete(whole).expect("no limit is hit");
        let expected = answer.replace(
            "\"content\":\"<think>hm</think>Hi.\"", "\"content\":\"Hi.\",\"reasoning_content\":\"hm\""
        );
        prop_assert_eq!(serde_json::to_string(&whole).expect("JSON"), expected);
    }
}
