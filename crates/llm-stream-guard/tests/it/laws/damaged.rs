//! Several calls in one message, some of them malformed, under each option that delays events.

use guard_laws::{Damage, GuardMachine, call_options};
use llm_stream_guard::{
    BadPayload, BrokenBlock, Delivery, End, Guard, GuardBuilder, LimitPolicy, Limits, Profile,
    ToolChoice, profile, profiles,
};
use stream_laws::{CutPlan, LawViolation, Random, check_chunk_invariance, check_total};

/// Wires per profile and option.
const WIRES: usize = 8;

/// A few cuts: wires are many.
const PLAN: CutPlan = CutPlan::random(2, 7);

/// A limit that most blocks hit.
const SHORT: usize = 40;

type Adjust = fn(GuardBuilder) -> GuardBuilder;

fn limited(builder: GuardBuilder, policy: LimitPolicy) -> GuardBuilder {
    builder.limits(Limits { candidate: SHORT, policy, ..Limits::default() })
}

fn required(builder: GuardBuilder, bad: BadPayload) -> GuardBuilder {
    builder.tool_choice(ToolChoice::Required).calls(call_options(|it| it.bad_payload = bad))
}

fn named(builder: GuardBuilder, bad: BadPayload) -> GuardBuilder {
    builder
        .tool_choice(ToolChoice::Named("f".to_owned()))
        .calls(call_options(|it| it.bad_payload = bad))
}

const OPTIONS: [(&str, Adjust); 14] = [
    ("default", |it| it),
    ("atomic", |it| it.delivery(Delivery::Atomic)),
    ("text", |it| it.calls(call_options(|it| it.broken_block = BrokenBlock::Text))),
    ("text, release", |it| {
        limited(
            it.calls(call_options(|it| it.broken_block = BrokenBlock::Text)),
            LimitPolicy::Release,
        )
    }),
    ("text, drop", |it| {
        limited(it.calls(call_options(|it| it.broken_block = BrokenBlock::Text)), LimitPolicy::Drop)
    }),
    ("text, error", |it| {
        limited(
            it.calls(call_options(|it| it.broken_block = BrokenBlock::Text)),
            LimitPolicy::Error,
        )
    }),
    ("best effort", |it| required(it, BadPayload::BestEffort)),
    ("recover", |it| required(it, BadPayload::RecoverAsText)),
    ("recover, release", |it| {
        limited(required(it, BadPayload::RecoverAsText), LimitPolicy::Release)
    }),
    ("recover, drop", |it| limited(named(it, BadPayload::RecoverAsText), LimitPolicy::Drop)),
    ("recover, error", |it| limited(named(it, BadPayload::RecoverAsText), LimitPolicy::Error)),
    ("reject", |it| required(it, BadPayload::Reject)),
    ("reject, release", |it| limited(named(it, BadPayload::Reject), LimitPolicy::Release)),
    ("named", |it| named(it, BadPayload::BestEffort)),
];

fn machine(profile: &Profile, adjust: Adjust, declared: bool) -> GuardMachine {
    let builder = Guard::builder(profile);
    let builder = if declared { builder.tools(Damage::tools()) } else { builder };
    GuardMachine::new(adjust(builder).build().expect("a registered profile builds"), End::Stop)
}

fn check_cuts(profile: &Profile, damage: &Damage) -> Result<(), String> {
    let mut random = Random::new(profile.name.bytes().map(u64::from).sum());
    for (n, (name, adjust)) in OPTIONS.into_iter().enumerate() {
        let machine = machine(profile, adjust, n % 2 == 0 || name.contains("recover, "));
        for _ in 0..WIRES {
            let wire = damage.wire(&mut random);
            let broken = |violation: LawViolation| format!("{}, {name}: {violation}", profile.name);
            check_chunk_invariance(&machine, &wire, PLAN).map_err(broken)?;
            check_total(&machine, &wire, CutPlan::random(1, 3)).map_err(broken)?;
        }
    }
    Ok(())
}

fn profiles_of(shard: usize) {
    let mut broken = Vec::new();
    for profile in profiles().into_iter().skip(shard).step_by(2) {
        let Ok(Some(grammar)) = profile.grammar() else { continue };
        broken.extend(check_cuts(&profile, &Damage::new(&grammar)).err());
    }
    assert!(broken.is_empty(), "{} broken\n{}", broken.len(), broken.join("\n"));
}

// Contract: S1.15, S1.24.
#[test]
fn damaged_calls_read_the_same_at_every_cut_0() {
    profiles_of(0);
}

// Contract: S1.15, S1.24.
#[test]
fn damaged_calls_read_the_same_at_every_cut_1() {
    profiles_of(1);
}

fn check(family: &str, adjust: Adjust, wire: &str) {
    let profile = profile(family).expect("a registered profile");
    check_chunk_invariance(&machine(&profile, adjust, false), wire, CutPlan::standard(1))
        .unwrap_or_else(|violation| panic!("{family}: {violation}"));
}

#[test]
fn first_malformed_call_of_a_block_determines_the_end_of_its_text() {
    for (family, wire) in [
        (
            "minimax_m2",
            "<minimax:tool_call><invoke name=\"a\">x<invoke name=\"b\"></invoke><invoke name=\"c\">x",
        ),
        (
            "qwen3_coder",
            "<tool_call><function=a>x<function=b></function><function=c>x<function=d></function>",
        ),
        (
            "kimi_k2",
            "<|tool_calls_section_begin|><|tool_call_begin|>a:0<|tool_call_argument_begin|>x\
             <|tool_call_begin|>b:1<|tool_call_argument_begin|>x",
        ),
        (
            "deepseek_v3_2",
            "<｜DSML｜function_calls><｜DSML｜invoke name=\"f\">｜<｜DSML｜invoke name=\"f\">r",
        ),
        ("deepseek_v4_1", "<｜DSML｜calls><｜DSML｜invokename=\"f\">><｜DSML｜invokename=\"f\">｜"),
        ("hy_v3", "<tool_calls><tool_call>f<tool_sep>o<tool_call>f<tool_sep>r"),
        ("k2_horizon", "<ifm|tool_calls><ifm|tool_call>f\n<<ifm|tool_call>f\n<\n"),
        ("step3p5", "<tool_call><functiona>a<functiona>\na"),
    ] {
        check(family, |it| it.calls(call_options(|it| it.broken_block = BrokenBlock::Text)), wire);
    }
}

#[test]
fn complete_call_between_two_malformed_calls_is_kept() {
    let wire = "<minimax:tool_call><invoke name=\"a\">x<invoke name=\"b\"></invoke>\
                <invoke name=\"c\">x";
    let profile = profile("minimax_m2").expect("a registered profile");
    let guard = Guard::builder(&profile)
        .calls(call_options(|it| it.broken_block = BrokenBlock::Text))
        .build()
        .expect("builds");
    let message = guard.parse(wire, End::Stop).expect("limits release");
    let names: Vec<&str> = message.calls.iter().map(|call| &*call.name).collect();
    assert_eq!(names, ["b"], "{message:?}");
}

#[test]
fn payload_over_the_limit_leaves_no_call_open() {
    let words = "word ".repeat(17_000);
    let wire = format!(
        "{{\"name\": \"f\", \"arguments\": {{\"port\": \"{words}\"}}}}\n\
         <tool_call>{{\"name\": \"f\", \"arguments\": {{}}}}</tool_call>"
    );
    let hermes = profile("hermes").expect("a registered profile");
    let builders: [Adjust; 3] = [
        |it| required(it, BadPayload::RecoverAsText),
        |it| named(it, BadPayload::RecoverAsText),
        |it| {
            let drop = Limits { policy: LimitPolicy::Drop, ..Limits::default() };
            required(it, BadPayload::RecoverAsText).limits(drop)
        },
    ];
    for adjust in builders {
        let machine = machine(&hermes, adjust, true);
        check_chunk_invariance(&machine, &wire, CutPlan::random(2, 5))
            .unwrap_or_else(|violation| panic!("{violation}"));
        let guard = adjust(Guard::builder(&hermes).tools(Damage::tools())).build().expect("builds");
        let message = guard.parse(&wire, End::Stop).expect("limits release or drop");
        assert_eq!(message.calls.len(), 1, "{:?}", message.diagnostics);
    }
}

#[test]
fn whitespace_of_an_unclosed_list_is_the_same_at_every_cut() {
    let call = r#"{"name": "f", "arguments": {}}"#;
    for (family, opener, call) in [
        ("mistral", "[TOOL_CALLS]", call),
        ("firefunction_v2", "functools", call),
        ("jamba", "<tool_calls>", call),
        ("apriel", "<tool_calls>", call),
        ("granite", "<|tool_call|>", call),
        ("nemotron_deci", "<TOOLCALL>", call),
        ("phi4_mini_json", "functools", call),
        ("apertus", "<|tools_prefix|>", r#"{"f": {}}"#),
        ("cohere", "<|START_ACTION|>", r#"{"tool_name": "f", "parameters": {}}"#),
        ("sarashina", "<|tool_calls|>", "{'name': 'f', 'arguments': {}}"),
        ("lfm2", "<|tool_call_start|>", "f()"),
    ] {
        check(family, |it| it, &format!("{opener}[{call} {opener}"));
        check(family, |it| it, &format!("{opener}[{call}, {call}\n {opener}["));
    }
}
